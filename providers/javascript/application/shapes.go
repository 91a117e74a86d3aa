package application

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/providers/javascript/bundle"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/shape"
)

const (
	maxShapes     = 500  // exports of a part whose shape is kept
	shapeBudget   = 4000 // members and parameters of the shapes of a part
	maxShapeBytes = 64 << 10
)

// readShapes reads what the exports of each part look like.
func (u *unit) readShapes(p *bundle.File) {
	r := &shape.Reader{File: p}
	for i := range u.parts {
		if p.Stopped() {
			return
		}
		part := &u.parts[i]
		if part.bundle >= 0 && u.bundles[part.bundle].Modules[part.module].Eval != 0 {
			continue // its tree is another
		}
		r.Budget, r.Cut = shapeBudget, false
		shapes := graph.Properties{}
		size := 0
		for j := range part.exports {
			e := &part.exports[j]
			if e.Value == 0 || e.Name == "*" || len(shapes) == maxShapes || size > maxShapeBytes {
				continue
			}
			v := r.Exported(e.Name, e.Value)
			switch string(v) {
			case `{"kind":"unknown"}`, `{"kind":"undefined"}`: // compilers declare exports as undefined first
				continue
			}
			name := strings.ToValidUTF8(e.Name, "\ufffd")
			if _, again := shapes[name]; again { // the last one counts, and any may
				v = jsontext.Value(`{"kind":"unknown"}`)
			}
			shapes[name] = v
			size += len(v)
		}
		if len(shapes) > 0 {
			part.shapes = graph.Object(shapes)
		}
	}
}
