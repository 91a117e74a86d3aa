package rpm_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rea/providers/format/container"
	"rea/providers/format/container/containertest"
	"rea/providers/format/rpm"
)

var files = []string{"small.rpm"}

func TestSmall(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Small(t, containertest.File(t, name), containertest.Opening(rpm.Open))
		})
	}
}

func TestDamage(t *testing.T) {
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			containertest.Damage(t, containertest.File(t, name), containertest.Opening(rpm.Open))
		})
	}
}

func FuzzOpen(f *testing.F) {
	var seeds [][]byte
	for _, name := range files {
		seeds = append(seeds, containertest.File(f, name))
	}
	containertest.Fuzz(f, containertest.Opening(rpm.Open), seeds...)
}

// TestLinks builds a package whose files share inodes and holds every name to
// the digest in the header.
func TestLinks(t *testing.T) {
	tool, err := exec.LookPath("rpmbuild")
	if err != nil {
		t.Skip("rpmbuild is not installed")
	}
	dir := t.TempDir()
	spec := filepath.Join(dir, "x.spec")
	text := `Name: x
Version: 1
Release: 1
Summary: x
License: x
BuildArch: noarch
%description
x
%install
mkdir -p %{buildroot}/opt
printf 'shared\n' > %{buildroot}/opt/a
ln %{buildroot}/opt/a %{buildroot}/opt/b
ln %{buildroot}/opt/a %{buildroot}/opt/c
: > %{buildroot}/opt/e
: > %{buildroot}/opt/e1
ln %{buildroot}/opt/e1 %{buildroot}/opt/e2
%files
/opt/a
/opt/b
/opt/c
/opt/e
/opt/e1
/opt/e2
`
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "-bb", "--define", "_topdir "+dir, "--define", "_binary_filedigest_algorithm 8", spec).CombinedOutput(); err != nil {
		t.Skipf("rpmbuild does not build here: %v\n%s", err, out)
	}
	built, _ := filepath.Glob(filepath.Join(dir, "RPMS", "*", "*.rpm"))
	if len(built) != 1 {
		t.Fatalf("built %v", built)
	}
	data, err := os.ReadFile(built[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := rpm.Open(containertest.Source(data))
	if err != nil {
		t.Fatal(err)
	}
	content, links := map[string]string{}, map[string]string{}
	for _, e := range containertest.Drain(t, r, 1<<20) {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		name := filepath.Base(e.Path)
		if e.Type == container.Hardlink {
			if links[name] = filepath.Base(e.Link); len(e.Notes) != 1 {
				t.Errorf("%q: %q", e.Path, e.Notes)
			}
			continue
		}
		content[name] = string(e.Content)
		if sum := fmt.Sprintf("%x", sha256.Sum256(e.Content)); len(e.Digests) != 1 || e.Digests[0].Value != sum {
			t.Errorf("%q has %s, the header %v", e.Path, sum, e.Digests)
		}
	}
	if len(links) != 2 || len(content) != 4 || len(r.Notes()) > 0 {
		t.Errorf("links %v, files %q, notes %q", links, content, r.Notes())
	}
	for name, to := range links {
		content[name] = content[to]
	}
	for name, want := range map[string]string{"a": "shared\n", "b": "shared\n", "c": "shared\n", "e": "", "e1": "", "e2": ""} {
		if got, ok := content[name]; !ok || got != want {
			t.Errorf("%q is %q", name, got)
		}
	}
}
