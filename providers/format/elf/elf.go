// Package elf loads ELF files the way a kernel and a dynamic linker would:
// program headers and the dynamic table decide, section headers add what only
// they know (names, the static symbol table) and are believed as far as the
// bytes agree. A file with damaged, lying or absent section headers loads.
//
// Relocatable objects have no addresses of their own. Their allocated sections
// are laid out one after the other from RelocatableBase, followed by a
// synthetic range with one place for each undefined symbol and each slot that
// a linker would make, and the relocations are applied to a copy.
package elf

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"rea/providers/format/ehframe"
	"rea/providers/format/object"
)

// Load reads an ELF file. The error is an *object.FormatError when the file is
// no ELF file or its header can't be read; lesser damage is named in the
// image's Notes.
func Load(data []byte) (*object.Image, error) {
	f := &file{data: data, im: &object.Image{Format: object.ELF}}
	f.im.SetData(data)
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	f.readTables()
	f.identify()
	f.loadSegments()
	f.loadSections()
	f.readDynamic()
	f.readNotes()
	f.classify()
	var unwound func()
	if f.header.typ != etRel { // the bytes of an object file are not relocated yet
		unwound = f.unwind()
	}
	f.readSymbols()
	var names map[string]int
	named := object.Beside(func() { names = f.referencedNames() })
	f.splitNames()
	f.readRelocations()
	f.bindImports()
	f.findStubs()
	f.hint()
	if unwound == nil {
		unwound = f.unwind()
	}
	unwound()
	named()
	f.mitigations(names)
	f.im.Normalize()
	return f.im, nil
}

func (f *file) identify() {
	im, h := f.im, &f.header
	im.Arch, im.Machine = arch(h.machine), machineName(h.machine)
	im.FileType, im.Kind = typeName(h.typ)
	if h.machine == emX86_64 && !f.is64 {
		im.Subtype = "x32"
	}
	switch h.osabi {
	case 2:
		im.OS = "netbsd"
	case 3:
		im.OS = "linux"
	case 6:
		im.OS = "solaris"
	case 9:
		im.OS = "freebsd"
	case 12:
		im.OS = "openbsd"
	}
}

// classify decides what an ET_DYN file is and whether its entry is one.
func (f *file) classify() {
	im, h := f.im, &f.header
	if h.typ == etDyn {
		pie := f.dynamic.flags1&df1PIE != 0
		if pie || (im.Interp != "" && im.SOName == "") {
			im.Kind = object.Executable
		}
	}
	if h.typ != etExec && h.typ != etDyn || h.entry == 0 {
		return
	}
	if im.Executable(h.entry) {
		im.Entry, im.HasEntry = h.entry, true
	} else {
		im.Note("the entry point %#x lies in no executable segment", h.entry)
	}
}

// loadSegments maps PT_LOAD and reads the interpreter.
func (f *file) loadSegments() {
	im := f.im
	first := true
	for i, p := range f.programs {
		switch p.typ {
		case ptInterp:
			b := f.at(p.offset, min(p.filesz, 4096))
			if j := strings.IndexByte(string(b), 0); j >= 0 {
				b = b[:j]
			}
			im.Interp = string(b)
		case ptLoad:
			if base := p.vaddr &^ (max(p.align, 1) - 1); first || base < im.Base {
				if p.align&(p.align-1) != 0 {
					base = p.vaddr
				}
				im.Base, first = base, false
			}
			im.Segments = append(im.Segments, f.segment(i, p))
		}
	}
	if len(im.Segments) == 0 && f.header.typ != etRel {
		f.segmentsFromSections()
	}
	if f.debugFile() {
		im.Note("this is a separate debug file: the code and data of the program are not in it")
		im.Properties = append(im.Properties, object.Property{Name: "debug_file", Value: "true"})
		for i := range im.Segments {
			im.Segments[i].FileSize = 0
		}
	}
	im.NormalizeSegments()
}

// debugFile tells whether the code of a linked program was left out of the
// file. Its program headers may still carry the offsets of the stripped file.
func (f *file) debugFile() bool {
	empty := false
	for i := range f.sections {
		s := &f.sections[i]
		if s.flags&shfExecinstr == 0 || s.size == 0 {
			continue
		}
		if s.typ != shtNobits {
			return false
		}
		empty = true
	}
	return empty && f.header.typ != etRel && f.named(".debug_info") != nil
}

// segment maps one PT_LOAD as far as the file holds its bytes.
func (f *file) segment(i int, p program) object.Segment {
	size := uint64(len(f.data))
	if p.filesz > p.memsz {
		f.im.Note("program header %d has more file bytes (%#x) than memory (%#x)", i, p.filesz, p.memsz)
		p.filesz = p.memsz
	}
	if p.offset > size {
		f.im.Note("program header %d starts at file offset %#x, beyond the file", i, p.offset)
		p.offset, p.filesz = size, 0
	} else if p.filesz > size-p.offset {
		f.im.Note("program header %d claims %#x file bytes, the file holds %#x", i, p.filesz, size-p.offset)
		p.filesz = size - p.offset
	}
	return object.Segment{
		Name: "LOAD", Addr: p.vaddr, Size: p.memsz, Offset: p.offset, FileSize: p.filesz,
		Perm: object.Permissions{Read: p.flags&pfR != 0, Write: p.flags&pfW != 0, Execute: p.flags&pfX != 0},
	}
}

// segmentsFromSections serves linked files without program headers, such as
// parts cut from an image.
func (f *file) segmentsFromSections() {
	any := false
	for i := range f.sections {
		s := &f.sections[i]
		if s.flags&shfAlloc == 0 || s.size == 0 || s.tbss() {
			continue
		}
		any = true
		f.im.Segments = append(f.im.Segments, f.sectionSegment(s))
	}
	if any {
		f.im.Note("no program header maps anything; sections are mapped instead")
	}
}

func (f *file) sectionSegment(s *section) object.Segment {
	n := uint64(len(f.contents(s)))
	return object.Segment{Name: s.name, Addr: s.addr, Size: s.size, Offset: s.offset, FileSize: n, Perm: s.perm()}
}

func (s *section) perm() object.Permissions {
	return object.Permissions{Read: s.flags&shfAlloc != 0, Write: s.flags&shfWrite != 0, Execute: s.flags&shfExecinstr != 0}
}

// tbss tells whether a section is thread-local zero data, which has an address
// but takes no room in the image.
func (s *section) tbss() bool { return s.typ == shtNobits && s.flags&shfTLS != 0 }

// loadSections lists the sections and compares them with the segments.
func (f *file) loadSections() {
	im := f.im
	if f.header.typ == etRel {
		f.layOut()
	}
	liars, firstLiar := 0, ""
	for i := range f.sections {
		s := &f.sections[i]
		if s.typ == shtNull {
			continue
		}
		have := uint64(len(f.contents(s)))
		if s.typ != shtNobits && have < s.size {
			im.Note("section %q claims %#x bytes at offset %#x, the file holds %#x", s.name, s.size, s.offset, have)
		}
		out := object.Section{
			Name: s.name, Addr: s.addr, Size: s.size, Offset: s.offset, FileSize: have, Type: sectionTypeName(f.header.machine, s.typ),
			Perm: s.perm(), Align: s.align, Code: s.flags&shfExecinstr != 0, Compressed: s.flags&shfCompressed != 0,
		}
		if s.flags&shfAlloc != 0 && !s.tbss() && (f.header.typ != etRel || s.placed) {
			seg := im.SegmentAt(s.addr)
			out.Mapped = seg != nil
			wrong := seg == nil && s.size > 0 ||
				seg != nil && have > 0 && s.addr-seg.Addr < seg.FileSize && seg.Offset+(s.addr-seg.Addr) != s.offset
			if wrong {
				if liars++; liars == 1 {
					firstLiar = fmt.Sprintf("%q (address %#x, offset %#x)", s.name, s.addr, s.offset)
				}
			}
		}
		im.Sections = append(im.Sections, out)
	}
	if liars > 0 {
		im.Note("%d section headers contradict the program headers, the first %s; the program headers are believed", liars, firstLiar)
	}
}

// unwind begins to read the call frame information and its exception tables,
// which takes as long as the symbols; add waits for it and records what it says.
func (f *file) unwind() (add func()) {
	loc := ehframe.Location{TextBase: f.sectionAddr(".text"), DataBase: f.dynamic.pltgot}
	if p := f.first(ptGNUEHFrame); p != nil {
		loc.Header, loc.HeaderSize = p.vaddr, p.memsz
	} else if s := f.im.Section(".eh_frame_hdr"); s != nil && s.Mapped {
		loc.Header, loc.HeaderSize = s.Addr, s.Size
	}
	for i := range f.im.Sections {
		if s := &f.im.Sections[i]; s.Mapped && s.Name == ".eh_frame" && s.Size > 0 {
			loc.Frames = append(loc.Frames, object.Range{Addr: s.Addr, Size: s.Size})
		}
	}
	if loc.Header == 0 && len(loc.Frames) == 0 || f.debugFile() {
		return func() {}
	}
	var table *ehframe.Table
	read := object.Beside(func() { table = ehframe.Read(f.im, loc) })
	return func() {
		read()
		table.AddTo(f.im)
		f.dropStubEntries()
	}
}

// dropStubEntries removes what unwind data says about linkage stubs: one FDE
// covers a whole PLT, whose entries are listed as stubs.
func (f *file) dropStubEntries() {
	stubs := f.im.Stubs
	inStub := func(addr uint64) bool {
		i := sort.Search(len(stubs), func(i int) bool { return stubs[i].Addr > addr })
		return i > 0 && addr-stubs[i-1].Addr < stubs[i-1].Size
	}
	f.im.Hints = slices.DeleteFunc(f.im.Hints, func(h object.FunctionHint) bool {
		return h.Source == object.FromEHFrame && inStub(h.Addr)
	})
	f.im.Parts = slices.DeleteFunc(f.im.Parts, func(p object.FunctionPart) bool { return inStub(p.Addr) })
}

func (f *file) sectionAddr(name string) uint64 {
	if s := f.named(name); s != nil {
		return s.addr
	}
	return 0
}
