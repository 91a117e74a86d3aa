package peresources

import (
	"errors"
	"fmt"
)

// VersionInfo is what RT_VERSION holds.
type VersionInfo struct {
	FileVersion, ProductVersion string // of the fixed part, as four numbers; "" without one
	Flags                       []string
	OS, Type, Subtype           uint32
	Strings                     []StringTable
	Translations                []Translation
}

// StringTable is the strings of one language.
type StringTable struct {
	Language string // eight hexadecimal digits as in the file
	Strings  []Pair
}

// Pair is a named string.
type Pair struct{ Name, Value string }

// Translation is a language and a code page.
type Translation struct{ Language, Codepage uint16 }

// node is one block of the version tree.
type node struct {
	key      string
	value    []byte
	children []byte
	textual  bool
}

var errVersion = errors.New("the version information is damaged")

// block reads one block; size is what it takes with padding.
func block(b []byte) (n node, size int, err error) {
	if len(b) < 6 {
		return node{}, 0, errVersion
	}
	length, valueLength, kind := int(le.Uint16(b)), int(le.Uint16(b[2:])), le.Uint16(b[4:])
	if length < 6 || length > len(b) {
		return node{}, 0, errVersion
	}
	body := b[:length]
	at := 6
	for at+1 < length && (body[at] != 0 || body[at+1] != 0) {
		at += 2
	}
	n = node{key: text(body[6:min(at, length)]), textual: kind == 1}
	at = min(aligned(at+2), length)
	if n.textual {
		valueLength *= 2 // it counts characters
	}
	end := min(at+valueLength, length)
	n.value = body[at:end]
	n.children = body[min(aligned(end), length):]
	return n, min(aligned(length), len(b)), nil
}

func aligned(n int) int { return (n + 3) &^ 3 }

// blocks reads blocks up to the end.
func blocks(b []byte) ([]node, error) {
	var out []node
	for len(b) >= 6 {
		if le.Uint16(b) == 0 { // padding
			break
		}
		n, size, err := block(b)
		if err != nil {
			return out, err
		}
		if len(out) == 4096 {
			return out, errVersion
		}
		out = append(out, n)
		b = b[size:]
	}
	return out, nil
}

var versionFlags = []string{"debug", "prerelease", "patched", "private_build", "info_inferred", "special_build"}

// ParseVersion reads the data of RT_VERSION.
func ParseVersion(data []byte) (*VersionInfo, error) {
	root, _, err := block(data)
	if err != nil {
		return nil, err
	}
	if root.key != "VS_VERSION_INFO" {
		return nil, errVersion
	}
	v := &VersionInfo{}
	if f := root.value; len(f) >= 52 && le.Uint32(f) == 0xfeef04bd {
		v.FileVersion, v.ProductVersion = four(f[8:]), four(f[16:])
		flags := le.Uint32(f[28:]) & le.Uint32(f[24:])
		for i, name := range versionFlags {
			if flags>>i&1 != 0 {
				v.Flags = append(v.Flags, name)
			}
		}
		v.OS, v.Type, v.Subtype = le.Uint32(f[32:]), le.Uint32(f[36:]), le.Uint32(f[40:])
	}
	parts, err := blocks(root.children)
	for _, p := range parts {
		switch p.key {
		case "StringFileInfo":
			if e := v.strings(p.children); e != nil {
				err = e
			}
		case "VarFileInfo":
			v.translations(p.children)
		}
	}
	return v, err
}

func four(b []byte) string {
	high, low := le.Uint32(b), le.Uint32(b[4:])
	return fmt.Sprintf("%d.%d.%d.%d", high>>16, high&0xffff, low>>16, low&0xffff)
}

func (v *VersionInfo) strings(b []byte) error {
	tables, err := blocks(b)
	for _, t := range tables {
		list, e := blocks(t.children)
		if e != nil {
			err = e
		}
		table := StringTable{Language: t.key}
		for _, s := range list {
			table.Strings = append(table.Strings, Pair{s.key, ended(text(s.value))})
		}
		v.Strings = append(v.Strings, table)
	}
	return err
}

// ended cuts at the first zero.
func ended(s string) string {
	for i := range len(s) {
		if s[i] == 0 {
			return s[:i]
		}
	}
	return s
}

func (v *VersionInfo) translations(b []byte) {
	list, _ := blocks(b)
	for _, n := range list {
		if n.key != "Translation" {
			continue
		}
		for w := n.value; len(w) >= 4; w = w[4:] {
			v.Translations = append(v.Translations, Translation{le.Uint16(w), le.Uint16(w[2:])})
		}
	}
}
