package binary_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/tool"
)

type peResources = tool.InspectPeResourcesOutput

const resourceScript = `1 VERSIONINFO
FILEVERSION 1,2,3,4
PRODUCTVERSION 5,6,7,8
FILETYPE 1
BEGIN
  BLOCK "StringFileInfo"
  BEGIN
    BLOCK "040904b0"
    BEGIN
      VALUE "CompanyName", "Example"
    END
  END
END
STRINGTABLE LANGUAGE 9,1
BEGIN
  3 "three"
  40 "forty"
END
7 RCDATA "data.bin"
1 24 "app.manifest"
`

const manifest = `<?xml version="1.0" encoding="UTF-8"?>
<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0">
<assemblyIdentity name="Example.App" version="1.0.0.0" type="win32"/>
<dependency><dependentAssembly><assemblyIdentity name="Microsoft.Windows.Common-Controls" version="6.0.0.0"/></dependentAssembly></dependency>
<trustInfo><security><requestedPrivileges><requestedExecutionLevel level="requireAdministrator" uiAccess="false"/></requestedPrivileges></security></trustInfo>
<compatibility><application><supportedOS Id="{8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a}"/></application></compatibility>
<application><windowsSettings><dpiAware>true/PM</dpiAware></windowsSettings></application>
</assembly>`

func TestInspectPEResources(t *testing.T) {
	windres, gcc := need(t, "x86_64-w64-mingw32-windres"), need(t, "x86_64-w64-mingw32-gcc")
	dir := t.TempDir()
	for name, content := range map[string]string{"r.rc": resourceScript, "data.bin": "some data", "app.manifest": manifest, "m.c": "int main(void) { return 0; }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, windres, "r.rc", "r.o")
	run(t, dir, gcc, "-s", "-o", "p.exe", "m.c", "r.o")
	path := filepath.Join(dir, "p.exe")
	out, r := call[peResources](t, "inspect_pe_resources", map[string]any{"path": path})
	if len(r.Limitations) > 0 {
		t.Errorf("limitations %q", r.Limitations)
	}
	v := out.Versions[0]
	if *v.FileVersion != "1.2.3.4" || *v.ProductVersion != "5.6.7.8" || *v.Kind != "application" || v.Strings[0].Values[0].Value != "Example" {
		t.Errorf("%+v", v)
	}
	if len(out.Strings.Items) != 2 || out.Strings.Items[0].ID != 3 || out.Strings.Items[1].Text != "forty" {
		t.Errorf("%+v", out.Strings)
	}
	m := out.Manifests[0]
	if *m.ExecutionLevel != "requireAdministrator" || *m.UiAccess || *m.Identity != "Example.App" || *m.DpiAwareness != "true/PM" ||
		m.SupportedOS[0] != "Windows 10" || m.Dependencies[0] != "Microsoft.Windows.Common-Controls" || !strings.Contains(m.Text, "requireAdministrator") {
		t.Errorf("%+v", m)
	}
	sum := sha256.Sum256([]byte("some data"))
	data, _ := call[peResources](t, "inspect_pe_resources", map[string]any{"path": path, "type": "rt_rcdata"})
	if len(data.Resources.Items) != 1 || *data.Resources.Items[0].SHA256 != hex.EncodeToString(sum[:]) || data.Resources.Items[0].Content != "text" || data.Resources.Items[0].Name != "7" {
		t.Errorf("%+v", data.Resources)
	}
	page, _ := call[peResources](t, "inspect_pe_resources", map[string]any{"path": path, "resource_offset": 1, "resource_limit": 1})
	if len(page.Resources.Items) != 1 || page.Resources.Items[0].Type != out.Resources.Items[1].Type || *page.Resources.NextOffset != 2 {
		t.Errorf("%+v", page.Resources)
	}
}

func TestInspectPEResources_without(t *testing.T) {
	gcc := need(t, "x86_64-w64-mingw32-gcc")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.c"), []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, gcc, "-c", "-o", "m.o", "m.c")
	out, r := call[peResources](t, "inspect_pe_resources", map[string]any{"path": filepath.Join(dir, "m.o")})
	if out.Resources.Total != 0 || len(r.Limitations) != 1 {
		t.Errorf("%+v %q", out, r.Limitations)
	}
	if _, _, err := try[peResources](t, "inspect_pe_resources", map[string]any{"path": machoSamples + "throw_arm64"}); codeOf(err) != "unsupported_target" {
		t.Errorf("a Mach-O file: %v", err)
	}
}
