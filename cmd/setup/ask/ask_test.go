package ask

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

var three = []Option{{Name: "a", Chosen: true}, {Name: "b"}, {Name: "c", Chosen: true}}

func TestPlainAnswers(t *testing.T) {
	for _, tt := range []struct {
		answer string
		want   []int
	}{
		{"\n", []int{0, 2}},
		{"2\n", []int{1}},
		{"3, 1\n", []int{0, 2}},
		{"all\r\n", []int{0, 1, 2}},
		{"none\n", nil},
		{"q\n", nil},
		{"", nil},
		{"7\nx\n2\n", []int{1}},
		{"2", []int{1}},
	} {
		var out bytes.Buffer
		got, err := Plain(strings.NewReader(tt.answer), &out).Choose("which?", three)
		if !reflect.DeepEqual(got, tt.want) || (tt.want == nil) != errors.Is(err, ErrDeclined) {
			t.Errorf("%q: %v, %v", tt.answer, got, err)
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q: the plain form steers the cursor", tt.answer)
		}
	}
}

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "YES\r\n": true, "yes": true, "\n": false, "": false, "n\n": false, "yep\n": false,
	} {
		if got := Plain(strings.NewReader(answer), &bytes.Buffer{}).Confirm("?"); got != want {
			t.Errorf("%q: %v", answer, got)
		}
	}
}
