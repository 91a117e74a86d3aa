package application

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rea/providers/javascript/facts"
	"rea/providers/javascript/graph"
)

// handShapes gives exports that are those of other modules of the application the shape
// that they have there:
//
//	export {a as b} from "./c"
func (s *settling) handShapes() {
	known := map[place]map[string]jsontext.Value{}
	s.missing = map[looked]int{}
	for file, u := range s.units {
		if u == nil {
			continue
		}
		for part := range u.parts {
			p, at := &u.parts[part], place{file, part}
			var own map[string]jsontext.Value
			for i := range p.constants {
				c := &p.constants[i]
				if c.From == nil || c.From.Own || len(c.Path) != 1 || c.Path[0] == "*" || len(c.From.Path) == 0 {
					continue
				}
				if own == nil {
					own = s.shapes(known, at)
				}
				if v, there := own[c.Path[0]]; there && string(v) != `{"kind":"import"}` || len(own) >= maxShapes {
					continue
				}
				s.steps = 0
				if v, ok := s.shape(known, at, c.From, maxHops); ok && len(p.shapes)+len(v) <= maxShapeBytes {
					own[c.Path[0]] = v
					p.shapes = graph.Object(propertiesOf(own))
				}
			}
		}
	}
}

func propertiesOf(shapes map[string]jsontext.Value) graph.Properties {
	out := make(graph.Properties, len(shapes))
	for name, v := range shapes {
		out[name] = v
	}
	return out
}

// shapes are those of the exports of a part, by name.
func (s *settling) shapes(known map[place]map[string]jsontext.Value, at place) map[string]jsontext.Value {
	out, ok := known[at]
	if !ok {
		out = map[string]jsontext.Value{}
		if v := s.units[at.file].parts[at.part].shapes; v != nil && json.Unmarshal(v, &out) != nil {
			out = map[string]jsontext.Value{}
		}
		known[at] = out
	}
	return out
}

// looked is a name that was looked for in a part.
type looked struct {
	in   place
	path string
}

// shape is that of what a reference means.
func (s *settling) shape(known map[place]map[string]jsontext.Value, from place, r *facts.Reference, hops int) (jsontext.Value, bool) {
	if s.steps++; s.steps > maxSteps || hops <= 0 || len(r.Path) == 0 {
		return nil, false
	}
	for _, to := range s.loads(from, r) {
		key := looked{to, strings.Join(r.Path, separator)}
		if s.missing[key] >= hops { // or is being looked for: modules hand on in circles
			continue
		}
		s.missing[key] = hops
		if v, ok := s.shapes(known, to)[r.Path[0]]; ok && string(v) != `{"kind":"import"}` {
			v, ok := below(v, r.Path[1:])
			if ok {
				delete(s.missing, key)
			}
			return v, ok
		}
		for _, name := range []string{r.Path[0], "*"} {
			for _, c := range s.table(to)[name] {
				if c.From == nil || c.From.Own {
					continue
				}
				inner := *c.From
				inner.Path = append([]string{}, inner.Path...)
				if name == "*" {
					inner.Path = append(inner.Path, r.Path[0])
				}
				inner.Path = append(inner.Path, r.Path[1:]...)
				if v, ok := s.shape(known, to, &inner, hops-1); ok {
					delete(s.missing, key)
					return v, true
				}
			}
		}
	}
	return nil, false
}

// below is the shape of a member of an object.
func below(v jsontext.Value, path []string) (jsontext.Value, bool) {
	for _, name := range path {
		var object struct {
			Members map[string]jsontext.Value `json:"members"`
		}
		if json.Unmarshal(v, &object) != nil {
			return nil, false
		}
		member, ok := object.Members[name]
		if !ok {
			return nil, false
		}
		v = member
	}
	return v, true
}
