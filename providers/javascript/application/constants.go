package application

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/graph"
	"rea/providers/javascript/parse"
)

// settleFacts gives facts the names that are values of other modules, as the
// channels that programs keep in one file for all of their processes.
func (a *analysis) settleFacts() error {
	a.pack()
	s := &settling{analysis: a, tables: map[place]map[string][]*facts.Constant{}}
	for file, u := range a.units {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if u == nil {
			continue
		}
		for part := range u.parts {
			list := u.parts[part].facts
			for i := range list {
				if f := &list[i]; f.Pending() {
					if text, ok := s.text(place{file, part}, f.Pieces, f.Kind == facts.Endpoint, maxHops); ok {
						why := byConstant
						if f.Pieces[0].Chunk {
							why = byRuntime
						}
						f.Settle(text, why)
					}
				}
			}
		}
	}
	s.callers()
	s.mountRoutes()
	s.handShapes()
	for _, u := range a.units { // all that is needed of them is in the facts
		if u != nil {
			u.routers, u.mounts = nil, nil
			for part := range u.parts {
				exposedChannels(u.parts[part].facts)
				u.parts[part].constants, u.parts[part].calls, u.parts[part].wrappers = nil, nil, nil
				for i := range u.parts[part].globals {
					u.parts[part].globals[i].Texts = facts.Texts{}
				}
			}
		}
	}
	return nil
}

// exposedChannels gives the APIs that a part exposes the channels that their code
// names.
func exposedChannels(list []facts.Fact) {
	for i := range list {
		api := &list[i]
		if api.Kind != facts.BridgeAPI {
			continue
		}
		var channels []string
		at, _ := slices.BinarySearchFunc(list, api.Within.Start, func(f facts.Fact, at uint32) int { return cmp.Compare(f.At.Start, at) })
		for ; at < len(list) && list[at].At.Start < api.Within.End; at++ {
			if f := &list[at]; f.Kind == facts.Message && !f.Dynamic && strings.Contains(f.Via, "ipcRenderer.") {
				channels = append(channels, f.Name)
			}
		}
		if len(channels) > 0 {
			slices.Sort(channels)
			api.Details = append(api.Details, facts.Value{Name: "channels", Value: slices.Compact(channels)})
		}
	}
}

// chunkFile is the file of a chunk as code in a file means it: the one that the only
// runtime that names a file of the application by the id has.
func (s *settling) chunkFile(file int, id string) (string, bool) {
	found := ""
	for runtime, u := range s.units {
		if u == nil || u.chunkName == nil {
			continue
		}
		name, ok := u.chunkName.File(id)
		if !ok {
			continue
		}
		// Names may begin with the folder that the runtime is in.
		folder := path.Dir(s.tree.Files[runtime].Path)
		at := path.Join(folder, name)
		for !s.Has(at) && folder != "." && folder != "/" {
			folder = path.Dir(folder)
			at = path.Join(folder, name)
		}
		if !s.Has(at) || at == found {
			continue
		}
		if found != "" {
			return "", false
		}
		found = at
	}
	if found == "" {
		return "", false
	}
	from := path.Dir(s.tree.Files[file].Path)
	up := "./"
	for from != "." && !strings.HasPrefix(found, from+"/") {
		from = path.Dir(from)
		up += "../"
	}
	if from != "." {
		found = found[len(from)+1:]
	}
	return up + found, true
}

// maxHops bounds the modules on the way to a value.
const maxHops = 32

type settling struct {
	*analysis
	tables map[place]map[string][]*facts.Constant
	steps  int // for the value that is looked for
	// missing are names without a shape, with how far that was looked for.
	missing map[looked]int
}

// maxSteps bounds the work for one value: modules that hand on all of others may do
// so in circles.
const maxSteps = 2000

// text joins pieces. Those that are not known fail, or stand as {}.
func (s *settling) text(from place, pieces []facts.Piece, partial bool, hops int) (string, bool) {
	s.steps = 0
	return s.join(from, pieces, partial, hops)
}

func (s *settling) join(from place, pieces []facts.Piece, partial bool, hops int) (string, bool) {
	var b strings.Builder
	known := false
	for i := range pieces {
		p := &pieces[i]
		text, ok := p.Text, !p.Unknown
		switch {
		case p.From != nil:
			text, ok = s.value(from, p.From, hops)
			known = known || ok
		case p.Chunk:
			text, ok = s.chunkFile(from.file, p.Text)
			known = known || ok
		}
		switch {
		case ok:
			b.WriteString(text)
		case !partial:
			return "", false
		default:
			b.WriteString("{}")
		}
		if b.Len() > maxSettled {
			return "", false
		}
	}
	return b.String(), known || !partial
}

// maxSettled bounds a name that is put together.
const maxSettled = 4000

// value is the text that a reference stands for.
func (s *settling) value(from place, r *facts.Reference, hops int) (string, bool) {
	if s.steps++; s.steps > maxSteps || hops <= 0 {
		return "", false
	}
	for _, to := range s.loads(from, r) {
		if text, ok := s.exported(to, r.Path, hops-1); ok {
			return text, true
		}
	}
	return "", false
}

// loads are the parts of which a reference means the exports.
func (s *settling) loads(from place, r *facts.Reference) []place {
	u := s.units[from.file]
	p := &u.parts[from.part]
	switch {
	case r.Own:
		return []place{from}
	case r.Part >= 0:
		return []place{{from.file, r.Part}}
	}
	if p.bundle >= 0 {
		m := &u.bundles[p.bundle].Modules[p.module]
		id := r.ID
		for _, q := range requiresAt(m, r.At.Start) {
			if m.Eval == 0 && q.Name == "" { // places in code that is compiled at run time are its own
				id = q.ID
			}
		}
		if to, ok := s.module(from.file, from.part, id); ok && id != "" {
			return []place{to}
		}
		if m.Eval != 0 {
			return nil
		}
	}
	// The statement may stand in another part than what uses it.
	for _, part := range []int{from.part, 1 + u.nest.Innermost(r.At.Start)} {
		i, ok := importAt(u.parts[part].imports, r.At)
		if !ok || i.Unknown {
			continue
		}
		found := s.resolve(from.file, i.Specifier, i.Kind == facts.Require || i.Kind == facts.Resolve)
		to, ok := s.byPath[found.Path]
		if !ok || s.units[to] == nil {
			continue
		}
		out := []place{{to, 0}}
		other := s.units[to]
		for k := 1; k < len(other.parts); k++ { // what shares the scope of the file exports from it
			if m := &other.parts[k]; other.bundles[m.bundle].Modules[m.module].Func == 0 && len(m.constants) > 0 {
				out = append(out, place{to, k})
			}
		}
		return out
	}
	return nil
}

func importAt(list []facts.Import, at parse.Span) (*facts.Import, bool) {
	i, ok := slices.BinarySearchFunc(list, at, func(i facts.Import, at parse.Span) int {
		return cmp.Or(cmp.Compare(i.At.Start, at.Start), cmp.Compare(i.At.End, at.End))
	})
	if !ok {
		return nil, false
	}
	return &list[i], true
}

const separator = "\x00"

// table has the values that a part exports, by path.
func (s *settling) table(p place) map[string][]*facts.Constant {
	t, ok := s.tables[p]
	if !ok {
		t = map[string][]*facts.Constant{}
		list := s.units[p.file].parts[p.part].constants
		for i := range list {
			key := strings.Join(list[i].Path, separator)
			t[key] = append(t[key], &list[i])
		}
		s.tables[p] = t
	}
	return t
}

// exported is the text at a path of what a part exports, where there is one alone.
func (s *settling) exported(p place, path []string, hops int) (string, bool) {
	if text, ok := s.below(p, path, hops); ok {
		return text, true
	}
	// What stands in for the default of a module that has none is the module.
	if len(path) > 1 && path[0] == "default" {
		return s.below(p, path[1:], hops)
	}
	return "", false
}

func (s *settling) below(p place, path []string, hops int) (string, bool) {
	if s.steps++; s.steps > maxSteps || hops <= 0 {
		return "", false
	}
	t := s.table(p)
	if len(t) == 0 {
		return "", false
	}
	if list := t[strings.Join(path, separator)]; len(list) > 0 {
		return s.one(list, func(c *facts.Constant) (string, bool) {
			if c.From != nil {
				return s.value(p, c.From, hops-1)
			}
			return s.join(p, c.Pieces, false, hops-1)
		})
	}
	for n := len(path) - 1; n >= 0; n-- {
		rest := path[n:]
		handed := func(c *facts.Constant) (string, bool) {
			if c.From == nil {
				return "", false
			}
			r := *c.From
			r.Path = append(slices.Clone(r.Path), rest...)
			return s.value(p, &r, hops-1)
		}
		if list := t[strings.Join(path[:n], separator)]; len(list) > 0 {
			return s.one(list, handed)
		}
		if list := t[strings.Join(append(slices.Clone(path[:n]), "*"), separator)]; len(list) > 0 {
			found, ok := "", false
			for _, c := range list {
				if text, has := handed(c); has && ok && text != found {
					return "", false
				} else if has {
					found, ok = text, true
				}
			}
			return found, ok
		}
	}
	return "", false
}

// one is the text that all of several values have.
func (s *settling) one(list []*facts.Constant, of func(*facts.Constant) (string, bool)) (string, bool) {
	found := ""
	for i, c := range list {
		text, ok := of(c)
		if !ok || i > 0 && text != found {
			return "", false
		}
		found = text
	}
	return found, true
}

// Why names are known that do not stand where they are used.
const (
	byConstant = "its name has a constant of another module"
	byRuntime  = "the runtime in another file names the chunk"
	byCaller   = "a function that another part of the application calls with it hands it on"
)

// nameSource is how the name of a fact is known.
func nameSource(dynamic bool, why, reason string) graph.Source {
	switch {
	case dynamic:
		return unknown(fromSyntax, reason)
	case why != "":
		return inferred(fromSyntax, model.ApplicationProvenanceConfidenceHigh, why)
	}
	return fromSyntax
}
