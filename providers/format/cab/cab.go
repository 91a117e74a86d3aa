// Package cab reads Microsoft cabinets that are stored or compressed with MSZIP,
// Quantum or LZX. [MS-CAB]
package cab

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"rea/providers/format/container"
)

const (
	headerSize = 36
	folderSize = 8
	fileSize   = 16
	blockSize  = 8
	maxName    = 256
	// maxBlock is the most that a block gives, and the history of the next.
	maxBlock = 32 << 10

	flagPrevious = 1
	flagNext     = 2
	flagReserve  = 4

	attrExecute = 0x40
	attrUTF8    = 0x80
)

var le = binary.LittleEndian

// Is reports whether a file begins like a cabinet.
func Is(head []byte) bool { return len(head) >= 8 && string(head[:8]) == "MSCF\x00\x00\x00\x00" }

// A Reader reads one cabinet. The files of a folder are one stream, so entries
// are read in turn.
type Reader struct {
	src     container.Source
	reserve int64 // bytes in front of the data of a block
	folders []folder
	files   []file
	claims  []container.Claim
}

type folder struct {
	at     int64
	blocks int
	method uint16
}

type file struct {
	name       string
	size       int64
	offset     int64 // in the folder
	folder     int
	attributes uint16
}

func corrupt(at int64, what string, args ...any) error {
	return &container.Error{Format: "cab", Kind: container.Corrupt, What: fmt.Sprintf(what, args...), Offset: at}
}

// Open reads the lists of folders and files.
func Open(src container.Source) (*Reader, error) {
	h, err := container.ReadAt(src, "cab", 0, headerSize)
	if err != nil {
		return nil, err
	}
	if !Is(h) || h[25] != 1 {
		return nil, container.Errorf("cab", container.Unsupported, "it is no cabinet of version 1")
	}
	r := &Reader{src: src}
	size, files := int64(le.Uint32(h[8:])), int64(le.Uint32(h[16:]))
	nFolders, nFiles, flags := int(le.Uint16(h[26:])), int(le.Uint16(h[28:])), le.Uint16(h[30:])
	at, perFolder := int64(headerSize), int64(0)
	if flags&flagReserve != 0 {
		b, err := container.ReadAt(src, "cab", at, 4)
		if err != nil {
			return nil, err
		}
		n := int64(le.Uint16(b))
		perFolder, r.reserve = int64(b[2]), int64(b[3])
		at += 4
		if err := r.signature(at, n, size); err != nil {
			return nil, err
		}
		at += n
	}
	if flags&flagReserve == 0 {
		r.surplus(size)
	}
	for _, f := range []struct {
		flag uint16
		name string
	}{{flagPrevious, "previous"}, {flagNext, "next"}} {
		if flags&f.flag == 0 {
			continue
		}
		for _, what := range []string{"cabinet", "disk"} {
			name, err := r.text(&at)
			if err != nil {
				return nil, err
			}
			r.claims = append(r.claims, container.Claim{Kind: "volume", Name: f.name + " " + what + ": " + container.Escape(name), Offset: container.Unknown, Size: container.Unknown})
		}
	}
	for range nFolders {
		b, err := container.ReadAt(src, "cab", at, folderSize)
		if err != nil {
			return nil, err
		}
		r.folders = append(r.folders, folder{int64(le.Uint32(b)), int(le.Uint16(b[4:])), le.Uint16(b[6:])})
		at += folderSize + perFolder
	}
	at = files
	for range nFiles {
		b, err := container.ReadAt(src, "cab", at, fileSize)
		if err != nil {
			return nil, err
		}
		at += fileSize
		f := file{size: int64(le.Uint32(b)), offset: int64(le.Uint32(b[4:])), folder: int(le.Uint16(b[8:])), attributes: le.Uint16(b[14:])}
		if f.name, err = r.text(&at); err != nil {
			return nil, err
		}
		r.files = append(r.files, f)
	}
	slices.SortStableFunc(r.files, func(a, b file) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.offset, b.offset)) })
	return r, nil
}

// signature names what stands behind the cabinet. Signing tools put its offset
// and length into the reserved field of the header.
func (r *Reader) signature(at, n, size int64) error {
	b, err := container.ReadAt(r.src, "cab", at, n)
	if err != nil {
		return err
	}
	end := size
	if n == 20 && le.Uint16(b[2:]) == 0x10 {
		if from, length := int64(le.Uint32(b[4:])), int64(le.Uint32(b[8:])); length > 0 && from >= size && length <= r.src.Size()-from {
			r.claims = append(r.claims, container.Claim{Kind: "signature", Name: "Authenticode signature", Offset: from, Size: length})
			end = from + length
		}
	}
	r.surplus(end)
	return nil
}

func (r *Reader) surplus(end int64) {
	if end < r.src.Size() {
		r.claims = append(r.claims, container.Claim{Kind: "suffix", Name: "bytes behind the cabinet", Offset: end, Size: r.src.Size() - end})
	}
}

// text reads a string up to its end.
func (r *Reader) text(at *int64) (string, error) {
	b, err := container.ReadAt(r.src, "cab", *at, max(0, min(maxName+1, r.src.Size()-*at)))
	if err != nil {
		return "", err
	}
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return "", corrupt(*at, "a name without an end")
	}
	*at += int64(n) + 1
	return string(b[:n]), nil
}

// Format is "cab".
func (r *Reader) Format() string { return "cab" }

// Seekable is false: files of a folder are decoded one behind the other.
func (r *Reader) Seekable() bool { return false }

// Claims are signatures, other volumes, and bytes behind the cabinet.
func (r *Reader) Claims() []container.Claim { return r.claims }

// Notes there are none.
func (r *Reader) Notes() []string { return nil }

// Entries are given by folder, in the order of their bytes.
func (r *Reader) Entries() iter.Seq2[*container.Entry, error] {
	return func(yield func(*container.Entry, error) bool) {
		var data *stream
		for i := range r.files {
			f := &r.files[i]
			if i == 0 || f.folder != r.files[i-1].folder {
				data = nil
				if f.folder < len(r.folders) {
					data = &stream{r: r, folder: &r.folders[f.folder], at: r.folders[f.folder].at}
				}
			}
			if !yield(r.entry(f, data), nil) {
				return
			}
		}
	}
}

func (r *Reader) entry(f *file, data *stream) *container.Entry {
	e := &container.Entry{
		Path: strings.ReplaceAll(f.name, `\`, "/"), Type: container.File, Mode: container.Unknown, Size: f.size, Packed: container.Unknown, Offset: container.Unknown,
	}
	if f.attributes&attrExecute != 0 {
		e.Notes = append(e.Notes, "it is marked to be run behind the extraction")
	}
	if f.attributes&attrUTF8 == 0 && strings.ContainsFunc(f.name, func(c rune) bool { return c >= 0x80 }) {
		e.Notes = append(e.Notes, "its name is in an unknown character set")
	}
	if data == nil {
		what := fmt.Sprintf("it lies in folder %d of %d", f.folder, len(r.folders))
		kind := container.Corrupt
		if f.folder >= 0xfffd {
			what, kind = "it goes on in another cabinet", container.Absent
		}
		e.Open = func() (io.ReadCloser, error) { return nil, container.Errorf("cab", kind, "%s", what) }
		return e
	}
	e.Method = data.folder.name()
	if data.folder.method == 0 {
		e.Packed = f.size
	}
	e.Open = func() (io.ReadCloser, error) { return data.open(f.offset, f.size) }
	return e
}

func (f *folder) name() string {
	switch f.method & 15 {
	case 0:
		return "stored"
	case 1:
		return "mszip"
	case 2:
		return "quantum"
	case 3:
		return "lzx"
	}
	return fmt.Sprintf("method-%d", f.method)
}
