package program

import (
	"bufio"
	"bytes"
	"cmp"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTablesAgainstListings compares the targets of all jump tables, function by
// function, with the tables in the compiler's own listing; those of tables that
// nothing bounds, and that say so, need only be complete. The files have no
// symbols, no unwind data and no library.
func TestTablesAgainstListings(t *testing.T) {
	type target struct {
		name, cc, strip string
		flags           []string
	}
	targets := []target{
		{"x64", "gcc", "strip", []string{"-fPIE", "-pie"}},
		{"x64-fixed", "gcc", "strip", []string{"-fno-pie", "-no-pie"}},
		{"x86", "gcc", "strip", []string{"-m32", "-fPIE", "-pie"}},
		{"x64-clang", "clang", "strip", []string{"-fPIE", "-pie"}},
		{"arm64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-strip", []string{"-fPIE", "-pie"}},
		{"arm64-clang", "clang", "aarch64-linux-gnu-strip", []string{"--target=aarch64-linux-gnu", "-fuse-ld=lld", "-fPIE", "-pie"}},
	}
	for _, x := range targets {
		for _, opt := range []string{"-O0", "-O1", "-O2", "-Os"} {
			if testing.Short() && opt != "-O2" && opt != "-Os" {
				continue
			}
			t.Run(x.name+opt, func(t *testing.T) {
				t.Parallel()
				flags := append([]string{opt, "-w", "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-ffreestanding"}, x.flags...)
				dir := t.TempDir()
				listing, object, full, bare := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "full"), filepath.Join(dir, "bare")
				tool(t, x.cc, append(slices.Clone(flags), "-S", "testdata/switches.c", "-o", listing)...)
				tool(t, x.cc, append(compileOnly(flags), "-Wa,-L", "-c", listing, "-o", object)...)
				tool(t, x.cc, append(slices.Clone(flags), "-nostdlib", "-nostartfiles", "-Wl,-e,main", "-Wl,--discard-none", object, "-o", full)...)
				tool(t, x.strip, "-s", "-o", bare, full)
				want := listedTables(t, listing, full)
				if len(want) < 12 {
					t.Fatalf("%d functions of the listing have tables", len(want))
				}
				p := analyzeFile(t, bare)
				got, sure := map[string][]uint64{}, map[string][]uint64{}
				names := functionNames(t, full)
				for _, table := range p.Tables {
					f := names.at(table.Jump)
					got[f] = append(got[f], table.Targets...)
					if table.Bounded {
						sure[f] = append(sure[f], table.Targets...)
					}
				}
				for f, list := range want {
					if missing := without(list, got[f]); len(missing) > 0 {
						t.Errorf("%s: %d of %d targets are missing: %#x", f, len(missing), len(list), missing)
					}
				}
				for f, list := range sure {
					if extra := without(list, want[f]); len(extra) > 0 {
						t.Errorf("%s: invented targets %#x", f, extra)
					}
				}
			})
		}
	}
}

func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("needs %s: %v", name, err)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Skipf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// compileOnly leaves out what only the linker reads.
func compileOnly(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(s string) bool { return s == "-pie" || s == "-no-pie" || strings.HasPrefix(s, "-fuse-ld") })
}

type namedAt struct {
	addr uint64
	name string
}

type nameList []namedAt

func (l nameList) at(a uint64) string {
	i, ok := slices.BinarySearchFunc(l, a, func(n namedAt, a uint64) int { return cmp.Compare(n.addr, a) })
	if !ok {
		i--
	}
	if i < 0 {
		return ""
	}
	return l[i].name
}

func functionNames(t *testing.T, path string) nameList {
	var out nameList
	for name, s := range symbols(t, path) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			out = append(out, namedAt{s.Value, name})
		}
	}
	slices.SortFunc(out, func(a, b namedAt) int { return cmp.Compare(a.addr, b.addr) })
	return out
}

var (
	listedLabel = regexp.MustCompile(`^([.\w$]+):`)
	listedData  = regexp.MustCompile(`^\s*\.(?:byte|2byte|hword|short|value|4byte|long|word|8byte|quad|xword)\s+(.*)`)
	listedName  = regexp.MustCompile(`\.L[\w$]*`)
)

// listedTables reads the runs of data of a listing that name labels in code:
// the targets of each function's tables.
func listedTables(t *testing.T, listing, full string) map[string][]uint64 {
	text, err := os.ReadFile(listing)
	if err != nil {
		t.Fatal(err)
	}
	labels, names := symbols(t, full), functionNames(t, full)
	end := uint64(0)
	for _, s := range labels {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			end = max(end, s.Value+s.Size)
		}
	}
	out := map[string][]uint64{}
	inTable, f := false, "" // of the function that the first entry leads to; others may lead behind its end
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if listedLabel.MatchString(line) {
			inTable, f = true, ""
			continue
		}
		data := listedData.FindStringSubmatch(line)
		if data == nil {
			inTable = inTable && strings.Contains(line, "align")
			continue
		}
		if !inTable {
			continue
		}
		for _, entry := range strings.Split(data[1], ",") {
			s, ok := labels[listedName.FindString(entry)]
			if ok && s.Value >= names[0].addr && s.Value < end {
				if f == "" {
					f = names.at(s.Value)
				}
				out[f] = append(out[f], s.Value)
			}
		}
	}
	return out
}

// without are the values of a that b lacks, each once.
func without(a, b []uint64) []uint64 {
	out := slices.DeleteFunc(slices.Clone(a), func(v uint64) bool { return slices.Contains(b, v) })
	slices.Sort(out)
	return slices.Compact(out)
}
