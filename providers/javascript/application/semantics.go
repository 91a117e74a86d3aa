package application

import (
	"cmp"
	"slices"

	"rea/generated/model"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/semantic"
)

// joinSemantics joins the semantic graphs of the files: along their imports, and
// along the messages, exposed APIs and programs by which processes meet.
func (a *analysis) joinSemantics() error {
	s := &joining{analysis: a, index: make([]int, len(a.units))}
	for i, u := range a.units {
		s.index[i] = -1
		if u == nil || u.graph == nil {
			continue
		}
		s.index[i] = len(s.parts)
		s.files = append(s.files, i)
		s.parts = append(s.parts, semantic.Part{
			File: int64(i), Unit: u.graph, Application: a.partNodes[i], Lines: u.lines,
			ModuleAt: func(at uint32) int { return 1 + u.nest.Innermost(at) },
		})
	}
	s.join = semantic.NewJoin(a.ctx, s.parts, s.target)
	for _, step := range []func(){s.messages, s.bridges, s.routes, s.programs, s.join.Pairs} {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		step()
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	g := s.join.Finish()
	g.Application = a.application.GraphID
	for _, u := range a.units { // all that is needed of them is in the graph
		if u != nil {
			u.graph = nil
		}
	}
	s.parts, s.join = nil, nil
	if err := a.ctx.Err(); err != nil {
		return err
	}
	a.semantics = g.Encode()
	return a.ctx.Err()
}

type joining struct {
	*analysis
	index []int // of the part of a file, -1 for none
	files []int // by part
	parts []semantic.Part
	join  *semantic.Join
}

// target is the module that code means by a specifier.
func (s *joining) target(part int, at uint32, specifier string, in int) (semantic.Target, bool) {
	file := s.files[part]
	if in >= 0 {
		u := s.units[file]
		module := u.nest.Innermost(at)
		if module < 0 {
			return semantic.Target{}, false
		}
		p := &u.parts[1+module]
		b := &u.bundles[p.bundle]
		for _, q := range requiresAt(&b.Modules[p.module], at) {
			specifier = q.ID // what it means by the table of the module
		}
		to, ok := s.module(file, 1+module, specifier)
		if !ok || s.index[to.file] < 0 {
			return semantic.Target{}, false
		}
		return semantic.Target{Part: s.index[to.file], Module: to.part}, true
	}
	r := s.resolve(file, specifier, in == semantic.ByRequire)
	if r.Path == "" {
		return semantic.Target{}, false
	}
	to := s.index[s.byPath[r.Path]]
	return semantic.Target{Part: to}, to >= 0
}

func requiresAt(m *bundle.Module, start uint32) []bundle.Require {
	i, ok := slices.BinarySearchFunc(m.Requires, start, func(q bundle.Require, at uint32) int { return cmp.Compare(q.At.Start, at) })
	if !ok || m.Requires[i].Unknown {
		return nil
	}
	return m.Requires[i : i+1]
}

// node is the node of a semantic graph at a location, or -1.
func (s *joining) node(location *int64, kinds ...semantic.Kind) int32 {
	if location == nil {
		return -1
	}
	l := &s.b.Locations
	return s.nodeAt(int(l.File[*location]), parse.Span{Start: uint32(l.Start[*location]), End: uint32(l.End[*location])}, kinds...)
}

func (s *joining) nodeAt(file int, at parse.Span, kinds ...semantic.Kind) int32 {
	if s.index[file] < 0 {
		return -1
	}
	return s.join.NodeAt(s.index[file], at, kinds...)
}

// calls are the kinds of node that a call can be.
var calls = []semantic.Kind{
	semantic.Call, semantic.Event, semantic.Listener, semantic.Promise, semantic.Timer, semantic.ChildProcess, semantic.Request, semantic.Resource, semantic.Stdio,
}

// messages relates those who send to those who listen, and answers to questions.
func (s *joining) messages() {
	for _, d := range s.deliveries {
		from, to := s.node(d.from.at, calls...), s.node(d.to.at, calls...)
		if from < 0 || to < 0 {
			continue
		}
		s.join.Add(semantic.Delivers, from, to)
		if d.from.kind != "invoke" {
			continue
		}
		for _, f := range s.join.Listener(to) {
			s.join.Add(semantic.Answers, f, from)
		}
	}
}

// routes relates routes to the functions that answer them.
func (s *joining) routes() {
	var answered []int32
	for i := range s.b.Edges {
		e := &s.b.Edges[i]
		if e.Relation != model.ApplicationRelationHandles {
			continue
		}
		switch s.b.Nodes[e.To].Kind {
		case model.ApplicationNodeKindRoute, model.ApplicationNodeKindEndpoint:
			if call := s.node(e.Location, calls...); call >= 0 {
				answered = append(answered, call)
			}
		}
	}
	s.join.Runs(answered)
}

// bridges relates calls of exposed APIs to the functions that preload scripts have
// for them.
func (s *joining) bridges() {
	exposed := map[int64][]int32{} // calls that expose an API, by its node
	for i := range s.b.Edges {
		if e := &s.b.Edges[i]; e.Relation == model.ApplicationRelationExposes {
			if n := s.node(e.Location, calls...); n >= 0 {
				exposed[e.To] = append(exposed[e.To], n)
			}
		}
	}
	for _, u := range s.uses {
		call := s.nodeAt(u.file, u.at, calls...)
		if call < 0 || len(exposed[u.api]) != 1 {
			continue
		}
		if member := s.join.Member(exposed[u.api][0], u.member); member >= 0 {
			s.join.Add(semantic.Callee, member, call)
			if f := s.join.Function(member); f >= 0 {
				s.join.Call(call, f)
			}
		}
	}
}

// programs relates calls to the files that they run.
func (s *joining) programs() {
	for _, r := range s.starts {
		if call := s.node(r.at); call >= 0 && s.index[r.file] >= 0 {
			s.join.Add(semantic.Starts, call, int32(s.join.Graph.Units[s.index[r.file]].Modules[0]))
		}
	}
}
