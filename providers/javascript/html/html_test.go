package html_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rea/providers/javascript/html"
)

func TestScriptsOfADocument(t *testing.T) {
	src := `<!doctype html><!-- <script src="no.js"></script> --><title>A &amp; B</title>
<base href="app/"><script SRC=a.js></script><script type="module" src='b.js'></script>
<link rel="modulepreload" href="c.js"><style>"<script src='no.js'></script>"</style>
<script>if (a < b) document.write("<script>")</script>
<script type="application/json">{"a": 1}</script><iframe src="frame.html"></iframe>`
	d := html.Read(src)
	type row struct {
		Src             string
		Inline, Module  bool
		Preload, IsCode bool
		Text            string
	}
	var have []row
	for _, s := range d.Scripts {
		r := row{Src: s.Src, Inline: s.Inline, Module: s.Module, Preload: s.Preload, IsCode: s.Runs()}
		if s.Inline {
			r.Text = src[s.Start:s.End]
		}
		have = append(have, r)
	}
	want := []row{
		{Src: "a.js", IsCode: true}, {Src: "b.js", Module: true, IsCode: true}, {Src: "c.js", Module: true, Preload: true, IsCode: true},
		{Inline: true, IsCode: true, Text: `if (a < b) document.write("<script>")`}, {Inline: true, Text: `{"a": 1}`},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("scripts (-want +got):\n%s", diff)
	}
	if d.Title != "A & B" || d.Base != "app/" || len(d.Frames) != 1 || d.Unclosed {
		t.Errorf("document = %+v", d)
	}
	code, module, ok := d.Code(src)
	if !ok || module || len(code) != len(src) || strings.Index(code, "if (a < b)") != strings.Index(src, "if (a < b)") || strings.Contains(code, `"a": 1`) {
		t.Errorf("code = %q", code)
	}
}

func TestDocumentsWithoutEnd(t *testing.T) {
	for _, src := range []string{"<", "<a", "<a href=", `<a href="`, "<script>", "<script src=a.js", "<!--", "<title>", "<script></scrip", strings.Repeat("<script>", 200_000), strings.Repeat("<a ", 1_000_000), strings.Repeat("</", 1_000_000), strings.Repeat(`<a b="`, 500_000)} {
		began := time.Now()
		d := html.Read(src)
		d.Code(src)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%.20q took %v", src, took)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("<script src=a>b</script><title>x")
	f.Fuzz(func(t *testing.T, src string) {
		d := html.Read(src)
		for _, s := range d.Scripts {
			if s.Start < 0 || s.Start > s.End || s.End > len(src) {
				t.Fatalf("%+v of %d bytes", s, len(src))
			}
		}
		if code, _, _ := d.Code(src); len(code) != len(src) {
			t.Fatalf("%d bytes of code", len(code))
		}
	})
}
