package native

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rea/providers/format/macho"
	"rea/providers/format/object"
)

func goBinary(t testing.TB) []byte {
	t.Helper()
	p, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not installed")
	}
	b, err := os.ReadFile(p)
	if err != nil {
		t.Skip(err)
	}
	return b
}

func TestGoToolchainBinary(t *testing.T) {
	data := goBinary(t)
	im, err := Load(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version").Output()
	if err != nil {
		t.Skip("go version does not run")
	}
	if !strings.Contains(string(out), im.GoVersion+" ") || im.GoVersion == "" {
		t.Errorf("Go version %q, go version says %s", im.GoVersion, out)
	}
	n := 0
	for _, h := range im.Hints {
		if h.Source == object.FromPCLNTab {
			n++
			if h.Name == "" || h.Size == 0 {
				t.Fatalf("incomplete hint %+v", h)
			}
		}
	}
	if n < 10000 {
		t.Errorf("%d functions from the Go function table", n)
	}
}

func TestRefusals(t *testing.T) {
	var format *object.FormatError
	for _, tt := range []struct {
		name string
		data string
	}{
		{"empty", ""},
		{"text", "#!/bin/sh\necho hello\n"},
		{"short_elf", "\x7fELF\x02\x01\x01"},
		{"zip", "PK\x03\x04" + strings.Repeat("x", 100)},
		{"java_class", "\xca\xfe\xba\xbe\x00\x00\x00\x34" + strings.Repeat("\x01", 200)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if im, err := Load([]byte(tt.data), Options{}); !errors.As(err, &format) {
				t.Errorf("image %v, error %v", im, err)
			}
		})
	}
}

func TestSliceOfThinFile(t *testing.T) {
	data := goBinary(t)
	im, err := Load(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(data, Options{Slice: string(im.Arch)}); err != nil {
		t.Errorf("its own architecture: %v", err)
	}
	var slice *macho.UnknownSliceError
	if _, err := Load(data, Options{Slice: "armv7"}); !errors.As(err, &slice) {
		t.Errorf("another architecture: %v", err)
	}
}

func BenchmarkLoadGo(b *testing.B) {
	data := goBinary(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Load(data, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSameBytesSameImage loads twice and compares everything.
func TestSameBytesSameImage(t *testing.T) {
	data := goBinary(t)
	a, err := Load(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("two loads of the same bytes differ")
	}
}

func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"../elf/testdata/*.elf", "../elf/testdata/*.o", "../dwarf/testdata/dwarf5.o"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range paths {
			b, err := os.ReadFile(p)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b, "")
		}
	}
	f.Add([]byte("\xca\xfe\xba\xbe\x00\x00\x00\x01"), "arm64")
	f.Add([]byte("MZ"), "x86_64")
	f.Fuzz(func(t *testing.T, data []byte, slice string) {
		start := time.Now()
		im, err := Load(data, Options{Slice: slice})
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("loading %d bytes took %v", len(data), d)
		}
		if (im == nil) == (err == nil) {
			t.Fatalf("image %v, error %v", im, err)
		}
	})
}
