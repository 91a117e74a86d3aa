// Package native opens a native binary of any container format: ELF, PE and
// COFF, thin or universal Mach-O. The format is decided by the bytes alone.
// What is the same in all formats, such as the Go function table, is added
// here.
package native

import (
	"slices"

	"rea/providers/format/elf"
	"rea/providers/format/gopclntab"
	"rea/providers/format/macho"
	"rea/providers/format/object"
	"rea/providers/format/pe"
)

// Options choose what to load.
type Options struct {
	// Slice names one architecture of a universal Mach-O file, as in
	// macho.Slice.Name; empty takes the loader's preference.
	Slice string
}

// Detect tells the container format of a file, "" when it is none of ours.
// A universal file is Mach-O.
func Detect(data []byte) object.Format {
	switch {
	case len(data) >= 4 && string(data[:4]) == "\x7fELF":
		return object.ELF
	case macho.Is(data):
		return object.MachO
	case pe.Is(data):
		return object.PE
	}
	return ""
}

// Load reads a native binary. A file of no known format, or one whose headers
// can't be read, gives an *object.FormatError; a slice that the file does not
// have gives a *macho.UnknownSliceError.
func Load(data []byte, opt Options) (*object.Image, error) {
	im, err := load(data, opt)
	if err != nil {
		return nil, err
	}
	if v, goos := goBuild(im); v != "" {
		im.GoVersion = v
		if im.OS == "" {
			im.OS = goos
		}
	}
	if t := gopclntab.Find(im); t != nil {
		t.AddTo(im)
	} else if im.GoVersion != "" {
		im.Note("the function table of this Go program was not found: its functions have no names, and some may be missing")
	}
	return im, nil
}

func load(data []byte, opt Options) (*object.Image, error) {
	format := Detect(data)
	if format != object.MachO && opt.Slice != "" && format != "" {
		return thin(data, format, opt.Slice)
	}
	switch format {
	case object.ELF:
		return elf.Load(data)
	case object.MachO:
		return macho.Load(data, opt.Slice)
	case object.PE:
		return pe.Load(data)
	}
	what := "not an ELF, PE or Mach-O file"
	if len(data) == 0 {
		what = "the file is empty"
	}
	return nil, &object.FormatError{What: what}
}

// thin loads a file that has only one architecture, if it is the wanted one.
func thin(data []byte, format object.Format, slice string) (*object.Image, error) {
	im, err := load(data, Options{})
	if err != nil {
		return nil, err
	}
	names := map[object.Arch][]string{
		object.X86: {"x86", "i386"}, object.X86_64: {"x86_64", "x86-64", "amd64"}, object.ARM64: {"arm64", "aarch64"}, object.ARM: {"arm"},
	}[im.Arch]
	if !slices.Contains(names, slice) {
		return nil, &macho.UnknownSliceError{Want: slice, Have: []string{string(im.Arch)}}
	}
	return im, nil
}
