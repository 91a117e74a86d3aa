package project

import (
	"slices"
	"strings"

	"rea/gen/load"
)

// share settles how definitions are sent: one that is used several times stays
// under root $defs where that is shorter, all others are written where they are
// used, and recursion is cut.
func share(root *load.Node) *load.Node {
	defs := root.Get("$defs")
	root = without(root, "$defs")
	if defs == nil {
		return root
	}
	s := sharer{defs: defs, recursive: recursive(defs), done: map[string]*load.Node{}, uses: map[string]int{}}
	s.count(root)
	out := s.inline(root)
	kept := object()
	for _, m := range defs.Members {
		if s.kept[m.Name] {
			kept.Members = append(kept.Members, load.Member{Name: m.Name, Value: s.done[m.Name]})
		}
	}
	if len(kept.Members) > 0 {
		out = with(out, "$defs", kept)
	}
	return out
}

type sharer struct {
	defs      *load.Node
	recursive map[string]bool
	uses      map[string]int
	done      map[string]*load.Node // definitions with their own references settled
	kept      map[string]bool
	stack     []string
}

func refName(n *load.Node) string { return strings.TrimPrefix(n.Str("$ref"), local) }

// count counts the references that remain when every definition is written once.
func (s *sharer) count(n *load.Node) {
	rewrite(n, func(x *load.Node) *load.Node {
		if name := refName(x); name != "" {
			if s.uses[name]++; s.uses[name] == 1 {
				s.count(s.defs.Get(name))
			}
		}
		return x
	})
}

func (s *sharer) inline(n *load.Node) *load.Node {
	return rewrite(n, func(x *load.Node) *load.Node {
		name := refName(x)
		if name == "" {
			return x
		}
		if s.recursive[name] {
			return s.cut(x, name)
		}
		body := s.done[name]
		if body == nil {
			body = s.inline(s.defs.Get(name))
			s.done[name] = body
		}
		ref := size(object(load.Member{Name: "$ref", Value: text(local + name)}))
		n, all := s.uses[name], size(body)
		if n > 1 && n*ref+all+len(name)+4 < n*all {
			if s.kept == nil {
				s.kept = map[string]bool{}
			}
			s.kept[name] = true
			return x
		}
		return place(x, body)
	})
}

// place is a definition where a reference to it stood: what the reference says
// beside it goes before what the definition says.
func place(ref, body *load.Node) *load.Node {
	for _, m := range ref.Members {
		if m.Name != "$ref" {
			body = with(body, m.Name, m.Value)
		}
	}
	return body
}

// cut writes a recursive definition out down to where it comes again, and there
// says its type only.
func (s *sharer) cut(x *load.Node, name string) *load.Node {
	if slices.Contains(s.stack, name) {
		return place(x, typeOnly(s.defs.Get(name)))
	}
	s.stack = append(s.stack, name)
	body := s.inline(s.defs.Get(name))
	s.stack = s.stack[:len(s.stack)-1]
	return place(x, body)
}

// typeOnly is a schema with nothing but its type.
func typeOnly(n *load.Node) *load.Node {
	if t := n.Get("type"); t != nil {
		return object(load.Member{Name: "type", Value: t})
	}
	return object(load.Member{Name: "type", Value: texts(load.AnyTypes...)})
}

// recursive are the definitions that lead back to themselves.
func recursive(defs *load.Node) map[string]bool {
	direct := map[string][]string{}
	for _, m := range defs.Members {
		rewrite(m.Value, func(x *load.Node) *load.Node {
			if name := refName(x); name != "" {
				direct[m.Name] = append(direct[m.Name], name)
			}
			return x
		})
	}
	out := map[string]bool{}
	for _, m := range defs.Members {
		seen := map[string]bool{}
		queue := slices.Clone(direct[m.Name])
		for len(queue) > 0 {
			name := queue[0]
			queue = queue[1:]
			if !seen[name] {
				seen[name] = true
				queue = append(queue, direct[name]...)
			}
		}
		out[m.Name] = seen[m.Name]
	}
	return out
}

// expand writes every definition where it is used. It gives up, with nil, when
// the result would be longer than limit.
func expand(root *load.Node, limit int) *load.Node {
	defs := root.Get("$defs")
	if defs == nil {
		defs = object()
	}
	e := expander{defs: defs, left: limit}
	out := e.schema(without(root, "$defs"))
	if out == nil || size(out) > limit {
		return nil
	}
	return out
}

type expander struct {
	defs  *load.Node
	left  int
	stack []string
}

func (e *expander) schema(n *load.Node) *load.Node {
	out := rewrite(n, func(x *load.Node) *load.Node {
		name := refName(x)
		if name == "" || e.left < 0 {
			return x
		}
		def := e.defs.Get(name)
		if slices.Contains(e.stack, name) {
			return place(x, typeOnly(def))
		}
		if e.left -= size(def); e.left < 0 {
			return x
		}
		e.stack = append(e.stack, name)
		body := e.schema(def)
		e.stack = e.stack[:len(e.stack)-1]
		if body == nil {
			return x
		}
		return place(x, body)
	})
	if e.left < 0 {
		return nil
	}
	return out
}
