// Package macho reads Mach-O files, thin and universal, into the vocabulary of
// package object.
//
// A universal file holds one image for each architecture. Load reads one of
// them; its Data is that slice, so file offsets count from the slice's start.
// Without a name the slice is chosen by a fixed order: arm64e, arm64, x86_64h,
// x86_64, then 32-bit ones, then file order. Slices lists what else there is.
//
// Pointers that the dynamic linker would fill are described by Relocations.
// Where the file keeps them as chains (chained fixups), Bytes shows them
// resolved: the address for a pointer into the image, zero for an import.
//
// Every count and offset is a claim of the file, checked against the bytes
// there are before anything is allocated or walked. What the bytes do not
// support is left out and named in Notes. Repeating tables share a budget in
// proportion to the file.
package macho

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rea/providers/format/object"
)

// File types.
const (
	typeObject     = 1
	typeExecute    = 2
	typeFVMLib     = 3
	typeCore       = 4
	typePreload    = 5
	typeDylib      = 6
	typeDylinker   = 7
	typeBundle     = 8
	typeDylibStub  = 9
	typeDSYM       = 10
	typeKextBundle = 11
	typeFileset    = 12
)

var fileTypeNames = map[uint32]string{
	typeObject: "MH_OBJECT", typeExecute: "MH_EXECUTE", typeFVMLib: "MH_FVMLIB", typeCore: "MH_CORE",
	typePreload: "MH_PRELOAD", typeDylib: "MH_DYLIB", typeDylinker: "MH_DYLINKER", typeBundle: "MH_BUNDLE",
	typeDylibStub: "MH_DYLIB_STUB", typeDSYM: "MH_DSYM", typeKextBundle: "MH_KEXT_BUNDLE", typeFileset: "MH_FILESET",
}

// Header flags.
const (
	flagTwoLevel    = 0x80
	flagAllowStack  = 0x20000
	flagPIE         = 0x200000
	flagNoHeapExec  = 0x1000000
	flagDyldManaged = 0x4
)

type loader struct {
	im    *object.Image
	data  []byte
	order binary.ByteOrder
	wide  bool // 64-bit structures
	cpu   uint32
	ftype uint32
	flags uint32

	commands []command
	segments []segment // in load command order, also those that map nothing
	sections []section // in load command order: n_sect counts them from 1
	dylibs   []dylib
	symtab   symbolTable
	indirect []byte // dysymtab's indirect symbol table
	binds    []bind
	slots    map[uint64]int // bind index by address
	helpers  []object.Stub  // lazy pointers' first targets
	resolved []byte         // copy of data with chained pointers resolved
	made     objectLayout   // of an object file
	budget   int            // table entries still allowed
	names    int            // bytes of names still allowed
	sign     signature
	crypt    uint32
	bySect   []int // indexes of sections by address
	restrict bool
}

type command struct {
	cmd  uint32
	off  uint64
	data []byte // with the 8-byte header
}

func bad(off uint64, format string, args ...any) error {
	return &object.FormatError{Format: object.MachO, Offset: off, What: fmt.Sprintf(format, args...)}
}

// Load reads the image of one slice; slice is a name that Slices gives, or "".
// An unknown name is an *UnknownSliceError, a file that is not Mach-O an
// *object.FormatError. Lesser damage becomes notes of the image.
func Load(data []byte, slice string) (*object.Image, error) {
	l, all, err := open(data, slice)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		var names []string
		for _, s := range all {
			names = append(names, s.Name())
		}
		l.property("slices", "%s", strings.Join(names, ", "))
	}
	l.property("flags", "%s", flagList(l.flags))
	l.image()
	l.im.Normalize()
	return l.im, nil
}

// open reads the header and the load commands of one slice.
func open(data []byte, slice string) (*loader, []Slice, error) {
	all, notes, err := readSlices(data)
	if err != nil {
		return nil, nil, err
	}
	s, err := choose(all, slice)
	if err != nil {
		return nil, nil, err
	}
	end := s.Offset + s.Size
	l := &loader{data: data[s.Offset:end:end], slots: map[uint64]int{}}
	l.im = &object.Image{Format: object.MachO, FileStart: s.Offset, Notes: notes}
	l.im.SetData(l.data)
	l.budget, l.names = len(l.data)/4+4096, 4*len(l.data)+4096
	if err := l.header(s.Offset); err != nil {
		return nil, nil, err
	}
	return l, all, nil
}

func (l *loader) property(name, format string, args ...any) {
	l.im.Properties = append(l.im.Properties, object.Property{Name: name, Value: fmt.Sprintf(format, args...)})
}

func (l *loader) u32(b []byte) uint32 { return l.order.Uint32(b) }

// word reads a pointer-sized field of a structure.
func (l *loader) word(b []byte) uint64 {
	if l.wide {
		return l.order.Uint64(b)
	}
	return uint64(l.order.Uint32(b))
}

func (l *loader) pointerSize() int {
	if l.wide {
		return 8
	}
	return 4
}

// spend takes n table entries from the budget.
func (l *loader) spend(n int) bool {
	if n < 0 || n > l.budget {
		l.im.Note("tables claim more entries than the file can hold; the rest is left out")
		l.budget = 0
		return false
	}
	l.budget -= n
	return true
}

// name takes a zero-terminated string from the front of b.
func (l *loader) name(b []byte) (string, bool) {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return "", false
	}
	if n > l.names {
		l.im.Note("names are longer than the file can hold; the rest is left out")
		return "", false
	}
	l.names -= n
	return string(b[:n]), true
}

// file returns the part of [off, off+size) that the file holds.
func (l *loader) file(off, size uint64, what string) []byte {
	total := uint64(len(l.data))
	if size == 0 {
		return nil
	}
	if off >= total {
		l.im.Note("%s lies beyond the file", what)
		return nil
	}
	if size > total-off {
		l.im.Note("%s claims %d bytes, the file holds %d", what, size, total-off)
		size = total - off
	}
	return l.data[off : off+size]
}

func (l *loader) header(sliceOffset uint64) error {
	var ok bool
	if l.order, l.wide, ok = byteOrder(l.data); !ok {
		if bytes.HasPrefix(l.data, []byte("!<arch>\n")) {
			return bad(sliceOffset, "the slice is a static archive, not an image")
		}
		return bad(sliceOffset, "the slice has no Mach-O magic")
	}
	size := 28
	if l.wide {
		size = 32
	}
	if len(l.data) < size {
		return bad(sliceOffset, "header cut off after %d bytes", len(l.data))
	}
	im := l.im
	l.cpu = l.u32(l.data[4:])
	im.Arch, im.Subtype = archOf(l.cpu, l.u32(l.data[8:]))
	im.Machine = cpuNames[l.cpu]
	if im.Machine == "" {
		im.Machine = fmt.Sprintf("CPU_TYPE_%#x", l.cpu)
	}
	im.Bits, im.BigEndian = 8*l.pointerSize(), l.order == binary.BigEndian
	l.ftype, l.flags = l.u32(l.data[12:]), l.u32(l.data[24:])
	if im.FileType = fileTypeNames[l.ftype]; im.FileType == "" {
		im.FileType = "MH_" + strconv.Itoa(int(l.ftype))
	}
	switch l.ftype {
	case typeExecute:
		im.Kind = object.Executable
	case typeDylib, typeBundle, typeDylibStub, typeFVMLib:
		im.Kind = object.SharedLibrary
	case typeObject:
		im.Kind = object.Relocatable
	case typeCore:
		im.Kind = object.Core
	default:
		im.Kind = object.OtherKind
	}
	l.loadCommands(size, l.u32(l.data[16:]), l.u32(l.data[20:]))
	return nil
}

// loadCommands splits the commands; a damaged size ends the list.
func (l *loader) loadCommands(headerSize int, count, size uint32) {
	b := l.data[headerSize:]
	if uint64(size) < uint64(len(b)) {
		b = b[:size]
	} else if uint64(size) > uint64(len(b)) {
		l.im.Note("load commands claim %d bytes, the file holds %d", size, len(b))
	}
	off := uint64(headerSize)
	for i := uint32(0); i < count; i++ {
		if len(b) < 8 {
			l.im.Note("header claims %d load commands, there are %d", count, i)
			return
		}
		n := uint64(l.u32(b[4:]))
		if n < 8 || n > uint64(len(b)) {
			l.im.Note("load command %d has size %d where %d bytes are left", i, n, len(b))
			return
		}
		l.commands = append(l.commands, command{l.u32(b), off, b[:n:n]})
		b, off = b[n:], off+n
	}
}

// image reads everything in the order in which one part needs another.
func (l *loader) image() {
	l.layout()
	l.identity()
	l.readSymbols()
	l.fixups()
	l.exports()
	l.bindRelocations()
	l.importTables()
	l.functionStarts()
	l.dataInCode()
	l.entry()
	l.initializers()
	l.unwindInfo()
	l.ehFrames()
	l.codeSignature()
	l.mitigations()
}

// find returns the first command of one of the kinds, if it has need bytes.
func (l *loader) find(need int, kinds ...uint32) (command, bool) {
	for _, c := range l.commands {
		if slices.Contains(kinds, c.cmd) {
			if len(c.data) < need {
				l.im.Note("load command %#x is too short (%d bytes)", c.cmd, len(c.data))
				continue
			}
			return c, true
		}
	}
	return command{}, false
}

// linkEdit returns the data of a command that names a range of the file.
func (l *loader) linkEdit(what string, kinds ...uint32) []byte {
	c, ok := l.find(16, kinds...)
	if !ok {
		return nil
	}
	return l.file(uint64(l.u32(c.data[8:])), uint64(l.u32(c.data[12:])), what)
}

// executable tells whether code can be at addr.
func (l *loader) executable(addr uint64) bool { return l.im.Executable(addr) }

func (l *loader) hint(addr, size uint64, name string, from object.HintSource) {
	if l.cpu == cpuARM {
		addr &^= 1 // Thumb addresses carry the mode in bit 0
	}
	if l.executable(addr) {
		l.im.Hints = append(l.im.Hints, object.FunctionHint{Addr: addr, Size: size, Name: name, Source: from})
	}
}
