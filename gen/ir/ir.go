// Package ir is the model that the emitters write Go from: contracts with
// references followed, unions classified and every Go name decided.
package ir

import "rea/gen/load"

// An API is everything the contracts say.
type API struct {
	Types    []*Type // named types of all packages, in file and document order
	Patterns []*Pattern
	Faults   []*Fault
	Tools    []*Tool
	Families []*Family
}

// Kind says how a type is held in Go.
type Kind int

const (
	String   Kind = iota // string
	Enum                 // named string type
	Const                // not held: the encoder writes it, the decoder checks it
	Integer              // int64
	Unsigned             // uint64
	Number               // float64
	Boolean              // bool
	Any                  // jsontext.Value
	Address              // wire.Address
	Array                // slice
	Map                  // map[string]T
	Struct               // named struct
	Union                // named, sealed interface
	Nullable             // pointer, or nil of what has one
)

// A Type is a schema as Go sees it.
type Type struct {
	Kind Kind
	Pkg  string // package of a named type: model, tool or fault
	Name string // Go name of a named type
	File string // contract stem that a named type comes from
	Doc  string
	Node *load.Node

	Low, High  int      // bounds of length or count; High is -1 when open
	Min, Max   string   // bounds of a number as literals, "" when open
	Pattern    *Pattern // of a string, or nil
	Path       bool     // a string that is a local file path
	Unique     bool
	Values     []Value    // of an enum
	Const      *load.Node // of a constant
	Elem       *Type      // of an array, map or nullable
	Fields     []*Field
	Dependents []Dependent
	Union      UnionStyle
	Tag        string // property that tells the variants apart
	Variants   []*Variant
}

// A Pattern is a regular expression with a Go variable.
type Pattern struct{ Pkg, File, Name, Source string }

// A Value of an enum.
type Value struct{ JSON, Go string }

// A Field is one property of a struct.
type Field struct {
	JSON, Go string
	Doc      string
	Type     *Type
	Required bool
	Default  *load.Node
}

// Held reports whether the Go struct has the field.
func (f *Field) Held() bool { return f.Type.Kind != Const || !f.Required }

// Pointer reports whether the field is a pointer because it may be absent and
// its type has no other way to say so.
func (f *Field) Pointer() bool {
	if f.Required || f.Default != nil {
		return false
	}
	switch f.Type.Kind {
	case Array, Map, Any, Union:
		return false
	}
	return true
}

// A Dependent is one entry of dependentRequired.
type Dependent struct {
	Has   string
	Needs []string
}

// UnionStyle says what tells the variants of a union apart.
type UnionStyle int

const (
	Tagged   UnionStyle = iota // a required constant property of the same name
	ByType                     // the JSON type
	Presence                   // a required property that only one variant has
)

// A Variant is one alternative of a union.
type Variant struct {
	Type *Type  // a struct, or anything else in a ByType union
	Go   string // name of the type that holds a variant which is no struct
	Tag  string // value of the tag, or the property whose presence tells
	Kind string // JSON types of the variant, as wire.Decoder.Kind spells them
}

// A Family is the tools of one handler interface, in order of name.
type Family struct {
	Name, Go string
	Tools    []*Tool
}

// A Fault is one error code.
type Fault struct {
	Code, Go, Title, Doc string
	Category             string
	Retryable            bool
	Message, Action      []Part
	Restart              bool
	Details              *Type
	Node                 *load.Node
}

// A Part of a message or an action is text, or a property of the details.
type Part struct {
	Text  string
	Field *Field
	Plain bool // a string of ours, not quoted
}

// Effects in the order contracts list them.
var Effects = []string{"records_evidence", "reads_target", "changes_session", "discards_data", "writes_files",
	"starts_processes", "executes_foreign_code", "mutates_device", "uses_network", "idempotent"}

// ImpliedErrors are the codes that every call can raise.
var ImpliedErrors = []string{"cancelled", "execution_failure", "invalid_request", "resource_constraint"}

// EngineErrors are the codes that every call of a tool which needs an engine can
// raise: the engine may start only then, and end at any time.
var EngineErrors = []string{"cleanup_incomplete", "provider_timeout", "provider_unavailable"}

// A Tool is one contract.
type Tool struct {
	Name, Go, Family   string
	Title, Description string
	Node               *load.Node // whole contract

	NeedsTarget                    bool
	Engine, Host                   []string
	ClientRequired, ClientOptional []string
	Effects                        map[string]bool
	Errors                         []string // implied ones included, sorted
	Evidence                       *Evidence
	Retained                       []string
	Paths                          []string // pointers of local file paths in the input, * for every item
	Positional                     []string
	Hidden                         bool
	Summarized                     bool
	Examples                       []Example
	Rejects                        []Reject
	Input, Output                  *Type
}

// Evidence is what is sealed about a result.
type Evidence struct{ PredicateType, Confidence, Authority string }

// An Example is a valid input.
type Example struct {
	Title string
	Input *load.Node
}

// A Reject is an input that is refused at a place.
type Reject struct {
	Title string
	Input *load.Node
	At    string
}
