// Package partition presents the partitions of a disk as slices: GUID partition
// tables and Apple partition maps.
package partition

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"unicode/utf16"

	"rea/providers/format/container"
)

const maxPartitions = 1024

// Detect names the table that a disk begins with, "" when there is none.
func Detect(head []byte) string {
	switch {
	case len(head) >= 520 && string(head[512:520]) == "EFI PART":
		return "gpt"
	case len(head) >= 514 && string(head[:2]) == "ER" && (string(head[512:514]) == "PM" || len(head) >= 2050 && string(head[2048:2050]) == "PM"):
		return "apple-partition-map"
	}
	return ""
}

// A Reader reads one table.
type Reader struct {
	format string
	src    container.Source
	gaps   []string
}

// Open reads the disk's table.
func Open(src container.Source) (*Reader, error) {
	head, err := container.ReadAt(src, "partition", 0, min(src.Size(), 2050))
	if err != nil {
		return nil, err
	}
	format := Detect(head)
	if format == "" {
		return nil, container.Errorf("partition", container.Corrupt, "there is no partition table")
	}
	return &Reader{format: format, src: src}, nil
}

// Format is that of the table.
func (r *Reader) Format() string { return r.format }

// Seekable: partitions can be opened in any order.
func (r *Reader) Seekable() bool { return true }

// Claims there are none.
func (r *Reader) Claims() []container.Claim { return nil }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Gaps are what was not listed.
func (r *Reader) Gaps() []string { return r.gaps }

// Entries are given in the order of the table.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		var err error
		if r.format == "gpt" {
			err = r.gpt(yield)
		} else {
			err = r.apple(yield)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// slice makes the entry of a partition; nil when it lies outside of the disk.
func (r *Reader) slice(i int, name, kind string, at, size uint64) *container.Entry {
	disk := uint64(r.src.Size())
	if at > disk || size == 0 {
		r.gaps = append(r.gaps, fmt.Sprintf("partition %d lies outside of the disk", i))
		return nil
	}
	sec := container.Sub(r.src, int64(at), int64(min(size, disk-at)))
	label := fmt.Sprintf("%d", i)
	for _, part := range []string{name, kind} {
		if part != "" {
			label += " " + strings.ReplaceAll(part, "/", ":")
		}
	}
	e := &container.Entry{
		Path: label, Type: container.Slice, Mode: container.Unknown, Size: sec.Size(), Packed: sec.Size(), Offset: int64(at), Method: "stored",
		Section: sec, Open: container.OpenSection(sec),
	}
	if uint64(sec.Size()) < size {
		e.Notes = append(e.Notes, fmt.Sprintf("the table gives it %d bytes, more than there are", size))
	}
	return e
}

func (r *Reader) apple(yield func(*container.Entry, error) bool) error {
	be := binary.BigEndian
	block := int64(512)
	if b, err := container.ReadAt(r.src, r.format, 512, 2); err != nil || string(b) != "PM" {
		block = 2048
	}
	count := int64(1)
	for i := int64(1); i <= count; i++ {
		b, err := container.ReadAt(r.src, r.format, i*block, 512)
		if err != nil {
			return err
		}
		if string(b[:2]) != "PM" {
			return &container.Error{Format: r.format, Kind: container.Corrupt, What: "the map is damaged", Offset: i * block}
		}
		if i == 1 {
			count = min(int64(be.Uint32(b[4:])), maxPartitions)
		}
		at, n := uint64(be.Uint32(b[8:]))*uint64(block), uint64(be.Uint32(b[12:]))*uint64(block)
		if e := r.slice(int(i), text(b[16:48]), text(b[48:80]), at, n); e != nil && !yield(e, nil) {
			return nil
		}
	}
	return nil
}

func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (r *Reader) gpt(yield func(*container.Entry, error) bool) error {
	le := binary.LittleEndian
	const sector = 512
	h, err := container.ReadAt(r.src, r.format, sector, 92)
	if err != nil {
		return err
	}
	at, count, size := le.Uint64(h[72:]), min(le.Uint32(h[80:]), maxPartitions), le.Uint32(h[84:])
	if size < 128 || size > 4096 || at > uint64(r.src.Size())/sector {
		return &container.Error{Format: r.format, Kind: container.Corrupt, What: fmt.Sprintf("rows of %d bytes at sector %d", size, at), Offset: sector}
	}
	for i := range int64(count) {
		b, err := container.ReadAt(r.src, r.format, int64(at)*sector+i*int64(size), 128)
		if err != nil {
			return err
		}
		if bytes.Equal(b[:16], make([]byte, 16)) {
			continue
		}
		first, last := le.Uint64(b[32:]), le.Uint64(b[40:])
		if last < first || last > 1<<53 {
			r.gaps = append(r.gaps, fmt.Sprintf("partition %d ends before it begins", i+1))
			continue
		}
		u := make([]uint16, 36)
		for k := range u {
			u[k] = le.Uint16(b[56+2*k:])
		}
		name := strings.TrimRight(string(utf16.Decode(u)), "\x00")
		if e := r.slice(int(i+1), name, guid(b[:16]), first*sector, (last-first+1)*sector); e != nil && !yield(e, nil) {
			return nil
		}
	}
	return nil
}

func guid(b []byte) string {
	le := binary.LittleEndian
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", le.Uint32(b), le.Uint16(b[4:]), le.Uint16(b[6:]), b[8:10], b[10:16])
}
