package peresources

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const script = `#include <windows.h>
1 VERSIONINFO
FILEVERSION 1,2,3,4
PRODUCTVERSION 5,6,7,8
FILEFLAGSMASK 0x3f
FILEFLAGS 0x2
FILEOS 0x40004
FILETYPE 1
BEGIN
  BLOCK "StringFileInfo"
  BEGIN
    BLOCK "040904b0"
    BEGIN
      VALUE "CompanyName", "Example & Sons"
      VALUE "FileDescription", "A caf\351 program"
      VALUE "Odd", "x"
      VALUE "Empty", ""
    END
  END
  BLOCK "VarFileInfo"
  BEGIN
    VALUE "Translation", 0x409, 1200
  END
END
MAINICON ICON "two.ico"
STRINGTABLE LANGUAGE 9,1
BEGIN
  1 "first"
  15 "fifteenth"
  16 "sixteenth"
  1000 "thousandth"
END
STRINGTABLE LANGUAGE 7,1
BEGIN
  1 "erster"
END
7 RCDATA "data.bin"
OWNNAME OWNTYPE "data.bin"
1 24 "app.manifest"
9 MESSAGETABLE "messages.bin"
`

// build makes a program with resources by mingw.
func build(t testing.TB) string {
	t.Helper()
	for _, p := range []string{"x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-windres"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	dir := t.TempDir()
	le := binary.LittleEndian
	icon := []byte{0, 0, 1, 0, 2, 0}
	pictures := [][]byte{[]byte("\x28\x00\x00\x00first picture"), []byte("\x89PNG\r\n\x1a\nsecond")}
	at := 6 + 32
	for i, p := range pictures {
		e := make([]byte, 16)
		e[0], e[1], e[4], e[6] = byte(16*(1-i)), byte(16*(1-i)), 1, 32
		le.PutUint32(e[8:], uint32(len(p)))
		le.PutUint32(e[12:], uint32(at))
		at += len(p)
		icon = append(icon, e...)
	}
	icon = slices.Concat(icon, pictures[0], pictures[1])
	messages := make([]byte, 16)
	le.PutUint32(messages, 1)
	le.PutUint32(messages[4:], 0x100)
	le.PutUint32(messages[8:], 0x101)
	le.PutUint32(messages[12:], 16)
	messages = append(messages, "\x0c\x00\x00\x00ansi\r\n\x00\x00"...)
	messages = append(messages, "\x0c\x00\x01\x00w\x00i\x00d\x00e\x00"...)
	for name, content := range map[string]string{
		"r.rc": script, "two.ico": string(icon), "data.bin": "some data", "messages.bin": string(messages), "m.c": "int main(void) { return 0; }\n",
		"app.manifest": `<?xml version="1.0"?><assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0"><trustInfo/></assembly>`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][]string{{"x86_64-w64-mingw32-windres", "r.rc", "r.o"}, {"x86_64-w64-mingw32-gcc", "-s", "-o", "p.exe", "m.c", "r.o"}} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	return filepath.Join(dir, "p.exe")
}

func TestRead_agrees_with_readobj(t *testing.T) {
	path := build(t)
	readobj, err := exec.LookPath("llvm-readobj-14")
	if err != nil {
		t.Skip("llvm-readobj is not installed")
	}
	out, err := exec.Command(readobj, "--coff-resources", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Read(file)
	if err != nil || len(tree.Notes) > 0 {
		t.Fatal(err, tree.Notes)
	}
	// Leaves of readobj: language, then the address and size of the data.
	var want []string
	language := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Language: (ID "):
			language = strings.TrimSuffix(strings.TrimPrefix(line, "Language: (ID "), ") [")
		case strings.HasPrefix(line, "DataRVA: "):
			want = append(want, language+" "+strings.TrimPrefix(line, "DataRVA: "))
		case strings.HasPrefix(line, "DataSize: "):
			want[len(want)-1] += " " + strings.TrimPrefix(line, "DataSize: ")
		}
	}
	var have []string
	types := map[string]bool{}
	for _, r := range tree.Resources {
		have = append(have, fmt.Sprintf("%d 0x%X %d", r.Language, r.RVA, r.Size))
		types[TypeName(r.Type)] = true
		if len(r.Data) != int(r.Size) {
			t.Errorf("%v: %d bytes of %d", r.Type, len(r.Data), r.Size)
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("leaves\n have %v\n want %v\n%s", have, want, out)
	}
	for _, name := range []string{"RT_ICON", "RT_GROUP_ICON", "RT_VERSION", "RT_STRING", "RT_RCDATA", "RT_MANIFEST", "RT_MESSAGETABLE", "OWNTYPE"} {
		if !types[name] {
			t.Errorf("no %s in %v", name, types)
		}
	}
}

func find(t *testing.T, tree *Tree, kind uint32) []*Resource {
	t.Helper()
	var out []*Resource
	for i := range tree.Resources {
		if tree.Resources[i].Type.Number == kind {
			out = append(out, &tree.Resources[i])
		}
	}
	if len(out) == 0 {
		t.Fatalf("no resource of type %d", kind)
	}
	return out
}

func TestStandardTypes(t *testing.T) {
	file, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ParseVersion(find(t, tree, Version)[0].Data)
	if err != nil || v.FileVersion != "1.2.3.4" || v.ProductVersion != "5.6.7.8" || !slices.Equal(v.Flags, []string{"prerelease"}) {
		t.Errorf("%+v %v", v, err)
	}
	want := []Pair{{"CompanyName", "Example & Sons"}, {"FileDescription", "A café program"}, {"Odd", "x"}, {"Empty", ""}}
	if len(v.Strings) != 1 || v.Strings[0].Language != "040904b0" && v.Strings[0].Language != "040904B0" || !slices.Equal(v.Strings[0].Strings, want) {
		t.Errorf("%+v", v.Strings)
	}
	if !slices.Equal(v.Translations, []Translation{{0x409, 1200}}) {
		t.Errorf("%+v", v.Translations)
	}
	group, err := ParseGroup(find(t, tree, GroupIcon)[0], tree.Images())
	if err != nil || len(group) != 2 || group[0].Width != 16 || group[1].Width != 256 || group[0].PNG || !group[1].PNG || string(group[1].Data) != "\x89PNG\r\n\x1a\nsecond" {
		t.Errorf("%+v %v", group, err)
	}
	texts := map[string]string{}
	for _, r := range find(t, tree, String) {
		list, err := ParseStrings(r)
		if err != nil {
			t.Error(err)
		}
		for _, s := range list {
			texts[fmt.Sprintf("%d/%#x", s.ID, r.Language)] = s.Text
		}
	}
	for key, text := range map[string]string{"1/0x409": "first", "15/0x409": "fifteenth", "16/0x409": "sixteenth", "1000/0x409": "thousandth", "1/0x407": "erster"} {
		if texts[key] != text {
			t.Errorf("string %s is %q, want %q", key, texts[key], text)
		}
	}
	messages, err := ParseMessages(find(t, tree, MessageTable)[0].Data, 10)
	if err != nil || !slices.Equal(messages, []Text{{0x100, "ansi\r\n"}, {0x101, "wide"}}) {
		t.Errorf("%+v %v", messages, err)
	}
}

// image is a PE file of one section that holds body as its resources.
func image(body []byte) []byte {
	le := binary.LittleEndian
	f := make([]byte, 0x200)
	copy(f, "MZ")
	f[60] = 64
	copy(f[64:], "PE\x00\x00\x64\x86\x01\x00")
	f[64+20] = 0xf0
	opt := f[88:]
	le.PutUint16(opt, 0x20b)
	le.PutUint32(opt[60:], 0x200)
	le.PutUint32(opt[108:], 16)
	le.PutUint32(opt[128:], 0x1000)
	le.PutUint32(opt[132:], uint32(len(body)))
	s := f[88+0xf0:]
	le.PutUint32(s[8:], uint32(len(body)))
	le.PutUint32(s[12:], 0x1000)
	le.PutUint32(s[16:], uint32(len(body)))
	le.PutUint32(s[20:], 0x200)
	return append(f, body...)
}

func directory(entries ...uint32) []byte {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint16(b[14:], uint16(len(entries)/2))
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint32(b, e)
	}
	return b
}

func TestHostile(t *testing.T) {
	const sub = 1 << 31
	shared := directory()
	for range 4000 { // every entry leads to the same directory of as many
		shared = binary.LittleEndian.AppendUint32(shared, 1)
		shared = binary.LittleEndian.AppendUint32(shared, sub|uint32(16+8*4000))
	}
	binary.LittleEndian.PutUint16(shared[14:], 4000)
	second := directory()
	for range 4000 {
		second = binary.LittleEndian.AppendUint32(second, 1)
		second = binary.LittleEndian.AppendUint32(second, 0)
	}
	binary.LittleEndian.PutUint16(second[14:], 4000)
	for name, body := range map[string][]byte{
		"contains itself":  directory(1, sub),
		"shared":           append(shared, second...),
		"deep":             directory(1, sub|16),
		"entry outside":    directory(1, 0x7fffffff),
		"name outside":     directory(sub|0x7fffffff, sub|24, 0, 0),
		"count too large":  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
		"data beyond file": append(directory(1, sub|24), append(directory(1, sub|48), append(directory(1, 72), 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0)...)...),
	} {
		tree, err := Read(image(body))
		if err != nil || tree == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(tree.Notes) == 0 {
			t.Errorf("%s: nothing is noted", name)
		}
		if len(tree.Resources) > maxEntries {
			t.Errorf("%s: %d resources", name, len(tree.Resources))
		}
	}
	for _, b := range [][]byte{nil, []byte("MZ"), make([]byte, 400)} {
		if _, err := Read(b); err != ErrNotPE {
			t.Error(err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(image(directory(1, 1<<31|24)))
	f.Add(image(append(directory(16, 1<<31|24), append(directory(1, 1<<31|48), append(directory(0x409, 72), 0x58, 0x10, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8)...)...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := Read(data)
		if err != nil || tree == nil {
			return
		}
		images := tree.Images()
		for i := range tree.Resources {
			r := &tree.Resources[i]
			ParseVersion(r.Data)
			ParseStrings(r)
			ParseMessages(r.Data, 1000)
			ParseGroup(r, images)
		}
	})
}

func FuzzParseVersion(f *testing.F) {
	f.Add([]byte("\x34\x00\x00\x00\x01\x00V\x00S\x00_\x00V\x00E\x00R\x00S\x00I\x00O\x00N\x00_\x00I\x00N\x00F\x00O\x00\x00\x00\x00\x00\x08\x00\x00\x00\x01\x00a\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ParseVersion(data)
		ParseMessages(data, 1000)
	})
}
