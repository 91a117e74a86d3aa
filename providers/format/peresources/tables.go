package peresources

import (
	"bytes"
	"errors"
)

// Image is one picture of an icon or cursor group.
type Image struct {
	Width, Height int // 256 is stored as 0
	Colors        int
	Bits          int
	Size          uint32
	ID            uint16 // of the RT_ICON or RT_CURSOR that holds it
	PNG           bool
	Data          []byte // nil when it is missing
	Hotspot       [2]int // of cursors
}

// ParseGroup reads an icon or cursor group; images are looked up by number and
// language among all resources.
func ParseGroup(res *Resource, images map[ImageKey][]byte) ([]Image, error) {
	b := res.Data
	if len(b) < 6 {
		return nil, errors.New("the group is cut off")
	}
	kind, n := le.Uint16(b[2:]), int(le.Uint16(b[4:]))
	var err error
	if have := (len(b) - 6) / 14; n > have {
		n, err = have, errors.New("the group is cut off")
	}
	of := uint32(Icon)
	if kind == 2 {
		of = Cursor
	}
	var out []Image
	for i := range n {
		e := b[6+14*i:]
		im := Image{Size: le.Uint32(e[8:]), ID: le.Uint16(e[12:]), Bits: int(le.Uint16(e[6:]))}
		if kind == 2 {
			im.Width, im.Height = int(le.Uint16(e)), int(le.Uint16(e[2:]))/2
		} else {
			im.Width, im.Height, im.Colors = int(e[0]), int(e[1]), int(e[2])
			if im.Width == 0 {
				im.Width = 256
			}
			if im.Height == 0 {
				im.Height = 256
			}
		}
		data, ok := images[ImageKey{of, uint32(im.ID), res.Language}]
		if !ok {
			data = images[ImageKey{of, uint32(im.ID), AnyLanguage}]
		}
		if kind == 2 && len(data) >= 4 {
			im.Hotspot = [2]int{int(le.Uint16(data)), int(le.Uint16(data[2:]))}
			data = data[4:]
		}
		im.Data = data
		im.PNG = bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n"))
		out = append(out, im)
	}
	return out, err
}

// ImageKey finds the data of a picture.
type ImageKey struct{ Type, ID, Language uint32 }

// AnyLanguage stands for the first language of a picture.
const AnyLanguage = ^uint32(0)

// Images indexes the pictures of a tree.
func (t *Tree) Images() map[ImageKey][]byte {
	out := map[ImageKey][]byte{}
	for i := range t.Resources {
		r := &t.Resources[i]
		if r.Type.Name != "" || r.Name.Name != "" || r.Type.Number != Icon && r.Type.Number != Cursor || r.Data == nil {
			continue
		}
		for _, language := range []uint32{r.Language, AnyLanguage} {
			k := ImageKey{r.Type.Number, r.Name.Number, language}
			if _, ok := out[k]; !ok {
				out[k] = r.Data
			}
		}
	}
	return out
}

// Text is one string of a string table with its number.
type Text struct {
	ID   uint32
	Text string
}

// ParseStrings reads a block of sixteen strings; the block's number tells theirs.
func ParseStrings(res *Resource) ([]Text, error) {
	var out []Text
	b := res.Data
	if res.Name.Name != "" || res.Name.Number == 0 {
		return nil, errors.New("the block of strings has no number")
	}
	first := (res.Name.Number - 1) * 16
	for i := range uint32(16) {
		if len(b) < 2 {
			if i == 0 {
				return nil, errors.New("the block of strings is empty")
			}
			return out, errors.New("the block of strings is cut off")
		}
		n := int(le.Uint16(b))
		b = b[2:]
		if 2*n > len(b) {
			return out, errors.New("a string is cut off")
		}
		if n > 0 {
			out = append(out, Text{first + i, text(b[:2*n])})
		}
		b = b[2*n:]
	}
	return out, nil
}

// ParseMessages reads a message table: runs of numbers with their texts.
func ParseMessages(data []byte, limit int) ([]Text, error) {
	bad := errors.New("the message table is damaged")
	if len(data) < 4 {
		return nil, bad
	}
	n := int(le.Uint32(data))
	if n < 0 || n > (len(data)-4)/12 {
		return nil, bad
	}
	var out []Text
	for i := range n {
		e := data[4+12*i:]
		low, high, off := le.Uint32(e), le.Uint32(e[4:]), uint64(le.Uint32(e[8:]))
		for id := uint64(low); id <= uint64(high); id++ {
			if off+4 > uint64(len(data)) {
				return out, bad
			}
			size, flags := uint64(le.Uint16(data[off:])), le.Uint16(data[off+2:])
			if size < 4 || off+size > uint64(len(data)) {
				return out, bad
			}
			if len(out) == limit {
				return out, errors.New("the message table has more messages than are read")
			}
			body := data[off+4 : off+size]
			s := ended(string(body))
			if flags&1 != 0 {
				s = ended(text(body))
			}
			out = append(out, Text{uint32(id), s})
			off += size
		}
	}
	return out, nil
}
