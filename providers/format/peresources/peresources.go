// Package peresources reads the resources of PE files: a tree of three levels
// (type, name, language) whose leaves are data, and what the standard types of
// data mean.
//
// Directories may be shared and may contain one another: each is visited once
// on a way down, depth and number of entries are bounded.
package peresources

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

var le = binary.LittleEndian

// Limits of the tree.
const (
	maxEntries = 1 << 16
	maxName    = 1 << 12
	levels     = 3
)

// ID is a number or a name.
type ID struct {
	Number uint32
	Name   string // "" when it is a number
}

func (id ID) String() string {
	if id.Name != "" {
		return id.Name
	}
	return fmt.Sprint(id.Number)
}

// Resource is one leaf.
type Resource struct {
	Type, Name ID
	Language   uint32
	RVA        uint32
	Size       uint32
	Codepage   uint32
	Offset     int    // in the file; -1 when the file does not hold it
	Data       []byte // nil when the file does not hold it all
}

// Standard types.
const (
	Cursor, Bitmap, Icon, Menu, Dialog, String        = 1, 2, 3, 4, 5, 6
	FontDir, Font, Accelerator, RCData, MessageTable  = 7, 8, 9, 10, 11
	GroupCursor, GroupIcon, Version, DlgInclude       = 12, 14, 16, 17
	PlugPlay, VXD, AnimatedCursor, AnimatedIcon, HTML = 19, 20, 21, 22, 23
	Manifest                                          = 24
)

var typeNames = map[uint32]string{
	Cursor: "RT_CURSOR", Bitmap: "RT_BITMAP", Icon: "RT_ICON", Menu: "RT_MENU", Dialog: "RT_DIALOG", String: "RT_STRING",
	FontDir: "RT_FONTDIR", Font: "RT_FONT", Accelerator: "RT_ACCELERATOR", RCData: "RT_RCDATA", MessageTable: "RT_MESSAGETABLE",
	GroupCursor: "RT_GROUP_CURSOR", GroupIcon: "RT_GROUP_ICON", Version: "RT_VERSION", DlgInclude: "RT_DLGINCLUDE",
	PlugPlay: "RT_PLUGPLAY", VXD: "RT_VXD", AnimatedCursor: "RT_ANICURSOR", AnimatedIcon: "RT_ANIICON", HTML: "RT_HTML", Manifest: "RT_MANIFEST",
}

// TypeName names a type of resource.
func TypeName(id ID) string {
	if id.Name != "" {
		return id.Name
	}
	if n, ok := typeNames[id.Number]; ok {
		return n
	}
	return fmt.Sprint(id.Number)
}

// Tree is all resources of a file, in the order of its directories.
type Tree struct {
	Resources []Resource
	Timestamp uint32 // of the root directory
	Notes     []string
}

// ErrNotPE says that a file has no headers to look for resources in.
var ErrNotPE = errors.New("not a PE image")

type section struct{ rva, vsize, raw, size uint32 }

type reader struct {
	file     []byte
	sections []section
	headers  uint32
	root     []byte // from the start of the root directory to the end of its section
	tree     *Tree
	entries  int
	open     map[uint32]bool
}

// Read finds the resources; the tree is nil when the file has none.
func Read(file []byte) (*Tree, error) {
	r := &reader{file: file, tree: &Tree{}, open: map[uint32]bool{}}
	rva, size, err := r.locate()
	if err != nil || rva == 0 || size == 0 {
		return nil, err
	}
	off, have := r.at(rva)
	if have < 16 {
		r.tree.note("the resource directory at RVA %#x lies outside of the file", rva)
		return r.tree, nil
	}
	r.root = file[off : off+have]
	r.tree.Timestamp = le.Uint32(r.root[4:])
	r.directory(0, 0, Resource{})
	return r.tree, nil
}

func (t *Tree) note(format string, args ...any) {
	if len(t.Notes) < 32 {
		t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
	}
}

// locate reads the headers up to the place of the resource directory.
func (r *reader) locate() (rva, size uint32, err error) {
	f := r.file
	if len(f) < 64 || f[0] != 'M' || f[1] != 'Z' {
		return 0, 0, ErrNotPE
	}
	pe := uint64(le.Uint32(f[60:]))
	if pe+24+96 > uint64(len(f)) || string(f[pe:pe+4]) != "PE\x00\x00" {
		return 0, 0, ErrNotPE
	}
	opt := pe + 24
	optSize := uint64(le.Uint16(f[pe+20:]))
	dirs := opt + 96
	switch le.Uint16(f[opt:]) {
	case 0x10b:
	case 0x20b:
		dirs += 16
	default:
		return 0, 0, ErrNotPE
	}
	r.headers = le.Uint32(f[opt+60:])
	table := opt + optSize
	for i := range uint64(le.Uint16(f[pe+6:])) {
		at := table + 40*i
		if at+40 > uint64(len(f)) {
			r.tree.note("the section table is cut off")
			break
		}
		r.sections = append(r.sections, section{le.Uint32(f[at+12:]), le.Uint32(f[at+8:]), le.Uint32(f[at+20:]), le.Uint32(f[at+16:])})
	}
	if dirs+24 > uint64(len(f)) || dirs+24 > table || le.Uint32(f[dirs-4:]) < 3 {
		return 0, 0, nil
	}
	return le.Uint32(f[dirs+16:]), le.Uint32(f[dirs+20:]), nil
}

// at is the file offset of an address, and how many bytes the file holds there.
func (r *reader) at(rva uint32) (off, have int) {
	for _, s := range r.sections {
		if rva < s.rva || rva-s.rva >= max(s.vsize, s.size) {
			continue
		}
		d := rva - s.rva
		held := min(uint64(s.size), uint64(len(r.file))-min(uint64(s.raw), uint64(len(r.file))))
		if uint64(d) >= held {
			return 0, 0
		}
		return int(uint64(s.raw) + uint64(d)), int(held - uint64(d))
	}
	if rva < r.headers && uint64(rva) < uint64(len(r.file)) {
		return int(rva), int(min(uint64(r.headers), uint64(len(r.file))) - uint64(rva))
	}
	return 0, 0
}

// directory walks one directory; what is known of its leaves is in so.
func (r *reader) directory(off uint32, level int, so Resource) {
	if level >= levels {
		r.tree.note("directories lie more than %d levels deep", levels)
		return
	}
	if uint64(off)+16 > uint64(len(r.root)) {
		r.tree.note("a directory at %#x lies outside of its section", off)
		return
	}
	if r.open[off] {
		r.tree.note("a directory at %#x contains itself", off)
		return
	}
	r.open[off] = true
	defer delete(r.open, off)
	b := r.root[off:]
	n := int(le.Uint16(b[12:])) + int(le.Uint16(b[14:]))
	if have := (len(b) - 16) / 8; n > have {
		r.tree.note("a directory at %#x claims %d entries, there is room for %d", off, n, have)
		n = have
	}
	for i := range n {
		if r.entries++; r.entries > maxEntries {
			r.tree.note("more than %d entries; the others are left out", maxEntries)
			return
		}
		name, to := le.Uint32(b[16+8*i:]), le.Uint32(b[20+8*i:])
		id := r.id(name)
		next := so
		switch level {
		case 0:
			next.Type = id
		case 1:
			next.Name = id
		case 2:
			next.Language = id.Number
		}
		if to>>31 != 0 {
			r.directory(to&0x7fffffff, level+1, next)
			continue
		}
		r.leaf(to, next)
	}
}

// id reads a number, or a name by its offset.
func (r *reader) id(v uint32) ID {
	if v>>31 == 0 {
		return ID{Number: v}
	}
	off := uint64(v & 0x7fffffff)
	if off+2 > uint64(len(r.root)) {
		r.tree.note("a name lies outside of its section")
		return ID{Name: "?"}
	}
	n := uint64(le.Uint16(r.root[off:]))
	if n > maxName || off+2+2*n > uint64(len(r.root)) {
		r.tree.note("a name is cut off")
		return ID{Name: "?"}
	}
	s := text(r.root[off+2 : off+2+2*n])
	if s == "" {
		s = "?"
	}
	return ID{Name: s}
}

func (r *reader) leaf(off uint32, res Resource) {
	if uint64(off)+16 > uint64(len(r.root)) {
		r.tree.note("an entry at %#x lies outside of its section", off)
		return
	}
	b := r.root[off:]
	res.RVA, res.Size, res.Codepage, res.Offset = le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), -1
	at, have := r.at(res.RVA)
	if have > 0 && uint64(res.Size) <= uint64(have) {
		res.Offset, res.Data = at, r.file[at:at+int(res.Size):at+int(res.Size)]
	} else if res.Size > 0 {
		r.tree.note("%s %s: its %d bytes at RVA %#x are not all in the file", TypeName(res.Type), res.Name, res.Size, res.RVA)
	}
	r.tree.Resources = append(r.tree.Resources, res)
}

// text is UTF-16 as a string.
func text(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = le.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
