package binary_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"rea/generated/tool"
)

func TestInspectPlist_agrees_with_plistlib(t *testing.T) {
	python := need(t, "python3")
	bundle := filepath.Join(t.TempDir(), "App.app")
	if err := os.MkdirAll(filepath.Join(bundle, "Contents"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(bundle, "Contents", "Info.plist")
	for _, format := range []string{"XML", "BINARY"} {
		out := run(t, "", python, "-c", `
import plistlib, json, sys
v = {'CFBundleIdentifier': 'org.example.app', 'CFBundleExecutable': 'App', 'CFBundleVersion': '7', 'CFBundleShortVersionString': '1.2',
  'CFBundleName': 'Example', 'CFBundleURLTypes': [{'CFBundleURLSchemes': ['ex', 'ample']}], 'flag': True, 'n': 12, 'f': 0.5, 'd': b'\x01\x02'}
plistlib.dump(v, open(sys.argv[1], 'wb'), fmt=getattr(plistlib, 'FMT_' + sys.argv[2]))
v['d'] = {'$data': 'AQI='}
print(json.dumps(v))`, path, format)
		got, _ := call[tool.InspectPlistOutput](t, "inspect_plist", map[string]any{"path": bundle})
		var want, have any
		if err := json.Unmarshal([]byte(out), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got.Value, &have); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %s, want %s", format, got.Value, out)
		}
		if b := got.Bundle; *b.Identifier != "org.example.app" || *b.Executable != "App" || *b.Version != "7" || *b.ShortVersion != "1.2" || *b.Name != "Example" {
			t.Errorf("bundle %+v", b)
		}
		if got.Source != "bundle" || got.SourcePath != "Contents/Info.plist" || got.Values != 15 {
			t.Errorf("%s %s, %d values", got.Source, got.SourcePath, got.Values)
		}
		part, _ := call[tool.InspectPlistOutput](t, "inspect_plist", map[string]any{"path": path, "pointer": "/CFBundleURLTypes/0/CFBundleURLSchemes/1"})
		if string(part.Value) != `"ample"` || part.Source != "file" {
			t.Errorf("%s of %s", part.Value, part.Source)
		}
	}
}

func TestInspectPlist_odd_values(t *testing.T) {
	path := write(t, "odd.plist", []byte(`<plist><dict><key>a</key><integer>18446744073709551615</integer><key>a</key><true/>
		<key>nan</key><real>nan</real><key>when</key><date>2024-02-29T12:34:56Z</date><key>neg</key><integer>-3</integer></dict></plist>`))
	out, r := call[tool.InspectPlistOutput](t, "inspect_plist", map[string]any{"path": path})
	want := `{"a":{"$integer":"18446744073709551615"},"nan":{"$real":"NaN"},"when":{"$date":"2024-02-29T12:34:56Z"},"neg":-3}`
	if string(out.Value) != want || len(r.Limitations) != 1 {
		t.Errorf("%s, limitations %q", out.Value, r.Limitations)
	}
}

func TestInspectPlist_is_bounded(t *testing.T) {
	big := base64.StdEncoding.EncodeToString(make([]byte, 12<<20))
	path := write(t, "big.plist", []byte("<plist><dict><key>d</key><data>"+big+"</data><key>s</key><string>x</string></dict></plist>"))
	out, r := call[tool.InspectPlistOutput](t, "inspect_plist", map[string]any{"path": path})
	if string(out.Value) != `{"d":null,"s":"x"}` || len(r.Limitations) != 1 {
		t.Errorf("%.100s, limitations %q", out.Value, r.Limitations)
	}
}

func TestInspectPlist_embedded(t *testing.T) {
	clang, ld := need(t, "clang-14", "clang"), need(t, "ld64.lld-14", "ld64.lld")
	dir := t.TempDir()
	for name, content := range map[string]string{
		"m.c": "int main(void) { return 0; }\n", "i.plist": "<plist><dict><key>CFBundleIdentifier</key><string>org.example.tool</string></dict></plist>",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, clang, "--target=arm64-apple-macos11", "-c", "m.c", "-o", "m.o")
	cmd := exec.Command(ld, "-arch", "arm64", "-platform_version", "macos", "11.0", "11.0", "-sectcreate", "__TEXT", "__info_plist", "i.plist", "-undefined", "dynamic_lookup", "-e", "_main", "m.o", "-o", "m")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("ld64.lld: %v\n%s", err, out)
	}
	out, _ := call[tool.InspectPlistOutput](t, "inspect_plist", map[string]any{"path": filepath.Join(dir, "m")})
	if out.Source != "section" || out.Bundle.Identifier == nil || *out.Bundle.Identifier != "org.example.tool" {
		t.Errorf("%+v", out)
	}
}

func TestInspectPlist_refusals(t *testing.T) {
	dir := t.TempDir()
	good := write(t, "a.plist", []byte("<plist><dict/></plist>"))
	for _, tt := range []struct {
		in   map[string]any
		code string
	}{
		{map[string]any{"path": dir}, "target_unavailable"},
		{map[string]any{"path": dir, "relative_path": "../x"}, "invalid_request"},
		{map[string]any{"path": dir, "relative_path": "/etc/passwd"}, "invalid_request"},
		{map[string]any{"path": good, "relative_path": "x"}, "invalid_request"},
		{map[string]any{"path": good, "pointer": "/x"}, "name_not_found"},
		{map[string]any{"path": good, "pointer": "x"}, "invalid_request"},
		{map[string]any{"path": write(t, "bad", []byte("\x00\x01\x02"))}, "unsupported_target"},
		{map[string]any{"path": machoSamples + "throw_arm64"}, "unsupported_target"},
	} {
		if _, _, err := try[tool.InspectPlistOutput](t, "inspect_plist", tt.in); string(codeOf(err)) != tt.code {
			t.Errorf("%v: %v", tt.in, err)
		}
	}
}
