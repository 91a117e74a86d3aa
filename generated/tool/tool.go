// Package tool holds the tools: for each contract in contracts/tools its input
// and output types, their decoders and its specification, and for each family the
// interface that its handlers implement.
//
// # Handlers
//
// A handler of a tool that seals no Evidence returns its output:
//
//	ListDocuments(context.Context, *ListDocumentsInput) (*ListDocumentsOutput, error)
//
// One of a tool that does returns a [Finding], the output with what is known about
// it beyond the contract:
//
//	ListNames(context.Context, *ListNamesInput) (*Finding[ListNamesOutput], error)
//
// [Bindings] joins handlers and contracts; what it gives is all that dispatch
// needs to run a call. [Specs] are the same tools without handlers.
//
// # Retained Evidence
//
// Inputs that take a record or a reference to one are of type
// model.EvidenceInput. [Binding.Evidence] finds them in a decoded input, so that
// the references among them can be replaced before the handler sees them.
package tool

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/wire"
)

// A Spec is what a contract says about its tool beside the schemas.
type Spec struct {
	Name        string
	Family      string
	Title       string
	Description string
	Requires    Requires
	Effects     Effects
	Errors      []fault.Code // all a call can raise, sorted
	Evidence    *Evidence    // nil for tools that seal nothing
	Retained    []string     // pointers of inputs that take Evidence; * is every item
	Paths       []string     // pointers of local file paths in the input; * is every item
	Positional  []string     // inputs that are positional on the command line
	Hidden      bool         // left out of the command line's overview
	Summarized  bool         // the input's detail "summary" keeps the record and gives its summary view
	Examples    []Example
}

// Requires is what a call needs before it can begin.
type Requires struct {
	Target         bool                     // an open target
	Engine         []model.EngineCapability // kinds of fact of the bound engine
	Host           []string                 // GOOS values, any when empty
	ClientRequired []string
	ClientOptional []string
}

// Effects is what a call may do, over all its inputs.
type Effects struct {
	RecordsEvidence     bool
	ReadsTarget         bool
	ChangesSession      bool
	DiscardsData        bool
	WritesFiles         bool
	StartsProcesses     bool
	ExecutesForeignCode bool
	MutatesDevice       bool
	UsesNetwork         bool
	Idempotent          bool
}

// ReadOnly is the MCP hint. Recording Evidence changes the session and counts.
func (e Effects) ReadOnly() bool {
	return !(e.RecordsEvidence || e.ChangesSession || e.DiscardsData || e.WritesFiles ||
		e.StartsProcesses || e.ExecutesForeignCode || e.MutatesDevice)
}

// Destructive is the MCP hint.
func (e Effects) Destructive() bool {
	return e.DiscardsData || e.ExecutesForeignCode || e.MutatesDevice
}

// OpenWorld is the MCP hint.
func (e Effects) OpenWorld() bool {
	return e.UsesNetwork || e.ExecutesForeignCode || e.MutatesDevice
}

// Evidence is what is sealed about every result of a tool.
type Evidence struct {
	PredicateType string
	Confidence    model.EvidenceConfidence
	Authority     model.EvidenceAuthority
}

// An Example is an input as one would write it.
type Example struct {
	Title string
	Input string // JSON
}

// A Finding is the output of a tool that seals Evidence. The zero value of every
// field but Result leaves the choice to dispatch.
type Finding[T any] struct {
	Result      T
	Limitations []string                 // what the result does not cover
	Locations   []model.EvidenceLocation // where in the subject it lies
	Links       []string                 // ids of the records it was derived from
	Raw         jsontext.Value           // upstream representation, where one differs from Result
	Subject     *model.EvidenceSubject   // the open target when nil
	Confidence  model.EvidenceConfidence // the contract's when ""
	Size        int                      // about how long Result is as JSON, where that is known
}

// A Result is what a call gave, whatever its tool.
type Result struct {
	Output      wire.Appender // *XOutput, or the XOutput of a union
	Limitations []string
	Locations   []model.EvidenceLocation
	Links       []string
	Raw         jsontext.Value
	Subject     *model.EvidenceSubject
	Confidence  model.EvidenceConfidence
	Size        int
}

// A Binding is a tool with its handler.
type Binding struct {
	Spec *Spec
	// Decode reads and checks arguments, and applies defaults. The error is a
	// *model.InvalidError. What it returns is for Evidence and Call; written as
	// JSON it is the canonical input.
	Decode func(data []byte) (wire.Appender, error)
	// Recall reads a result back from a record; nil for tools that seal nothing.
	Recall func(result []byte) (wire.Appender, error)
	// Evidence points at the inputs that take Evidence, the absent ones (nil)
	// left out. It is nil for tools that have none.
	Evidence func(in wire.Appender) []*model.EvidenceInput
	Call     func(ctx context.Context, in wire.Appender) (*Result, error)
}

// plain binds a tool that seals nothing.
func plain[I, O wire.Appender](spec *Spec, decode func([]byte) (I, error), call func(context.Context, I) (O, error)) Binding {
	return Binding{
		Spec:   spec,
		Decode: decoder(decode),
		Call: func(ctx context.Context, in wire.Appender) (*Result, error) {
			out, err := call(ctx, in.(I))
			if err != nil {
				return nil, err
			}
			return &Result{Output: out}, nil
		},
	}
}

// sealed binds a tool that seals Evidence.
func sealed[I, R wire.Appender, O any](
	spec *Spec, decode func([]byte) (I, error), recall func([]byte) (R, error), call func(context.Context, I) (*Finding[O], error),
) Binding {
	return Binding{
		Spec:   spec,
		Decode: decoder(decode),
		Recall: decoder(recall),
		Call: func(ctx context.Context, in wire.Appender) (*Result, error) {
			f, err := call(ctx, in.(I))
			if err != nil {
				return nil, err
			}
			return &Result{output(&f.Result), f.Limitations, f.Locations, f.Links, f.Raw, f.Subject, f.Confidence, f.Size}, nil
		},
	}
}

// output is the value that writes itself: structs do by pointer, unions are one.
func output[O any](v *O) wire.Appender {
	if a, ok := any(v).(wire.Appender); ok {
		return a
	}
	a, _ := any(*v).(wire.Appender)
	return a
}

func decoder[I wire.Appender](decode func([]byte) (I, error)) func([]byte) (wire.Appender, error) {
	return func(data []byte) (wire.Appender, error) {
		in, err := decode(data)
		if err != nil {
			return nil, err
		}
		return in, nil
	}
}

// with adds the finder of Evidence inputs to a binding.
func (b Binding) with(evidence func(in wire.Appender) []*model.EvidenceInput) Binding {
	b.Evidence = evidence
	return b
}
