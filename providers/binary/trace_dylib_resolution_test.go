package binary_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rea/generated/tool"
)

type trace = tool.TraceDylibResolutionOutput

var lddLine = regexp.MustCompile(`^\s*(\S+) => (\S+) \(0x`)

// ldd asks the system where the libraries of a program are: by name.
func ldd(t *testing.T, path string, env ...string) map[string]string {
	t.Helper()
	cmd := exec.Command(need(t, "ldd"), path)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("ldd %s: %v", path, err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if m := lddLine.FindStringSubmatch(line); m != nil {
			found[m[1]] = real(t, m[2])
		}
	}
	return found
}

func real(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// found are the names that were found, with their paths.
func found(out *trace) map[string]string {
	m := map[string]string{}
	for _, d := range out.Dependencies {
		if d.State == "found" {
			m[d.Name] = *d.Path
		}
	}
	return m
}

func TestTraceDylibResolution_agrees_with_ldd(t *testing.T) {
	for _, path := range []string{"/bin/ls", "/usr/bin/gdb", "/usr/bin/git", "/usr/bin/osslsigncode", "/usr/bin/llvm-readobj-14", "/usr/bin/curl"} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		out, _ := call[trace](t, "trace_dylib_resolution", map[string]any{"path": path})
		if have, want := found(out), ldd(t, path); !maps.Equal(have, want) {
			t.Errorf("%s\nhave %v\nwant %v", path, have, want)
		}
		if out.Loader != "glibc" || len(out.Missing) > 0 {
			t.Errorf("%s: %s, missing %v", path, out.Loader, out.Missing)
		}
	}
}

// project builds a program with two libraries in lib/; the second needs the
// third, which lies in lib/deep.
func project(t *testing.T, flags ...string) string {
	t.Helper()
	gcc := need(t, "gcc")
	dir := real(t, t.TempDir())
	for name, content := range map[string]string{
		"three.c": "int three(void) { return 3; }\n", "two.c": "int three(void); int two(void) { return three(); }\n", "one.c": "int one(void) { return 1; }\n",
		"main.c": "int one(void); int two(void); int main(void) { return one() + two(); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "lib", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, dir, gcc, "-shared", "-fPIC", "-o", "lib/deep/libthree.so", "three.c")
	run(t, dir, gcc, "-shared", "-fPIC", "-o", "lib/libtwo.so", "two.c", "-Llib/deep", "-lthree")
	run(t, dir, gcc, "-shared", "-fPIC", "-Wl,-soname,libone.so.1", "-o", "lib/libone.so.1", "one.c")
	run(t, dir, gcc, append([]string{"-o", "main", "main.c", "lib/libone.so.1", "-Llib", "-ltwo", "-Llib/deep", "-Wl,-rpath-link,lib/deep"}, flags...)...)
	return dir
}

func TestTraceDylibResolution_paths_of_images(t *testing.T) {
	for _, tt := range []struct {
		name    string
		flags   []string
		missing []string
		path    []string
	}{
		// DT_RUNPATH counts for the program alone, DT_RPATH for its libraries too.
		{"runpath", []string{"-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN/lib:$ORIGIN/lib/deep"}, []string{"libthree.so"}, nil},
		{"rpath", []string{"-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/lib:${ORIGIN}/lib/deep"}, nil, nil},
		{"nothing", nil, []string{"libone.so.1", "libtwo.so"}, nil},
		{"library_path", nil, nil, []string{"lib", "lib/deep"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := project(t, tt.flags...)
			in := map[string]any{"path": filepath.Join(dir, "main"), "attempts": "all"}
			var env []string
			if tt.path != nil {
				var full []string
				for _, p := range tt.path {
					full = append(full, filepath.Join(dir, p))
				}
				in["library_path"] = full
				env = []string{"LD_LIBRARY_PATH=" + strings.Join(full, ":")}
			}
			out, _ := call[trace](t, "trace_dylib_resolution", in)
			if !slices.Equal(out.Missing, tt.missing) {
				t.Errorf("missing %v, want %v", out.Missing, tt.missing)
			}
			if have, want := found(out), ldd(t, filepath.Join(dir, "main"), env...); !maps.Equal(have, want) {
				t.Errorf("have %v\nwant %v", have, want)
			}
			for _, d := range out.Dependencies {
				if d.State == "found" && (len(d.Attempts) == 0 || d.SHA256 == nil || d.Rule == nil) {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

// Which build for a processor a machine takes is not told by files; that there
// is one is.
func TestTraceDylibResolution_variants_for_processors(t *testing.T) {
	dir := project(t, "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/lib:${ORIGIN}/lib/deep")
	variant := filepath.Join(dir, "lib", "glibc-hwcaps", "x86-64-v2")
	if err := os.MkdirAll(variant, 0o700); err != nil {
		t.Fatal(err)
	}
	lib, err := os.ReadFile(filepath.Join(dir, "lib", "libtwo.so"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(variant, "libtwo.so"), lib, 0o700); err != nil {
		t.Fatal(err)
	}
	if real := ldd(t, filepath.Join(dir, "main"))["libtwo.so"]; filepath.Dir(real) != variant {
		t.Skipf("the dynamic linker here takes %s", real)
	}
	_, f := call[trace](t, "trace_dylib_resolution", map[string]any{"path": filepath.Join(dir, "main")})
	if !slices.ContainsFunc(f.Limitations, func(l string) bool { return strings.HasPrefix(l, filepath.Join(variant, "libtwo.so")) }) {
		t.Errorf("limitations %q", f.Limitations)
	}
}

// TestTraceDylibResolution_sysroot has links that would lead out of the root.
func TestTraceDylibResolution_sysroot(t *testing.T) {
	dir := project(t, "-Wl,--disable-new-dtags", "-Wl,-rpath,/opt/app/lib:$ORIGIN/../lib/deep")
	root := real(t, t.TempDir())
	copyTo := func(from, to string) {
		b, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copyTo("main", "opt/app/bin/main")
	copyTo("lib/libone.so.1", "opt/real/libone.so.1")
	copyTo("lib/libtwo.so", "lib64/libtwo.so")
	copyTo("lib/deep/libthree.so", "opt/app/lib/deep/libthree.so")
	if err := os.Symlink("/opt/real", filepath.Join(root, "opt", "app", "lib", "libs")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("libs/libone.so.1", filepath.Join(root, "opt", "app", "lib", "libone.so.1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../../../../etc/passwd", filepath.Join(root, "opt", "app", "lib", "libc.so.6")); err != nil {
		t.Fatal(err)
	}
	out, r := call[trace](t, "trace_dylib_resolution", map[string]any{"path": filepath.Join(root, "opt/app/bin/main"), "sysroot": root})
	want := map[string]string{"libone.so.1": "/opt/real/libone.so.1", "libtwo.so": "/lib64/libtwo.so", "libthree.so": "/opt/app/lib/deep/libthree.so"}
	if have := found(out); !maps.Equal(have, want) {
		t.Errorf("have %v\nwant %v", have, want)
	}
	if !slices.Equal(out.Missing, []string{"libc.so.6"}) || len(r.Limitations) == 0 {
		t.Errorf("missing %v, %q", out.Missing, r.Limitations)
	}
	for _, d := range out.Dependencies {
		for _, a := range d.Attempts {
			if strings.HasPrefix(a.Path, root) {
				t.Errorf("a path of this machine: %+v", a)
			}
		}
	}
}

func TestTraceDylibResolution_dyld(t *testing.T) {
	clang, ld := need(t, "clang-14", "clang"), need(t, "ld64.lld-14", "ld64.lld")
	dir := real(t, t.TempDir())
	for name, content := range map[string]string{
		"b.c": "int b(void) { return 1; }\n", "a.c": "int b(void); int a(void) { return b(); }\n", "m.c": "int a(void); int main(void) { return a(); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, dir, clang, "--target=arm64-apple-macos11", "-c", name)
	}
	if err := os.MkdirAll(filepath.Join(dir, "App.app/Contents/MacOS"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "App.app/Contents/Frameworks/sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	frameworks := "App.app/Contents/Frameworks/"
	link := func(args ...string) {
		cmd := exec.Command(ld, append([]string{"-arch", "arm64", "-platform_version", "macos", "11.0", "11.0", "-undefined", "dynamic_lookup"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("ld64.lld: %v\n%s", err, out)
		}
	}
	link("-dylib", "-install_name", "@rpath/libb.dylib", "b.o", "-o", frameworks+"sub/libb.dylib")
	link("-dylib", "-install_name", "@rpath/liba.dylib", "-rpath", "@loader_path/sub", "a.o", frameworks+"sub/libb.dylib", "-o", frameworks+"liba.dylib")
	link("-e", "_main", "-rpath", "/nowhere", "-rpath", "@executable_path/../Frameworks", "m.o", frameworks+"liba.dylib", "-o", "App.app/Contents/MacOS/App")
	path := filepath.Join(dir, "App.app/Contents/MacOS/App")
	out, _ := call[trace](t, "trace_dylib_resolution", map[string]any{"path": path, "attempts": "all"})
	want := map[string]string{"@rpath/liba.dylib": filepath.Join(dir, frameworks, "liba.dylib"), "@rpath/libb.dylib": filepath.Join(dir, frameworks, "sub/libb.dylib")}
	if have := found(out); !maps.Equal(have, want) || out.Loader != "dyld" || len(out.Missing) > 0 {
		t.Errorf("have %v, missing %v", have, out.Missing)
	}
	// The library alone: its own paths serve, those of the program are unknown.
	alone, _ := call[trace](t, "trace_dylib_resolution", map[string]any{"path": filepath.Join(dir, frameworks, "liba.dylib")})
	if have := found(alone); have["@rpath/libb.dylib"] == "" {
		t.Errorf("%+v", alone.Dependencies)
	}
	if err := os.Remove(filepath.Join(dir, frameworks, "sub/libb.dylib")); err != nil {
		t.Fatal(err)
	}
	broken, _ := call[trace](t, "trace_dylib_resolution", map[string]any{"path": path})
	if !slices.Equal(broken.Missing, []string{"@rpath/libb.dylib"}) {
		t.Errorf("missing %v", broken.Missing)
	}
	system, _ := call[trace](t, "trace_dylib_resolution", map[string]any{"path": write(t, "program", darwin(t))})
	if system.Counts.System == 0 || system.Counts.Missing != 0 {
		t.Errorf("%+v", system.Dependencies)
	}
}

func TestTraceDylibResolution_windows(t *testing.T) {
	gcc := need(t, "x86_64-w64-mingw32-gcc")
	dir := real(t, t.TempDir())
	for name, content := range map[string]string{
		"own.c": "__declspec(dllexport) int own(void) { return 1; }\n", "sys.c": "__declspec(dllexport) int sys(void) { return 1; }\n",
		"m.c": "int own(void); int sys(void); int main(void) { return own() + sys(); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"app", "Windows/System32"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, gcc, "-shared", "-o", "app/Own.DLL", "own.c")
	run(t, dir, gcc, "-shared", "-o", "Windows/System32/sys.dll", "sys.c")
	run(t, dir, gcc, "-o", "app/m.exe", "m.c", "app/Own.DLL", "Windows/System32/sys.dll")
	out, _ := call[trace](t, "trace_dylib_resolution", map[string]any{"path": filepath.Join(dir, "app/m.exe"), "sysroot": dir})
	have := found(out)
	if have["Own.DLL"] != "/app/Own.DLL" || have["sys.dll"] != "/Windows/System32/sys.dll" || out.Loader != "windows" {
		t.Errorf("%v, missing %v", have, out.Missing)
	}
	if !slices.ContainsFunc(out.Missing, func(s string) bool { return strings.EqualFold(s, "kernel32.dll") }) {
		t.Errorf("the sysroot has no kernel32.dll, missing %v", out.Missing)
	}
	plain, _ := call[trace](t, "trace_dylib_resolution", map[string]any{"path": filepath.Join(dir, "app/m.exe")})
	if plain.Counts.System == 0 || !slices.Equal(plain.Missing, []string{"sys.dll"}) {
		t.Errorf("without a sysroot: missing %v, %+v", plain.Missing, plain.Counts)
	}
}

func TestTraceDylibResolution_bounds(t *testing.T) {
	out, r := call[trace](t, "trace_dylib_resolution", map[string]any{"path": "/bin/ls", "max_depth": 1})
	for _, d := range out.Dependencies {
		if d.Depth > 2 {
			t.Errorf("%+v", d)
		}
	}
	if len(out.Images) > 1 && len(r.Limitations) == 0 {
		t.Errorf("%d images", len(out.Images))
	}
	if _, _, err := try[trace](t, "trace_dylib_resolution", map[string]any{"path": "/bin/ls", "sysroot": "/nowhere"}); codeOf(err) != "target_unavailable" {
		t.Error(err)
	}
	if _, _, err := try[trace](t, "trace_dylib_resolution", map[string]any{"path": write(t, "text", []byte("text"))}); codeOf(err) != "unsupported_target" {
		t.Error(err)
	}
}
