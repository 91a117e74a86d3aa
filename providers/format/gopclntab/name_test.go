package gopclntab

import "testing"

func TestSplitName(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Symbol
	}{
		{"main.main", Symbol{"main", "", false, "main"}},
		{"main.(*T).M", Symbol{"main", "T", true, "M"}},
		{"main.T.M", Symbol{"main", "T", false, "M"}},
		{"main.(*T).M-fm", Symbol{"main", "T", true, "M"}},
		{"main.(*T).M.func1", Symbol{"main", "T", true, "M.func1"}},
		{"main.F.func1", Symbol{"main", "", false, "F.func1"}},
		{"main.F.func1.2", Symbol{"main", "", false, "F.func1.2"}},
		{"main.F.gowrap1", Symbol{"main", "", false, "F.gowrap1"}},
		{"main.init.0", Symbol{"main", "", false, "init.0"}},
		{"main.glob..func1", Symbol{"main", "", false, "glob..func1"}},
		{"net/http.(*Client).Do", Symbol{"net/http", "Client", true, "Do"}},
		{"gopkg.in/yaml%2ev3.Unmarshal", Symbol{"gopkg.in/yaml.v3", "", false, "Unmarshal"}},
		{"main.F[go.shape.struct { a/b.c int }]", Symbol{"main", "", false, "F"}},
		{"main.(*G[...]).M", Symbol{"main", "G", true, "M"}},
		{"slices.SortFunc[go.shape.[]int,go.shape.int]", Symbol{"slices", "", false, "SortFunc"}},
		{"type:.eq.main.T", Symbol{"", "", false, "type:.eq.main.T"}},
		{"_cgo_panic", Symbol{"", "", false, "_cgo_panic"}},
		{"runtime.memmove", Symbol{"runtime", "", false, "memmove"}},
	} {
		if got := SplitName(tt.in); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func FuzzSplitName(f *testing.F) {
	f.Add("main.(*G[...]).M-fm")
	f.Add("gopkg.in/yaml%2ev3.Unmarshal")
	f.Fuzz(func(t *testing.T, name string) { SplitName(name) })
}
