package apksig

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/format/cms"
)

func never() bool { return false }

func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// archive writes a zip file of a few entries, one of several megabytes.
func archive(t testing.TB, dir string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for _, f := range []struct {
		name    string
		content []byte
		method  uint16
	}{
		{"AndroidManifest.xml", []byte("not really"), zip.Deflate}, {"classes.dex", bytes.Repeat([]byte("dex"), 5000), zip.Deflate},
		{"res/noise", noise, zip.Store}, {"empty", nil, zip.Store}, {"a/very/long/name/" + strings.Repeat("x", 100), []byte("long"), zip.Deflate},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain.apk"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func key(t testing.TB, dir, name, kind string, extra ...string) {
	t.Helper()
	run(t, dir, append([]string{"keytool", "-genkeypair", "-keystore", name + ".p12", "-storetype", "PKCS12", "-storepass", "secret", "-alias", "k",
		"-keyalg", kind, "-dname", "CN=" + name + ", O=Example", "-validity", "30"}, extra...)...)
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAgreesWithApksigner(t *testing.T) {
	need(t, "apksigner", "keytool")
	dir := t.TempDir()
	archive(t, dir)
	key(t, dir, "rsa", "RSA", "-keysize", "2048")
	key(t, dir, "ec", "EC")
	for _, tt := range []struct {
		name, key string
		args      []string
		schemes   []string
		jar       bool
	}{
		{"rsa_all", "rsa", []string{"--min-sdk-version", "19"}, []string{"v2", "v3"}, true},
		{"ec_v3", "ec", []string{"--min-sdk-version", "28", "--v1-signing-enabled", "false", "--v2-signing-enabled", "false"}, []string{"v3"}, false},
		{"rsa_verity", "rsa", []string{"--min-sdk-version", "24", "--v1-signing-enabled", "false", "--v3-signing-enabled", "false", "--verity-enabled", "true"}, []string{"v2"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := tt.name + ".apk"
			run(t, dir, append(append([]string{"apksigner", "sign", "--ks", tt.key + ".p12", "--ks-pass", "pass:secret", "--out", out}, tt.args...), "plain.apk")...)
			verified := run(t, dir, "apksigner", "verify", "--verbose", "--print-certs", "--min-sdk-version", tt.args[1], out)
			file := read(t, dir, out)
			l, err := Locate(file)
			if err != nil {
				t.Fatal(err)
			}
			schemes, notes := l.Schemes(never)
			var names []string
			for _, s := range schemes {
				names = append(names, s.Name)
				for _, signer := range s.Signers {
					for _, c := range slices.Concat(signer.Signatures, signer.Contents) {
						if c.State != cms.Valid {
							t.Errorf("%s: %+v", s.Name, c)
						}
					}
					if len(signer.Certificates) != 1 || len(signer.Notes) > 0 && tt.name != "rsa_all" {
						t.Errorf("%s: %d certificates, %q", s.Name, len(signer.Certificates), signer.Notes)
					}
					if fp := fmt.Sprintf("%x", sha256Of(signer.Certificates[0].Raw)); !strings.Contains(verified, fp) {
						t.Errorf("%s is not in\n%s", fp, verified)
					}
				}
			}
			if !slices.Equal(names, tt.schemes) || len(notes) > 0 {
				t.Errorf("schemes %v, want %v; %q", names, tt.schemes, notes)
			}
			j, err := ReadJar(file, never)
			if err != nil || (j != nil) != tt.jar {
				t.Fatalf("scheme 1: %+v, %v", j, err)
			}
			if j != nil {
				checkJar(t, j)
			}
			changed := bytes.Clone(file)
			changed[bytes.Index(changed, []byte("res/noise"))+5000] ^= 1
			if l, err = Locate(changed); err != nil {
				t.Fatal(err)
			}
			schemes, _ = l.Schemes(never)
			for _, s := range schemes {
				for _, c := range s.Signers[0].Contents {
					if c.State != cms.Invalid {
						t.Errorf("changed file, %s: %+v", s.Name, c.Outcome)
					}
				}
			}
		})
	}
}

func checkJar(t *testing.T, j *Jar) {
	t.Helper()
	if j.Entries != 5 || j.Covered != 5 || j.WrongCount+j.UnlistedCount+j.MissingCount > 0 || len(j.Signers) != 1 || len(j.Notes) > 0 {
		t.Errorf("%+v", j)
	}
	for _, s := range j.Signers {
		if s.Manifest.State != cms.Valid || len(s.Signature) != 1 || s.Signature[0].State != cms.Valid {
			t.Errorf("%s: %+v %+v", s.File, s.Manifest, s.Signature)
		}
	}
}

func TestAgreesWithJarsigner(t *testing.T) {
	need(t, "jarsigner", "keytool")
	dir := t.TempDir()
	archive(t, dir)
	key(t, dir, "rsa", "RSA", "-keysize", "2048")
	run(t, dir, "jarsigner", "-keystore", "rsa.p12", "-storepass", "secret", "-signedjar", "signed.jar", "plain.apk", "k")
	file := read(t, dir, "signed.jar")
	j, err := ReadJar(file, never)
	if err != nil || j == nil {
		t.Fatal(j, err)
	}
	checkJar(t, j)

	// Add an entry and change another, as one who has no key can.
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		if f.Name == "empty" {
			continue
		}
		if f.Name == "classes.dex" {
			e, _ := w.Create(f.Name)
			e.Write([]byte("changed"))
			continue
		}
		if err := w.Copy(f); err != nil {
			t.Fatal(err)
		}
	}
	e, _ := w.Create("added")
	e.Write([]byte("new"))
	w.Close()
	j, err = ReadJar(b.Bytes(), never)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(j.Wrong, []string{"classes.dex"}) || !slices.Equal(j.Unlisted, []string{"added"}) || !slices.Equal(j.Missing, []string{"empty"}) {
		t.Errorf("%+v", j)
	}
	if err := os.WriteFile(filepath.Join(dir, "changed.jar"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("jarsigner", "-verify", "changed.jar")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil && !strings.Contains(string(out), "unsigned") {
		t.Errorf("jarsigner accepts it: %s", out)
	}
}

func TestUnsigned(t *testing.T) {
	dir := t.TempDir()
	archive(t, dir)
	file := read(t, dir, "plain.apk")
	l, err := Locate(file)
	if err != nil || len(l.Pairs) > 0 || l.Block != l.Directory {
		t.Errorf("%+v %v", l, err)
	}
	if j, err := ReadJar(file, never); j != nil || err != nil {
		t.Errorf("%+v %v", j, err)
	}
	if _, err := Locate([]byte("text")); err != ErrNotZip {
		t.Error(err)
	}
}

func FuzzSchemes(f *testing.F) {
	le32 := func(b []byte, v int) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
	le64 := func(b []byte, v int) []byte { return le32(le32(b, v), 0) }
	seed := func(pair []byte) []byte {
		body := le64(nil, 4+len(pair))
		id := uint32(idV2)
		body = append(body, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
		body = append(body, pair...)
		size := len(body) + 24
		b := le64([]byte("entries."), size)
		b = append(b, body...)
		b = le64(b, size)
		b = append(b, blockMagic...)
		dir := len(b)
		end := append([]byte("PK\x05\x06"), make([]byte, 12)...)
		return append(append(b, le32(end, dir)...), 0, 0)
	}
	f.Add(seed(le32(nil, 0)))
	f.Add(seed(le32(nil, 4)))
	f.Add(seed([]byte("\x10\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := Locate(data); err == nil {
			l.Schemes(never)
		}
		ReadJar(data, never)
	})
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("Manifest-Version: 1.0\r\n\r\nName: a\r\nSHA-256-Digest: AAAA\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		main, named := splitManifest(data)
		total := len(main.raw)
		for _, s := range named {
			total += len(s.raw)
		}
		if total > len(data) {
			t.Errorf("sections of %d bytes in %d", total, len(data))
		}
	})
}

func sha256Of(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}
