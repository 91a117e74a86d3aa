package binary_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/apksig"
	"rea/providers/format/authenticode/authenticodetest"
)

type signature = tool.InspectSignatureOutput

func failed(out *signature) []string {
	var names []string
	for _, s := range out.Signatures {
		for _, c := range s.Checks {
			if c.State != "pass" {
				names = append(names, c.Name+": "+string(c.State)+" "+c.Detail)
			}
		}
		for _, g := range s.Signers {
			if g.Signature != "valid" {
				names = append(names, "signer "+*g.Reason)
			}
		}
	}
	return names
}

func TestInspectSignature_ad_hoc(t *testing.T) {
	program := darwin(t)
	out, _ := call[signature](t, "inspect_signature", map[string]any{"path": write(t, "program", program)})
	if !out.Signed || out.State != "intact" || out.Format != "mach-o" || *out.Slice != "arm64" || len(out.Cdhashes) != 1 || *out.HardenedRuntime || len(failed(out)) > 0 {
		t.Errorf("%+v, %v", out, failed(out))
	}
	program[5000] ^= 1
	out, _ = call[signature](t, "inspect_signature", map[string]any{"path": write(t, "program", program)})
	if out.State != "broken" || len(failed(out)) != 1 {
		t.Errorf("changed: %s, %v", out.State, failed(out))
	}
}

// entitlementsDER is {"com.apple.security.app-sandbox": true}.
func entitlementsDER() []byte {
	key := "com.apple.security.app-sandbox"
	pair := append(append([]byte{0x0c, byte(len(key))}, key...), 1, 1, 0xff)
	dict := append([]byte{0x30, byte(len(pair))}, pair...)
	dict = append([]byte{0xb0, byte(len(dict))}, dict...)
	return append([]byte{0x70, byte(3 + len(dict)), 2, 1, 1}, dict...)
}

func TestInspectSignature_bundle(t *testing.T) {
	program, pem := darwin(t), keys(t)
	app := filepath.Join(t.TempDir(), "App.app")
	info := []byte(`<plist><dict><key>CFBundleExecutable</key><string>App</string></dict></plist>`)
	icon := []byte("an icon")
	sum := sha256.Sum256(icon)
	resources := []byte(`<plist><dict><key>files2</key><dict><key>Resources/icon</key><dict><key>hash2</key><data>` + base64.StdEncoding.EncodeToString(sum[:]) +
		`</data></dict><key>Resources/en.lproj</key><dict><key>hash2</key><data>AAAA</data><key>optional</key><true/></dict></dict></dict></plist>`)
	s := seal{
		info: info, resources: resources, keys: pem, identifier: "org.example.app", team: "ABCDE12345", der: entitlementsDER(),
		entitlements: []byte(`<?xml version="1.0"?><plist><dict><key>com.apple.security.app-sandbox</key><true/></dict></plist>`),
	}
	signed := signMacho(t, program, s)
	put := func(name string, b []byte) {
		path := filepath.Join(app, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("Contents/Info.plist", info)
	put("Contents/MacOS/App", signed)
	put("Contents/Resources/icon", icon)
	put("Contents/_CodeSignature/CodeResources", resources)

	out, r := call[signature](t, "inspect_signature", map[string]any{"path": app})
	if out.State != "intact" || len(failed(out)) > 0 {
		t.Errorf("%s, %v", out.State, failed(out))
	}
	if *out.Identifier != "org.example.app" || *out.TeamIdentifier != "ABCDE12345" || !*out.HardenedRuntime ||
		*out.DesignatedRequirement != `identifier "org.example.app" and anchor apple generic` || string(out.Entitlements) != `{"com.apple.security.app-sandbox":true}` ||
		!slices.Equal(out.Authorities, []string{"Example Developer", "Example Root"}) || !slices.Equal(out.HashAlgorithms, []string{"sha256"}) {
		t.Errorf("%+v", out)
	}
	signer := out.Signatures[0].Signers[0]
	if signer.ChainState != "self_signed_root" || signer.SigningTime == nil || *signer.Name != "Example Developer" {
		t.Errorf("%+v", signer)
	}
	if !slices.ContainsFunc(r.Limitations, func(l string) bool { return strings.Contains(l, "trust was not judged") }) {
		t.Errorf("limitations %q", r.Limitations)
	}
	kind, _ := call[tool.InspectMachoOutput](t, "inspect_macho", map[string]any{"path": filepath.Join(app, "Contents", "MacOS", "App")})
	if kind.Signature != "cms" {
		t.Errorf("inspect_macho says %s", kind.Signature)
	}

	put("Contents/Resources/icon", []byte("another icon"))
	if out, _ := call[signature](t, "inspect_signature", map[string]any{"path": app}); out.State != "broken" || len(failed(out)) != 1 || !strings.HasPrefix(failed(out)[0], "sealed files") {
		t.Errorf("changed file: %s, %v", out.State, failed(out))
	}
	put("Contents/Resources/icon", icon)
	put("Contents/Info.plist", append(info, '\n'))
	if out, _ := call[signature](t, "inspect_signature", map[string]any{"path": app}); out.State != "broken" || len(failed(out)) != 1 || !strings.Contains(failed(out)[0], "Info.plist") {
		t.Errorf("changed Info.plist: %s, %v", out.State, failed(out))
	}
	// The program alone: what lies beside it can't be compared.
	alone, _ := call[signature](t, "inspect_signature", map[string]any{"path": filepath.Join(app, "Contents", "MacOS", "App")})
	if alone.State != "partly_checked" || len(failed(alone)) != 2 {
		t.Errorf("alone: %s, %v", alone.State, failed(alone))
	}
	// A directory that was changed after it was signed.
	at := bytes.Index(signed, []byte("ABCDE12345\x00"))
	signed[at] ^= 1
	put("Contents/MacOS/App", signed)
	put("Contents/Info.plist", info)
	if out, _ := call[signature](t, "inspect_signature", map[string]any{"path": app}); out.State != "broken" || out.Signatures[0].Signers[0].Signature != model.CodeSignerSignatureInvalid {
		t.Errorf("changed directory: %s, %v", out.State, failed(out))
	}
}

func TestInspectSignature_PE(t *testing.T) {
	sign, gcc, pem := need(t, "osslsigncode"), need(t, "x86_64-w64-mingw32-gcc"), keys(t)
	if err := os.WriteFile(filepath.Join(pem, "m.c"), []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, pem, gcc, "-s", "-o", "plain.exe", "m.c")
	run(t, pem, sign, "sign", "-certs", "leaf.pem", "-ac", "root.pem", "-key", "leaf.key", "-h", "sha256", "-n", "Program", "-in", "plain.exe", "-out", "signed.exe")
	path := filepath.Join(pem, "signed.exe")
	out, _ := call[signature](t, "inspect_signature", map[string]any{"path": path})
	if out.State != "intact" || len(failed(out)) > 0 || *out.Pe.Program != "Program" || out.Pe.Checksum != out.Pe.ComputedChecksum || !slices.Equal(out.Authorities, []string{"Example Developer", "Example Root"}) {
		t.Errorf("%+v, %v", out, failed(out))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[0x300] ^= 1
	if out, _ := call[signature](t, "inspect_signature", map[string]any{"path": write(t, "changed.exe", data)}); out.State != "broken" {
		t.Errorf("changed: %s", out.State)
	}
	data[0x300] ^= 1
	if out, _ := call[signature](t, "inspect_signature", map[string]any{"path": write(t, "longer.exe", append(data, "more"...))}); out.State != "broken" || out.Pe.TrailingBytes != 4 {
		t.Errorf("longer: %s", out.State)
	}
	if out, _ := call[signature](t, "inspect_signature", map[string]any{"path": filepath.Join(pem, "plain.exe")}); out.State != "unsigned" || out.Signed {
		t.Errorf("unsigned: %s", out.State)
	}
}

// packageSigned makes plain.apk and signed.apk, which has all schemes.
func packageSigned(t *testing.T, apksigner string) string {
	t.Helper()
	keytool := need(t, "keytool")
	dir := t.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("classes.dex")
	w.Write(bytes.Repeat([]byte("dex"), 1000))
	z.Close()
	if err := os.WriteFile(filepath.Join(dir, "plain.apk"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, keytool, "-genkeypair", "-keystore", "k.p12", "-storetype", "PKCS12", "-storepass", "secret", "-alias", "k", "-keyalg", "RSA", "-dname", "CN=Packager", "-validity", "30")
	run(t, dir, apksigner, "sign", "--ks", "k.p12", "--ks-pass", "pass:secret", "--min-sdk-version", "19", "--out", "signed.apk", "plain.apk")
	return dir
}

func TestInspectSignature_APK(t *testing.T) {
	apksigner := need(t, "apksigner")
	dir := packageSigned(t, apksigner)
	out, _ := call[signature](t, "inspect_signature", map[string]any{"path": filepath.Join(dir, "signed.apk")})
	var schemes []string
	for _, s := range out.Signatures {
		schemes = append(schemes, string(s.Scheme))
	}
	if out.Format != "apk" || out.State != "intact" || !slices.Equal(schemes, []string{"jar", "apk_v2", "apk_v3"}) || !slices.Equal(out.Authorities, []string{"Packager"}) || *out.Apk.Covered != 1 {
		t.Errorf("%+v, %v, %v", out, schemes, failed(out))
	}
	plain, _ := call[signature](t, "inspect_signature", map[string]any{"path": filepath.Join(dir, "plain.apk")})
	if plain.State != "unsigned" || plain.Apk != nil {
		t.Errorf("%+v", plain)
	}
}

// Taking newer signatures away leaves an older one that is whole in itself.
func TestInspectSignature_APK_stripped(t *testing.T) {
	apksigner := need(t, "apksigner")
	dir := packageSigned(t, apksigner)
	signed, err := os.ReadFile(filepath.Join(dir, "signed.apk"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := apksig.Locate(signed)
	if err != nil {
		t.Fatal(err)
	}
	noBlock := slices.Concat(signed[:l.Block], signed[l.Directory:])
	binary.LittleEndian.PutUint32(noBlock[len(noBlock)-6:], uint32(l.Block))
	noV3 := bytes.Clone(signed)
	v3 := binary.LittleEndian.AppendUint32(nil, 0xf05368c0)
	copy(noV3[l.Block+bytes.Index(signed[l.Block:l.Directory], v3):], "none")
	for name, tt := range map[string]struct {
		file    []byte
		schemes map[model.CodeSignatureScheme]string
	}{
		"no_block": {noBlock, map[model.CodeSignatureScheme]string{"jar": "scheme 2, 3 was taken away"}},
		"no_v3":    {noV3, map[model.CodeSignatureScheme]string{"jar": "scheme 3 was taken away", "apk_v2": "scheme 3 was taken away"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stripped.apk")
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			if said, err := exec.Command(apksigner, "verify", "--min-sdk-version", "28", path).CombinedOutput(); err == nil {
				t.Fatalf("apksigner takes it: %s", said)
			}
			out, _ := call[signature](t, "inspect_signature", map[string]any{"path": path})
			if out.State != "broken" || len(out.Signatures) != len(tt.schemes) {
				t.Fatalf("%s with %d signatures", out.State, len(out.Signatures))
			}
			for _, s := range out.Signatures {
				at := slices.IndexFunc(s.Checks, func(c model.SignatureCheck) bool { return c.State == "fail" })
				if at < 0 || !strings.Contains(s.Checks[at].Detail, tt.schemes[s.Scheme]) || s.State != "broken" {
					t.Errorf("%s: %s, %+v", s.Scheme, s.State, s.Checks)
				}
			}
		})
	}
}

func TestInspectSignature_refusals(t *testing.T) {
	for path, code := range map[string]string{
		write(t, "text", []byte("text")): "unsupported_target", t.TempDir(): "target_unavailable",
		write(t, "zip", []byte("PK\x03\x04 and no end")): "unsupported_target", filepath.Join(t.TempDir(), "missing"): "target_unavailable",
	} {
		if _, _, err := try[signature](t, "inspect_signature", map[string]any{"path": path}); string(codeOf(err)) != code {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestInspectSignature_catalog: osslsigncode signs the same catalog, and finds a
// program in it.
func TestInspectSignature_catalog(t *testing.T) {
	osslsigncode, gcc := need(t, "osslsigncode"), need(t, "x86_64-w64-mingw32-gcc")
	dir := keys(t)
	if err := os.WriteFile(filepath.Join(dir, "m.c"), []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, gcc, "-s", "-o", "m.exe", "m.c")
	program, err := os.ReadFile(filepath.Join(dir, "m.exe"))
	if err != nil {
		t.Fatal(err)
	}
	sum := authenticodeSum(program)
	plain := authenticodetest.Catalog([]byte("0123456789abcdef"), time.Unix(1.7e9, 0), authenticodetest.Member{Name: "m.exe", Digest: sum}, authenticodetest.Member{Digest: make([]byte, 32)})
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	out, _ := call[signature](t, "inspect_signature", map[string]any{"path": write("plain.cat", plain)})
	if out.Signed || out.State != "unsigned" || out.Format != "catalog" || out.Catalog == nil || out.Catalog.Total != 2 {
		t.Errorf("unsigned: %+v", out)
	}
	run(t, dir, osslsigncode, "sign", "-certs", "leaf.pem", "-key", "leaf.key", "-in", "plain.cat", "-out", "signed.cat")
	said, _ := exec.Command(osslsigncode, "verify", "-catalog", filepath.Join(dir, "signed.cat"), "-CAfile", filepath.Join(dir, "root.pem"), "-in", filepath.Join(dir, "m.exe")).CombinedOutput()
	if !bytes.Contains(said, []byte("Signature verification: ok")) {
		t.Errorf("osslsigncode: %s", said)
	}
	signed, err := os.ReadFile(filepath.Join(dir, "signed.cat"))
	if err != nil {
		t.Fatal(err)
	}
	out, _ = call[signature](t, "inspect_signature", map[string]any{"path": filepath.Join(dir, "signed.cat")})
	m := out.Catalog.Members
	if !out.Signed || out.State != "intact" || len(out.Authorities) == 0 || out.Authorities[0] != "Example Developer" || len(m) != 2 || *m[0].Digest != hex.EncodeToString(sum) || m[0].Attributes[0].Value != "m.exe" || *out.Catalog.Time != "2023-11-14T22:13:20Z" {
		t.Errorf("%+v, %v", out, failed(out))
	}
	at := bytes.Index(signed, sum)
	signed[at] ^= 1
	if out, _ = call[signature](t, "inspect_signature", map[string]any{"path": write("changed.cat", signed)}); out.State != "broken" {
		t.Errorf("changed: %s", out.State)
	}
	if _, _, err := try[signature](t, "inspect_signature", map[string]any{"path": write("half.cat", signed[:len(signed)/2])}); codeOf(err) != "unsupported_target" {
		t.Errorf("half a catalog: %v", err)
	}
}

// authenticodeSum is the SHA-256 of a 64-bit program that is not signed, without
// its checksum and the place of the signature.
func authenticodeSum(program []byte) []byte {
	opt := int(binary.LittleEndian.Uint32(program[60:])) + 24
	sum := sha256.Sum256(slices.Concat(program[:opt+64], program[opt+68:opt+144], program[opt+152:], make([]byte, -len(program)&7)))
	return sum[:]
}
