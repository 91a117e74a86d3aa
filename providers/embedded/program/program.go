package program

import "rea/providers/format/object"

// Evidence says why an address is taken for a function's start, the most
// trusted first.
type Evidence uint8

const (
	ByStub           Evidence = iota // a linker stub the loader recognized
	ByUnwind                         // .eh_frame, .pdata, compact unwind
	ByGoTable                        // Go's function table
	BySymbol                         // a symbol of function type
	ByFunctionStarts                 // LC_FUNCTION_STARTS
	ByDWARF                          // debug information
	ByExport                         // an export
	ByEntry                          // the image's entry point
	ByInit                           // init/fini arrays, DT_INIT, TLS callbacks
	ByCall                           // a direct call
	ByPointer                        // a pointer in data
	ByAddress                        // an address taken by code
	ByJump                           // a tail call
	ByGap                            // code nothing leads to
)

var evidenceNames = [...]string{"stub", "unwind", "go_table", "symbol", "function_starts", "dwarf", "export", "entry", "init", "call", "pointer", "address", "tail_call", "gap"}

func (e Evidence) String() string { return evidenceNames[e] }

// FunctionKind classifies functions.
type FunctionKind uint8

const (
	KindFunction   FunctionKind = iota
	KindThunk                   // only jumps to another function
	KindImportStub              // only jumps through an import's pointer
	KindPart                    // a split part whose parent is not known
)

var kindNames = [...]string{"function", "thunk", "import_stub", "part"}

func (k FunctionKind) String() string { return kindNames[k] }

// Function is one function. Its entry is the address of its first
// instruction, which need not be its lowest.
type Function struct {
	Entry    uint64
	Size     uint64 // bytes of all its ranges
	Name     string // raw; "" when no table names it
	Kind     FunctionKind
	Evidence Evidence
	From     uint64 // the call, jump or pointer that is the evidence, else 0
	Target   uint64 // thunks: where it goes; import stubs: the pointer it uses
	NoReturn bool   // no path returns to the caller
	Unwind   bool   // unwind data describes its frame

	ranges, blocks lohi // indices into Program
}

type lohi struct{ lo, hi uint32 }

// Range is [Start, End).
type Range struct{ Start, End uint64 }

// Block is a basic block: only its first instruction is entered, only its last
// one leaves. Calls that return do not end a block, unless they may continue
// at a landing pad.
type Block struct {
	Start, End uint64
	Last       uint64 // address of the last instruction
	Function   uint32 // index into Program.Functions
	edges      lohi
}

// EdgeKind says why control passes along an edge.
type EdgeKind uint8

const (
	EdgeFall       EdgeKind = iota // runs into the next block
	EdgeJump                       // unconditional jump
	EdgeTaken                      // conditional jump, taken
	EdgeNotTaken                   // conditional jump, not taken
	EdgeTable                      // through a jump table
	EdgeLandingPad                 // a call that throws
)

var edgeNames = [...]string{"fallthrough", "jump", "taken", "not_taken", "table", "landing_pad"}

func (k EdgeKind) String() string { return edgeNames[k] }

// Edge leads to the block that starts at To, in the same function.
type Edge struct {
	To   uint64
	Kind EdgeKind
}

// CallKind classifies control transfers between functions.
type CallKind uint8

const (
	DirectCall   CallKind = iota
	TailCall              // a jump to another function
	IndirectCall          // through a register or memory
	IndirectJump          // the same as a tail call
)

var callNames = [...]string{"call", "tail_call", "indirect_call", "indirect_jump"}

func (k CallKind) String() string { return callNames[k] }

// Call is one call site. To is zero when the target is not known or outside
// the image; Import is then the index of the import it reaches, or -1.
type Call struct {
	From, To uint64
	Slot     uint64 // the pointer an indirect call goes through, when constant
	Import   int32
	Kind     CallKind
	Cond     bool // a conditional jump
}

// Table is a jump table.
type Table struct {
	Jump       uint64 // the indirect jump
	Addr       uint64
	EntrySize  uint8
	Signed     bool
	Base       uint64 // added to Scale·entry; 0 for absolute entries
	Scale      int64  // 0 for absolute entries
	IndexAddr  uint64 // two-level tables: the first level, else 0
	IndexCount int
	// Bounded: the length comes from a comparison before the jump. Otherwise
	// it is the longest run of entries inside the function.
	Bounded bool
	Targets []uint64 // by index
}

// RefKind says what a reference does with its target.
type RefKind uint8

const (
	RefCall    RefKind = iota // direct call
	RefJump                   // direct jump
	RefBranch                 // conditional jump
	RefRead                   // memory read
	RefWrite                  // memory write
	RefAddress                // address taken
	RefPointer                // a pointer in data
)

var refNames = [...]string{"call", "jump", "branch", "read", "write", "address", "pointer"}

func (k RefKind) String() string { return refNames[k] }

// Ref is one reference. From is an instruction, or for RefPointer a place in data.
type Ref struct {
	From, To uint64
	Kind     RefKind
}

// Encoding is the encoding of a string.
type Encoding uint8

const (
	ASCII Encoding = iota
	UTF8
	UTF16
)

var encodingNames = [...]string{"ascii", "utf-8", "utf-16le"}

func (e Encoding) String() string { return encodingNames[e] }

// String is a run of text in data.
type String struct {
	Addr       uint64
	Len        uint32 // bytes, without a terminator
	Section    int32  // index into Image.Sections
	Encoding   Encoding
	Terminated bool // a zero follows
}

// UnresolvedKind says what recovery could not settle.
type UnresolvedKind uint8

const (
	UnresolvedCall    UnresolvedKind = iota // a computed call
	UnresolvedJump                          // a computed jump
	UndecodableCode                         // reached bytes that are no instruction
	OverlappingCode                         // an instruction starts inside another one
	ForeignJump                             // a jump into the middle of another function
	UnboundedTable                          // a jump table whose length no comparison gives
	OpenFlow                                // control runs out of the code
	UnresolvedAltCall                       // a call into the middle of a function: an alternative entry
)

var unresolvedNames = [...]string{"computed_call", "computed_jump", "undecodable", "overlapping_code", "jump_into_function", "unbounded_table", "open_flow", "alternative_entry"}

func (k UnresolvedKind) String() string { return unresolvedNames[k] }

// Unresolved is one place where recovery stopped short.
type Unresolved struct {
	Addr uint64
	Kind UnresolvedKind
}

// GapKind classifies code bytes no function owns.
type GapKind uint8

const (
	GapPadding GapKind = iota // nops, traps, zeroes
	GapData                   // declared data, or bytes that do not decode
	GapUnknown                // decodes, but nothing says that it runs
)

var gapNames = [...]string{"padding", "data", "unknown"}

func (k GapKind) String() string { return gapNames[k] }

// Gap is a range of an executable section that belongs to no function.
type Gap struct {
	Range
	Kind GapKind
}

// Program is the result of an analysis: immutable, all lists sorted by
// address, safe for concurrent use.
type Program struct {
	Image      *object.Image
	Functions  []Function // by entry
	Ranges     []Range    // of functions, grouped by function
	Blocks     []Block    // grouped by function, by address within
	Edges      []Edge     // grouped by block
	Calls      []Call     // by From
	Tables     []Table    // by Jump
	Refs       []Ref      // by From, then To
	Strings    []String
	Unresolved []Unresolved
	Gaps       []Gap
	Names      []Name
	// Notes are the limits of this analysis in plain words.
	Notes []string
	// CodeBytes is the size of all executable regions, Instructions the number
	// of instructions owned by functions.
	CodeBytes    uint64
	Instructions int

	sp        *space
	starts    bitset   // instruction starts
	refsByTo  []uint32 // Refs sorted by To
	nameOrder []uint32 // Names sorted by Name
	byRange   []rangeOwner
	callsByTo []uint32
}

// rangeOwner ties a range to its function, sorted by Start.
type rangeOwner struct {
	Range
	fn uint32
}
