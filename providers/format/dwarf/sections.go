package dwarf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"rea/providers/format/object"
)

// sections are the debug sections, decompressed.
type sections struct {
	info, types, abbrev, str, lineStr, line []byte
	ranges, rnglists, addr, strOffsets      []byte
}

// maxInflated bounds all decompressed sections together; maxRatio is the most
// that deflate can expand.
const (
	maxInflated = 2 << 30
	maxRatio    = 1032
)

func (d *Data) readSections() error {
	wanted := map[string]*[]byte{
		"info": &d.sec.info, "types": &d.sec.types, "abbrev": &d.sec.abbrev, "str": &d.sec.str, "line_str": &d.sec.lineStr, "line": &d.sec.line,
		"ranges": &d.sec.ranges, "rnglists": &d.sec.rnglists, "addr": &d.sec.addr, "str_offsets": &d.sec.strOffsets,
	}
	room := uint64(maxInflated)
	for i := range d.im.Sections {
		s := &d.im.Sections[i]
		name, zipped := debugName(s.Name)
		into := wanted[name]
		if into == nil || len(*into) > 0 {
			continue
		}
		b := d.im.SectionBytes(s)
		if s.Compressed || zipped {
			out, err := d.inflate(s, b, zipped, room)
			if err != nil {
				if name == "info" || name == "abbrev" {
					return fmt.Errorf("section %s: %w", s.Name, err)
				}
				d.note(fmt.Sprintf("section %s can't be decompressed: %v", s.Name, err))
				continue
			}
			room -= uint64(len(out))
			b = out
		}
		*into = b
	}
	return nil
}

// debugName takes the format's decoration off a section name. Mach-O cuts
// names at 16 bytes.
func debugName(name string) (short string, zipped bool) {
	name = strings.TrimPrefix(name, "__DWARF,")
	for _, p := range []string{".debug_", "__debug_"} {
		if s, ok := strings.CutPrefix(name, p); ok {
			return unabridged(s), false
		}
	}
	for _, p := range []string{".zdebug_", "__zdebug_"} {
		if s, ok := strings.CutPrefix(name, p); ok {
			return unabridged(s), true
		}
	}
	return "", false
}

func unabridged(s string) string {
	if strings.HasPrefix(s, "str_off") {
		return "str_offsets"
	}
	return s
}

// inflate decompresses a section: an ELF compression header, or the older
// "ZLIB" mark of .zdebug sections. A .zdebug section may also be plain.
func (d *Data) inflate(s *object.Section, b []byte, zipped bool, room uint64) ([]byte, error) {
	at := func(what string) error {
		return &object.FormatError{Format: d.im.Format, Offset: s.Offset, What: what}
	}
	var size uint64
	switch {
	case zipped && (len(b) < 12 || string(b[:4]) != "ZLIB"):
		return b, nil
	case zipped:
		size, b = binary.BigEndian.Uint64(b[4:]), b[12:]
	default:
		head := 12
		if d.im.Bits == 64 {
			head = 24
		}
		if len(b) < head {
			return nil, at("the compression header breaks off")
		}
		typ := d.order.Uint32(b)
		if d.im.Bits == 64 {
			size = d.order.Uint64(b[8:])
		} else {
			size = uint64(d.order.Uint32(b[4:]))
		}
		switch b = b[head:]; typ {
		case 1:
		case 2:
			return nil, at("compressed with zstd, which is not read")
		default:
			return nil, at(fmt.Sprintf("unknown compression %d", typ))
		}
	}
	if limit := min(room, maxRatio*uint64(len(b))+64); size > limit {
		return nil, at(fmt.Sprintf("claims %d bytes after decompression, at most %d are possible", size, limit))
	}
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, at(err.Error())
	}
	out := make([]byte, 0, min(size, 64*uint64(len(b))+4096))
	buf := bytes.NewBuffer(out)
	n, err := io.Copy(buf, io.LimitReader(z, int64(size)))
	if err != nil || uint64(n) < size {
		d.note(fmt.Sprintf("section %s breaks off after %d of %d bytes", s.Name, n, size))
	}
	return buf.Bytes(), nil
}
