package codesign

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rea/providers/format/macho"
	"rea/providers/format/plist"
)

func blob(magic uint32, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, magic)
	out = binary.BigEndian.AppendUint32(out, uint32(8+len(body)))
	return append(out, body...)
}

// super joins blobs under their slots.
func super(magic uint32, slots []uint32, blobs ...[]byte) []byte {
	at := 12 + 8*len(blobs)
	var index, body []byte
	for i, b := range blobs {
		index = binary.BigEndian.AppendUint32(index, slots[i])
		index = binary.BigEndian.AppendUint32(index, uint32(at+len(body)))
		body = append(body, b...)
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(blobs)))
	return blob(magic, append(append(head, index...), body...))
}

// signed gives a program with an ad hoc signature, by the tool that name says.
func signed(t testing.TB, name string) *macho.Description {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "program")
	var cmds [][]string
	switch name {
	case "go":
		if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("package main\nfunc main() { println(1) }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmds = [][]string{{"go", "build", "-o", out, filepath.Join(dir, "m.go")}}
	case "lld":
		if err := os.WriteFile(filepath.Join(dir, "m.c"), []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmds = [][]string{
			{"clang", "--target=arm64-apple-macos11", "-c", filepath.Join(dir, "m.c"), "-o", filepath.Join(dir, "m.o")},
			{"ld64.lld-14", "-arch", "arm64", "-platform_version", "macos", "11.0", "11.0", "-adhoc_codesign", "-undefined", "dynamic_lookup", "-e", "_main", filepath.Join(dir, "m.o"), "-o", out},
		}
	}
	for _, c := range cmds {
		if _, err := exec.LookPath(c[0]); err != nil {
			t.Skipf("%s is not installed", c[0])
		}
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0", "GO111MODULE=off")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%v: %v\n%s", c, err, msg)
		}
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	d, err := macho.Describe(data, "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func never() bool { return false }

func TestAdHocSignatures(t *testing.T) {
	for _, tool := range []string{"go", "lld"} {
		t.Run(tool, func(t *testing.T) {
			d := signed(t, tool)
			s, err := Parse(d.Signature())
			if err != nil || len(s.Directories) != 1 || len(s.Notes) > 0 {
				t.Fatalf("%+v, %v", s, err)
			}
			c := s.Directories[0]
			if !c.AdHoc() || !slices.Contains(c.FlagNames(), "linker_signed") || c.HardenedRuntime() || c.HashName() != "sha256" || c.Identifier == "" {
				t.Errorf("%+v, flags %v", c, c.FlagNames())
			}
			p := c.CheckPages(d.Data(), never)
			if p.Matching != p.Total || p.Total < 2 || p.Reason != "" {
				t.Errorf("%+v", p)
			}
			changed := slices.Clone(d.Data())
			changed[c.CodeLimit-1] ^= 1
			if p := c.CheckPages(changed, never); p.Matching != p.Total-1 || !slices.Equal(p.Bad, []uint64{p.Total - 1}) {
				t.Errorf("changed: %+v", p)
			}
			if p := c.CheckPages(d.Data()[:c.CodeLimit-1], never); p.Reason == "" {
				t.Errorf("cut: %+v", p)
			}
			if s.Message() != nil || s.Entitlements() != nil {
				t.Error("a message or entitlements in an ad hoc signature")
			}
			if len(c.CDHash()) != 40 || !strings.HasPrefix(c.FullHash(), c.CDHash()) {
				t.Errorf("%s %s", c.CDHash(), c.FullHash())
			}
		})
	}
}

// req builds a requirement from words and byte strings.
func req(parts ...any) []byte {
	b := binary.BigEndian.AppendUint32(nil, 1)
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(int32(p)))
		case string:
			b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
			for len(b)%4 != 0 {
				b = append(b, 0)
			}
		}
	}
	return blob(magicRequirement, b)
}

const (
	opIdent, opApple, opAnd, opOr, opNot, opField, opGeneric, opAppleGeneric = 2, 3, 6, 7, 9, 11, 14, 15
)

func TestRequirements(t *testing.T) {
	developerID, _ := hex.DecodeString("2a864886f763640602" + "06") // 1.2.840.113635.100.6.2.6
	for _, tt := range []struct {
		b    []byte
		want string
	}{
		{req(opAnd, opIdent, "com.apple.ls", opApple), `identifier "com.apple.ls" and anchor apple`},
		{req(opIdent, "tool"), `identifier tool`},
		{req(opAnd, opAnd, opAnd, opIdent, "org.example", opAppleGeneric, opGeneric, 1, string(developerID), 0, opField, 0, "subject.OU", 1, "ABCDE12345"),
			`identifier "org.example" and anchor apple generic and certificate 1[field.1.2.840.113635.100.6.2.6] /* exists */ and certificate leaf[subject.OU] = ABCDE12345`},
		{req(opAnd, opOr, opApple, opIdent, "a", opNot, opAppleGeneric), `(anchor apple or identifier a) and ! anchor apple generic`},
		{req(8, "\x01\x02"), `cdhash H"0102"`},
		{req(4, -1, "\xaa"), `certificate root = H"aa"`},
		{req(16, "com.apple.security.app-sandbox", 1, "1"), `entitlement["com.apple.security.app-sandbox"] = "1"`},
	} {
		s, err := Parse(super(magicSignature, []uint32{slotRequirements}, super(magicRequirements, []uint32{3}, tt.b)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Requirements()
		if err != nil || len(got) != 1 || got[0] != (Requirement{"designated", tt.want}) {
			t.Errorf("%+v %v, want %s", got, err, tt.want)
		}
	}
	deep := []any{}
	for range 1000 {
		deep = append(deep, opNot)
	}
	s, _ := Parse(super(magicSignature, []uint32{slotRequirements}, super(magicRequirements, []uint32{3}, req(deep...))))
	if got, err := s.Requirements(); err == nil {
		t.Errorf("%+v", got)
	}
}

func TestDecodeDER(t *testing.T) {
	// { "a": true, "b": ["x", -2] } as a version and a dictionary.
	dict, _ := hex.DecodeString("b015" + "3006" + "0c0161" + "0101ff" + "300b" + "0c0162" + "3006" + "0c0178" + "0201fe")
	outer := append([]byte{0x70, byte(3 + len(dict)), 2, 1, 1}, dict...)
	v, err := DecodeDER(outer)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := plist.Parse([]byte("<plist><dict><key>b</key><array><string>x</string><integer>-2</integer></array><key>a</key><true/></dict></plist>"))
	if err != nil || !Same(&v, &want) {
		t.Errorf("%+v, want %+v", v, want)
	}
	want.Items[0].Items[0].Text = "y"
	if Same(&v, &want) {
		t.Error("different values are the same")
	}
	for i := range outer {
		DecodeDER(outer[:i])
	}
}

func TestHostile(t *testing.T) {
	be := binary.BigEndian
	good := super(magicSignature, []uint32{0}, blob(magicDirectory, make([]byte, 80)))
	for name, b := range map[string][]byte{
		"empty":     nil,
		"magic":     []byte("\xfa\xde\x0c\x02\x00\x00\x00\x0c\x00\x00\x00\x00"),
		"count":     be.AppendUint32(be.AppendUint32(be.AppendUint32(nil, magicSignature), 12), 1<<31),
		"length":    be.AppendUint32(be.AppendUint32(be.AppendUint32(nil, magicSignature), 1<<31), 0),
		"directory": good,
	} {
		s, err := Parse(b)
		if err == nil && len(s.Directories) > 0 {
			t.Errorf("%s: %+v", name, s.Directories[0])
		}
	}
}

func FuzzParse(f *testing.F) {
	directory := make([]byte, 120)
	be := binary.BigEndian
	be.PutUint32(directory[0:], 0x20400)
	be.PutUint32(directory[8:], 80)
	be.PutUint32(directory[20:], 1)
	be.PutUint32(directory[24:], 4096)
	directory[28], directory[29], directory[31] = 32, 2, 12
	f.Add(super(magicSignature, []uint32{slotDirectory, slotRequirements, slotEntitlementsDER},
		blob(magicDirectory, directory), super(magicRequirements, []uint32{3}, req(opAnd, opIdent, "com.apple.ls", opApple)),
		blob(magicEntitlementsDER, []byte{0x70, 5, 2, 1, 1, 0xb0, 0})))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		s.Requirements()
		DecodeDER(s.EntitlementsDER())
		for _, d := range s.Directories {
			d.CheckPages(data, never)
			d.Specials()
			d.FlagNames()
		}
	})
}
