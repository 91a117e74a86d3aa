package versions

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
)

// members of a JSON object, nil for anything else.
func members(v []byte) map[string][]byte {
	if len(v) == 0 || v[0] != '{' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	out := map[string][]byte{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		out[key] = bytes.Clone(value)
	}
	return out
}

func keysOf(m map[string][]byte) []string { return slices.Sorted(maps.Keys(m)) }

// a tie is an edge as one of its nodes sees it.
type tie struct {
	name  string // the same on both sides when the other end is matched
	title string // of the relation
	other int
	from  int // the one that has it
}

// ties of a node: of code those that it has to others, of facts those that others
// have to it too.
func (j *judge) ties(s *side, i int) []tie {
	var out []tie
	collect := func(edges []int32, incoming bool) {
		for _, e := range edges {
			edge := &s.app.Graph.Edges[e]
			t := tie{title: string(edge.Relation), other: int(edge.To), from: i}
			if incoming {
				t.title, t.other, t.from = "by "+t.title, int(edge.From), int(edge.From)
			}
			if !s.compared(t.other) {
				continue
			}
			t.name = t.title + "\x00" + j.end(s, t.other)
			if edge.Relation != model.ApplicationRelationImports {
				for _, p := range slices.Sorted(maps.Keys(edge.Properties)) {
					t.name += "\x00" + p + string(edge.Properties[p])
				}
			}
			out = append(out, t)
		}
	}
	collect(s.out[i], false)
	if s.isFact(i) {
		collect(s.in[i], true)
	}
	return out
}

// end names the other end of a tie: by its match, by what it is where it has none,
// or by its row.
func (j *judge) end(s *side, i int) string {
	if shared := j.m.shared(s, i); shared != "" {
		return shared
	}
	if s.node(i).Kind == model.ApplicationNodeKindUnknown {
		return "unknown"
	}
	if s == j.m.l {
		return "left " + strconv.Itoa(i)
	}
	return "right " + strconv.Itoa(i)
}

// edges compares the ties of two nodes and lists those that only one has.
func (j *judge) edges(it *Item, l, r int) agreement {
	left, right := j.ties(j.m.l, l), j.ties(j.m.r, r)
	count := map[string]int{}
	for _, t := range left {
		count[t.name]++
	}
	for _, t := range right {
		count[t.name]--
	}
	type lists struct{ left, right []string }
	byTitle := map[string]*lists{}
	verdict := same
	take := func(s, o *side, ties []tie, sign int, put func(*lists, string)) {
		for _, t := range ties {
			if count[t.name]*sign <= 0 {
				continue
			}
			count[t.name] -= sign
			if j.hidden(s, o, t) {
				verdict = max(verdict, unclear)
				continue
			}
			if byTitle[t.title] == nil {
				byTitle[t.title] = &lists{}
			}
			put(byTitle[t.title], s.app.Label(t.other))
			if s.pair[t.other] >= 0 || j.certain(t.other, s, o) {
				verdict = differ
			} else {
				verdict = max(verdict, unclear)
			}
		}
	}
	take(j.m.l, j.m.r, left, 1, func(l *lists, label string) { l.left = append(l.left, label) })
	take(j.m.r, j.m.l, right, -1, func(l *lists, label string) { l.right = append(l.right, label) })
	if verdict == same {
		return same
	}
	for _, title := range slices.Sorted(maps.Keys(byTitle)) {
		it.change(InRelationships, title, texts(byTitle[title].left), texts(byTitle[title].right))
	}
	return verdict
}

// hidden reports whether the other side may have a tie that it doesn't show.
func (j *judge) hidden(s, o *side, t tie) bool {
	there := s.pair[t.from]
	if there < 0 {
		return false
	}
	if o.node(there).Kind == model.ApplicationNodeKindPackage {
		return o.coverage.Files
	}
	return o.incomplete(there)
}

// maxLabels bounds those of one change.
const maxLabels = 50

func texts(list []string) []byte {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	list = slices.Compact(list)
	out := []byte{'['}
	for i, s := range list {
		if i == maxLabels {
			out = append(out, ',')
			out, _ = jsontext.AppendQuote(out, "and "+strconv.Itoa(len(list)-i)+" more")
			break
		}
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, s)
	}
	return append(out, ']')
}
