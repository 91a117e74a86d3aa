package native

import (
	"bytes"
	"encoding/binary"
	"strings"

	"rea/providers/format/object"
)

// The Go build information begins with this mark, 16-byte aligned, in a
// writable or read-only data segment.
const (
	buildMark  = "\xff Go buildinf:"
	buildAlign = 16
	maxBuild   = 1 << 20
)

// goBuild reads the Go version and target system that the linker recorded.
func goBuild(im *object.Image) (version, goos string) {
	version, module := GoBuild(im)
	return version, setting(module, "GOOS")
}

// GoBuild reads the Go version that the linker recorded, and the text about
// modules and settings, as runtime/debug.ParseBuildInfo takes it.
func GoBuild(im *object.Image) (version, module string) {
	for _, s := range im.Segments {
		if s.Perm.Execute && !s.Perm.Write && im.Format == object.ELF {
			continue
		}
		b := im.Bytes(s.Addr, len(im.Data()))
		for base := 0; ; {
			i := bytes.Index(b[base:], []byte(buildMark))
			if i < 0 {
				break
			}
			i += base
			base = i + 1
			if i%buildAlign != 0 || len(b)-i < 32 {
				continue
			}
			if v, mod := buildStrings(im, b[i:]); strings.HasPrefix(v, "go") || strings.HasPrefix(v, "devel") {
				return v, unframed(mod)
			}
		}
	}
	return "", ""
}

// buildStrings reads the two strings of a build information blob. Since Go
// 1.18 they follow inline; before, the blob points to string headers.
func buildStrings(im *object.Image, b []byte) (version, module string) {
	if b[15]&2 != 0 {
		rest := b[32:]
		version, rest = inlineString(rest)
		module, _ = inlineString(rest)
		return version, module
	}
	size := int(b[14])
	if size != 4 && size != 8 {
		return "", ""
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if b[15]&1 != 0 {
		order = binary.BigEndian
	}
	word := func(b []byte) uint64 {
		switch {
		case len(b) < size:
			return 0
		case size == 4:
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	read := func(at uint64) string {
		h := im.Bytes(at, 2*size)
		if len(h) < 2*size {
			return ""
		}
		addr, n := word(h), word(h[size:])
		if n > maxBuild {
			return ""
		}
		s := im.Bytes(addr, int(n))
		if uint64(len(s)) < n {
			return ""
		}
		return string(s)
	}
	return read(word(b[16:])), read(word(b[16+size:]))
}

// unframed takes off the 16 bytes that mark the text at both ends.
func unframed(module string) string {
	const frame = 16
	if len(module) >= 2*frame+1 && module[len(module)-frame-1] == '\n' {
		return module[frame : len(module)-frame]
	}
	return ""
}

func inlineString(b []byte) (string, []byte) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > maxBuild || n > uint64(len(b)-w) {
		return "", nil
	}
	return string(b[w : w+int(n)]), b[w+int(n):]
}

// setting returns a "build key=value" line of the module information.
func setting(module, key string) string {
	for line := range strings.Lines(module) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "build\t"+key+"="); ok {
			return v
		}
	}
	return ""
}
