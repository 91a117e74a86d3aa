package binary_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/tool"
)

const machoSamples = "../format/macho/testdata/"

func TestInspectMacho_agrees_with_llvm(t *testing.T) {
	objdump := need(t, "llvm-objdump-14", "llvm-objdump")
	path := machoSamples + "throw_arm64"
	out, r := call[tool.InspectMachoOutput](t, "inspect_macho", map[string]any{"path": path})
	header := run(t, "", objdump, "--macho", "--private-header", path)
	for _, f := range out.Flags {
		if !strings.Contains(header, f) {
			t.Errorf("flag %s is not in\n%s", f, header)
		}
	}
	if !strings.Contains(header, "ARM64") || out.Architecture.Name != "arm64" || out.FileType != "MH_EXECUTE" || out.WordSize != 64 || out.Endian != "little" {
		t.Errorf("%+v", out.Architecture)
	}
	libraries := run(t, "", objdump, "--macho", "--dylibs-used", path)
	if len(out.Dependencies) == 0 {
		t.Error("no dependencies")
	}
	for _, d := range out.Dependencies {
		if !strings.Contains(libraries, d.Path) || !strings.Contains(libraries, "current version "+d.CurrentVersion) {
			t.Errorf("%+v is not in\n%s", d, libraries)
		}
	}
	binds := run(t, "", objdump, "--macho", "--bind", "--lazy-bind", "--weak-bind", path)
	for _, i := range out.Imports.Items {
		if !strings.Contains(binds, i.Name) {
			t.Errorf("import %s is not in\n%s", i.Name, binds)
		}
	}
	if len(out.Entrypoints) != 1 || out.Entrypoints[0].FileOffset == nil || out.Entrypoints[0].Address == nil {
		t.Errorf("entry points %+v", out.Entrypoints)
	}
	if len(r.Limitations) > 0 {
		t.Errorf("limitations of a complete answer: %q", r.Limitations)
	}
	if r.Subject == nil || *r.Subject.Format != "mach-o" {
		t.Errorf("subject %+v", r.Subject)
	}
}

func TestInspectMacho_pages(t *testing.T) {
	all, _ := call[tool.InspectMachoOutput](t, "inspect_macho", map[string]any{"path": machoSamples + "chained_arm64.dylib"})
	part, r := call[tool.InspectMachoOutput](t, "inspect_macho", map[string]any{
		"path": machoSamples + "chained_arm64.dylib", "command_offset": 1, "command_limit": 2, "section_limit": 1, "symbol_limit": 1,
	})
	if len(part.LoadCommands.Items) != 2 || part.LoadCommands.Items[0].Kind != all.LoadCommands.Items[1].Kind || part.LoadCommands.Items[0].Index != 1 || *part.LoadCommands.NextOffset != 3 {
		t.Errorf("%+v", part.LoadCommands)
	}
	if part.LoadCommands.Total != all.LoadCommands.Total || len(r.Limitations) < 3 {
		t.Errorf("%d of %d, %q", part.LoadCommands.Total, all.LoadCommands.Total, r.Limitations)
	}
	if all.Identity == nil || !strings.HasSuffix(all.Identity.Path, ".dylib") {
		t.Errorf("identity %+v", all.Identity)
	}
}

func TestInspectMacho_refusals(t *testing.T) {
	for _, tt := range []struct {
		path, slice, code string
	}{
		{write(t, "text", []byte("no program\n")), "", "unsupported_target"},
		{machoSamples + "throw_arm64", "x86_64", "slice_not_found"},
		{machoSamples + "missing", "", "target_unavailable"},
		{write(t, "short", []byte("\xcf\xfa\xed\xfe\x07")), "", "unsupported_target"},
	} {
		in := map[string]any{"path": tt.path}
		if tt.slice != "" {
			in["architecture"] = tt.slice
		}
		if _, _, err := try[tool.InspectMachoOutput](t, "inspect_macho", in); string(codeOf(err)) != tt.code {
			t.Errorf("%s: %v", tt.path, err)
		}
	}
	if _, _, err := try[tool.InspectMachoOutput](t, "inspect_macho", map[string]any{}); codeOf(err) != "no_target_open" {
		t.Errorf("without a path: %v", err)
	} else if e := (*fault.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Remediation.Action, "path of a file") {
		t.Errorf("the remedy of a missing path is %+v", err)
	}
}

func TestListArchitectures(t *testing.T) {
	out, _ := call[tool.ListArchitecturesOutput](t, "list_architectures", map[string]any{"path": machoSamples + "universal.o"})
	info := run(t, "", need(t, "llvm-lipo-14", "llvm-lipo"), "-archs", machoSamples+"universal.o")
	var names []string
	selected := 0
	for _, a := range out.Architectures {
		names = append(names, a.Name)
		if a.SHA256 == nil || a.Alignment == nil || a.FileType == nil || *a.FileType != "MH_OBJECT" {
			t.Errorf("%+v", a)
		}
		if a.Selected {
			selected++
		}
	}
	if got := strings.Join(names, " "); got != strings.TrimSpace(info) || out.Format != "mach-o-universal" || selected != 1 {
		t.Errorf("%s %s, want %s; %d selected", out.Format, got, info, selected)
	}
	thin, _ := call[tool.ListArchitecturesOutput](t, "list_architectures", map[string]any{"path": machoSamples + "throw_x86_64"})
	if len(thin.Architectures) != 1 || thin.Format != "mach-o" || thin.Architectures[0].Name != "x86_64" || thin.Architectures[0].Alignment != nil {
		t.Errorf("%+v", thin)
	}
	if path, err := os.Executable(); err == nil {
		own, _ := call[tool.ListArchitecturesOutput](t, "list_architectures", map[string]any{"path": path})
		if len(own.Architectures) != 1 || !own.Architectures[0].Selected {
			t.Errorf("%+v", own)
		}
	}
}
