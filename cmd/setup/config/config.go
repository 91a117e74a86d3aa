// Package config edits one entry of a configuration file and leaves every other
// byte as it is. What is said of a file comes from the file alone: nothing is
// read or written here.
package config

import (
	"fmt"
	"unicode/utf8"

	"rea/cmd/setup/config/edit"
	"rea/cmd/setup/config/jsonc"
	"rea/cmd/setup/config/toml"
	"rea/cmd/setup/config/yaml"
)

// Format of a file.
type Format string

const (
	JSON Format = "json" // with or without comments
	TOML Format = "toml"
	YAML Format = "yaml"
)

// MaxSize bounds the files that are edited: JSON, which some clients let grow
// with their history, and the other formats, which people write.
const (
	MaxSize     = 64 << 20
	maxHandmade = 4 << 20
)

// File is a file and the place of an entry in it.
type File interface {
	// Entry is the value at the path and where it begins.
	Entry() (v any, at edit.Position, found bool)
	// Missing counts the collections around the entry that Put would make.
	Missing() int
	// Put writes the entry. In one that exists it changes and adds the members
	// that are not Initial and keeps all others.
	Put(entry edit.Object) ([]byte, error)
	// Remove takes the entry out, and up to made of the collections around it
	// that hold nothing else.
	Remove(made int) ([]byte, error)
}

// Open reads a file. What can't be read, or has something else where the path
// leads through, is an *[edit.Error] with the place.
func Open(format Format, src []byte, path edit.Path) (File, error) {
	limit := maxHandmade
	if format == JSON {
		limit = MaxSize
	}
	if len(src) > limit {
		return nil, fmt.Errorf("the file is larger than %d bytes", limit)
	}
	f, err := parse(format, src, path)
	if err == nil {
		err = encoded(src)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func parse(format Format, src []byte, path edit.Path) (File, error) {
	switch format {
	case JSON:
		return opened(jsonc.Open(src, path))
	case TOML:
		return opened(toml.Open(src, path))
	case YAML:
		return opened(yaml.Open(src, path))
	}
	return nil, fmt.Errorf("%s is not a format", format)
}

// Standard tells of the first thing in a JSON file that JSON itself doesn't
// have, though many readers of settings accept it: an *[edit.Error], or nil. With
// comments, only trailing commas count.
func Standard(f File, src []byte, comments bool) error {
	if f, ok := f.(*jsonc.File); ok {
		if x := f.Beyond(comments); x != nil {
			return edit.Errorf(src, x.Offset, "%s", x.What)
		}
	}
	return nil
}

// encoded finds the first byte that is not UTF-8.
func encoded(src []byte) error {
	if utf8.Valid(src) {
		return nil
	}
	i := 0
	for {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n <= 1 {
			return edit.Errorf(src, i, "a byte that is not UTF-8")
		}
		i += n
	}
}

// opened keeps a nil pointer from becoming a File that is not nil.
func opened(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}
