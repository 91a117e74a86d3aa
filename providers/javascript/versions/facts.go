package versions

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/recorded"
)

// isFact reports whether a node is something that code names or does, and not
// code or a file itself.
func (s *side) isFact(i int) bool {
	switch s.node(i).Kind {
	case model.ApplicationNodeKindApplication, model.ApplicationNodeKindSourceModule:
		return false
	}
	return !s.isFile(i) && !s.isModule(i)
}

// placed reports whether the identity of a node is where it stands, which is
// nothing that another version has.
func (s *side) placed(i int) bool {
	k := s.key(i)
	if strings.HasPrefix(k, "import of ") || strings.HasPrefix(k, "dynamic ") {
		return true
	}
	at := strings.LastIndexByte(k, '@')
	if at < 0 || s.files[strings.TrimPrefix(k[:at], "module ")] == nil {
		return false
	}
	_, err := strconv.Atoi(k[at+1:])
	return err == nil
}

// container is the code in which a fact stands: the first that has an edge to it.
func (s *side) container(i int) int {
	for _, e := range s.in[i] {
		if from := int(s.app.Graph.Edges[e].From); !s.isFact(from) {
			return from
		}
	}
	return s.fileOf[i]
}

// positional are properties that say where things stand or how they are numbered,
// or are digests of what is compared itself.
var positional = map[string]bool{
	"basis": true, "candidates": true, "features": true, "file": true, "generated_column": true, "generated_line": true, "module_id": true,
	"normal_sha256": true, "path": true, "ranges": true, "removed_at": true, "segments": true, "size": true, "sketch": true, "structure_sha256": true,
}

// stated are the properties of a node that are compared, by name.
func (s *side) stated(i int) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.node(i).Properties)), func(name string) bool { return positional[name] })
}

// statement is a digest of the properties of a node.
func (s *side) statement(i int) string {
	h := sha256.New()
	for _, name := range s.stated(i) {
		h.Write([]byte(name))
		h.Write(s.node(i).Properties[name])
	}
	return string(h.Sum(nil))
}

// facts matches what code names and does.
func (m *matcher) facts() error {
	lasting := func(s *side, i int) bool { return s.isFact(i) && !s.placed(i) }
	kind := func(s *side, i int) string { return string(s.node(i).Kind) }
	err := m.run(lasting, []stage{
		{Identity, byID, nil},
		{SemanticKey, func(s *side, i int) string { return joined(kind(s, i), s.key(i)) }, nil},
		{SemanticKey, func(s *side, i int) string { return joined(kind(s, i), m.target(s, i)) }, nil},
		{SemanticKey, func(s *side, i int) string { return joined(kind(s, i), s.label(i), m.around(s, i)) }, nil},
		{SemanticKey, func(s *side, i int) string {
			if k := s.node(i).Kind; k != model.ApplicationNodeKindPackage && k != model.ApplicationNodeKindLibrary {
				return ""
			}
			return joined(kind(s, i), name(s, i))
		}, nil},
	})
	if err != nil {
		return err
	}
	placed := func(s *side, i int) bool { return s.isFact(i) && s.placed(i) }
	around := func(s *side, i int) string { return joined(kind(s, i), m.around(s, i)) + "\x00" + s.label(i) }
	inside := func(s *side, i int) string {
		if m.around(s, i) == "" {
			return ""
		}
		return around(s, i)
	}
	err = m.run(placed, []stage{
		{SemanticKey, func(s *side, i int) string { return joined(inside(s, i), s.statement(i)) }, nil},
		{SemanticKey, inside, nil},
		{SemanticKey, func(s *side, i int) string { return joined(kind(s, i), s.label(i), s.statement(i)) }, nil},
		{SemanticKey, func(s *side, i int) string { return joined(kind(s, i), s.label(i)) }, nil},
	})
	if err != nil {
		return err
	}
	// What is left has others of its name around it: as many on both sides are
	// matched in the order in which they appear.
	counts := [2]map[string]int{{}, {}}
	order := [2]map[int]int{{}, {}}
	for n, s := range []*side{m.l, m.r} {
		for _, i := range s.unmatched(placed) {
			if k := inside(s, i); k != "" {
				order[n][i] = counts[n][k]
				counts[n][k]++
			}
		}
	}
	m.unique(placed, stage{Order, func(s *side, i int) string {
		k := inside(s, i)
		n := 0
		if s == m.r {
			n = 1
		}
		if k == "" || counts[0][k] != counts[1][k] {
			return ""
		}
		return k + "\x00" + strconv.Itoa(order[n][i])
	}, nil})
	return m.ctx.Err()
}

// name of a package or library, without its version.
func name(s *side, i int) string {
	if s.node(i).Kind == model.ApplicationNodeKindLibrary {
		return recorded.Text(s.node(i).Properties["name"])
	}
	return s.label(i)
}

// target names a process by what it starts, where that is matched.
func (m *matcher) target(s *side, i int) string {
	for _, e := range s.out[i] {
		if edge := &s.app.Graph.Edges[e]; edge.Relation == model.ApplicationRelationLoads {
			return m.shared(s, int(edge.To))
		}
	}
	return ""
}

// around names what a fact stands in, where that is matched.
func (m *matcher) around(s *side, i int) string {
	if at := s.container(i); at >= 0 {
		return m.shared(s, at)
	}
	return ""
}

// shared is a name of a matched node that both sides have.
func (m *matcher) shared(s *side, i int) string {
	if s.pair[i] < 0 {
		return ""
	}
	if s == m.r {
		i = s.pair[i]
	}
	return strconv.Itoa(i)
}
