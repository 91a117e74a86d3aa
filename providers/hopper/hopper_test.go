//go:build unix

package hopper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/embedded"
	"rea/providers/enginetest"
	"rea/providers/enginetest/scripted"
	"rea/providers/format/native"
	"rea/runtime/bridge"
	"rea/runtime/engine"
)

func TestMain(m *testing.M) {
	scripted.Main(place, func(path string) (engine.Engine, string, error) {
		t, err := target(path)
		if err != nil {
			return nil, "", err
		}
		eng, err := embedded.Provider{Version: "test"}.Open(context.Background(), t, engine.NoNames{})
		return eng, t.SHA256, err
	})
	os.Exit(m.Run())
}

// place finds the root and the target in Hopper's arguments.
func place(args []string) (root, target string) {
	for i := range args[:len(args)-1] {
		switch args[i] {
		case "-e":
			target = args[i+1]
		case "-Y":
			root = filepath.Dir(filepath.Dir(args[i+1]))
		}
	}
	return root, target
}

func target(path string) (*engine.Target, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &engine.Target{
		Path: path, Name: filepath.Base(path), SHA256: hex.EncodeToString(sum[:]), Data: data,
		Kind: model.TargetKind(im.Kind), Format: model.TargetFormat(im.Format), Architecture: model.Architecture(im.Arch),
	}, nil
}

// settings name a launcher and a display that nobody sees.
func settings(t *testing.T, launcher string) (env map[string]string) {
	t.Helper()
	dir := t.TempDir()
	xvfb := "#!/bin/sh\n[ -s \"$9\" ] || exit 1\necho 7\nexec sleep 60\n"
	if err := os.WriteFile(filepath.Join(dir, "Xvfb"), []byte(xvfb), 0o755); err != nil {
		t.Fatal(err)
	}
	return map[string]string{LauncherSetting: launcher, "PATH": dir, "HOME": dir}
}

func open(t *testing.T, env map[string]string, path string, adjust func(*bridge.Config)) engine.Engine {
	t.Helper()
	base, err := os.MkdirTemp("", "hpt")
	if err != nil {
		t.Fatal(err)
	}
	p := Provider{Getenv: func(name string) string { return env[name] }, File: embedded.Provider{Version: "test"}, Adjust: func(c *bridge.Config) {
		c.Base, c.Grace = base, 300*time.Millisecond
		if adjust != nil {
			adjust(c)
		}
	}}
	tg, err := target(path)
	if err != nil {
		t.Fatal(err)
	}
	eng, err := p.Open(t.Context(), tg, engine.NoNames{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		left, _ := os.ReadDir(base)
		for _, e := range left {
			t.Errorf("%s is left", e.Name())
		}
		os.RemoveAll(base)
	})
	return eng
}

func TestConformance(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "hopper")
	if err := scripted.Install(launcher, scripted.Behaviour{Engine: ID, Version: "5"}); err != nil {
		t.Fatal(err)
	}
	env := settings(t, launcher)
	enginetest.Run(t, func(t *testing.T, path string) engine.Engine { return open(t, env, path, nil) })
}

// document is an engine over the fake Hopper and the real bridge script.
func document(t *testing.T) engine.Engine {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	fake, err := filepath.Abs("testdata/fake_hopper.py")
	if err != nil {
		t.Fatal(err)
	}
	launcher := filepath.Join(t.TempDir(), "hopper")
	// Python is found through the PATH of the test, which Hopper does not get.
	text := "#!/bin/sh\nexport PATH='" + os.Getenv("PATH") + "'\nexec '" + python + "' '" + fake + "' \"$@\"\n"
	if err := os.WriteFile(launcher, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/bin/true"); err != nil {
		t.Skip("there is no /bin/true")
	}
	return open(t, settings(t, launcher), "/bin/true", nil)
}

const base = model.Address(0x2000)

func TestScript_lists(t *testing.T) {
	eng := document(t)
	var got []string
	for p, err := range eng.Procedures(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		if p.Demangled != nil {
			shown = *p.Demangled
		}
		got = append(got, strings.Join([]string{p.Address.String(), p.Name, shown, string(p.Source)}, " "))
	}
	if diff := cmp.Diff([]string{"0x2000 _Z4mainv main() symbol", "0x2020 sub_2020  engine"}, got); diff != "" {
		t.Errorf("procedures (-want +got):\n%s", diff)
	}
	got = nil
	for n, err := range eng.Names(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n.Address.String()+" "+n.Name+" "+string(n.Kind))
	}
	if diff := cmp.Diff([]string{"0x2000 _Z4mainv function", "0x3100 table object"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	n := 0
	for s, err := range eng.Strings(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; s.Address != 0x3200 || s.ByteLength != 5 || s.Encoding != model.StringEncodingAscii {
			t.Errorf("string %+v", s)
		}
	}
	if n != 1 {
		t.Errorf("%d strings", n)
	}
	sum, err := eng.Summary(t.Context())
	if err != nil || sum.Procedures != 2 || sum.Instructions != 7 || sum.BasicBlocks != 4 || sum.Unresolved != 1 || sum.CallEdges != 1 {
		t.Errorf("summary %+v, %v", sum, err)
	}
}

func TestScript_body(t *testing.T) {
	eng := document(t)
	b, err := eng.Body(t.Context(), base, engine.Blocks|engine.Instructions|engine.Callees|engine.Outgoing|engine.Pseudocode|engine.Locals|engine.API)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range b.Instructions {
		got = append(got, in.Address.String()+" "+in.Mnemonic+" "+in.Operands+" "+string(in.Flow))
	}
	for _, blk := range b.Blocks {
		for _, next := range blk.Successors {
			got = append(got, blk.Start.String()+" "+string(next.Kind)+" "+next.Address.String())
		}
	}
	for _, r := range b.Outgoing {
		got = append(got, r.From.String()+" "+string(r.Kind)+" "+r.To.String())
	}
	if diff := cmp.Diff([]string{
		"0x2000 test edi, edi next", "0x2002 je loc_2010 conditional_jump", "0x2004 call helper call", "0x2009 jmp loc_2010 jump", "0x2010 ret  return",
		"0x2000 not_taken 0x2004", "0x2000 taken 0x2010", "0x2004 jump 0x2010",
		"0x2002 jump 0x2010", "0x2004 call 0x2020", "0x2009 jump 0x2010",
	}, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if len(b.Callees) != 1 || b.Callees[0].Procedure.Address != 0x2020 || b.Unresolved != 1 {
		t.Errorf("callees %+v, %d unresolved", b.Callees, b.Unresolved)
	}
	if b.Pseudocode == nil || !strings.Contains(*b.Pseudocode, "_Z4mainv") || len(b.Locals) != 1 || *b.Locals[0].Location != "stack -8" {
		t.Errorf("decompiled %+v", b)
	}
	// The other one cannot be decompiled, which is a gap and no error.
	b, err = eng.Body(t.Context(), 0x2020, engine.Pseudocode)
	if err != nil || b.Pseudocode != nil || !strings.Contains(b.Missing[engine.Pseudocode].Reason, "cannot be decompiled") {
		t.Errorf("decompiled %+v, %v", b, err)
	}
}

func TestScript_listing(t *testing.T) {
	eng := document(t)
	refs, err := eng.References(t.Context(), 0x3100, engine.To)
	if err != nil || len(refs) != 1 || refs[0].From != 0x2020 || refs[0].Kind != model.ReferenceKindAddressOf || *refs[0].ToName != "table" {
		t.Errorf("references %+v, %v", refs, err)
	}
	d, err := eng.Instruction(t.Context(), 0x2020)
	if err != nil || !d.Reached || d.Size != 6 || d.MemoryExpression != "rip+0x10" || d.MemorySize != 4 || d.Procedure == nil {
		t.Errorf("instruction %+v, %v", d, err)
	}
	d, err = eng.Instruction(t.Context(), 0x2021)
	if err != nil || d.Reached || d.Instruction.Flow != model.FlowInvalid {
		t.Errorf("instruction %+v, %v", d, err)
	}
	for _, tt := range []struct {
		at   model.Address
		step int
		want model.Address
		kind string
	}{{0x2004, 1, 0x2009, "instruction"}, {0x2009, -1, 0x2004, "instruction"}, {0x31ff, 1, 0x3200, "string"}} {
		item, err := eng.Item(t.Context(), tt.at, tt.step)
		want := &engine.Item{Address: tt.want, Kind: tt.kind}
		if tt.kind == "string" {
			want.Kind = "byte" // the fake types nothing there
		}
		if err != nil || *item != *want {
			t.Errorf("beside %s: %+v, %v; want %+v", tt.at, item, err, want)
		}
	}
	if item, err := eng.Item(t.Context(), 0, -1); err != nil || item != nil {
		t.Errorf("before the first address: %+v, %v", item, err)
	}
}

func TestScript_cursor_and_annotations(t *testing.T) {
	eng := document(t)
	cursor := eng.(engine.CursorState)
	if at, err := cursor.CursorAt(t.Context()); err != nil || *at != base {
		t.Errorf("cursor at %v, %v", at, err)
	}
	if err := cursor.MoveCursor(t.Context(), 0x2020); err != nil {
		t.Fatal(err)
	}
	if at, err := cursor.CursorAt(t.Context()); err != nil || *at != 0x2020 {
		t.Errorf("cursor at %v, %v", at, err)
	}
	notes := eng.(engine.Annotator)
	text := func(s string) *string { return &s }
	previous, err := notes.Annotate(t.Context(), []engine.Annotation{
		{Address: base, Kind: engine.NameNote, Value: text("start")},
		{Address: base, Kind: engine.CommentNote, Value: text("c")},
		{Address: base + 2, Kind: engine.InlineNote, Value: text("i")},
		{Address: base, Kind: engine.BookmarkNote, Value: text("b")},
		{Address: base, Kind: engine.BookmarkNote, Value: text("again")},
	})
	if err != nil || *previous[0] != "_Z4mainv" || previous[1] != nil || previous[3] != nil || *previous[4] != "b" {
		t.Fatalf("before: %v, %v", previous, err)
	}
	// The last change is refused, so that the others are taken back.
	if _, err = notes.Annotate(t.Context(), []engine.Annotation{
		{Address: base, Kind: engine.CommentNote, Value: text("lost")},
		{Address: 0x2020, Kind: engine.NameNote, Value: text("no name")},
	}); fault.CodeOf(err) != fault.ExecutionFailureCode {
		t.Errorf("a name with a space: %v", err)
	}
	previous, err = notes.Annotate(t.Context(), []engine.Annotation{{Address: base, Kind: engine.CommentNote}})
	if err != nil || *previous[0] != "c" {
		t.Errorf("after a refusal the comment was %v, %v", previous, err)
	}
	b, err := eng.Body(t.Context(), base, engine.Pseudocode)
	if err != nil || !strings.Contains(*b.Pseudocode, "start") {
		t.Errorf("pseudocode %+v, %v", b, err)
	}
}

func TestScript_compiles(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	if out, err := exec.Command(python, "-c", "import ast,sys; ast.parse(sys.stdin.read(), feature_version=(3, 6))").CombinedOutput(); err != nil {
		t.Skipf("this python3 cannot check for older ones: %s", out)
	}
	cmd := exec.Command(python, "-c", "import ast,sys; ast.parse(sys.stdin.read(), feature_version=(3, 6))")
	cmd.Stdin = strings.NewReader("ROOT = \"/x\"\n" + string(script))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDiscover(t *testing.T) {
	dir := t.TempDir()
	app := filepath.Join(dir, "Hopper.app", "Contents")
	launcher := filepath.Join(app, "MacOS", "hopper")
	for path, text := range map[string]string{
		launcher: "#!/bin/sh\n", filepath.Join(dir, "plain"): "x", filepath.Join(dir, "bin", "Xvfb"): "#!/bin/sh\n",
		filepath.Join(app, "Info.plist"): `<?xml version="1.0"?><plist version="1.0"><dict><key>CFBundleShortVersionString</key><string>5.19.6</string></dict></plist>`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o755)
		if text == "x" {
			mode = 0o644
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "bin")
	for _, tt := range []struct {
		name, goos string
		env        map[string]string
		reason     string
	}{
		{"on_macOS", "darwin", map[string]string{LauncherSetting: launcher}, ""},
		{"on_Linux", "linux", map[string]string{LauncherSetting: launcher, "PATH": bin}, ""},
		{"on_the_user's_display", "linux", map[string]string{LauncherSetting: launcher, "DISPLAY": ":0"}, ""},
		{"without_display", "linux", map[string]string{LauncherSetting: launcher}, "neither Xvfb in PATH nor a DISPLAY"},
		{"on_Windows", "windows", map[string]string{LauncherSetting: launcher}, "not on windows"},
		{"relative", "linux", map[string]string{LauncherSetting: "hopper"}, "is not an absolute path"},
		{"missing", "linux", map[string]string{LauncherSetting: launcher + "x"}, "does not exist"},
		{"not_executable", "linux", map[string]string{LauncherSetting: filepath.Join(dir, "plain")}, "is not executable"},
		{"a_directory", "linux", map[string]string{LauncherSetting: dir}, "is a directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, reason, remedy := find(func(name string) string { return tt.env[name] }, tt.goos)
			if !strings.Contains(reason, tt.reason) || (reason == "") != (tt.reason == "") || (remedy == "") != (reason == "") {
				t.Errorf("reason %q, remedy %q", reason, remedy)
			}
			if reason == "" && in.Version != "5.19.6" {
				t.Errorf("version %q", in.Version)
			}
		})
	}
	if _, reason, _ := find(func(string) string { return "" }, "linux"); runtime.GOOS == "linux" && reason != "" && !strings.Contains(reason, "/opt/hopper/bin/Hopper") {
		t.Errorf("without settings: %q", reason)
	}
}

// TestProfile: two programs of which no file says the version are not taken for one.
func TestProfile(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "hopper")
	digests := map[string]bool{}
	for _, text := range []string{"#!/bin/sh\n", "#!/bin/sh\n#\n"} {
		if err := os.WriteFile(launcher, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		profile := open(t, settings(t, launcher), "/bin/true", nil).Profile()
		if profile.Provider.Version != nil {
			t.Errorf("version %q comes from nowhere", *profile.Provider.Version)
		}
		digests[profile.Digest] = true
	}
	if len(digests) != 2 {
		t.Error("both have one profile")
	}
}

func TestTimeoutSetting(t *testing.T) {
	if d, err := startTimeout(func(string) string { return "" }); err != nil || d != 120*time.Second {
		t.Errorf("default %v, %v", d, err)
	}
	if err := Validate(func(string) string { return "12s" }); fault.CodeOf(err) != fault.ConfigurationInvalidCode || !strings.Contains(err.Error(), TimeoutSetting) {
		t.Errorf("error is %v", err)
	}
}

// TestHandOver: a launcher that ends well leaves the engine to another process,
// and only a script that connects counts.
func TestHandOver(t *testing.T) {
	launcher := filepath.Join(t.TempDir(), "hopper")
	if err := os.WriteFile(launcher, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	eng := open(t, settings(t, launcher), "/bin/true", func(c *bridge.Config) { c.StartTimeout = 300 * time.Millisecond })
	if _, err := eng.Summary(t.Context()); fault.CodeOf(err) != fault.ProviderTimeoutCode {
		t.Errorf("error is %v", err)
	}
}
