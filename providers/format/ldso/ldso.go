// Package ldso reads the files that tell a dynamic linker on Linux where
// libraries are: the cache that ldconfig writes and the list of directories
// that it is written from.
package ldso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// Entry is one line of the cache.
type Entry struct {
	Name  string // what programs ask for
	Path  string
	Flags int32  // kind and machine
	HWCap uint64 // not 0 for variants that only some processors take
}

// Kinds and machines of cache entries: those of files for glibc.
const (
	X86    = 0x0003
	X86_64 = 0x0303
	X32    = 0x0803
	ARM64  = 0x0a03
	ARMHF  = 0x0903
	ARMSF  = 0x0b03
)

const (
	oldMagic = "ld.so-1.7.0"
	newMagic = "glibc-ld.so.cache1.1"
	headSize = 48
	rowSize  = 24
	maxPath  = 4096
)

// ErrCache says that a file is no cache, or one of a form that is not known.
var ErrCache = errors.New("no cache of the dynamic linker")

// ParseCache reads /etc/ld.so.cache, in the order in which it is searched.
func ParseCache(data []byte) ([]Entry, error) {
	b := data
	if bytes.HasPrefix(b, []byte(oldMagic)) { // the new form follows the old one
		if len(b) < 16 {
			return nil, ErrCache
		}
		skip := 16 + 12*uint64(binary.LittleEndian.Uint32(b[12:]))
		skip = (skip + 7) &^ 7
		if skip > uint64(len(b)) {
			return nil, ErrCache
		}
		b = b[skip:]
	}
	if !bytes.HasPrefix(b, []byte(newMagic)) || len(b) < headSize {
		return nil, ErrCache
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if b[28]&3 == 3 {
		order = binary.BigEndian
	}
	n := uint64(order.Uint32(b[20:]))
	if n > uint64(len(b)-headSize)/rowSize {
		return nil, ErrCache
	}
	budget := 8*len(data) + 1<<16
	text := func(off uint32) string {
		if uint64(off) >= uint64(len(b)) {
			return ""
		}
		s := b[off:]
		end := bytes.IndexByte(s[:min(len(s), maxPath)], 0)
		if end < 0 || end > budget {
			return ""
		}
		budget -= end
		return string(s[:end])
	}
	out := make([]Entry, 0, n)
	for i := range n {
		row := b[headSize+rowSize*i:]
		e := Entry{
			Flags: int32(order.Uint32(row)), Name: text(order.Uint32(row[4:])), Path: text(order.Uint32(row[8:])), HWCap: order.Uint64(row[16:]),
		}
		if e.Name != "" && e.Path != "" {
			out = append(out, e)
		}
	}
	return out, nil
}

// Conf is one file of directories.
type Conf struct {
	Directories []string
	Includes    []string // patterns of other files
}

// ParseConf reads /etc/ld.so.conf or a file that it includes.
func ParseConf(data []byte) Conf {
	var c Conf
	const most = 4096
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "hwcap":
		case f[0] == "include":
			c.Includes = append(c.Includes, f[1:]...)
		default:
			dir, _, _ := strings.Cut(f[0], "=") // a kind of library may follow
			if strings.HasPrefix(dir, "/") && len(c.Directories) < most {
				c.Directories = append(c.Directories, strings.TrimRight(dir, "/"))
			}
		}
	}
	return c
}

// ParsePath reads musl's list: directories divided by colons or lines.
func ParsePath(data []byte) []string {
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == ':' || r == '\n' })
}
