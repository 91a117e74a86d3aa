// Package objc reads what the Objective-C and Swift runtimes know of a program:
// classes with their methods, categories, protocols, selectors; Swift types
// with their fields and the protocols they conform to.
//
// It reads an image that was loaded with its relocations known (package
// macho). Objective-C is read from Mach-O; Swift from the sections that its
// compiler writes in any format.
//
// The tables are lists of pointers into structures that refer to one another.
// All of it is hostile: structures are read only where the image has bytes for
// them, chains have a bounded depth, and all lists together share a budget in
// proportion to the image. What can't be read is left out and named in Notes.
package objc

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"rea/providers/format/object"
)

// Metadata is everything that was read, in address order.
type Metadata struct {
	Classes    []Class
	Categories []Category
	Protocols  []Protocol
	// Selectors are the pointers to selector names that message sends load.
	Selectors []Reference
	// ClassRefs are the pointers through which code names classes.
	ClassRefs []Reference
	// Stubs are the linker's message stubs: each sends one selector.
	Stubs []MessageStub

	Types        []SwiftType
	SwiftProtos  []SwiftProtocol
	Conformances []Conformance

	Notes []string
}

// Class is an Objective-C class, or a Swift class that Objective-C can see.
type Class struct {
	Name      string
	SwiftName string // module-qualified, for classes with a Swift name
	Addr      uint64
	Metaclass uint64
	Super     string // "" for a root class
	SuperAddr uint64 // 0 for an imported class

	Root, Swift, ARC bool
	InstanceSize     uint32

	Methods         []Method
	ClassMethods    []Method
	Protocols       []string
	Ivars           []Ivar
	Properties      []Property
	ClassProperties []Property
}

// Method is an entry of a method list. IMP is 0 in protocols.
type Method struct {
	Selector string
	Types    string // type encoding
	IMP      uint64
	Optional bool // of a protocol
}

// Ivar is an instance variable.
type Ivar struct {
	Name, Type string
	Offset     uint32
	OffsetAddr uint64 // of the variable that holds the offset
	Size       uint32
}

// Property is a declared property with its attribute string.
type Property struct{ Name, Attributes string }

// Category adds to a class, which may be another image's.
type Category struct {
	Name, Class     string
	Addr            uint64
	Methods         []Method
	ClassMethods    []Method
	Protocols       []string
	Properties      []Property
	ClassProperties []Property
}

// Protocol is a declared protocol.
type Protocol struct {
	Name         string
	Addr         uint64
	Protocols    []string
	Methods      []Method
	ClassMethods []Method
	Properties   []Property
}

// Reference is a pointer at Addr that stands for a name.
type Reference struct {
	Addr uint64
	Name string
}

// MessageStub is a code stub that sends Selector; calls to it are message sends.
type MessageStub struct {
	Addr, Size uint64
	Selector   string
}

type reader struct {
	im     *object.Image
	m      *Metadata
	order  binary.ByteOrder
	size   uint64 // of a pointer
	budget int    // list entries still allowed
	names  int    // bytes of names still allowed

	contexts map[uint64]string // Swift context names by descriptor
	fields   map[uint64]fieldDescriptor
	protos   map[uint64]string // Objective-C protocol names by address
}

// Read reads the metadata of an image. An image without any gives an empty
// Metadata; the error is for an image that is nil.
func Read(im *object.Image) (*Metadata, error) {
	if im == nil {
		return nil, fmt.Errorf("objc: no image")
	}
	r := &reader{
		im: im, m: &Metadata{}, order: binary.LittleEndian, size: uint64(max(im.Bits, 32) / 8),
		budget: len(im.Data())/2 + 4096, names: 4*len(im.Data()) + 4096,
		contexts: map[uint64]string{}, protos: map[uint64]string{},
	}
	if im.BigEndian {
		r.order = binary.BigEndian
	}
	if im.Format == object.MachO {
		r.objectiveC()
	}
	r.swift()
	return r.m, nil
}

// Hints are the functions that the metadata names, with names where they have
// one in the source language.
func (m *Metadata) Hints() []object.FunctionHint {
	var out []object.FunctionHint
	add := func(addr uint64, format string, args ...any) {
		if addr != 0 {
			out = append(out, object.FunctionHint{Addr: addr, Name: fmt.Sprintf(format, args...), Source: object.FromObjC})
		}
	}
	for i := range m.Classes {
		c := &m.Classes[i]
		for _, f := range c.Methods {
			add(f.IMP, "-[%s %s]", c.Name, f.Selector)
		}
		for _, f := range c.ClassMethods {
			add(f.IMP, "+[%s %s]", c.Name, f.Selector)
		}
	}
	for i := range m.Categories {
		c := &m.Categories[i]
		for _, f := range c.Methods {
			add(f.IMP, "-[%s(%s) %s]", c.Class, c.Name, f.Selector)
		}
		for _, f := range c.ClassMethods {
			add(f.IMP, "+[%s(%s) %s]", c.Class, c.Name, f.Selector)
		}
	}
	for i := range m.Types {
		t := &m.Types[i]
		add(t.Accessor, "type metadata accessor for %s", t.Name)
		for _, f := range t.Methods {
			add(f, "")
		}
	}
	slices.SortFunc(out, func(a, b object.FunctionHint) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Name, a.Name))
	})
	return slices.CompactFunc(out, func(a, b object.FunctionHint) bool { return a.Addr == b.Addr })
}

// AddTo records the metadata's functions and stubs in an image.
func (m *Metadata) AddTo(im *object.Image) {
	for _, h := range m.Hints() {
		if im.Executable(h.Addr) {
			im.Hints = append(im.Hints, h)
		}
	}
	for _, s := range m.Stubs {
		im.Stubs = append(im.Stubs, object.Stub{
			Addr: s.Addr, Size: s.Size, Kind: object.StubJump, Name: "_objc_msgSend$" + s.Selector,
		})
	}
	for _, n := range m.Notes {
		im.Note("%s", n)
	}
	im.Normalize()
}

const maxNotes = 64

func (r *reader) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if len(r.m.Notes) < maxNotes && !slices.Contains(r.m.Notes, n) {
		r.m.Notes = append(r.m.Notes, n)
	}
}

// spend takes n list entries from the budget.
func (r *reader) spend(n int) bool {
	if n < 0 || n > r.budget {
		r.note("lists of runtime metadata claim more than the image can hold; the rest is left out")
		r.budget = 0
		return false
	}
	r.budget -= n
	return true
}

// at returns exactly n bytes at an address, or nil.
func (r *reader) at(addr uint64, n uint64) []byte {
	if n > uint64(len(r.im.Data())) {
		return nil
	}
	b := r.im.Bytes(addr, int(n))
	if uint64(len(b)) < n {
		return nil
	}
	return b
}

func (r *reader) u32(addr uint64) (uint32, bool) {
	b := r.at(addr, 4)
	if b == nil {
		return 0, false
	}
	return r.order.Uint32(b), true
}

// pointer reads the pointer at addr: where it leads inside the image, or the
// symbol that the dynamic linker binds to it.
func (r *reader) pointer(addr uint64) (target uint64, symbol string) {
	rs := r.im.Relocations
	i := sort.Search(len(rs), func(i int) bool { return rs[i].Addr >= addr })
	for ; i < len(rs) && rs[i].Addr == addr; i++ {
		if rs[i].HasTarget {
			return rs[i].Target, rs[i].Symbol
		}
		if rs[i].Symbol != "" {
			return 0, rs[i].Symbol
		}
	}
	b := r.at(addr, r.size)
	if b == nil {
		return 0, ""
	}
	if r.size == 4 {
		return uint64(r.order.Uint32(b)), ""
	}
	return r.order.Uint64(b) & (1<<56 - 1), "" // the top byte may hold a tag
}

// relative follows a 32-bit distance from its own address; 0 is no pointer.
func (r *reader) relative(addr uint64) uint64 {
	v, ok := r.u32(addr)
	if !ok || v == 0 {
		return 0
	}
	return addr + uint64(int64(int32(v)))
}

// maxName is the longest name read; Swift's generic names pass 4 KiB.
const maxName = 16 << 10

// cstring reads a zero-terminated name; without a terminator it is none.
func (r *reader) cstring(addr uint64) string {
	if addr == 0 {
		return ""
	}
	b := r.im.Bytes(addr, maxName)
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return ""
	}
	if n > r.names {
		r.note("names of runtime metadata are longer than the image; the rest is left out")
		return ""
	}
	r.names -= n
	return string(b[:n])
}

// pointed reads the name that the pointer at addr leads to.
func (r *reader) pointed(addr uint64) string {
	target, _ := r.pointer(addr)
	return r.cstring(target)
}

// sections returns the mapped sections of a name, in any segment.
func (r *reader) sections(names ...string) []object.Section {
	var out []object.Section
	for _, s := range r.im.Sections {
		name := s.Name
		if _, after, ok := strings.Cut(name, ","); ok && r.im.Format == object.MachO {
			name = after
		}
		if s.Mapped && slices.Contains(names, name) {
			out = append(out, s)
		}
	}
	return out
}

// pointerList visits the address of every pointer of the named sections.
func (r *reader) pointerList(visit func(addr uint64), names ...string) {
	for _, s := range r.sections(names...) {
		n := min(s.Size, s.FileSize) / r.size
		if !r.spend(int(n)) {
			return
		}
		for i := range n {
			visit(s.Addr + i*r.size)
		}
	}
}
