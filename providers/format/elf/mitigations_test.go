package elf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/format/object"
)

const hardened = `
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	char buf[64];
	strcpy(buf, argv[0]);
	sprintf(buf + 32, "%d", argc);
	puts(buf);
	return strlen(buf);
}
`

func states(im *object.Image) map[string]string {
	out := map[string]string{}
	for _, m := range im.Mitigations {
		out[m.Name] = m.State
	}
	return out
}

// TestMitigations expects the properties that the options ask for.
func TestMitigations(t *testing.T) {
	for _, tt := range []struct {
		name, compiler string
		args           []string
		want           map[string]string
	}{
		{"full_relro", "gcc", []string{"-O2", "-Wl,-z,relro,-z,now"}, map[string]string{"relro": "enabled", "pie": "enabled", "nx": "enabled", "no_rpath": "enabled", "no_textrel": "enabled", "no_wx_segments": "enabled", "stripped": "disabled"}},
		{"partial_relro", "gcc", []string{"-O2", "-Wl,-z,relro,-z,lazy"}, map[string]string{"relro": "partial"}},
		{"no_relro", "gcc", []string{"-O2", "-Wl,-z,norelro"}, map[string]string{"relro": "disabled"}},
		{"no_pie", "gcc", []string{"-O2", "-no-pie"}, map[string]string{"pie": "disabled"}},
		{"static_pie", "gcc", []string{"-O2", "-static-pie"}, map[string]string{"pie": "enabled"}},
		{"shared", "gcc", []string{"-O2", "-shared", "-fPIC"}, map[string]string{"pie": "enabled"}},
		{"exec_stack", "gcc", []string{"-O2", "-Wl,-z,execstack"}, map[string]string{"nx": "disabled"}},
		{"canary", "gcc", []string{"-O2", "-fstack-protector-all"}, map[string]string{"canary": "enabled"}},
		{"no_canary", "gcc", []string{"-O2", "-fno-stack-protector"}, map[string]string{"canary": "disabled"}},
		{"fortified", "gcc", []string{"-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"}, map[string]string{"fortify": "enabled"}},
		{"not_fortified", "gcc", []string{"-O2", "-U_FORTIFY_SOURCE", "-fno-builtin"}, map[string]string{"fortify": "disabled"}},
		{"static_stripped", "gcc", []string{"-O2", "-static", "-s"}, map[string]string{"canary": "unknown", "fortify": "unknown", "stripped": "enabled", "pie": "disabled"}},
		{"rpath_origin", "gcc", []string{"-O2", "-Wl,-rpath,$ORIGIN/lib"}, map[string]string{"no_rpath": "partial"}},
		{"rpath_relative", "gcc", []string{"-O2", "-Wl,-rpath,lib"}, map[string]string{"no_rpath": "disabled"}},
		{"rpath_tmp", "gcc", []string{"-O2", "-Wl,-rpath,/tmp/x:/usr/lib"}, map[string]string{"no_rpath": "disabled"}},
		{"writable_code", "gcc", []string{"-O2", "-nostdlib", "-static", "-Wl,-N,-e,main,--unresolved-symbols=ignore-all"}, map[string]string{"no_wx_segments": "disabled"}},
		{"ibt", "gcc", []string{"-O2", "-fcf-protection=full", "-nostdlib", "-shared", "-fPIC"}, map[string]string{"cet_ibt": "enabled", "cet_shstk": "enabled"}},
		{"ibt_only", "gcc", []string{"-O2", "-fcf-protection=branch", "-nostdlib", "-shared", "-fPIC"}, map[string]string{"cet_ibt": "enabled", "cet_shstk": "disabled"}},
		{"no_cet", "gcc", []string{"-O2", "-fcf-protection=none", "-nostdlib", "-shared", "-fPIC"}, map[string]string{"cet_ibt": "disabled", "cet_shstk": "disabled"}},
		{"address_sanitizer", "gcc", []string{"-O1", "-fsanitize=address"}, map[string]string{"address_sanitizer": "enabled"}},
		{"bti_pac", "aarch64-linux-gnu-gcc", []string{"-O2", "-mbranch-protection=standard", "-nostdlib", "-shared", "-fPIC"}, map[string]string{"bti": "enabled", "pac": "enabled"}},
		{"no_bti_pac", "aarch64-linux-gnu-gcc", []string{"-O2", "-mbranch-protection=none", "-nostdlib", "-shared", "-fPIC"}, map[string]string{"bti": "disabled", "pac": "disabled"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			im := load(t, compile(t, tt.compiler, hardened, tt.args...))
			got := states(im)
			for name, want := range tt.want {
				if got[name] != want {
					t.Errorf("%s is %q, want %q; %+v", name, got[name], want, im.Mitigations)
				}
			}
		})
	}
}

func TestLinkage(t *testing.T) {
	for _, tt := range []struct {
		want string
		kind object.Kind
		args []string
	}{
		{"dynamic", object.Executable, []string{"-pie"}}, {"dynamic", object.Executable, []string{"-no-pie"}},
		{"static", object.Executable, []string{"-static"}}, {"static-pie", object.Executable, []string{"-static-pie"}},
		{"dynamic", object.SharedLibrary, []string{"-shared", "-fPIC", "-Wl,-soname,libx.so.1"}},
	} {
		t.Run(strings.Join(tt.args, ""), func(t *testing.T) {
			im := load(t, compile(t, "gcc", hardened, append(tt.args, "-Wl,--build-id=0x0123abcd")...))
			got := ""
			for _, p := range im.Properties {
				if p.Name == "linkage" {
					got = p.Value
				}
			}
			if got != tt.want || im.Kind != tt.kind {
				t.Errorf("linkage %q, kind %s; want %q, %s", got, im.Kind, tt.want, tt.kind)
			}
			if im.BuildID != "0123abcd" || im.OS != "linux" || len(im.Compiler) == 0 || !strings.HasPrefix(im.Compiler[0], "GCC: ") {
				t.Errorf("build id %q, system %q, compilers %q", im.BuildID, im.OS, im.Compiler)
			}
			if tt.kind == object.SharedLibrary && im.SOName != "libx.so.1" {
				t.Errorf("soname %q", im.SOName)
			}
		})
	}
}

// TestDynamicTableAgreesWithReadelf compares libraries, names and paths.
func TestDynamicTableAgreesWithReadelf(t *testing.T) {
	for _, path := range systemBinaries() {
		t.Run(filepath.Base(path), func(t *testing.T) {
			im := load(t, path)
			var want, got []string
			for line := range strings.Lines(tool(t, "readelf", "-dW", path)) {
				_, value, ok := strings.Cut(line, "[")
				value, _, _ = strings.Cut(value, "]")
				switch {
				case ok && strings.Contains(line, "(NEEDED)"):
					want = append(want, "needed "+value)
				case ok && strings.Contains(line, "(SONAME)"):
					want = append(want, "soname "+value)
				}
			}
			for _, l := range im.Libraries {
				got = append(got, "needed "+l.Name)
			}
			if im.SOName != "" {
				got = append(got, "soname "+im.SOName)
			}
			diff(t, "dynamic entry", want, got)
		})
	}
}

// TestVersionsAgreeWithReadelf compares the versions and libraries of imports
// with the dynamic symbol listing.
func TestVersionsAgreeWithReadelf(t *testing.T) {
	for _, path := range systemBinaries() {
		t.Run(filepath.Base(path), func(t *testing.T) {
			im := load(t, path)
			var want, got []string
			for line := range strings.Lines(tool(t, "readelf", "--dyn-syms", "-W", path)) {
				m := symbolLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
				if m == nil || m[7] == "" || m[3] == "SECTION" {
					continue
				}
				name := strings.Replace(versionIndex.ReplaceAllString(m[7], ""), "@@", "@", 1)
				if base, version, ok := strings.Cut(name, "@"); ok && base == version {
					name = base // a version's own symbol
				}
				want = append(want, name)
			}
			for _, s := range im.Symbols {
				if !s.Dynamic || s.Kind == object.SymSection {
					continue
				}
				name := s.Name
				if s.Version != "" && s.Version != name {
					name += "@" + s.Version
				}
				got = append(got, name)
			}
			diff(t, "version", want, got)
		})
	}
}

// TestPackedRelocations compares Android's packed forms with llvm-readobj.
func TestPackedRelocations(t *testing.T) {
	for _, name := range []string{"android_x86_64.elf", "android_arm.elf", "ibt_x86_64.elf"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			im := load(t, path)
			var want, got []string
			for line := range strings.Lines(tool(t, "llvm-readobj", "-r", "--expand-relocs", path)) {
				f := strings.Fields(line)
				if len(f) >= 2 && f[0] == "Offset:" {
					want = append(want, f[1])
				}
				if len(f) >= 2 && f[0] == "Type:" {
					want[len(want)-1] += " " + f[1]
				}
			}
			for i, w := range want {
				off, typ, _ := strings.Cut(w, " ")
				want[i] = strings.ToLower(off) + " " + typ
			}
			for _, r := range im.Relocations {
				got = append(got, fmt.Sprintf("%#x %s", r.Addr, r.Type))
			}
			if len(want) < 4 {
				t.Fatalf("llvm-readobj lists %d relocations", len(want))
			}
			diff(t, "relocation", want, got)
		})
	}
}

// TestCore expects segments and nothing that only programs have.
func TestCore(t *testing.T) {
	b := samples(t)["shared_x86_64.elf"]
	whole := try(t, "whole", b)
	b[16] = etCore
	im := try(t, "core", b)
	if im.Kind != object.Core || im.FileType != "ET_CORE" || len(im.Segments) != len(whole.Segments) || im.HasEntry || len(im.Imports) > 0 || len(im.Mitigations) > 0 {
		t.Fatalf("core: %+v", im)
	}
}

// TestDebugFile splits the debug information off and expects it to be read,
// with nothing read from the places where code was.
func TestDebugFile(t *testing.T) {
	path := compile(t, "gcc", hardened, "-g", "-O2")
	debug := path + ".debug"
	tool(t, "objcopy", "--verbose", "--only-keep-debug", path, debug)
	whole, im := load(t, path), load(t, debug)
	if len(im.Notes) != 1 || !strings.Contains(im.Notes[0], "debug file") || im.BuildID != whole.BuildID {
		t.Errorf("notes %q, build id %q", im.Notes, im.BuildID)
	}
	for _, s := range im.Segments {
		if len(im.Bytes(s.Addr, 1)) > 0 {
			t.Errorf("segment %+v has bytes", s)
		}
	}
	if im.Section(".debug_info") == nil || len(im.SectionBytes(im.Section(".debug_info"))) == 0 || im.Strip {
		t.Error("the debug information or the symbols are missing")
	}
}

// TestSplitFunctions expects ".cold" symbols to be parts of their functions.
func TestSplitFunctions(t *testing.T) {
	const source = `
#include <stdlib.h>
#include <stdio.h>
__attribute__((noinline, cold)) void report(int n) { fprintf(stderr, "bad %d\n", n); }
__attribute__((noinline)) int checked(int n) {
	if (n > 100) { report(n); report(n + 1); n = rand() % 50; }
	for (int i = 0; i < n; i++) n += rand() % 7;
	return n * 3;
}
int main(int argc, char **argv) {
	int s = 0;
	for (int i = 0; i < argc; i++) s += checked(i);
	return s;
}
`
	im := load(t, compile(t, "gcc", source, "-O2", "-freorder-blocks-and-partition"))
	for _, s := range im.Symbols {
		if s.Name != "checked.cold" {
			continue
		}
		parent, ok := addressOf(im, "checked")
		part := object.FunctionPart{Addr: s.Addr, Size: s.Size, Parent: parent, Source: object.FromSymbol}
		if !ok || !slices.Contains(im.Parts, part) {
			t.Errorf("parts %+v, want %+v", im.Parts, part)
		}
		if slices.ContainsFunc(im.Hints, func(h object.FunctionHint) bool { return h.Addr == s.Addr && h.Source == object.FromSymbol }) {
			t.Errorf("the part at %#x is a function start, too", s.Addr)
		}
		return
	}
	t.Skip("the compiler split no function")
}
