// Package udif reads the disk images of macOS without mounting them: every
// partition is a slice whose blocks are decoded when they are read.
package udif

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"strings"

	"rea/providers/format/container"
)

const (
	trailerSize = 512
	tableHead   = 204
	runSize     = 40
	sector      = 512
	maxXML      = 64 << 20
)

var be = binary.BigEndian

// A Reader reads one image.
type Reader struct {
	src        container.Source
	data       int64
	partitions []partition
	claims     []container.Claim
	gaps       []string
}

type partition struct {
	name string
	size int64
	runs []run
	kind map[string]bool
}

// Is reports whether the last bytes of a file are the trailer of an image.
func Is(tail []byte) bool {
	return len(tail) >= trailerSize && string(tail[len(tail)-trailerSize:][:4]) == "koly"
}

// Open reads the trailer and the tables of blocks.
func Open(src container.Source) (*Reader, error) {
	at := src.Size() - trailerSize
	t, err := container.ReadAt(src, "udif", at, trailerSize)
	if err != nil {
		return nil, err
	}
	if !Is(t) {
		return nil, container.Errorf("udif", container.Corrupt, "there is no trailer")
	}
	if segments := be.Uint32(t[60:]); segments > 1 {
		return nil, container.Errorf("udif", container.Unsupported, "the image is one of %d segments", segments)
	}
	r := &Reader{src: src, data: int64(be.Uint64(t[24:]))}
	xmlAt, xmlSize := int64(be.Uint64(t[216:])), int64(be.Uint64(t[224:]))
	if xmlSize == 0 {
		return nil, container.Errorf("udif", container.Unsupported, "the tables of blocks lie in a resource fork, which is not read")
	}
	if xmlSize > maxXML || r.data < 0 {
		return nil, &container.Error{Format: "udif", Kind: container.Corrupt, What: fmt.Sprintf("a property list of %d bytes", xmlSize), Offset: at}
	}
	text, err := container.ReadAt(src, "udif", xmlAt, xmlSize)
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		at   int
		name string
	}{{80, "checksum of the packed data"}, {352, "checksum of the image"}} {
		if be.Uint32(t[s.at:]) == 2 {
			r.claims = append(r.claims, container.Claim{Kind: "digest", Name: fmt.Sprintf("%s, CRC-32 %08x", s.name, be.Uint32(t[s.at+8:])), Offset: at + int64(s.at), Size: 4})
		}
	}
	if sig, n := int64(be.Uint64(t[296:])), int64(be.Uint64(t[304:])); sig > 0 && n > 0 && sig < at {
		r.claims = append(r.claims, container.Claim{Kind: "signature", Name: "code signature", Offset: sig, Size: n})
	}
	if err := r.tables(text); err != nil {
		return nil, err
	}
	return r, nil
}

// tables finds the blkx resources in the property list.
func (r *Reader) tables(text []byte) error {
	d := xml.NewDecoder(strings.NewReader(string(text)))
	var key, field, name, rows string
	inside, depth := false, 0
	for {
		t, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &container.Error{Format: "udif", Kind: container.Corrupt, What: "the property list is damaged", Offset: container.Unknown, Err: err}
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "key", "string", "data":
				field = ""
			case "array":
				if key == "blkx" {
					inside, depth = true, 0
				} else if inside {
					depth++
				}
			}
		case xml.CharData:
			if len(field) < maxXML {
				field += string(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "key":
				key = strings.TrimSpace(field)
			case "string":
				if inside && key == "Name" {
					name = field
				}
			case "data":
				if inside && key == "Data" {
					rows = field
				}
			case "dict":
				if inside && rows != "" {
					if err := r.table(name, rows); err != nil {
						return err
					}
					name, rows = "", ""
				}
			case "array":
				if inside && depth == 0 {
					inside = false
				} else if inside {
					depth--
				}
			}
			field = ""
		}
	}
}

// table reads the runs of one partition.
func (r *Reader) table(name, text string) error {
	b, err := base64.StdEncoding.DecodeString(strings.Map(func(c rune) rune {
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			return -1
		}
		return c
	}, text))
	if err != nil || len(b) < tableHead || string(b[:4]) != "mish" {
		return container.Errorf("udif", container.Corrupt, "a table of blocks is damaged")
	}
	p := partition{name: name, kind: map[string]bool{}}
	if n := be.Uint32(b[200:]); uint64(n) > uint64(len(b)-tableHead)/runSize {
		r.gaps = append(r.gaps, fmt.Sprintf("partition %d: %d runs are declared, the table has room for %d", len(r.partitions), n, (len(b)-tableHead)/runSize))
	}
	base, count := r.data+int64(be.Uint64(b[24:])), int64(be.Uint64(b[16:]))
	if count < 0 || count > 1<<50 {
		return container.Errorf("udif", container.Corrupt, "a partition of %d sectors", count)
	}
	p.size = count * sector
	next := int64(0)
	for b = b[tableHead:]; len(b) >= runSize; b = b[runSize:] {
		kind := be.Uint32(b)
		if kind == runEnd {
			break
		}
		if kind == runComment {
			continue
		}
		first, n := int64(be.Uint64(b[8:])), int64(be.Uint64(b[16:]))
		at, length := base+int64(be.Uint64(b[24:])), int64(be.Uint64(b[32:]))
		if first < next || n < 0 || n > count || first > count-n {
			return container.Errorf("udif", container.Corrupt, "a run of %d sectors at %d in a partition of %d", n, first, count)
		}
		next = first + n
		if n > 0 {
			p.runs = append(p.runs, run{kind, first * sector, n * sector, at, length})
			p.kind[runName(kind)] = true
		}
	}
	r.partitions = append(r.partitions, p)
	return nil
}

// Format is "udif".
func (r *Reader) Format() string { return "udif" }

// Seekable: partitions can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims are checksums and a signature.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are the partitions.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		for i := range r.partitions {
			p := &r.partitions[i]
			var packed int64
			for _, x := range p.runs {
				if x.stored() {
					packed += max(0, min(x.length, r.src.Size()))
				}
			}
			sec := io.NewSectionReader(&image{src: r.src, runs: p.runs, size: p.size}, 0, p.size)
			e := &container.Entry{
				Path: fmt.Sprintf("%d", i), Type: container.Slice, Mode: container.Unknown, Size: p.size, Packed: packed, Offset: container.Unknown,
				Method: methods(p.kind), Section: sec, Open: container.OpenSection(sec),
			}
			if p.name != "" {
				e.Path += " " + strings.ReplaceAll(p.name, "/", ":")
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func methods(kinds map[string]bool) string {
	var out []string
	for _, k := range []string{"adc", "zlib", "bzip2", "lzfse", "xz"} {
		if kinds[k] {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return "stored"
	}
	return strings.Join(out, "+")
}
