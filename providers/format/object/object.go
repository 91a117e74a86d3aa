// Package object is the common picture of a native binary: what the ELF, PE
// and Mach-O loaders read from the bytes, in one vocabulary.
//
// An Image holds facts only. A loader never guesses: what a file's tables
// claim and the bytes do not support is left out and named in Notes.
package object

import "sort"

// Format is the container format of an image.
type Format string

const (
	ELF   Format = "elf"
	PE    Format = "pe"
	MachO Format = "mach-o"
)

// Arch is an instruction set.
type Arch string

const (
	X86     Arch = "x86"
	X86_64  Arch = "x86_64"
	ARM     Arch = "arm"
	ARM64   Arch = "arm64"
	Unknown Arch = "unknown"
)

// Kind says what a linker or loader would do with the file.
type Kind string

const (
	Executable    Kind = "executable"
	SharedLibrary Kind = "shared_library"
	Relocatable   Kind = "object"
	Core          Kind = "core"
	OtherKind     Kind = "other"
)

// Image is one loaded binary (one slice of a universal file). Addresses are
// the file's own virtual addresses: ELF p_vaddr, PE ImageBase+RVA, Mach-O
// vmaddr; relocatable objects are laid out by the loader, section by section.
// All slices are sorted by address where they have one, then by name.
type Image struct {
	Format    Format
	Arch      Arch
	Bits      int // 32 or 64
	BigEndian bool
	OS        string // "linux", "windows", "macos", "ios", "freebsd", … or ""
	Machine   string // the format's own machine name, e.g. "EM_X86_64"
	Subtype   string // e.g. "arm64e", or ""
	Kind      Kind
	FileType  string // the format's own name, e.g. "ET_DYN", "MH_EXECUTE"

	// FileStart is where the image begins in its file: the offset of a slice
	// of a universal Mach-O file, else 0. All other offsets count from there.
	FileStart uint64

	Base     uint64 // preferred load address
	Entry    uint64
	HasEntry bool

	Segments    []Segment
	Sections    []Section
	Symbols     []Symbol
	Imports     []Import
	Exports     []Export
	Relocations []Relocation
	Libraries   []Library
	// Stubs are the linker's code stubs (PLT entries, __stubs entries): code
	// of their own, but not functions of the program.
	Stubs []Stub
	// Hints are places where metadata says that a function starts.
	Hints []FunctionHint
	// Ranges are parts of functions that unwind data ties to a parent:
	// split .cold parts with a chained entry, PE chained unwind.
	Parts []FunctionPart
	// LandingPads are entries of exception handlers named by LSDAs or scope tables.
	LandingPads []uint64
	// CallSites are the ranges an LSDA ties to one of the LandingPads, sorted by address.
	CallSites []CallSite
	// DataInCode marks ranges inside code that the file declares to be data.
	DataInCode []Range
	// NoReturn are functions that debug information declares not to return.
	NoReturn  []uint64
	Strip     bool   // no symbol table beyond dynamic symbols
	BuildID   string // GNU build id, Mach-O UUID, PE debug GUID+age; lowercase hex, or ""
	Interp    string // ELF PT_INTERP, Mach-O dyld path
	SOName    string // ELF DT_SONAME, Mach-O LC_ID_DYLIB, PE export DLL name
	RPaths    []string
	Compiler  []string // .comment, Rich header, build version tools
	GoVersion string   // "go1.26.8" when the Go build information says so
	Debug     []string // kinds of debug information present: "dwarf", "codeview", …

	Mitigations []Mitigation
	// Properties are facts only one format has, in a fixed order: the PE
	// subsystem, the Mach-O minimum system version, an overlay, ….
	Properties []Property
	// Notes are limitations in plain words, in the order they were met.
	Notes []string

	data      []byte
	relocated []byte // data with relocations applied, for relocatable objects
	measured  *measured
}

// Permissions of a mapped range.
type Permissions struct{ Read, Write, Execute bool }

// Segment is a range the loader maps. FileSize may be smaller than Size: the
// rest is zero.
type Segment struct {
	Name     string // ELF "LOAD", Mach-O "__TEXT", PE section name
	Addr     uint64
	Size     uint64
	Offset   uint64
	FileSize uint64
	Perm     Permissions
}

// Section is a named range. Sections may lie outside every segment (Addr 0, not mapped).
type Section struct {
	Name     string // Mach-O "__TEXT,__text"
	Addr     uint64
	Size     uint64
	Offset   uint64
	FileSize uint64
	Type     string // the format's own type name, e.g. "SHT_PROGBITS"
	Perm     Permissions
	Mapped   bool
	Align    uint64
	Code     bool // holds instructions by its own flags
	// Compressed tells that the file bytes begin with an ELF compression header.
	Compressed bool
}

// SymbolKind classifies a symbol.
type SymbolKind string

const (
	SymFunction SymbolKind = "function"
	SymObject   SymbolKind = "object"
	SymSection  SymbolKind = "section"
	SymFile     SymbolKind = "file"
	SymTLS      SymbolKind = "tls"
	SymLabel    SymbolKind = "label" // untyped
	SymIFunc    SymbolKind = "ifunc"
)

// Symbol is one entry of a symbol table.
type Symbol struct {
	Name    string // raw, as in the file (invalid UTF-8 kept)
	Addr    uint64
	Size    uint64
	Kind    SymbolKind
	Global  bool
	Weak    bool
	Dynamic bool   // from .dynsym, the export trie or the PE export table
	Defined bool   // false: an import
	Section string // name of its section, or ""
	Version string // ELF symbol version, or ""
	Source  string // "symtab", "dynsym", "coff", "debug", …
}

// Import is something the loader binds at run time. Slot is the address of the
// pointer it fills (GOT entry, IAT entry, Mach-O pointer), Stub the address of
// a code stub that jumps through the slot (PLT entry, __stubs entry); zero when absent.
type Import struct {
	Name    string // "#17" for an import by ordinal
	Library string // "" when the format does not say
	Version string
	Slot    uint64
	Stub    uint64
	Ordinal int // -1 when none
	Weak    bool
	Data    bool // an object, not a function
}

// Export is a name (or ordinal) offered to others.
type Export struct {
	Name    string
	Addr    uint64
	Ordinal int    // -1 when none
	Forward string // "DLL.name" or re-exported library name, else ""
	Data    bool
}

// Relocation tells that the pointer-sized (or Size-byte) value at Addr is
// filled by the loader. Target is the resolved address inside the image when
// known (relative relocations, local symbols), else Symbol names an import.
type Relocation struct {
	Addr      uint64
	Size      uint8
	Type      string // "R_X86_64_RELATIVE", "IMAGE_REL_BASED_DIR64", "rebase", "bind", …
	Symbol    string
	Target    uint64
	HasTarget bool
}

// StubKind says what a linker's code stub does.
type StubKind string

const (
	StubJump     StubKind = "jump"     // jumps through its slot
	StubLazy     StubKind = "lazy"     // pushes an index and enters the resolver; a split PLT's first half
	StubResolver StubKind = "resolver" // the head of a PLT, shared by all entries
)

// Stub is one code stub. Name is the symbol the loader binds to the slot; for
// a symbol defined in this image, or an indirect function, Target is the
// definition or its resolver.
type Stub struct {
	Addr, Size uint64
	Kind       StubKind
	Slot       uint64 // 0 for a resolver stub
	Name       string
	Target     uint64
	HasTarget  bool
}

// Library is a dependency.
type Library struct {
	Name  string
	Delay bool // lazily loaded (PE delay import, Mach-O lazy dylib)
	Weak  bool
}

// HintSource says which table a function start was read from.
type HintSource string

const (
	FromEHFrame        HintSource = "eh_frame"
	FromPData          HintSource = "pdata"
	FromFunctionStarts HintSource = "function_starts"
	FromCompactUnwind  HintSource = "unwind_info"
	FromPCLNTab        HintSource = "pclntab"
	FromDWARF          HintSource = "dwarf"
	FromInitArray      HintSource = "init_array"
	FromEntry          HintSource = "entry"
	FromTLSCallback    HintSource = "tls_callback"
	FromCFG            HintSource = "guard_cf"
	FromDynamic        HintSource = "dynamic" // DT_INIT, DT_FINI
	FromIFunc          HintSource = "ifunc"   // resolver that the dynamic linker calls
	FromSymbol         HintSource = "symbol"
	FromExport         HintSource = "export"
	FromObjC           HintSource = "objc"
)

// FunctionHint is a claim that a function starts at Addr. Size is zero when
// the table does not give one.
type FunctionHint struct {
	Addr   uint64
	Size   uint64
	Name   string // from pclntab or DWARF, else ""
	Source HintSource
}

// FunctionPart ties a range to the function that owns it. Parent is zero when
// the unwind data proves that Addr is not a function's entry (its frame is
// already built there) but not whose part it is.
type FunctionPart struct {
	Addr, Size uint64
	Parent     uint64
	Source     HintSource
}

// CallSite is a range of instructions whose calls, when they throw, continue
// at the landing pad Pad.
type CallSite struct{ Addr, Size, Pad uint64 }

// Range is [Addr, Addr+Size).
type Range struct{ Addr, Size uint64 }

// Mitigation is one hardening property as read from the file. State is
// "enabled", "disabled", "partial" or "unknown"; Detail says what was seen.
type Mitigation struct {
	Name, State, Detail string
}

// Property is a named fact of one format, its value in the format's own words.
type Property struct{ Name, Value string }

// SetData hands the image the bytes its offsets refer to. Loaders call it once.
func (im *Image) SetData(b []byte) {
	im.data = b
	im.measured = &measured{}
}

// Data is the whole file (or slice). Callers must not change it.
func (im *Image) Data() []byte { return im.data }

// SegmentAt returns the segment that maps addr, or nil.
func (im *Image) SegmentAt(addr uint64) *Segment {
	i := sort.Search(len(im.Segments), func(i int) bool { return im.Segments[i].Addr > addr })
	if i == 0 || addr-im.Segments[i-1].Addr >= im.Segments[i-1].Size {
		return nil
	}
	return &im.Segments[i-1]
}

// Bytes returns up to n file-backed bytes mapped at addr, without copying. It
// returns fewer at the end of a segment's file part and nil where nothing is mapped.
func (im *Image) Bytes(addr uint64, n int) []byte {
	s := im.SegmentAt(addr)
	if s == nil || n <= 0 {
		return nil
	}
	off := addr - s.Addr
	if off >= s.FileSize {
		return nil
	}
	have := s.FileSize - off
	if uint64(n) < have {
		have = uint64(n)
	}
	start := s.Offset + off
	if start >= uint64(len(im.data)) {
		return nil
	}
	if left := uint64(len(im.data)) - start; have > left {
		have = left
	}
	return im.contents()[start : start+have : start+have]
}
