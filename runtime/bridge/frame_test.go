package bridge

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestReadFrame(t *testing.T) {
	frame := func(n uint32, text string) []byte { return append(binary.BigEndian.AppendUint32(nil, n), text...) }
	for _, tt := range []struct {
		name  string
		data  []byte
		want  string
		cause error
	}{
		{"whole", frame(2, "{}rest"), "{}", nil},
		{"nothing", nil, "", io.EOF},
		{"half_a_length", []byte{0, 0}, "", io.ErrUnexpectedEOF},
		{"half_a_frame", frame(10, "{}"), "", io.ErrUnexpectedEOF},
		{"only_a_length", frame(10, ""), "", io.ErrUnexpectedEOF},
		{"empty", frame(0, ""), "", errAny},
		{"beyond_the_limit", frame(101, strings.Repeat(" ", 101)), "", errAny},
		{"enormous", frame(0xffffffff, ""), "", errAny},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadFrame(bytes.NewReader(tt.data), 100)
			if string(got) != tt.want || (err == nil) != (tt.cause == nil) || tt.cause != nil && tt.cause != errAny && !errors.Is(err, tt.cause) {
				t.Errorf("frame %q, %v", got, err)
			}
		})
	}
}

var errAny = errors.New("any")

func FuzzReadFrame(f *testing.F) {
	for _, v := range []any{greeting{Protocol: 1, Token: "t"}, question{ID: 7, Op: "body"}, question{Cancel: 7}} {
		frame, err := AppendFrame(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, '{'})
	f.Add([]byte("\x00\x00\x00\x2f{\"id\":1,\"part\":\"x\",\"rows\":[1,[]],\"end\":null}  "))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			frame, err := ReadFrame(r, 1<<16)
			if err != nil {
				return
			}
			if len(frame) == 0 || len(frame) > len(data) {
				t.Fatalf("a frame of %d bytes out of %d", len(frame), len(data))
			}
			var a answer
			if json.Unmarshal(frame, &a) == nil && a.last() && a.End == nil && a.Fail == nil {
				t.Fatal("a last frame that says nothing")
			}
			var hello greeting
			_ = json.Unmarshal(frame, &hello)
		}
	})
}

func TestTail(t *testing.T) {
	var out tail
	for range 1000 {
		io.WriteString(&out, "noise that is forgotten\n")
	}
	io.WriteString(&out, "one\n\n \x1b[31mtwo\xff\nthree")
	if got := out.lines(3); got != "one | [31mtwo? | three" {
		t.Errorf("last lines are %q", got)
	}
	if len(out.data) > tailSize {
		t.Errorf("%d bytes are kept", len(out.data))
	}
}

func TestFirstLine(t *testing.T) {
	f := &firstLine{ready: make(chan struct{})}
	for _, part := range []string{"4", "2\nmore\n", "and more\n"} {
		if n, err := io.WriteString(f, part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	<-f.ready
	if f.text() != "42" {
		t.Errorf("first line is %q", f.text())
	}
}
