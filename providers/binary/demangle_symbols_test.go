package binary_test

import (
	"testing"

	"rea/generated/tool"
)

func TestDemangleSymbols(t *testing.T) {
	out, _ := call[tool.DemangleSymbolsOutput](t, "demangle_symbols", map[string]any{
		"symbols": []string{"_ZN3foo3barEi", "main", "?nope", "$s4main3fooyyF"},
	})
	want := []struct{ output, status, scheme string }{
		{"foo::bar(int)", "demangled", "itanium"}, {"main", "unchanged", ""}, {"?nope", "invalid", "msvc"}, {"main.foo() -> ()", "demangled", "swift"},
	}
	for i, w := range want {
		s := out.Symbols[i]
		scheme := ""
		if s.Scheme != nil {
			scheme = string(*s.Scheme)
		}
		if s.Output != w.output || string(s.Status) != w.status || scheme != w.scheme {
			t.Errorf("%+v, want %+v", s, w)
		}
	}
	if out.Demangled != 2 || out.Unchanged != 1 || out.Invalid != 1 {
		t.Errorf("%d demangled, %d unchanged, %d invalid", out.Demangled, out.Unchanged, out.Invalid)
	}
	one, _ := call[tool.DemangleSymbolsOutput](t, "demangle_symbols", map[string]any{"symbols": []string{"_ZN3foo3barEi"}, "scheme": "swift"})
	if one.Unchanged != 1 {
		t.Errorf("%+v", one)
	}
}
