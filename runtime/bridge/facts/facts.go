// Package facts is what a bridge script says about a program: the operations it
// answers and the rows it answers with.
//
// A script translates; it does not conclude. It names things as its engine
// does, in the few words that are listed here, and leaves out what the engine
// does not know. Addresses and counts are JSON numbers. Members are short
// because there may be millions of rows.
package facts

// Operations, with their arguments, parts and last value.
const (
	Program     = "program"     // no arguments; ProgramFacts
	Procedures  = "procedures"  // no arguments; rows of Procedure
	Symbols     = "symbols"     // no arguments; rows of Symbol
	Texts       = "texts"       // no arguments; rows of Text
	Transfers   = "transfers"   // no arguments; rows of Transfer
	Body        = "body"        // BodyArgs; parts of BodyWant; BodyFacts
	References  = "references"  // ReferenceArgs; rows of Reference
	Instruction = "instruction" // AddressArgs; InstructionFacts
	Item        = "item"        // ItemArgs; ItemFacts
	Decompile   = "decompile"   // DecompileArgs; Decompiled
	TypeNames   = "type_names"  // no arguments; rows of strings
	Type        = "type"        // NameArgs; TypeFacts
	PCode       = "pcode"       // DecompileArgs; parts "varnodes" and "ops"
	Annotate    = "annotate"    // AnnotateArgs; Annotated
	Cursor      = "cursor"      // no arguments; CursorFacts
	Move        = "move"        // AddressArgs; CursorFacts
)

// ProgramFacts are figures of the whole program; those that an engine does not
// count are absent.
type ProgramFacts struct {
	Language     string   `json:"language,omitzero"`
	Compiler     string   `json:"compiler,omitzero"`
	ImageBase    uint64   `json:"image_base"`
	Memory       []uint64 `json:"memory,omitzero"` // start, end, …: what is mapped
	Instructions int      `json:"instructions"`
	CodeBytes    int64    `json:"code_bytes"`
	Blocks       int      `json:"blocks"`
	References   int      `json:"references"`
	Syntax       string   `json:"syntax,omitzero"`
	Notes        []string `json:"notes,omitzero"`
}

// Sources of names.
const (
	SourceDefault  = "default"  // made from the address
	SourceAnalysis = "analysis" // found by the engine
	SourceImported = "imported" // in the file
	SourceUser     = "user"     // set by somebody
)

// Procedure is one function with an address in the program.
type Procedure struct {
	Entry         uint64   `json:"a"`
	Name          string   `json:"n"`
	Namespace     string   `json:"ns,omitzero"`
	Demangled     string   `json:"d,omitzero"`
	Source        string   `json:"s"`
	Ranges        []uint64 `json:"r"` // start, end, start, end, …; ends exclusive
	Thunk         *uint64  `json:"t,omitzero"`
	ThunkExternal bool     `json:"tx,omitzero"`
	External      bool     `json:"x,omitzero"`
	NoReturn      bool     `json:"nr,omitzero"`
}

// Kinds of symbols.
const (
	SymbolFunction = "function"
	SymbolData     = "data"
	SymbolLabel    = "label"
)

// Symbol is one name. Library is where an import comes from.
type Symbol struct {
	Address   uint64 `json:"a"`
	Name      string `json:"n"`
	Demangled string `json:"d,omitzero"`
	Kind      string `json:"k"`
	Source    string `json:"s"`
	Import    bool   `json:"i,omitzero"`
	Export    bool   `json:"e,omitzero"`
	Library   string `json:"l,omitzero"`
	Uses      int    `json:"u,omitzero"` // references to an import
}

// Text is defined text; its characters are read from the file.
type Text struct {
	Address  uint64 `json:"a"`
	Length   int    `json:"l"` // bytes, without terminator
	Encoding string `json:"e"` // ascii, utf8, utf16le
	Uses     int    `json:"u"`
}

// Transfer is a call, a jump that leaves its function, or a computed jump.
type Transfer struct {
	From     uint64   `json:"a"`
	Call     bool     `json:"c,omitzero"` // else a jump
	Computed bool     `json:"x,omitzero"`
	To       []uint64 `json:"t,omitzero"`
	Import   string   `json:"i,omitzero"` // name of an imported target
	Slot     uint64   `json:"p,omitzero"` // pointer that the target is read from
	Operand  string   `json:"o,omitzero"` // of computed ones
}

// Parts of a body that can be wanted.
const (
	Blocks       = "blocks"       // rows of Block
	Instructions = "instructions" // rows of Line
	Outgoing     = "outgoing"     // rows of Reference
)

// BodyArgs ask for one function.
type BodyArgs struct {
	Entry uint64   `json:"entry"`
	Want  []string `json:"want"`
}

// BodyFacts count what the function has.
type BodyFacts struct {
	Blocks       int `json:"blocks"`
	Instructions int `json:"instructions"`
}

// Block is a basic block.
type Block struct {
	Start        uint64 `json:"a"`
	End          uint64 `json:"e"`
	Instructions int    `json:"n"`
	Next         []Edge `json:"s"`
}

// Edge leads to a block; kinds are those of model.EdgeKind.
type Edge struct {
	To   uint64 `json:"t"`
	Kind string `json:"k"`
}

// Line is one instruction; flows are those of model.Flow.
type Line struct {
	Address  uint64  `json:"a"`
	Length   int     `json:"l"`
	Mnemonic string  `json:"m"`
	Operands string  `json:"o"`
	Flow     string  `json:"f"`
	Target   *uint64 `json:"t,omitzero"`
}

// Kinds of references.
const (
	RefCall         = "call"
	RefJump         = "jump"
	RefComputedJump = "computed_jump"
	RefRead         = "read"
	RefWrite        = "write"
	RefReadWrite    = "read_write"
	RefData         = "data"        // the address itself
	RefIndirection  = "indirection" // pointer that a transfer goes through
)

// Directions of references.
const (
	To   = "to"
	From = "from"
)

// ReferenceArgs ask for the references of one address.
type ReferenceArgs struct {
	Address   uint64 `json:"address"`
	Direction string `json:"direction"`
}

// Reference is one use of an address.
type Reference struct {
	From uint64 `json:"a"`
	To   uint64 `json:"t"`
	Kind string `json:"k"`
	Code bool   `json:"c,omitzero"` // an instruction refers
}

// AddressArgs name an address.
type AddressArgs struct {
	Address uint64 `json:"address"`
}

// InstructionFacts are one instruction in all its parts.
type InstructionFacts struct {
	Line    Line     `json:"line"`
	Defined bool     `json:"defined"` // analysis put an instruction here
	Read    []string `json:"read"`
	Written []string `json:"written"`
	Memory  *Memory  `json:"memory,omitzero"`
	Scalar  string   `json:"scalar,omitzero"` // immediate, hexadecimal
}

// Memory is a memory operand.
type Memory struct {
	Text    string  `json:"text"`
	Address *uint64 `json:"address,omitzero"`
	Access  string  `json:"access"` // read, write, read_write, address, unknown
	Size    int     `json:"size,omitzero"`
}

// ItemArgs ask for what follows (1) or precedes (-1) an address.
type ItemArgs struct {
	Address uint64 `json:"address"`
	Step    int    `json:"step"`
}

// ItemFacts are where it starts; Address is absent at the end.
type ItemFacts struct {
	Address *uint64 `json:"address,omitzero"`
	Kind    string  `json:"kind,omitzero"` // instruction, string, data, byte
}

// DecompileArgs name a function and how long its decompilation may take.
type DecompileArgs struct {
	Entry   uint64 `json:"entry"`
	Seconds int    `json:"seconds"`
}

// Decompiled is what the decompiler knows of a function.
type Decompiled struct {
	Text       string     `json:"text"`
	Signature  string     `json:"signature,omitzero"`
	Return     string     `json:"return,omitzero"`
	Convention string     `json:"convention,omitzero"`
	Variables  []Variable `json:"variables,omitzero"`
	Warnings   []string   `json:"warnings,omitzero"`
}

// Variable is a parameter or local variable.
type Variable struct {
	Name      string `json:"name"`
	Type      string `json:"type,omitzero"`
	Location  string `json:"location,omitzero"`
	Parameter bool   `json:"parameter,omitzero"`
}

// NameArgs name something.
type NameArgs struct {
	Name string `json:"name"`
}

// TypeFacts describe a data type; kinds are those of model.DataType.
type TypeFacts struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Size       *int64   `json:"size,omitzero"`
	Underlying string   `json:"underlying,omitzero"`
	Members    []Member `json:"members,omitzero"`
	Source     string   `json:"source,omitzero"` // archive and category
}

// Member of a structure, union or enumeration.
type Member struct {
	Name   string `json:"name"`
	Type   string `json:"type,omitzero"`
	Offset *int64 `json:"offset,omitzero"`
	Bits   *int64 `json:"bits,omitzero"`
	Value  *int64 `json:"value,omitzero"`
}

// Parts of p-code.
const (
	Varnodes = "varnodes"
	Ops      = "ops"
)

// Spaces of varnodes.
const (
	SpaceConstant = "const"
	SpaceRegister = "register"
	SpaceStack    = "stack"
	SpaceMemory   = "ram"
	SpaceTemp     = "unique"
)

// Varnode is a value in single-assignment form.
type Varnode struct {
	ID       int    `json:"i"`
	Space    string `json:"s"`
	Offset   uint64 `json:"o"`
	Size     int    `json:"z"`
	Register string `json:"r,omitzero"`
	Variable string `json:"v,omitzero"` // name of the variable it is part of
	Input    bool   `json:"in,omitzero"`
}

// Op makes a varnode out of others. Codes are the decompiler's own names.
type Op struct {
	Address uint64 `json:"a"`
	Code    string `json:"c"`
	Out     int    `json:"o"` // -1 when it makes none
	In      []int  `json:"n"`
}

// Kinds of annotations.
const (
	NoteName     = "name"
	NoteComment  = "comment"
	NoteInline   = "inline"
	NoteBookmark = "bookmark"
)

// AnnotateArgs are changes that are made together or not at all.
type AnnotateArgs struct {
	Changes []Change `json:"changes"`
}

// Change sets a note, or removes it when Value is nil.
type Change struct {
	Address uint64  `json:"address"`
	Kind    string  `json:"kind"`
	Value   *string `json:"value"`
}

// Annotated tells what was there before each change.
type Annotated struct {
	Previous []*string `json:"previous"`
}

// CursorFacts tell where the cursor is.
type CursorFacts struct {
	Address *uint64 `json:"address,omitzero"`
}
