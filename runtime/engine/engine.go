// Package engine says what an analysis engine is: the questions it answers
// about one opened binary, and how one is chosen.
//
// A Provider stands for an engine that may be installed here; describing it
// never starts anything. Open binds it to one Target and gives an Engine, which
// stays bound until the target is closed. An Engine may do its work lazily:
// Open returns at once and the first question pays.
//
// Facts that an engine cannot supply are named by capabilities, never guessed.
package engine

import (
	"context"
	"iter"

	"rea/generated/model"
)

// A Provider makes engines of one kind.
type Provider interface {
	// Describe tells identity and capabilities, without starting anything.
	Describe() Description
	// Available tells whether the engine can run on this host, read-only and at once.
	Available(ctx context.Context) Availability
	// Supports tells whether the engine can analyse t.
	Supports(t *Target) Support
	// Open binds an engine to t. names, never nil, holds the analyst's names,
	// which the engine shows in place of its own.
	Open(ctx context.Context, t *Target, names Names) (Engine, error)
}

// Description is what a provider says of itself.
type Description struct {
	Provider     model.Provider
	Capabilities []model.EngineCapability
}

// Availability of an engine on this host.
type Availability struct {
	Available   bool
	Reason      string // the exact failing condition
	Remediation string
}

// Support of a target by an engine.
type Support struct {
	Supported bool
	Reason    string
}

// Names are analyst names by address; safe for concurrent use.
type Names interface {
	NameAt(addr model.Address) (string, bool)
	// AddressOf finds an analyst name.
	AddressOf(name string) (model.Address, bool)
	// AllNames yields names in address order.
	AllNames() iter.Seq2[model.Address, string]
}

// An Engine answers questions about one opened target.
//
// Methods may be called concurrently, return soon after ctx ends, and yield in
// address order so that engines can be compared. Slices and pointers that are
// returned belong to the caller. A question outside Capabilities is answered
// with a capability_unavailable fault.
type Engine interface {
	// Profile is the exact configuration; it takes part in evidence identity.
	Profile() model.AnalysisProfile
	Capabilities() []model.EngineCapability
	// Activity tells what the engine is doing now; it never blocks.
	Activity() Activity
	Documents(ctx context.Context) ([]string, error)
	// Summary gives the figures of the whole program.
	Summary(ctx context.Context) (*Summary, error)
	Segments(ctx context.Context) (segments []model.Segment, unmapped []model.Section, err error)
	Procedures(ctx context.Context) iter.Seq2[model.Procedure, error]
	// Resolve finds the procedure that a selector (raw or readable name, or an
	// address inside it) means: procedure_not_found or ambiguous_procedure otherwise.
	Resolve(ctx context.Context, selector string) (model.Procedure, error)
	// Containing returns the procedure that holds addr, or nil.
	Containing(ctx context.Context, addr model.Address) (*model.Procedure, error)
	// Body reads the wanted facets of the procedure that starts at entry; those
	// that it cannot supply are in Missing.
	Body(ctx context.Context, entry model.Address, want Facet) (*Body, error)
	// Names yields symbols, imports, exports and labels (not analyst names).
	Names(ctx context.Context) iter.Seq2[model.NameItem, error]
	// Strings yields strings of at least minBytes bytes.
	Strings(ctx context.Context, minBytes int) iter.Seq2[model.StringItem, error]
	// References lists uses of addr (To) or what the instruction or data at addr refers to (From).
	References(ctx context.Context, addr model.Address, dir Direction) ([]model.Reference, error)
	// Instruction decodes the instruction at addr.
	Instruction(ctx context.Context, addr model.Address) (*InstructionDetail, error)
	// Item is the start of the instruction or data item that follows (step 1)
	// or precedes (step -1) addr; nil at the end.
	Item(ctx context.Context, addr model.Address, step int) (*Item, error)
	// Bytes reads up to n mapped bytes; fewer at the end of the stored part.
	Bytes(ctx context.Context, addr model.Address, n int) ([]byte, error)
	// Locate tells where addr lies: its segment, section and file offset.
	Locate(ctx context.Context, addr model.Address) (Location, error)
	// Close releases the target; calling it again does nothing.
	Close() error
}

// Direction of references.
type Direction int

const (
	To Direction = iota
	From
)

// Facet is a set of parts of a Body.
type Facet uint32

const (
	Ranges Facet = 1 << iota
	Blocks
	Instructions
	Callees
	Callers
	Outgoing
	Incoming
	UsedStrings
	UsedNames
	Targets // calls and computed jumps with their targets
	Locals  // locals, parameters, signature, source file
	Pseudocode
	API // calling interface
)

// Body is what an engine knows of one procedure. Parts that were not asked for are zero.
type Body struct {
	Procedure      model.Procedure
	Classification model.Classification
	Ranges         []model.AddressRange
	Blocks         []model.BasicBlock
	// BlockCount, InstructionCount and Unresolved are always filled in.
	BlockCount, InstructionCount, Unresolved int
	Instructions                             []model.Instruction
	Syntax                                   string // "intel" or "arm"
	Callees, Callers                         []Call
	Outgoing, Incoming                       []model.Reference
	Strings, Names                           []model.UsedValue
	Targets                                  []model.CallTarget
	Signature                                *string
	SourcePath                               string // "" when unknown
	SourceLine                               int
	Locals                                   []model.LocalVariable
	Pseudocode                               *string
	API                                      model.NativeAPI
	// Missing says why a wanted facet is absent.
	Missing map[Facet]Gap
	// Limitations are what the facts above do not cover.
	Limitations []string
}

// Gap is the reason for an absent fact, and the way out.
type Gap struct{ Reason, Remediation string }

// Call is one procedure that is called or calls, with its sites.
type Call struct {
	Procedure model.Procedure
	Sites     []model.Address
	Kinds     []model.ReferenceKind // call, tail_call; sorted
}

// Summary is the whole program in figures.
type Summary struct {
	Target        TargetFacts
	Procedures    int
	Named         int
	Imports       int
	Exports       int
	Strings       int
	Segments      int
	Sections      int
	BasicBlocks   int
	Instructions  int
	CodeBytes     int64
	CallEdges     int
	Unresolved    int
	References    int
	Mitigations   []model.Mitigation
	Libraries     []model.Library
	EntryPoints   []model.SymbolRef
	ImportUses    []ImportUse       // by library, then name
	ExportedNames []model.SymbolRef // by address
	// Notes say what analysis could not see.
	Notes []string
}

// TargetFacts are header facts that a report starts with; empty when unknown.
type TargetFacts struct {
	OS, BuildID string
	Entry       *model.SymbolRef
	Stripped    bool
	Compiler    []string
}

// ImportUse is an import and the number of references to it.
type ImportUse struct {
	Name    string
	Library *string
	Address model.Address // of its stub or slot
	Uses    int
}

// InstructionDetail is one instruction in all its parts.
type InstructionDetail struct {
	Instruction      model.Instruction
	Size             int
	Procedure        *model.SymbolRef
	Block            *model.AddressRange
	Read, Written    []string // register names
	MemoryExpression string   // "" when it has no memory operand
	MemoryAddress    *model.Address
	MemoryAccess     string // read, write, read_write, address, unknown
	MemorySize       int    // 0 when unknown
	Immediate        *string
	References       []model.Reference
	Reached          bool // analysis found an instruction start here
}

// Item is the start of something in the listing.
type Item struct {
	Address model.Address
	Kind    string // instruction, string, data, byte
}

// Location of an address. FileOffset is nil where nothing is stored.
type Location struct {
	Segment, Section string
	FileOffset       *int64
	Reason           string // why there is no offset
}

// Activity of an engine.
type Activity struct {
	Status  string // idle, busy, timed_out_busy, ended
	Running int
	Queued  int
	Phase   string
}

// Ender is implemented by engines that can end before they are closed.
type Ender interface {
	// Ended reports whether the engine has, and answers nothing any more; it never blocks.
	Ended() bool
}

// DataTypes is implemented by engines that know data types.
type DataTypes interface {
	// DataType describes the type with exactly this name: data_type_not_found otherwise.
	DataType(ctx context.Context, name string) (*model.DataType, error)
	// DataTypeNames lists names that contain pattern, sorted.
	DataTypeNames(ctx context.Context, pattern string) ([]string, error)
}

// ValueFlow is implemented by engines that follow values.
type ValueFlow interface {
	// Values tells what register (all known ones when "") can hold before the instruction at addr.
	Values(ctx context.Context, addr model.Address, register string) (*Values, error)
}

// Values at one address.
type Values struct {
	Procedure *model.SymbolRef
	Values    []model.TracedValue
	Scope     string
}

// ObjectiveC is implemented by engines that read Objective-C metadata.
type ObjectiveC interface {
	ObjCClasses(ctx context.Context) ([]model.ObjCClass, error)
	ObjCProtocols(ctx context.Context) ([]model.ObjCProtocol, error)
}

// Swift is implemented by engines that read Swift metadata.
type Swift interface {
	SwiftTypes(ctx context.Context) ([]model.SwiftType, error)
}

// CPlusPlus is implemented by engines that read the run-time type information of C++.
type CPlusPlus interface {
	CppClasses(ctx context.Context) ([]model.CppClass, error)
}

// NoNames is an empty set of analyst names.
type NoNames struct{}

// NameAt finds nothing.
func (NoNames) NameAt(model.Address) (string, bool) { return "", false }

// AddressOf finds nothing.
func (NoNames) AddressOf(string) (model.Address, bool) { return 0, false }

// AllNames yields nothing.
func (NoNames) AllNames() iter.Seq2[model.Address, string] {
	return func(func(model.Address, string) bool) {}
}
