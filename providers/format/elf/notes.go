package elf

import (
	"encoding/hex"
	"slices"
	"strings"

	"rea/providers/format/object"
)

// properties are the feature bits of .note.gnu.property.
type properties struct {
	present           bool
	x86, aarch64      uint32
	hasX86, hasAArch6 bool
}

// Property types and bits.
const (
	propAArch64Features, propX86Features = 0xc0000000, 0xc0000002
	featureBTI, featurePAC, featureGCS   = 1, 2, 4
	featureIBT, featureSHSTK             = 1, 2
	noteABITag, noteBuildID, noteProps   = 1, 3, 5
)

// readNotes reads the notes of PT_NOTE segments, or of note sections when
// there are no segments, and the comments that compilers leave.
func (f *file) readNotes() {
	segments := false
	for _, p := range f.programs {
		if p.typ == ptNote {
			segments = true
			f.parseNotes(f.at(p.offset, p.filesz), p.align)
		}
	}
	for i := range f.sections {
		s := &f.sections[i]
		if s.typ == shtNote && !segments {
			f.parseNotes(f.contents(s), s.align)
		}
		if s.name == ".comment" && s.typ == shtProgbits {
			f.readComment(f.contents(s))
		}
		if kind := debugKind(s.name); kind != "" && !slices.Contains(f.im.Debug, kind) {
			f.im.Debug = append(f.im.Debug, kind)
		}
	}
	if f.im.OS == "" && f.needsLinux() {
		f.im.OS = "linux"
	}
}

// needsLinux tells whether the program names the dynamic linker or the C
// library of a Linux system, which no other system calls so.
func (f *file) needsLinux() bool {
	names := []string{f.im.Interp}
	for _, l := range f.im.Libraries {
		names = append(names, l.Name)
	}
	return slices.ContainsFunc(names, func(n string) bool {
		base := n[strings.LastIndexByte(n, '/')+1:]
		return base == "libc.so.6" || strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld-musl") || strings.HasPrefix(base, "libc.musl")
	})
}

func debugKind(section string) string {
	switch section {
	case ".debug_info", ".zdebug_info":
		return "dwarf"
	case ".debug_frame", ".zdebug_frame":
		return "debug_frame"
	case ".gnu_debuglink":
		return "debuglink"
	case ".gnu_debugdata":
		return "minidebuginfo"
	case ".stab":
		return "stabs"
	case ".BTF":
		return "btf"
	case ".ctf", ".SUNW_ctf":
		return "ctf"
	}
	return ""
}

// parseNotes reads note records: name and description are each padded to the
// alignment, which is four unless the table says eight.
func (f *file) parseNotes(b []byte, align uint64) {
	pad := uint64(3)
	if align == 8 {
		pad = 7
	}
	for len(b) >= 12 {
		nameSize, descSize, typ := uint64(f.u32(b)), uint64(f.u32(b[4:])), f.u32(b[8:])
		descAt := (12 + nameSize + pad) &^ pad
		end := descAt + descSize
		if end > uint64(len(b)) || 12+nameSize > uint64(len(b)) {
			f.im.Note("a note record claims %#x bytes, %#x are left", end, len(b))
			return
		}
		name := strings.TrimRight(string(b[12:12+min(nameSize, 64)]), "\x00")
		f.note(name, typ, b[descAt:end])
		b = b[min((end+pad)&^pad, uint64(len(b))):]
	}
}

func (f *file) note(name string, typ uint32, desc []byte) {
	im := f.im
	switch name {
	case "GNU":
		switch typ {
		case noteABITag:
			if len(desc) >= 4 && f.u32(desc) == 0 {
				im.OS = "linux"
			}
		case noteBuildID:
			if len(desc) <= 64 {
				im.BuildID = hex.EncodeToString(desc)
			}
		case noteProps:
			f.readProperties(desc)
		}
	case "Android":
		im.OS = "android"
	case "FreeBSD":
		if typ == 1 {
			im.OS = "freebsd"
		}
	case "NetBSD":
		if typ == 1 {
			im.OS = "netbsd"
		}
	case "OpenBSD":
		if typ == 1 {
			im.OS = "openbsd"
		}
	case "Go":
		if typ == 4 {
			f.property("go_build_id", desc)
		}
	case "FDO":
		if typ == 0xcafe1a7e {
			f.property("package_metadata", desc)
		}
	}
}

// property records a text note of bounded length.
func (f *file) property(name string, text []byte) {
	f.im.Properties = append(f.im.Properties, object.Property{Name: name, Value: strings.TrimRight(string(text[:min(len(text), 4096)]), "\x00\n")})
}

func (f *file) readProperties(b []byte) {
	pad := f.wordSize() - 1
	f.props.present = true
	for len(b) >= 8 {
		typ, size := f.u32(b), uint64(f.u32(b[4:]))
		if size > uint64(len(b)-8) {
			f.im.Note("a GNU property claims %#x bytes, %#x are left", size, len(b)-8)
			return
		}
		switch {
		case typ == propX86Features && size >= 4 && (f.header.machine == emX86_64 || f.header.machine == em386):
			f.props.x86, f.props.hasX86 = f.u32(b[8:]), true
		case typ == propAArch64Features && size >= 4 && f.header.machine == emAArch64:
			f.props.aarch64, f.props.hasAArch6 = f.u32(b[8:]), true
		}
		b = b[min((8+size+pad)&^pad, uint64(len(b))):]
	}
}

// commentLimit bounds how many different compilers are listed.
const commentLimit = 32

func (f *file) readComment(b []byte) {
	for _, c := range strings.Split(string(b[:min(len(b), 1<<16)]), "\x00") {
		if c = strings.TrimSpace(c); c != "" && len(f.im.Compiler) < commentLimit && !slices.Contains(f.im.Compiler, c) {
			f.im.Compiler = append(f.im.Compiler, c)
		}
	}
}
