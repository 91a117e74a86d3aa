package macho

import (
	stdmacho "debug/macho"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rea/providers/format/object"
)

func TestIdentity(t *testing.T) {
	im := mustLoad(t, fixture(t, "sample_arm64.dylib"), "")
	equal(t, "install name", im.SOName, "@rpath/sample.dylib")
	equal(t, "rpaths", im.RPaths, []string{"@loader_path/lib"})
	equal(t, "os", im.OS, "macos")
	equal(t, "minimum", property(im, "minimum_os"), "12.0")
	equal(t, "sdk", property(im, "sdk"), "13.1")
	equal(t, "kind", im.Kind, object.SharedLibrary)
	equal(t, "file type", im.FileType, "MH_DYLIB")
	f, err := stdmacho.Open(filepath.Join("testdata", "sample_arm64.dylib"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, l := range f.Loads {
		if raw := l.Raw(); f.ByteOrder.Uint32(raw) == cmdUUID {
			equal(t, "uuid", im.BuildID, strings.ToLower(strings.ReplaceAll(hexOf(raw[8:24]), " ", "")))
		}
	}
	for name, state := range map[string]string{"pie": "enabled", "nx": "enabled", "canary": "enabled", "code_signature": "enabled", "hardened_runtime": "disabled", "encrypted": "disabled", "pac": "disabled"} {
		equal(t, name, mitigation(im, name), state)
	}
	exe := mustLoad(t, fixture(t, "throw_x86_64"), "")
	main := uint64(0)
	for _, s := range exe.Symbols {
		if s.Name == "_main" {
			main = s.Addr
		}
	}
	if !exe.HasEntry || exe.Entry != main || main == 0 {
		t.Errorf("entry %#x, main is at %#x", exe.Entry, main)
	}
	equal(t, "linker", exe.Interp, "/usr/lib/dyld")
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s []byte
	for _, c := range b {
		s = append(s, digits[c>>4], digits[c&15])
	}
	return string(s)
}

// Names, offsets and a few fields, against debug/macho's reading.
func TestCommands(t *testing.T) {
	for _, name := range append(append([]string{}, images...), objects...) {
		commands, notes, err := Commands(fixture(t, name), "")
		if err != nil || len(notes) > 0 {
			t.Fatalf("%s: %v, notes %q", name, err, notes)
		}
		f, err := stdmacho.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		off := uint64(32)
		var got, want []string
		for i, l := range f.Loads {
			raw := l.Raw()
			if c := commands[i]; c.Offset != off || c.Size != uint64(len(raw)) {
				t.Errorf("%s: command %d is %+v, want offset %d and size %d", name, i, c, off, len(raw))
			}
			off += uint64(len(raw))
			if s, ok := l.(*stdmacho.Segment); ok {
				want = append(want, fmt.Sprintf("LC_SEGMENT_64 %s %#x %#x", s.Name, s.Addr, s.Filesz))
			}
			if d, ok := l.(*stdmacho.Dylib); ok {
				want = append(want, fmt.Sprintf("LC_LOAD_DYLIB %s %s", d.Name, version(d.CurrentVersion)))
			}
		}
		f.Close()
		for _, c := range commands {
			switch v := c.Fields; c.Name {
			case "LC_SEGMENT_64":
				got = append(got, fmt.Sprintf("%s %s %s %s", c.Name, v[0].Value, v[1].Value, v[4].Value))
			case "LC_LOAD_DYLIB":
				got = append(got, fmt.Sprintf("%s %s %s", c.Name, v[0].Value, v[1].Value))
			}
			if strings.HasPrefix(c.Name, "LC_0x") {
				t.Errorf("%s: unknown command %s", name, c.Name)
			}
		}
		equal(t, name, got, want)
	}
}

// The constructor is found through pointers and through offsets alike.
func TestInitializers(t *testing.T) {
	for _, name := range images[:4] {
		im := mustLoad(t, fixture(t, name), "")
		var before []uint64
		for _, s := range im.Symbols {
			if s.Name == "_before" {
				before = append(before, s.Addr)
			}
		}
		equal(t, name, hints(im, object.FromInitArray), before)
	}
}

func TestSlices(t *testing.T) {
	data := fixture(t, "universal.o")
	all, err := Slices(data)
	if err != nil {
		t.Fatal(err)
	}
	f, err := stdmacho.OpenFat(filepath.Join("testdata", "universal.o"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []Slice
	for _, a := range f.Arches {
		s := Slice{Arch: object.X86_64, Offset: uint64(a.Offset), Size: uint64(a.Size)}
		if a.Cpu == stdmacho.CpuArm64 {
			s.Arch = object.ARM64
		}
		want = append(want, s)
	}
	equal(t, "slices", all, want)
	for slice, arch := range map[string]object.Arch{"": object.ARM64, "arm64": object.ARM64, "x86_64": object.X86_64, "amd64": object.X86_64} {
		im := mustLoad(t, data, slice)
		equal(t, slice, im.Arch, arch)
		equal(t, "slices of "+slice, property(im, "slices"), "x86_64, arm64")
		if thin := mustLoad(t, fixture(t, "sample_"+string(arch)+".o"), ""); !reflect.DeepEqual(thin.Symbols, im.Symbols) {
			t.Errorf("slice %s has other symbols than the thin file", slice)
		}
	}
	_, err = Load(data, "arm64e")
	var unknown *UnknownSliceError
	if !errors.As(err, &unknown) {
		t.Fatalf("unknown slice: %v", err)
	}
	equal(t, "have", unknown.Have, []string{"x86_64", "arm64"})
}

func TestNotMachO(t *testing.T) {
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"empty", nil},
		{"magic_only", []byte{0xcf, 0xfa, 0xed, 0xfe}},
		{"java_class", []byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 10, 0, 0}},
		{"no_architecture", []byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0}},
		{"all_beyond_file", append([]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1, 1, 0, 0, 7, 0, 0, 0, 3, 0x10, 0, 0, 0}, make([]byte, 40)...)},
		{"text", []byte(strings.Repeat("hello ", 100))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			im, err := Load(tt.data, "")
			var fe *object.FormatError
			if !errors.As(err, &fe) || im != nil || fe.Format != object.MachO {
				t.Errorf("got %v, %v; want a FormatError", im, err)
			}
		})
	}
}
