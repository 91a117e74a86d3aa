package macho

import (
	"bytes"
	"fmt"

	"rea/providers/format/object"
)

// Load commands.
const (
	cmdSegment       = 0x1
	cmdSymtab        = 0x2
	cmdThread        = 0x4
	cmdUnixThread    = 0x5
	cmdDysymtab      = 0xb
	cmdLoadDylib     = 0xc
	cmdIDDylib       = 0xd
	cmdLoadDylinker  = 0xe
	cmdIDDylinker    = 0xf
	cmdRoutines      = 0x11
	cmdWeakDylib     = 0x80000018
	cmdSegment64     = 0x19
	cmdRoutines64    = 0x1a
	cmdUUID          = 0x1b
	cmdRPath         = 0x8000001c
	cmdCodeSignature = 0x1d
	cmdReexport      = 0x8000001f
	cmdLazyDylib     = 0x20
	cmdEncryption    = 0x21
	cmdDyldInfo      = 0x22
	cmdDyldInfoOnly  = 0x80000022
	cmdUpwardDylib   = 0x80000023
	cmdMinMacOS      = 0x24
	cmdMinIOS        = 0x25
	cmdFuncStarts    = 0x26
	cmdDyldEnv       = 0x27
	cmdMain          = 0x80000028
	cmdDataInCode    = 0x29
	cmdSourceVersion = 0x2a
	cmdEncryption64  = 0x2c
	cmdMinTVOS       = 0x2f
	cmdMinWatchOS    = 0x30
	cmdBuildVersion  = 0x32
	cmdExportsTrie   = 0x80000033
	cmdChainedFixups = 0x80000034
	cmdFilesetEntry  = 0x80000035
)

type segment struct {
	name             string
	addr, size       uint64
	off, fileSize    uint64
	initProt         uint32
	firstSect, nSect int
}

// Section types and attributes.
const (
	sectZeroFill        = 0x1
	sectNonLazyPointers = 0x6
	sectLazyPointers    = 0x7
	sectStubs           = 0x8
	sectModInit         = 0x9
	sectModTerm         = 0xa
	sectGBZeroFill      = 0xc
	sectLazyDylib       = 0x10
	sectTLSRegular      = 0x11
	sectTLSZeroFill     = 0x12
	sectTLSVariables    = 0x13
	sectTLSPointers     = 0x14
	sectTLSInit         = 0x15
	sectInitOffsets     = 0x16
	attrPureCode        = 0x80000000
	attrSomeCode        = 0x400
	attrDebug           = 0x02000000
)

var sectionTypeNames = []string{
	"S_REGULAR", "S_ZEROFILL", "S_CSTRING_LITERALS", "S_4BYTE_LITERALS", "S_8BYTE_LITERALS", "S_LITERAL_POINTERS",
	"S_NON_LAZY_SYMBOL_POINTERS", "S_LAZY_SYMBOL_POINTERS", "S_SYMBOL_STUBS", "S_MOD_INIT_FUNC_POINTERS",
	"S_MOD_TERM_FUNC_POINTERS", "S_COALESCED", "S_GB_ZEROFILL", "S_INTERPOSING", "S_16BYTE_LITERALS", "S_DTRACE_DOF",
	"S_LAZY_DYLIB_SYMBOL_POINTERS", "S_THREAD_LOCAL_REGULAR", "S_THREAD_LOCAL_ZEROFILL", "S_THREAD_LOCAL_VARIABLES",
	"S_THREAD_LOCAL_VARIABLE_POINTERS", "S_THREAD_LOCAL_INIT_FUNCTION_POINTERS", "S_INIT_FUNC_OFFSETS",
}

type section struct {
	name           string // "__TEXT,__text"
	addr, size     uint64
	off            uint32
	relocs, nreloc uint32
	flags          uint32
	res1, res2     uint32
	mapped         bool
}

func (s *section) kind() uint32 { return s.flags & 0xff }

func (s *section) code() bool { return s.flags&(attrPureCode|attrSomeCode) != 0 }

func (s *section) zero() bool {
	k := s.kind()
	return k == sectZeroFill || k == sectGBZeroFill || k == sectTLSZeroFill
}

// layout reads the segments and sections.
func (l *loader) layout() {
	for _, c := range l.commands {
		switch {
		case c.cmd == cmdSegment64:
			l.segment(c, true)
		case c.cmd == cmdSegment:
			l.segment(c, false)
		}
	}
	l.im.NormalizeSegments()
	if l.ftype == typeObject {
		l.im.Base = ObjectBase
		return
	}
	for _, s := range l.segments {
		if s.name == "__TEXT" {
			l.im.Base = s.addr
			return
		}
	}
	for _, s := range l.segments {
		if s.off == 0 && s.fileSize > 0 {
			l.im.Base = s.addr
			return
		}
	}
}

func padded(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (l *loader) segment(c command, wide bool) {
	size, each := 56, 68
	if wide {
		size, each = 72, 80
	}
	if len(c.data) < size {
		l.im.Note("segment command at file offset %#x is too short", c.off)
		return
	}
	d := c.data
	s := segment{name: padded(d[8:24]), firstSect: len(l.sections)}
	tail := d[40:]
	if wide {
		s.addr, s.size = l.order.Uint64(d[24:]), l.order.Uint64(d[32:])
		s.off, s.fileSize = l.order.Uint64(d[40:]), l.order.Uint64(d[48:])
		tail = d[56:]
	} else {
		s.addr, s.size = uint64(l.u32(d[24:])), uint64(l.u32(d[28:]))
		s.off, s.fileSize = uint64(l.u32(d[32:])), uint64(l.u32(d[36:]))
	}
	if l.ftype == typeObject {
		s.addr += ObjectBase
	}
	s.initProt = l.u32(tail[4:])
	n := int(l.u32(tail[8:]))
	if have := (len(d) - size) / each; n < 0 || n > have {
		l.im.Note("segment %s claims %d sections, its command holds %d", s.name, uint32(n), have)
		n = have
	}
	s.nSect = n
	if s.size > -s.addr && s.addr != 0 {
		l.im.Note("segment %s wraps around the address space; it is cut", s.name)
		s.size = -s.addr
	}
	s.fileSize = l.backed(s)
	if s.name == "__RESTRICT" {
		l.restrict = true
	}
	l.segments = append(l.segments, s)
	perm := permissions(s.initProt)
	if l.ftype == typeObject {
		perm = object.Permissions{Read: true}
	} else if s.size > 0 && s.initProt != 0 {
		l.im.Segments = append(l.im.Segments, object.Segment{
			Name: s.name, Addr: s.addr, Size: s.size, Offset: s.off, FileSize: min(s.fileSize, s.size), Perm: perm,
		})
	} else if s.size > 0 && s.name == "__PAGEZERO" {
		l.property("pagezero", "%#x bytes", s.size)
	}
	for i := range n {
		l.section(d[size+i*each:], wide, s, perm)
	}
}

// backed is how much of a segment's file range the file holds.
func (l *loader) backed(s segment) uint64 {
	total := uint64(len(l.data))
	switch {
	case s.fileSize == 0:
		return 0
	case s.off >= total:
		l.im.Note("segment %s: its data at file offset %#x lies beyond the file", s.name, s.off)
		return 0
	case s.fileSize > total-s.off:
		l.im.Note("segment %s: %d of its %d bytes are missing at the end of the file", s.name, s.fileSize-(total-s.off), s.fileSize)
		return total - s.off
	}
	return s.fileSize
}

func permissions(prot uint32) object.Permissions {
	return object.Permissions{Read: prot&1 != 0, Write: prot&2 != 0, Execute: prot&4 != 0}
}

func (l *loader) section(d []byte, wide bool, seg segment, perm object.Permissions) {
	s := section{name: padded(d[16:32]) + "," + padded(d[:16])}
	t := d[40:]
	if wide {
		s.addr, s.size = l.order.Uint64(d[32:]), l.order.Uint64(d[40:])
		t = d[48:]
	} else {
		s.addr, s.size = uint64(l.u32(d[32:])), uint64(l.u32(d[36:]))
	}
	if l.ftype == typeObject {
		s.addr += ObjectBase
	}
	s.off = l.u32(t)
	align := l.u32(t[4:])
	s.relocs, s.nreloc, s.flags = l.u32(t[8:]), l.u32(t[12:]), l.u32(t[16:])
	s.res1, s.res2 = l.u32(t[20:]), l.u32(t[24:])

	out := object.Section{
		Name: s.name, Addr: s.addr, Size: s.size, Offset: uint64(s.off), Perm: perm, Code: s.code(),
	}
	if align < 64 {
		out.Align = 1 << align
	}
	if k := s.kind(); int(k) < len(sectionTypeNames) {
		out.Type = sectionTypeNames[k]
	} else {
		out.Type = fmt.Sprintf("S_%#x", k)
	}
	total := uint64(len(l.data))
	if !s.zero() && uint64(s.off) < total {
		out.FileSize = min(s.size, total-uint64(s.off))
	}
	s.mapped = (seg.initProt != 0 || l.ftype == typeObject) && s.addr >= seg.addr && s.addr-seg.addr <= seg.size && s.size <= seg.size-(s.addr-seg.addr)
	if !s.mapped && s.size > 0 && seg.size > 0 && seg.initProt != 0 {
		l.im.Note("section %s lies outside its segment", s.name)
	}
	if !s.zero() && s.mapped && s.size > 0 && l.ftype != typeDSYM && l.ftype != typeObject &&
		uint64(s.off)-seg.off != s.addr-seg.addr {
		l.im.Note("section %s: its file offset does not agree with its address", s.name)
	}
	if l.ftype == typeObject && s.mapped {
		s.mapped = l.objectSegment(&s, &out)
	}
	out.Mapped = s.mapped
	l.sections = append(l.sections, s)
	l.im.Sections = append(l.im.Sections, out)
}

// objectSegment maps one section of an object: its single segment says nothing
// about protection.
func (l *loader) objectSegment(s *section, out *object.Section) bool {
	if s.flags&attrDebug != 0 && s.name != compactUnwindName {
		return false
	}
	switch {
	case s.code():
		out.Perm = object.Permissions{Read: true, Execute: true}
	case len(s.name) >= 6 && s.name[:6] == "__DATA":
		out.Perm = object.Permissions{Read: true, Write: true}
	}
	if s.size > 0 {
		l.im.Segments = append(l.im.Segments, object.Segment{
			Name: s.name, Addr: s.addr, Size: s.size, Offset: uint64(s.off), FileSize: out.FileSize, Perm: out.Perm,
		})
	}
	return true
}
