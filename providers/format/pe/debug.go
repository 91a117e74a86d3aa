package pe

import (
	"fmt"
	"slices"
	"strings"
)

func (l *loader) debugKind(kind string) {
	if !slices.Contains(l.im.Debug, kind) {
		l.im.Debug = append(l.im.Debug, kind)
	}
}

// debugDirectory reads the identity of the program database, and what else the
// entries tell.
func (l *loader) debugDirectory() {
	d := l.dirs[dirDebug]
	if d.rva != 0 && d.size >= 28 {
		for b := l.table(d.rva, d.size/28, 28, "debug directory"); len(b) >= 28; b = b[28:] {
			l.debugEntry(le.Uint32(b[12:]), b[:28])
		}
	}
	l.debugSections()
}

// debugSections looks for debug information in sections.
func (l *loader) debugSections() {
	for _, s := range l.sections {
		switch {
		case strings.HasPrefix(s.name, ".debug_info"), strings.HasPrefix(s.name, ".zdebug_info"):
			l.debugKind("dwarf")
		case s.name == ".debug$S":
			l.debugKind("codeview")
		}
	}
	slices.Sort(l.im.Debug)
}

func (l *loader) debugEntry(kind uint32, b []byte) {
	size, rva, off := le.Uint32(b[16:]), le.Uint32(b[20:]), uint64(le.Uint32(b[24:]))
	var data []byte
	if rva != 0 {
		data = l.from(rva, uint64(size))
	}
	if data == nil && off < uint64(len(l.data)) {
		data = l.data[off:min(off+uint64(size), uint64(len(l.data)))]
	}
	switch kind {
	case 1:
		l.debugKind("coff")
	case 2:
		l.codeView(data)
	case 16:
		l.property("reproducible", "true")
	case 20:
		if len(data) >= 4 {
			l.exDLL = le.Uint32(data)
		}
	}
}

// codeView reads the GUID and age (or the older signature and age) that name
// the matching program database, written as symbol servers write them.
func (l *loader) codeView(b []byte) {
	switch {
	case len(b) >= 24 && string(b[:4]) == "RSDS":
		l.debugKind("codeview")
		g := b[4:20]
		l.im.BuildID = fmt.Sprintf("%08x%04x%04x%x%x", le.Uint32(g), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:], le.Uint32(b[20:]))
		if path, ok := l.terminated(b[24:]); ok && path != "" {
			l.property("pdb", "%s", path)
		}
	case len(b) >= 16 && string(b[:4]) == "NB10":
		l.debugKind("codeview")
		l.im.BuildID = fmt.Sprintf("%08x%x", le.Uint32(b[8:]), le.Uint32(b[12:]))
		if path, ok := l.terminated(b[16:]); ok && path != "" {
			l.property("pdb", "%s", path)
		}
	}
}
