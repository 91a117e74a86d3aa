package authenticode

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rea/providers/format/cms"
)

// bench has a PE file, keys and osslsigncode.
type bench struct {
	t   *testing.T
	dir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	for _, p := range []string{"osslsigncode", "openssl", "x86_64-w64-mingw32-gcc"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	b := &bench{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.dir, "m.c"), []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run("x86_64-w64-mingw32-gcc", "-s", "-o", "plain.exe", "m.c")
	b.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-out", "c.pem", "-subj", "/O=Example/CN=Signer", "-days", "30", "-addext", "extendedKeyUsage=codeSigning")
	return b
}

func (b *bench) run(args ...string) string {
	b.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (b *bench) read(name string) []byte {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

func (b *bench) sign(in, out string, extra ...string) {
	b.run(append([]string{"osslsigncode", "sign", "-certs", "c.pem", "-key", "k.pem", "-in", in, "-out", out}, extra...)...)
}

var computed = regexp.MustCompile(`(?i)calculated message digest\s*:\s*([0-9A-F]+)`)

func TestAgreesWithOsslsigncode(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		name string
		hash crypto.Hash
		args []string
	}{
		{"sha256", crypto.SHA256, []string{"-h", "sha256", "-n", "The Program", "-i", "https://example.org/"}},
		{"sha1", crypto.SHA1, []string{"-h", "sha1"}},
		{"pages", crypto.SHA256, []string{"-h", "sha256", "-ph"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b.sign("plain.exe", tt.name+".exe", tt.args...)
			file := b.read(tt.name + ".exe")
			table, err := Read(file)
			if err != nil || table == nil || len(table.Entries) != 1 || table.Trailing != 0 || len(table.Notes) > 0 {
				t.Fatalf("%+v, %v", table, err)
			}
			if table.Checksum != table.Computed {
				t.Errorf("checksum %#x, computed %#x", table.Checksum, table.Computed)
			}
			all, err := Signatures(table.Entries[0].Data)
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			s := all[0]
			if cms.Hash(s.Algorithm) != tt.hash || !bytes.Equal(s.Digest, table.Digest(tt.hash)) {
				t.Errorf("%s: stated %x, computed %x", cms.HashName(s.Algorithm), s.Digest, table.Digest(tt.hash))
			}
			cmd := exec.Command("osslsigncode", "verify", tt.name+".exe") // fails for want of a trusted root
			cmd.Dir = b.dir
			out, _ := cmd.CombinedOutput()
			if m := computed.FindStringSubmatch(string(out)); m == nil || !strings.EqualFold(m[1], hex.EncodeToString(table.Digest(tt.hash))) {
				t.Errorf("osslsigncode computes %v\n%s", m, out)
			}
			if got := s.Verify(s.Signers[0], s.Content); got.State != cms.Valid {
				t.Errorf("%+v", got)
			}
			if s.PageHashes != (tt.name == "pages") {
				t.Errorf("page hashes: %v", s.PageHashes)
			}
			if tt.name == "sha256" && (s.Program != "The Program" || s.URL != "https://example.org/") {
				t.Errorf("%q %q", s.Program, s.URL)
			}
			file[len(file)/4] ^= 1
			if table, err := Read(file); err != nil || bytes.Equal(s.Digest, table.Digest(tt.hash)) {
				t.Errorf("a changed file has the same digest, %v", err)
			}
		})
	}
}

func TestNestedSignatures(t *testing.T) {
	b := newBench(t)
	b.sign("plain.exe", "one.exe", "-h", "sha1")
	b.sign("one.exe", "two.exe", "-h", "sha256", "-nest")
	table, err := Read(b.read("two.exe"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Signatures(table.Entries[0].Data)
	if err != nil || len(all) != 2 || all[0].Nested || !all[1].Nested {
		t.Fatalf("%d signatures, %v", len(all), err)
	}
	for _, s := range all {
		if got := s.Verify(s.Signers[0], s.Content); got.State != cms.Valid || !bytes.Equal(s.Digest, table.Digest(cms.Hash(s.Algorithm))) {
			t.Errorf("%+v", got)
		}
	}
}

func TestUnsigned(t *testing.T) {
	b := newBench(t)
	file := b.read("plain.exe")
	if table, err := Read(file); table != nil || err != nil {
		t.Errorf("%+v %v", table, err)
	}
	for n := range 400 {
		Read(file[:n])
	}
	if _, err := Read([]byte("text")); err != ErrNotPE {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	head := make([]byte, 400)
	copy(head, "MZ")
	head[60] = 64
	copy(head[64:], "PE\x00\x00")
	head[64+20] = 0xf0
	head[64+24], head[64+25] = 0x0b, 0x02
	head[64+24+108] = 16
	head[64+24+112+32] = 0x80
	head[64+24+112+33] = 0x01
	head[64+24+112+36] = 16
	f.Add(head)
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Read(data)
		if err != nil || table == nil {
			return
		}
		table.Digest(crypto.SHA256)
		for _, e := range table.Entries {
			Signatures(e.Data)
		}
	})
}
