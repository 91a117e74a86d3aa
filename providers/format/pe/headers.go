package pe

import (
	"bytes"
	"fmt"
	"math/bits"
	"sort"
	"strconv"
	"strings"

	"rea/providers/format/object"
)

// COFF characteristics.
const (
	fileRelocsStripped = 0x0001
	fileExecutable     = 0x0002
	fileSystem         = 0x1000
	fileDLL            = 0x2000
)

// Section characteristics.
const (
	scnCode          = 0x00000020
	scnData          = 0x00000040
	scnBSS           = 0x00000080
	scnInfo          = 0x00000200
	scnRemove        = 0x00000800
	scnComdat        = 0x00001000
	scnManyRelocs    = 0x01000000
	scnDiscardable   = 0x02000000
	scnExecute       = 0x20000000
	scnRead          = 0x40000000
	scnWrite         = 0x80000000
	sectionHeaderLen = 40
)

type optionalHeader struct {
	magic            uint16
	linker           [2]byte
	entry            uint32
	sectionAlignment uint32
	fileAlignment    uint32
	osVersion        [2]uint16
	subsystemVersion [2]uint16
	sizeOfImage      uint32
	sizeOfHeaders    uint32
	subsystem        uint16
	dll              uint16
}

type section struct {
	name    string
	rva     uint32
	vsize   uint32
	raw     uint32
	rawSize uint32
	relocs  uint32
	nrelocs uint32
	flags   uint32
	addr    uint64 // where it is mapped; 0 when it is not
}

var subsystemNames = map[uint16]string{
	1: "native", 2: "windows_gui", 3: "windows_console", 5: "os2_console", 7: "posix_console",
	8: "native_windows_9x", 9: "windows_ce_gui", 10: "efi_application", 11: "efi_boot_service_driver",
	12: "efi_runtime_driver", 13: "efi_rom", 14: "xbox", 16: "windows_boot_application", 17: "xbox_code_catalog",
}

func archOf(machine uint16) (object.Arch, int) {
	switch machine {
	case machineI386:
		return object.X86, 32
	case machineAMD64:
		return object.X86_64, 64
	case machineARM, machineThumb, machineARMNT:
		return object.ARM, 32
	case machineARM64, machineARM64EC, machineARM64X:
		return object.ARM64, 64
	}
	return object.Unknown, 32
}

func (l *loader) setMachine(m uint16) {
	l.machine = m
	l.im.Arch, l.im.Bits = archOf(m)
	if name, ok := machineNames[m]; ok {
		l.im.Machine = name
	} else {
		l.im.Machine = fmt.Sprintf("IMAGE_FILE_MACHINE_%#04x", m)
	}
	switch m {
	case machineARM64EC:
		l.im.Subtype = "arm64ec"
	case machineARM64X:
		l.im.Subtype = "arm64x"
	}
}

// image reads a file that begins with the DOS header.
func (l *loader) image() error {
	if len(l.data) < 64 {
		return bad(0, "DOS header cut off after %d bytes", len(l.data))
	}
	pe := uint64(le.Uint32(l.data[60:]))
	if pe+24 > uint64(len(l.data)) {
		return bad(60, "PE header offset %#x lies beyond the file: a DOS program or a truncated image", pe)
	}
	if sig := l.data[pe : pe+4]; !bytes.Equal(sig, []byte("PE\x00\x00")) {
		switch string(sig[:2]) {
		case "NE", "LE", "LX":
			return bad(pe, "a %s executable, not PE", sig[:2])
		}
		return bad(pe, "no PE signature")
	}
	h := l.data[pe+4:]
	l.setMachine(le.Uint16(h))
	nsec := int(le.Uint16(h[2:]))
	stamp := le.Uint32(h[4:])
	optSize := uint64(le.Uint16(h[16:]))
	l.chars = le.Uint16(h[18:])
	opt := pe + 24
	if err := l.optionalHeader(opt, optSize); err != nil {
		return err
	}
	l.im.Kind = object.Executable
	if l.chars&fileDLL != 0 {
		l.im.Kind = object.SharedLibrary
	}
	l.im.FileType = "PE32"
	if l.plus {
		l.im.FileType = "PE32+"
	}
	l.stringTable(le.Uint32(h[8:]), le.Uint32(h[12:]), 18)
	l.sectionTable(opt+optSize, nsec)
	l.mapSections()
	l.properties(stamp)
	l.rich(pe)

	if l.optional.entry != 0 {
		l.im.Entry, l.im.HasEntry = l.base+uint64(l.optional.entry), true
		if l.thumb() {
			l.im.Entry &^= 1
		}
		if l.executable(l.im.Entry) {
			l.hint(l.im.Entry, 0, "", object.FromEntry)
		} else if l.im.Bytes(l.im.Entry, 1) == nil {
			l.im.Note("entry point %#x is not in a mapped section", l.im.Entry)
		}
	}
	l.imports()
	l.delayImports()
	l.boundImports()
	l.exports()
	l.baseRelocations()
	l.symbols(le.Uint32(h[8:]), le.Uint32(h[12:]), 18)
	l.loadConfig()
	l.exceptions()
	l.tls()
	l.debugDirectory()
	l.overlay(le.Uint32(h[8:]))
	l.mitigations()
	return nil
}

func (l *loader) optionalHeader(off, size uint64) error {
	if size < 2 || off+2 > uint64(len(l.data)) {
		return bad(off, "no optional header: not an executable image")
	}
	end := min(off+size, uint64(len(l.data)))
	b := l.data[off:end]
	o := &l.optional
	o.magic = le.Uint16(b)
	var fixed int
	switch o.magic {
	case 0x10b:
		fixed, l.im.Bits = 96, 32
	case 0x20b:
		fixed, l.plus, l.im.Bits = 112, true, 64
	case 0x107:
		return bad(off, "a ROM image, not PE")
	default:
		return bad(off, "unknown optional header magic %#x", o.magic)
	}
	if len(b) < fixed-4 {
		return bad(off, "optional header of %d bytes is too short", len(b))
	}
	o.linker = [2]byte{b[2], b[3]}
	o.entry = le.Uint32(b[16:])
	if l.plus {
		l.base = le.Uint64(b[24:])
	} else {
		l.base = uint64(le.Uint32(b[28:]))
	}
	o.sectionAlignment, o.fileAlignment = le.Uint32(b[32:]), le.Uint32(b[36:])
	o.osVersion = [2]uint16{le.Uint16(b[40:]), le.Uint16(b[42:])}
	o.subsystemVersion = [2]uint16{le.Uint16(b[48:]), le.Uint16(b[50:])}
	o.sizeOfImage, o.sizeOfHeaders = le.Uint32(b[56:]), le.Uint32(b[60:])
	o.subsystem, o.dll = le.Uint16(b[68:]), le.Uint16(b[70:])
	// RVAs are 32 bits wide: a base this high would wrap around.
	if l.base > ^uint64(0)-(1<<33) {
		l.im.Note("image base %#x leaves no room for the image; 0 is used instead", l.base)
		l.base = 0
	}
	l.im.Base = l.base
	if len(b) < fixed {
		return nil
	}
	claimed := le.Uint32(b[fixed-4:])
	n := int(min(claimed, 16))
	if have := (len(b) - fixed) / 8; n > have {
		l.im.Note("optional header claims %d data directories and holds %d", claimed, have)
		n = have
	}
	for i := range n {
		p := b[fixed+8*i:]
		l.dirs[i] = directory{le.Uint32(p), le.Uint32(p[4:])}
	}
	return nil
}

// sectionTable reads the headers that fit into the file.
func (l *loader) sectionTable(off uint64, n int) {
	if off > uint64(len(l.data)) {
		l.im.Note("section table lies beyond the file")
		return
	}
	b := l.data[off:]
	if have := len(b) / sectionHeaderLen; n > have {
		l.im.Note("header claims %d sections, the file holds %d section headers", n, have)
		n = have
	}
	l.sections = make([]section, 0, n)
	for i := range n {
		h := b[i*sectionHeaderLen:]
		l.sections = append(l.sections, section{
			name:  l.sectionName(h[:8]),
			vsize: le.Uint32(h[8:]), rva: le.Uint32(h[12:]),
			rawSize: le.Uint32(h[16:]), raw: le.Uint32(h[20:]),
			relocs: le.Uint32(h[24:]), nrelocs: uint32(le.Uint16(h[32:])),
			flags: le.Uint32(h[36:]),
		})
	}
}

// sectionName resolves "/123" (decimal) and "//AAAA" (base 64) references
// into the string table.
func (l *loader) sectionName(b []byte) string {
	short := string(bytes.TrimRight(b, "\x00"))
	if !strings.HasPrefix(short, "/") || len(l.strtab) == 0 {
		return short
	}
	var off uint64
	if rest, ok := strings.CutPrefix(short, "//"); ok {
		const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		for _, c := range []byte(rest) {
			d := strings.IndexByte(digits, c)
			if d < 0 {
				return short
			}
			off = off*64 + uint64(d)
		}
	} else {
		n, err := strconv.ParseUint(short[1:], 10, 32)
		if err != nil {
			return short
		}
		off = n
	}
	if name, ok := l.stringAt(off); ok && name != "" {
		return name
	}
	return short
}

// stringTable finds the strings that follow n symbols of size each.
func (l *loader) stringTable(symtab, n uint32, size uint64) {
	off := uint64(symtab) + uint64(n)*size
	if symtab == 0 || off+4 > uint64(len(l.data)) {
		return
	}
	b := l.data[off:]
	length := uint64(le.Uint32(b))
	if length > uint64(len(b)) {
		length = uint64(len(b))
	}
	if length >= 4 {
		l.strtab, l.strtabEnd = b[:length], off+length
	}
}

func (l *loader) stringAt(off uint64) (string, bool) {
	if off < 4 || off >= uint64(len(l.strtab)) {
		return "", false
	}
	b := l.strtab[off:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if len(b) > l.names {
		return "", false
	}
	l.names -= len(b)
	return string(b), true
}

func alignUp(v, a uint64) uint64 {
	if a <= 1 {
		return v
	}
	return (v + a - 1) / a * a
}

// mapSections lays the image out as the Windows loader does: raw offsets are
// rounded down to the sector, sizes up to the page, no further than the next
// section.
func (l *loader) mapSections() {
	const page, sector = 4096, 512
	size := uint64(len(l.data))
	low := l.optional.sectionAlignment < page && l.optional.sectionAlignment != 0
	headers := min(uint64(l.optional.sizeOfHeaders), size)
	if headers == 0 {
		headers = min(page, size)
	}
	starts := make([]uint64, 0, len(l.sections))
	for _, s := range l.sections {
		starts = append(starts, uint64(s.rva))
	}
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	next := func(rva uint64) uint64 {
		i := sort.Search(len(starts), func(i int) bool { return starts[i] > rva })
		if i == len(starts) {
			return 1 << 33
		}
		return starts[i]
	}
	if len(starts) > 0 && starts[0] < headers {
		headers = starts[0]
	}
	if headers > 0 {
		l.im.Segments = append(l.im.Segments, object.Segment{
			Name: "headers", Addr: l.base, Size: headers, FileSize: headers,
			Perm: object.Permissions{Read: true},
		})
	}
	seen := map[uint32]bool{}
	for i := range l.sections {
		s := &l.sections[i]
		span := uint64(s.vsize)
		if span == 0 {
			span = uint64(s.rawSize)
		}
		raw := uint64(s.raw)
		if !low && l.optional.fileAlignment >= sector {
			raw &^= sector - 1
		}
		fileSize := uint64(s.rawSize)
		if s.raw == 0 {
			fileSize = 0
		}
		mapped := span
		if !low {
			mapped = alignUp(span, page)
		}
		if gap := next(uint64(s.rva)) - uint64(s.rva); mapped > gap {
			if span > gap {
				l.im.Note("section %q overlaps the next one; its mapping ends there", s.name)
			}
			mapped = gap
		}
		switch {
		case fileSize == 0:
		case raw >= size:
			l.im.Note("section %q: its data at file offset %#x lies beyond the file", s.name, raw)
			fileSize = 0
		case raw+fileSize > size:
			l.im.Note("section %q: %d of its %d bytes are missing at the end of the file", s.name, raw+fileSize-size, fileSize)
			fileSize = size - raw
		}
		perm := permissions(s.flags)
		s.addr = l.base + uint64(s.rva)
		l.im.Sections = append(l.im.Sections, object.Section{
			Name: s.name, Addr: s.addr, Size: span, Offset: raw, FileSize: min(fileSize, span),
			Type: sectionType(s.flags), Perm: perm, Mapped: true,
			Align: uint64(l.optional.sectionAlignment), Code: perm.Execute,
		})
		if seen[s.rva] || mapped == 0 {
			continue
		}
		seen[s.rva] = true
		l.im.Segments = append(l.im.Segments, object.Segment{
			Name: s.name, Addr: s.addr, Size: mapped, Offset: raw, FileSize: min(fileSize, mapped), Perm: perm,
		})
	}
	l.im.NormalizeSegments()
}

func permissions(flags uint32) object.Permissions {
	return object.Permissions{Read: flags&scnRead != 0, Write: flags&scnWrite != 0, Execute: flags&scnExecute != 0}
}

// sectionType names the content flags, as the format has no section types.
func sectionType(flags uint32) string {
	var parts []string
	for _, f := range []struct {
		bit  uint32
		name string
	}{
		{scnCode, "CNT_CODE"}, {scnData, "CNT_INITIALIZED_DATA"}, {scnBSS, "CNT_UNINITIALIZED_DATA"},
		{scnInfo, "LNK_INFO"}, {scnRemove, "LNK_REMOVE"}, {scnComdat, "LNK_COMDAT"}, {scnDiscardable, "MEM_DISCARDABLE"},
	} {
		if flags&f.bit != 0 {
			parts = append(parts, f.name)
		}
	}
	return strings.Join(parts, "|")
}

func (l *loader) properties(stamp uint32) {
	if name, ok := subsystemNames[l.optional.subsystem]; ok {
		l.property("subsystem", "%s", name)
	} else {
		l.property("subsystem", "unknown (%d)", l.optional.subsystem)
	}
	l.property("subsystem_version", "%d.%d", l.optional.subsystemVersion[0], l.optional.subsystemVersion[1])
	l.property("os_version", "%d.%d", l.optional.osVersion[0], l.optional.osVersion[1])
	l.property("linker_version", "%d.%d", l.optional.linker[0], l.optional.linker[1])
	l.property("timestamp", "%#08x", stamp)
	l.property("size_of_image", "%#x", l.optional.sizeOfImage)
	if l.optional.subsystem >= 10 && l.optional.subsystem <= 13 {
		l.im.OS = "uefi"
	}
	if l.chars&fileSystem != 0 {
		l.property("system_file", "true")
	}
	if d := l.dirs[dirCLR]; d.rva != 0 && d.size != 0 {
		l.property("clr", "header at %#x", l.base+uint64(d.rva))
		l.im.Note("a .NET assembly: its methods are CIL, which is not read here")
	}
	if a := l.optional.fileAlignment; a != 0 && bits.OnesCount32(a) != 1 {
		l.im.Note("file alignment %#x is no power of two", a)
	}
}

// overlay names bytes after everything that headers and sections account for.
// The attribute certificate table is no overlay though it follows the sections.
func (l *loader) overlay(symtab uint32) {
	end := uint64(min(uint64(l.optional.sizeOfHeaders), uint64(len(l.data))))
	for _, s := range l.sections {
		if s.raw != 0 && s.rawSize != 0 {
			end = max(end, uint64(s.raw)+uint64(s.rawSize))
		}
	}
	if symtab != 0 && len(l.strtab) > 0 {
		end = max(end, l.strtabEnd)
	}
	size := uint64(len(l.data))
	if end >= size {
		return
	}
	if d := l.dirs[dirSecurity]; d.size != 0 && uint64(d.rva) >= end && uint64(d.rva)+uint64(d.size) <= size {
		before, after := uint64(d.rva)-end, size-uint64(d.rva)-uint64(d.size)
		if before < 16 && after < 16 {
			return
		}
	}
	l.property("overlay", "%d bytes at file offset %#x", size-end, end)
	l.im.Note("%d bytes follow the last section (overlay at file offset %#x)", size-end, end)
}
