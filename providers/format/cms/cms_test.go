package cms

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// authority makes a root, an intermediate and a leaf with openssl.
type authority struct {
	t   testing.TB
	dir string
}

func (a *authority) run(args ...string) {
	a.t.Helper()
	cmd := exec.Command("openssl", args...)
	cmd.Dir = a.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("openssl %v: %v\n%s", args, err, out)
	}
}

func newAuthority(t testing.TB, key ...string) *authority {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	a := &authority{t, t.TempDir()}
	a.write("ca.ext", "basicConstraints=critical,CA:TRUE\n")
	a.write("leaf.ext", "extendedKeyUsage=critical,codeSigning\n")
	a.write("tsa.ext", "extendedKeyUsage=critical,timeStamping\n")
	a.write("body", "the content that is signed\n")
	a.run(append([]string{"req", "-x509", "-newkey"}, append(key, "-nodes", "-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=Root", "-days", "30")...)...)
	for _, c := range []struct{ name, subject, by, ext string }{
		{"middle", "/O=Example/CN=Middle", "root", "ca.ext"}, {"leaf", "/O=Example/OU=ABCDE12345/CN=Leaf", "middle", "leaf.ext"}, {"tsa", "/CN=Clock", "middle", "tsa.ext"},
	} {
		a.run(append([]string{"req", "-newkey"}, append(key, "-nodes", "-keyout", c.name+".key", "-out", c.name+".csr", "-subj", c.subject)...)...)
		a.run("x509", "-req", "-in", c.name+".csr", "-CA", c.by+".pem", "-CAkey", c.by+".key", "-CAcreateserial", "-out", c.name+".pem", "-days", "30", "-extfile", c.ext)
	}
	var chain []byte
	for _, n := range []string{"middle.pem", "root.pem"} {
		chain = append(chain, a.read(n)...)
	}
	a.write("chain.pem", string(chain))
	return a
}

func (a *authority) write(name, text string) {
	if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (a *authority) read(name string) []byte {
	b, err := os.ReadFile(filepath.Join(a.dir, name))
	if err != nil {
		a.t.Fatal(err)
	}
	return b
}

func (a *authority) sign(extra ...string) []byte {
	a.run(append([]string{"cms", "-sign", "-binary", "-in", "body", "-signer", "leaf.pem", "-inkey", "leaf.key", "-certfile", "chain.pem", "-outform", "DER", "-out", "sig"}, extra...)...)
	return a.read("sig")
}

func TestVerify(t *testing.T) {
	for _, tt := range []struct {
		name string
		key  []string
		args []string
	}{
		{"rsa", []string{"rsa:2048"}, nil},
		{"rsa_sha1", []string{"rsa:2048"}, []string{"-md", "sha1"}},
		{"rsa_attached", []string{"rsa:2048"}, []string{"-nodetach"}},
		{"rsa_without_attributes", []string{"rsa:2048"}, []string{"-noattr", "-md", "sha512"}},
		{"rsa_open_lengths", []string{"rsa:2048"}, []string{"-nodetach", "-stream"}},
		{"rsa_pss", []string{"rsa:2048"}, []string{"-keyopt", "rsa_padding_mode:pss", "-md", "sha384"}},
		{"rsa_key_identifier", []string{"rsa:2048"}, []string{"-keyid"}},
		{"ecdsa", []string{"ec", "-pkeyopt", "ec_paramgen_curve:P-256"}, []string{"-md", "sha256"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuthority(t, tt.key...)
			body := a.read("body")
			s, err := Parse(a.sign(tt.args...))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Signers) != 1 || len(s.Certificates) != 3 || len(s.Notes) > 0 {
				t.Fatalf("%d signers, %d certificates, notes %q", len(s.Signers), len(s.Certificates), s.Notes)
			}
			if s.Content != nil && !bytes.Equal(s.Content, body) {
				t.Errorf("content %q", s.Content)
			}
			signer := s.Signers[0]
			if got := s.Verify(signer, body); got.State != Valid {
				t.Errorf("%+v", got)
			}
			if got := s.Verify(signer, append(body, 'x')); got.State != Invalid {
				t.Errorf("changed content: %+v", got)
			}
			if signer.signedRaw != nil && time.Since(signer.SigningTime()).Abs() > time.Hour {
				t.Errorf("signing time %v", signer.SigningTime())
			}
			chain := s.Chain(signer)
			var names string
			for _, l := range chain {
				names += l.Subject.CommonName + " "
				if l.Next.State != Valid {
					t.Errorf("%s: %+v", l.Subject.CommonName, l.Next)
				}
			}
			if names != "Leaf Middle Root " {
				t.Errorf("chain %s", names)
			}
			signer.Signature[len(signer.Signature)-1] ^= 1
			if got := s.Verify(signer, body); got.State != Invalid {
				t.Errorf("changed signature: %+v", got)
			}
		})
	}
}

func TestChain_without_issuer(t *testing.T) {
	a := newAuthority(t, "rsa:2048")
	a.run("cms", "-sign", "-binary", "-in", "body", "-signer", "leaf.pem", "-inkey", "leaf.key", "-outform", "DER", "-out", "sig")
	s, err := Parse(a.read("sig"))
	if err != nil {
		t.Fatal(err)
	}
	chain := s.Chain(s.Signers[0])
	if len(chain) != 1 || chain[0].Next.State != NotChecked {
		t.Errorf("%+v", chain)
	}
	s.Certificates = nil
	if got := s.Verify(s.Signers[0], nil); got.State != NotChecked {
		t.Errorf("%+v", got)
	}
}

// TestTimestamp has openssl stamp a signature.
func TestTimestamp(t *testing.T) {
	a := newAuthority(t, "rsa:2048")
	s, err := Parse(a.sign())
	if err != nil {
		t.Fatal(err)
	}
	signer := s.Signers[0]
	a.write("signature", string(signer.Signature))
	a.write("serial", "01")
	a.write("ts.cnf", "[tsa]\ndefault_tsa=one\n[one]\nserial=serial\ncrypto_device=builtin\nsigner_cert=tsa.pem\ncerts=chain.pem\nsigner_key=tsa.key\nsigner_digest=sha256\ndefault_policy=1.2.3.4\ndigests=sha256,sha512\n")
	a.run("ts", "-query", "-data", "signature", "-sha256", "-cert", "-out", "query")
	a.run("ts", "-reply", "-config", "ts.cnf", "-queryfile", "query", "-token_out", "-out", "token")
	token := a.read("token")
	for _, oid := range []Attribute{{Type: oidTimestampToken, Values: [][]byte{token}}, {Type: oidMicrosoftToken, Values: [][]byte{token}}} {
		signer.Unsigned = []Attribute{oid}
		stamps := s.Timestamps(signer)
		if len(stamps) != 1 || stamps[0].Check.State != Valid || time.Since(stamps[0].Time).Abs() > time.Hour || len(stamps[0].Chain) != 3 {
			t.Errorf("%+v", stamps)
		}
	}
	signer.Signature[0] ^= 1
	if stamps := s.Timestamps(signer); stamps[0].Check.State != Invalid {
		t.Errorf("of another signature: %+v", stamps[0].Check)
	}
}

func TestRefusals(t *testing.T) {
	for _, b := range [][]byte{nil, {0x30}, {0x30, 0x80}, {0x30, 0x84, 0xff, 0xff, 0xff, 0xff}, bytes.Repeat([]byte{0x30, 0x80}, 500), []byte("text"), {0x30, 0x03, 0x02, 0x01, 0x01}} {
		if s, err := Parse(b); err == nil {
			t.Errorf("%x: %+v", b, s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"detached.der", "open.der"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0x30, 0x80, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02, 0xa0, 0x80, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		for _, signer := range s.Signers {
			s.Verify(signer, s.Content)
			s.Chain(signer)
			s.Timestamps(signer)
		}
	})
}
