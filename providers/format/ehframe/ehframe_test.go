package ehframe_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rea/providers/format/ehframe"
	"rea/providers/format/elf"
	"rea/providers/format/object"
)

const throwing = `
#include <stdexcept>
#include <string>
#include <vector>
struct guard { int &n; explicit guard(int &n) : n(n) { ++n; } ~guard() { --n; } };
__attribute__((noinline)) int risky(int n) { if (n % 7 == 3) throw std::runtime_error(std::to_string(n)); return n * 2; }
__attribute__((noinline)) int caught(int n) {
	int live = 0;
	guard a(live);
	try { guard b(live); return risky(n) + live; }
	catch (const std::logic_error &e) { return -2; }
	catch (const std::exception &e) { return -1 - (int)std::string(e.what()).size(); }
}
__attribute__((noinline)) int nested(int n) {
	std::vector<std::string> v;
	for (int i = 0; i < n; i++) { try { v.push_back(std::to_string(risky(i))); } catch (...) { v.push_back("?"); if (n > 100) throw; } }
	int sum = 0;
	for (auto &s : v) sum += s.size();
	return sum;
}
int main(int argc, char **argv) { try { return caught(argc) + nested(argc * 20); } catch (int) { return 3; } }
`

func compile(t testing.TB, compiler string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("%s is not installed", compiler)
	}
	dir := t.TempDir()
	src, out := filepath.Join(dir, "in.cc"), filepath.Join(dir, "out")
	if err := os.WriteFile(src, []byte(throwing), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(path, append([]string{"-o", out, src}, args...)...).CombinedOutput(); err != nil {
		t.Skipf("%s %v: %v\n%s", compiler, args, err, msg)
	}
	return out
}

func load(t testing.TB, path string) *object.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := elf.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestLandingPads uses that with -fcf-protection each landing pad, and inside
// functions nothing else here, begins with ENDBR64.
func TestLandingPads(t *testing.T) {
	for _, tt := range []struct {
		name, compiler string
		args           []string
	}{
		{"gcc_O2", "g++", []string{"-O2", "-fcf-protection", "-fno-jump-tables"}},
		{"gcc_O0", "g++", []string{"-O0", "-fcf-protection"}},
		{"gcc_no_header", "g++", []string{"-O2", "-fcf-protection", "-fno-jump-tables", "-Wl,--no-eh-frame-hdr"}},
		{"clang_O2", "clang++", []string{"-O2", "-fcf-protection", "-fno-jump-tables"}},
		{"clang_lld", "clang++", []string{"-O1", "-fcf-protection", "-fno-jump-tables", "-fuse-ld=lld"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			im := load(t, compile(t, tt.compiler, tt.args...))
			starts := map[uint64]bool{}
			for _, h := range im.Hints {
				starts[h.Addr] = true
			}
			text := im.Section(".text")
			code := im.Bytes(text.Addr, int(text.Size))
			var want []uint64
			for i := 0; ; i += 4 {
				j := bytes.Index(code[i:], []byte{0xf3, 0x0f, 0x1e, 0xfa})
				if j < 0 {
					break
				}
				i += j
				if addr := text.Addr + uint64(i); !starts[addr] {
					want = append(want, addr)
				}
			}
			if len(want) < 4 {
				t.Skipf("only %d ENDBR64 inside functions", len(want))
			}
			if !slices.Equal(im.LandingPads, want) {
				t.Errorf("landing pads %#x, want %#x", im.LandingPads, want)
			}
			for _, s := range im.CallSites {
				if s.Size == 0 || !im.Executable(s.Addr) || !slices.Contains(want, s.Pad) {
					t.Errorf("call site %+v", s)
				}
			}
		})
	}
}

// TestColdParts compares the parts of split functions with the names that the
// compiler gave them.
func TestColdParts(t *testing.T) {
	im := load(t, compile(t, "g++", "-O2", "-freorder-blocks-and-partition"))
	var cold []uint64
	entries := map[uint64]bool{}
	for _, s := range im.Symbols {
		if s.Kind == object.SymFunction && s.Defined {
			if len(s.Name) > 5 && s.Name[len(s.Name)-5:] == ".cold" {
				cold = append(cold, s.Addr)
			} else {
				entries[s.Addr] = true
			}
		}
	}
	if len(cold) == 0 {
		t.Skip("the compiler split no function")
	}
	for _, p := range im.Parts {
		if entries[p.Addr] {
			t.Errorf("the function at %#x is called a part", p.Addr)
		}
		cold = slices.DeleteFunc(cold, func(a uint64) bool { return a == p.Addr })
	}
	if len(cold) > 1 { // one may begin without a frame
		t.Errorf("parts at %#x are not recognised", cold)
	}
}

const (
	tables = 0x10000
	code   = 0x20000
)

// imageOf maps data as tables and gives it a range of code to talk about.
func imageOf(data []byte, bits int) *object.Image {
	im := &object.Image{Format: object.ELF, Arch: object.X86_64, Bits: bits}
	all := append(slices.Clone(data), make([]byte, 0x100)...)
	im.SetData(all)
	im.Segments = []object.Segment{
		{Addr: tables, Size: uint64(len(data)), Offset: 0, FileSize: uint64(len(data))},
		{Addr: code, Size: 0x10000, Offset: uint64(len(data)), FileSize: 0x100, Perm: object.Permissions{Read: true, Execute: true}},
	}
	im.Normalize()
	return im
}

// frameTable writes one CIE and one FDE whose start has the given encoding and
// bytes.
func frameTable(encoding byte, start, size []byte) []byte {
	le := binary.LittleEndian
	cie := []byte{0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, encoding, 0x0c, 7, 8, 0x90, 1}
	b := le.AppendUint32(nil, uint32(len(cie)))
	b = append(b, cie...)
	fde := append(append(slices.Clone(start), size...), 0)
	b = le.AppendUint32(b, uint32(len(fde)+4))
	b = le.AppendUint32(b, uint32(len(b)))
	return le.AppendUint32(append(b, fde...), 0)
}

func TestPointerEncodings(t *testing.T) {
	le := binary.LittleEndian
	const at = tables + 4 + 18 + 8 // where the FDE's first pointer lies
	rel := func(base uint64) uint64 { return code + 0x40 - base }
	for _, tt := range []struct {
		name     string
		encoding byte
		start    []byte
		size     []byte
	}{
		{"absptr", 0x00, le.AppendUint64(nil, code+0x40), le.AppendUint64(nil, 0x20)},
		{"uleb128", 0x01, binary.AppendUvarint(nil, code+0x40), []byte{0x20}},
		{"udata4", 0x03, le.AppendUint32(nil, code+0x40), le.AppendUint32(nil, 0x20)},
		{"udata8", 0x04, le.AppendUint64(nil, code+0x40), le.AppendUint64(nil, 0x20)},
		{"sleb128_pcrel", 0x19, []byte{byte(rel(at)&0x7f) | 0x80, byte(rel(at)>>7&0x7f) | 0x80, byte(rel(at) >> 14)}, []byte{0x20}},
		{"sdata4_pcrel", 0x1b, le.AppendUint32(nil, uint32(rel(at))), le.AppendUint32(nil, 0x20)},
		{"sdata8_pcrel", 0x1c, le.AppendUint64(nil, rel(at)), le.AppendUint64(nil, 0x20)},
		{"sdata2_textrel", 0x2a, le.AppendUint16(nil, 0x40), le.AppendUint16(nil, 0x20)},
		{"udata2_datarel", 0x32, le.AppendUint16(nil, 0x50), le.AppendUint16(nil, 0x20)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := frameTable(tt.encoding, tt.start, tt.size)
			loc := ehframe.Location{Frames: []object.Range{{Addr: tables, Size: uint64(len(b))}}, TextBase: code, DataBase: code - 0x10}
			tab := ehframe.Read(imageOf(b, 64), loc)
			if len(tab.FDEs) != 1 || tab.FDEs[0].Addr != code+0x40 || tab.FDEs[0].Size != 0x20 {
				t.Errorf("FDEs %+v, notes %q", tab.FDEs, tab.Notes)
			}
		})
	}
}

// TestCutTables cuts a real program's tables at every byte: nothing but fewer
// entries may come of it.
func TestCutTables(t *testing.T) {
	im := load(t, compile(t, "g++", "-O2"))
	s := im.Section(".eh_frame")
	all := ehframe.Read(im, ehframe.Location{Frames: []object.Range{{Addr: s.Addr, Size: s.Size}}})
	known := map[string]bool{}
	for _, f := range all.FDEs {
		known[fmt.Sprint(f.Addr, f.Size)] = true
	}
	if len(known) < 10 {
		t.Fatalf("%d FDEs", len(known))
	}
	last := 0
	for n := range s.Size {
		tab := ehframe.Read(im, ehframe.Location{Frames: []object.Range{{Addr: s.Addr, Size: n}}})
		for _, f := range tab.FDEs {
			if !known[fmt.Sprint(f.Addr, f.Size)] {
				t.Fatalf("cut to %d bytes: invented %+v", n, f)
			}
		}
		if len(tab.FDEs) < last {
			t.Fatalf("cut to %d bytes: %d FDEs after %d", n, len(tab.FDEs), last)
		}
		last = len(tab.FDEs)
	}
}

func FuzzRead(f *testing.F) {
	le := binary.LittleEndian
	f.Add(frameTable(0x03, le.AppendUint32(nil, code), le.AppendUint32(nil, 0x20)), true, uint16(0))
	f.Add(frameTable(0x1b, le.AppendUint32(nil, 0xfff0), le.AppendUint32(nil, 0x20)), false, uint16(8))
	header := []byte{1, 0x1b, 0x03, 0x3b, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 34, 0, 0, 0}
	f.Add(append(header, frameTable(0x03, le.AppendUint32(nil, code), le.AppendUint32(nil, 0x20))...), true, uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, wide bool, frames uint16) {
		if len(data) == 0 {
			return
		}
		bits := 32
		if wide {
			bits = 64
		}
		im := imageOf(data, bits)
		start := time.Now()
		for _, loc := range []ehframe.Location{
			{Header: tables}, {Frames: []object.Range{{Addr: tables, Size: uint64(len(data))}}},
			{Header: tables, Frames: []object.Range{{Addr: tables + uint64(frames), Size: uint64(len(data))}}},
		} {
			tab := ehframe.Read(im, loc)
			tab.AddTo(im)
			for _, e := range tab.FDEs {
				if !im.Executable(e.Addr) || e.Size == 0 {
					t.Fatalf("FDE %+v", e)
				}
			}
			if len(tab.FDEs) > len(data) {
				t.Fatalf("%d FDEs of %d bytes", len(tab.FDEs), len(data))
			}
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("%d bytes took %v", len(data), d)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	const path = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"
	if _, err := os.Stat(path); err != nil {
		b.Skip(err)
	}
	im := load(b, path)
	s := im.Section(".eh_frame")
	loc := ehframe.Location{Frames: []object.Range{{Addr: s.Addr, Size: s.Size}}}
	b.SetBytes(int64(s.Size))
	for b.Loop() {
		ehframe.Read(im, loc)
	}
}
