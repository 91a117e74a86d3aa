package facts

import (
	"strings"

	"rea/providers/javascript/parse"
)

// byPreferences is why a preload script is known that no window here is seen to have.
const byPreferences = "an object of options for windows names it"

// preferred reads the preload scripts of objects {webPreferences: {preload}} that are
// handed to windows elsewhere.
func (e *extractor) preferred() {
	f := e.f
	if !strings.Contains(f.Src, "webPreferences") || !strings.Contains(f.Src, "preload") {
		return
	}
	known := map[parse.Span]bool{}
	for i := range e.out.Facts {
		if e.out.Facts[i].Kind == Preload {
			known[e.out.Facts[i].At] = true
		}
	}
	for i := range f.Nodes {
		r := parse.Ref(i)
		if f.Kind(r) != parse.Property || f.Kind(f.First(r)) != parse.Name || f.NameOf(f.First(r)) != "webPreferences" || f.Kind(e.parents[r]) != parse.Object {
			continue
		}
		object := e.Names.Literal(f.Kid(r, 1))
		if object == 0 {
			continue
		}
		for k := f.First(object); k != 0; k = f.Next(k) {
			if f.Kind(k) != parse.Property || f.Kind(f.First(k)) != parse.Name || f.NameOf(f.First(k)) != "preload" {
				continue
			}
			if preload := f.Kid(k, 1); !known[e.span(preload)] {
				known[e.span(preload)] = true
				if text, ok := e.Path(preload); ok {
					e.fact(Preload, text, "webPreferences.preload", preload).Inferred = byPreferences
				}
			}
		}
	}
}
