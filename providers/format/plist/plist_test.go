package plist

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// dump writes a value in a form that the Python program below writes too.
func dump(v *Value) string {
	switch v.Kind {
	case Boolean:
		return strconv.FormatBool(v.Bool)
	case Integer:
		return "i" + v.Text
	case UID:
		return "u" + v.Text
	case Real:
		return "r" + strconv.FormatFloat(v.Real, 'g', 17, 64)
	case String:
		return "s" + hex.EncodeToString([]byte(v.Text))
	case Data:
		return "d" + hex.EncodeToString(v.Bytes)
	case Date:
		return "t" + strconv.FormatInt(v.Time.Unix(), 10)
	case Array:
		var parts []string
		for i := range v.Items {
			parts = append(parts, dump(&v.Items[i]))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case Dict:
		var parts []string
		for i := range v.Items {
			parts = append(parts, hex.EncodeToString([]byte(v.Keys[i]))+":"+dump(&v.Items[i]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "null"
}

const writer = `
import plistlib, datetime, sys, calendar
def dump(v):
    if v is True or v is False: return str(v).lower()
    if isinstance(v, plistlib.UID): return 'u%d' % v.data
    if isinstance(v, int): return 'i%d' % v
    if isinstance(v, float): return 'r' + go(v)
    if isinstance(v, str): return 's' + v.encode().hex()
    if isinstance(v, bytes): return 'd' + v.hex()
    if isinstance(v, datetime.datetime): return 't%d' % calendar.timegm(v.timetuple())
    if isinstance(v, list): return '[' + ','.join(map(dump, v)) + ']'
    if isinstance(v, dict): return '{' + ','.join(k.encode().hex() + ':' + dump(x) for k, x in v.items()) + '}'
def go(f):
    s = repr(float('%.17g' % f))
    return '%.17g' % f
v = {
  'CFBundleIdentifier': 'org.example.app', 'emoji': 'caf\u00e9 \U0001f600', 'empty': '', 'yes': True, 'no': False,
  'numbers': [0, 1, 127, 128, 255, 256, 65535, 65536, 2**31, 2**32, 2**53+1, 2**63-1, 2**64-1, -1, -2**31, -2**63],
  'reals': [0.0, 1.5, -2.25, 1e300, 1e-300, 3.141592653589793],
  'data': [b'', b'\x00\x01\xff', bytes(range(256)) * 3], 'date': datetime.datetime(2024, 2, 29, 12, 34, 56),
  'old': datetime.datetime(1970, 1, 1), 'nested': [[], {}, [[[{'deep': ['x']}]]], 'y'],
  'long': 'x' * 5000, 'many': list(range(400)), 'keys & <tags>': 'a < b & c > "d"', 'lines': 'one\ntwo\tthree',
  'shared': ['same', 'same', 'same'],
}
fmt = {'xml': plistlib.FMT_XML, 'binary': plistlib.FMT_BINARY}[sys.argv[1]]
if fmt == plistlib.FMT_BINARY: v['uid'] = plistlib.UID(300)
with open(sys.argv[2], 'wb') as f: plistlib.dump(v, f, fmt=fmt, sort_keys=False)
with open(sys.argv[2], 'rb') as f: print(dump(plistlib.load(f)))
`

// TestAgreesWithPlistlib reads what Python wrote.
func TestAgreesWithPlistlib(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	for _, format := range []Format{XML, Binary} {
		path := filepath.Join(t.TempDir(), "list")
		out, err := exec.Command(python, "-c", writer, string(format), path).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		v, got, err := Parse(data)
		if err != nil || got != format {
			t.Fatalf("%s: %v", got, err)
		}
		if have, want := dump(&v), strings.TrimSpace(string(out)); have != want {
			i := 0
			for i < len(have) && i < len(want) && have[i] == want[i] {
				i++
			}
			t.Errorf("%s: differs at %d: …%.80s, want …%.80s", format, i, have[max(0, i-20):], want[max(0, i-20):])
		}
	}
}

func TestTextForms(t *testing.T) {
	for _, tt := range []struct {
		in     string
		format Format
		want   string
	}{
		{`{ a = b; "c d" = ( 1, two, "three" ); e = <0102 ff>; }`, OpenStep, `{61:s62,632064:[s31,s74776f,s7468726565],65:d0102ff}`},
		{"/* strings */ \"Hello\" = \"Bonjour\\n\"; // end\n\"x\" = \"\\U00e9\";", OpenStep, `{48656c6c6f:s426f6e6a6f75720a,78:sc3a9}`},
		{`( <*I-5>, <*BY>, <*R1.5>, <*D2001-01-01 00:00:00 +0000> )`, OpenStep, `[i-5,true,r1.5,t978307200]`},
		{`{}`, OpenStep, `{}`},
		{`{"a": [1, 2.5, null, true, "x"], "b": {}}`, JSON, `{61:[i1,r2.5,null,true,s78],62:{}}`},
		{`[ 18446744073709551615 ]`, JSON, `[i18446744073709551615]`},
		{"<plist><dict><key>a</key><integer>0x10</integer></dict></plist>", XML, `{61:i16}`},
		{"\xff\xfe<\x00p\x00l\x00i\x00s\x00t\x00>\x00<\x00t\x00r\x00u\x00e\x00/\x00>\x00<\x00/\x00p\x00l\x00i\x00s\x00t\x00>\x00", XML, `true`},
		{"<plist><dict><key>r</key><dict><key>CF$UID</key><integer>7</integer></dict></dict></plist>", XML, `{72:u7}`},
	} {
		v, format, err := Parse([]byte(tt.in))
		if err != nil || format != tt.format || dump(&v) != tt.want {
			t.Errorf("%q: %s %s %v, want %s", tt.in, format, dump(&v), err, tt.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, in := range []string{
		"", "\x00\x01", "bplist00", "bplist99" + strings.Repeat("\x00", 40), "<plist>", "<plist></plist>", "<plist><dict><key>a</key></dict></plist>",
		"<plist><integer>x</integer></plist>", "<plist><true/><true/></plist>", "<plist><data>*</data></plist>", "{ a = ", "( a", "{ a b }", `{"a": }`, `{"a":1} x`,
		"<plist><string>&undefined;</string></plist>", "<!DOCTYPE plist [<!ENTITY a \"aaaa\">]><plist><string>&a;</string></plist>",
		strings.Repeat("(", 10000), strings.Repeat("[", 10000), "<plist>" + strings.Repeat("<array>", 10000),
		"{" + strings.Repeat(`"a":{`, 600), `<plist><integer>99999999999999999999999</integer></plist>`,
	} {
		if v, format, err := Parse([]byte(in)); err == nil {
			t.Errorf("%.40q: %s %s", in, format, dump(&v))
		}
	}
}

// list builds a binary list of objects with one-byte offsets and references.
func list(top int, objects ...[]byte) []byte {
	out := []byte("bplist00")
	var offsets []byte
	for _, o := range objects {
		offsets = append(offsets, byte(len(out)))
		out = append(out, o...)
	}
	table := len(out)
	out = append(out, offsets...)
	trailer := make([]byte, 32)
	trailer[6], trailer[7] = 1, 1
	binary.BigEndian.PutUint64(trailer[8:], uint64(len(objects)))
	binary.BigEndian.PutUint64(trailer[16:], uint64(top))
	binary.BigEndian.PutUint64(trailer[24:], uint64(table))
	return append(out, trailer...)
}

func TestHostileBinary(t *testing.T) {
	bomb := [][]byte{{0x51, 'x'}}
	for i := range 40 {
		bomb = append(bomb, []byte{0xa2, byte(i), byte(i)})
	}
	for name, data := range map[string][]byte{
		"contains itself":       list(0, []byte{0xa1, 0}),
		"two in a ring":         list(0, []byte{0xa1, 1}, []byte{0xa1, 0}),
		"doubling":              list(40, bomb...),
		"missing object":        list(0, []byte{0xa1, 9}),
		"count beyond the file": list(0, []byte{0xaf, 0x13, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
		"key is no string":      list(0, []byte{0xd1, 1, 1}, []byte{0x09}),
		"date out of range":     list(0, []byte{0x33, 0x7f, 0xef, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
		"text beyond the file":  list(0, []byte{0x5f, 0x11, 0xff, 0xff}),
	} {
		if v, _, err := Parse(data); err == nil {
			t.Errorf("%s: %s", name, dump(&v))
		}
	}
	ok := list(0, []byte{0xd1, 1, 2}, []byte{0x51, 'k'}, []byte{0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	if v, _, err := Parse(ok); err != nil || dump(&v) != "{6b:i18446744073709551615}" {
		t.Errorf("%s %v", dump(&v), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("<plist><dict><key>a</key><integer>0x10</integer><key>b</key><data>AQI=</data></dict></plist>"))
	f.Add([]byte(`{ a = b; "c d" = ( 1, two, "three" ); e = <0102 ff>; f = <*I5>; }`))
	f.Add([]byte(`{"a": [1, 2.5, null, true, "x"], "b": {}}`))
	f.Add(list(0, []byte{0xd1, 1, 2}, []byte{0x51, 'k'}, []byte{0x62, 0, 'a', 0, 'b'}))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, _, err := Parse(data)
		if err == nil {
			dump(&v)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var x bytes.Buffer
	x.WriteString("<plist><array>")
	for i := range 20000 {
		fmt.Fprintf(&x, "<dict><key>name</key><string>value %d</string><key>n</key><integer>%d</integer></dict>", i, i)
	}
	x.WriteString("</array></plist>")
	b.SetBytes(int64(x.Len()))
	for b.Loop() {
		if _, _, err := Parse(x.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
