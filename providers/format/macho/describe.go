package macho

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Description is what the header and the load commands of one slice say, as
// they say it: nothing is normalized or checked against the rest of the file.
type Description struct {
	Slice      Slice
	CPUType    uint32
	CPUSubtype uint32 // with its capability bits
	Machine    string
	FileType   string
	Bits       int
	BigEndian  bool
	Flags      []string
	UUID       string // 32 hexadecimal digits, or ""
	Segments   []SegmentInfo
	Dylibs     []Dylib
	Builds     []Build
	Entries    []Entry
	Encryption *Encryption
	Commands   []Command
	Notes      []string

	data      []byte
	signature []byte
	signedAt  uint64
}

// SegmentInfo is one segment command.
type SegmentInfo struct {
	Name             string
	Addr, Size       uint64
	Offset, FileSize uint64
	Maximum, Initial uint32 // protections: 1 read, 2 write, 4 execute
	Flags            uint32
	Sections         []SectionInfo
}

// SectionInfo is one section of a segment command.
type SectionInfo struct {
	Segment, Name string
	Addr, Size    uint64
	Offset        uint32
	Align         uint32 // as a power of two
	Relocations   uint32
	Type          string
	Attributes    []string
}

// Dylib is a library that the image is, needs or passes on.
type Dylib struct {
	Path                   string
	Kind                   string // "load", "weak", "reexport", "lazy", "upward", "id"
	Current, Compatibility string
}

// Build is the platform an image is for.
type Build struct {
	Platform, MinimumOS, SDK string // SDK is "" when it was not recorded
	Tools                    []Tool
}

// Tool is one that made the image.
type Tool struct{ Name, Version string }

// Entry is where execution begins: a file offset for LC_MAIN, an address for
// the older thread commands.
type Entry struct {
	Command string
	Offset  uint64
	Address uint64
	Stack   uint64
}

// Encryption is a range that is stored encrypted unless ID is 0.
type Encryption struct{ ID, Offset, Size uint32 }

// Attribute bits of sections.
var attributeNames = []struct {
	bit  uint32
	name string
}{
	{0x80000000, "S_ATTR_PURE_INSTRUCTIONS"}, {0x40000000, "S_ATTR_NO_TOC"}, {0x20000000, "S_ATTR_STRIP_STATIC_SYMS"},
	{0x10000000, "S_ATTR_NO_DEAD_STRIP"}, {0x08000000, "S_ATTR_LIVE_SUPPORT"}, {0x04000000, "S_ATTR_SELF_MODIFYING_CODE"},
	{0x02000000, "S_ATTR_DEBUG"}, {0x400, "S_ATTR_SOME_INSTRUCTIONS"}, {0x200, "S_ATTR_EXT_RELOC"}, {0x100, "S_ATTR_LOC_RELOC"},
}

var dylibKinds = map[uint32]string{
	cmdLoadDylib: "load", cmdIDDylib: "id", cmdWeakDylib: "weak", cmdReexport: "reexport", cmdLazyDylib: "lazy", cmdUpwardDylib: "upward",
}

// Describe reads the header and the load commands of one slice, chosen as Load
// does.
func Describe(data []byte, slice string) (*Description, error) {
	l, all, err := open(data, slice)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(all, slice)
	if err != nil {
		return nil, err
	}
	d := &Description{
		Slice: chosen, CPUType: l.cpu, CPUSubtype: l.u32(l.data[8:]), Machine: l.im.Machine, FileType: l.im.FileType,
		Bits: l.im.Bits, BigEndian: l.im.BigEndian, Flags: flagWords(l.flags), data: l.data,
	}
	for _, c := range l.commands {
		d.Commands = append(d.Commands, Command{Name: commandName(c.cmd), Offset: c.off, Size: uint64(len(c.data)), Fields: l.commandFields(c)})
		d.read(l, c)
	}
	d.signature = l.linkEdit("code signature", cmdCodeSignature)
	if c, ok := l.find(16, cmdCodeSignature); ok {
		d.signedAt = uint64(l.u32(c.data[8:]))
	}
	d.Notes = l.im.Notes
	return d, nil
}

// Data is the slice that is described, and Signature the bytes of its embedded
// signature, nil when there is none. Callers must not change them.
func (d *Description) Data() []byte      { return d.data }
func (d *Description) Signature() []byte { return d.signature }

// SignatureOffset is where the signature begins in the slice.
func (d *Description) SignatureOffset() uint64 { return d.signedAt }

// Contents is what the file holds of a section, named as "__TEXT,__info_plist".
func (d *Description) Contents(name string) []byte {
	for _, s := range d.Segments {
		for _, sect := range s.Sections {
			if sect.Segment+","+sect.Name != name || uint64(sect.Offset) >= uint64(len(d.data)) {
				continue
			}
			rest := d.data[sect.Offset:]
			return rest[:min(sect.Size, uint64(len(rest)))]
		}
	}
	return nil
}

func commandName(cmd uint32) string {
	if name, ok := commandNames[cmd]; ok {
		return name
	}
	return fmt.Sprintf("LC_%#x", cmd)
}

func flagWords(flags uint32) []string {
	var out []string
	for i, name := range flagNames {
		if flags>>i&1 == 0 {
			continue
		}
		if name == "" {
			name = fmt.Sprintf("%#x", uint32(1)<<i)
		}
		out = append(out, name)
	}
	return out
}

func (d *Description) read(l *loader, c command) {
	b := c.data
	switch c.cmd {
	case cmdSegment64, cmdSegment:
		d.segment(l, b, c.cmd == cmdSegment64)
	case cmdUUID:
		if len(b) >= 24 {
			d.UUID = hex.EncodeToString(b[8:24])
		}
	case cmdBuildVersion:
		if len(b) >= 24 {
			d.Builds = append(d.Builds, l.build(b))
		}
	case cmdMinMacOS, cmdMinIOS, cmdMinTVOS, cmdMinWatchOS:
		if len(b) >= 16 {
			os := map[uint32]string{cmdMinMacOS: "macos", cmdMinIOS: "ios", cmdMinTVOS: "tvos", cmdMinWatchOS: "watchos"}[c.cmd]
			d.Builds = append(d.Builds, Build{Platform: os, MinimumOS: version(l.u32(b[8:])), SDK: sdkVersion(l.u32(b[12:]))})
		}
	case cmdMain:
		if len(b) >= 24 {
			d.Entries = append(d.Entries, Entry{Command: "LC_MAIN", Offset: l.order.Uint64(b[8:]), Stack: l.order.Uint64(b[16:])})
		}
	case cmdEncryption, cmdEncryption64:
		if len(b) >= 20 {
			d.Encryption = &Encryption{ID: l.u32(b[16:]), Offset: l.u32(b[8:]), Size: l.u32(b[12:])}
		}
	case cmdUnixThread, cmdThread:
		if pc, ok := l.threadEntry(b); ok {
			d.Entries = append(d.Entries, Entry{Command: commandName(c.cmd), Address: pc})
		}
	}
	if kind := dylibKinds[c.cmd]; kind != "" && len(b) >= 24 {
		d.Dylibs = append(d.Dylibs, Dylib{l.stringArgument(c), kind, version(l.u32(b[16:])), version(l.u32(b[20:]))})
	}
}

func sdkVersion(v uint32) string {
	if v == 0 {
		return ""
	}
	return version(v)
}

func (l *loader) build(b []byte) Build {
	out := Build{Platform: fmt.Sprintf("platform %d", l.u32(b[8:])), MinimumOS: version(l.u32(b[12:])), SDK: sdkVersion(l.u32(b[16:]))}
	if p := l.u32(b[8:]); p > 0 && p < uint32(len(platforms)) {
		out.Platform = platforms[p]
	}
	n := min(int64(l.u32(b[20:])), int64(len(b)-24)/8)
	for i := range int(n) {
		t := b[24+8*i:]
		name, ok := toolNames[l.u32(t)]
		if !ok {
			name = fmt.Sprintf("tool %d", l.u32(t))
		}
		out.Tools = append(out.Tools, Tool{name, version(l.u32(t[4:]))})
	}
	return out
}

// threadEntry takes the program counter out of a thread command's registers.
func (l *loader) threadEntry(b []byte) (uint64, bool) {
	if len(b) < 16 {
		return 0, false
	}
	at, wide := 0, false
	switch flavor := l.u32(b[8:]); {
	case l.cpu == cpuX8664 && flavor == 4:
		at, wide = 16+16*8, true
	case l.cpu == cpuX86 && flavor == 1:
		at = 16 + 10*4
	case l.cpu == cpuARM64 && flavor == 6:
		at, wide = 16+32*8, true
	case l.cpu == cpuARM && flavor == 1:
		at = 16 + 15*4
	default:
		return 0, false
	}
	switch {
	case wide && len(b) >= at+8:
		return l.order.Uint64(b[at:]), true
	case !wide && len(b) >= at+4:
		return uint64(l.u32(b[at:])), true
	}
	return 0, false
}

func (d *Description) segment(l *loader, b []byte, wide bool) {
	size, each := 56, 68
	if wide {
		size, each = 72, 80
	}
	if len(b) < size {
		return
	}
	s := SegmentInfo{Name: padded(b[8:24])}
	var tail []byte
	s.Addr, s.Size, s.Offset, s.FileSize, tail = words(l.order, b[24:], wide)
	s.Maximum, s.Initial, s.Flags = l.u32(tail), l.u32(tail[4:]), l.u32(tail[12:])
	n := min(int64(l.u32(tail[8:])), int64(len(b)-size)/int64(each))
	for i := range int(n) {
		s.Sections = append(s.Sections, describeSection(l, b[size+i*each:], wide))
	}
	d.Segments = append(d.Segments, s)
}

// words reads four pointer-sized fields.
func words(o binary.ByteOrder, b []byte, wide bool) (w0, w1, w2, w3 uint64, rest []byte) {
	if wide {
		return o.Uint64(b), o.Uint64(b[8:]), o.Uint64(b[16:]), o.Uint64(b[24:]), b[32:]
	}
	return uint64(o.Uint32(b)), uint64(o.Uint32(b[4:])), uint64(o.Uint32(b[8:])), uint64(o.Uint32(b[12:])), b[16:]
}

func describeSection(l *loader, b []byte, wide bool) SectionInfo {
	s := SectionInfo{Name: padded(b[:16]), Segment: padded(b[16:32])}
	t := b[40:]
	if wide {
		s.Addr, s.Size = l.order.Uint64(b[32:]), l.order.Uint64(b[40:])
		t = b[48:]
	} else {
		s.Addr, s.Size = uint64(l.u32(b[32:])), uint64(l.u32(b[36:]))
	}
	s.Offset, s.Align, s.Relocations = l.u32(t), l.u32(t[4:]), l.u32(t[12:])
	flags := l.u32(t[16:])
	if k := flags & 0xff; int(k) < len(sectionTypeNames) {
		s.Type = sectionTypeNames[k]
	} else {
		s.Type = fmt.Sprintf("S_%#x", k)
	}
	for _, a := range attributeNames {
		if flags&a.bit != 0 {
			s.Attributes = append(s.Attributes, a.name)
		}
	}
	return s
}

// Architecture is one entry of a universal header, or the whole of a thin file.
type Architecture struct {
	Slice
	CPUType, CPUSubtype uint32
	Machine             string
	Align               uint32 // as a power of two; 0 for a thin file
	Archive             bool   // a static library, not an image
}

// Architectures lists what Slices does with the raw fields of the entries.
func Architectures(data []byte) (list []Architecture, universal bool, notes []string, err error) {
	slices, notes, err := readSlices(data)
	if err != nil {
		return nil, false, nil, err
	}
	_, _, thin := byteOrder(data)
	for _, s := range slices {
		a := Architecture{Slice: s}
		b := data[s.Offset : s.Offset+s.Size]
		if o, _, ok := byteOrder(b); ok && len(b) >= 12 {
			a.CPUType, a.CPUSubtype = o.Uint32(b[4:]), o.Uint32(b[8:])
		}
		a.Archive = len(b) >= 8 && string(b[:8]) == "!<arch>\n"
		list = append(list, a)
	}
	if !thin {
		alignments(data, list)
	}
	for i := range list {
		if list[i].Machine = cpuNames[list[i].CPUType]; list[i].Machine == "" {
			list[i].Machine = fmt.Sprintf("CPU_TYPE_%#x", list[i].CPUType)
		}
	}
	return list, !thin, notes, nil
}

// alignments takes what only the universal header has; entries are matched by
// where their slices lie.
func alignments(data []byte, list []Architecture) {
	be := binary.BigEndian
	size, wide := 20, be.Uint32(data) == fatMagic64
	if wide {
		size = 32
	}
	next := 0
	for i := 8; i+size <= len(data) && next < len(list); i += size {
		e := data[i:]
		off, align := uint64(be.Uint32(e[8:])), be.Uint32(e[16:])
		if wide {
			off, align = be.Uint64(e[8:]), be.Uint32(e[24:])
		}
		if off != list[next].Offset {
			continue
		}
		list[next].CPUType, list[next].CPUSubtype, list[next].Align = be.Uint32(e), be.Uint32(e[4:]), align
		next++
	}
}
