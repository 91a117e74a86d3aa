package report

import (
	"fmt"
	"strings"

	"rea/cmd/terminal"
)

type codePlace struct {
	NodeID   string `json:"node_id"`
	Kind     string
	Label    *string
	Module   string
	Location place
}

func (p *codePlace) name() string {
	if p.Label == nil || *p.Label == "" {
		return p.Kind
	}
	return p.Kind + " " + called(*p.Label)
}

// at is where the code stands, with the byte where the line alone does not tell.
func (p *codePlace) at() string {
	s := fmt.Sprintf("%s @%d", p.Location.String(), p.Location.Start)
	if m := original(p.Module); m != p.Location.Path {
		s = m + " (" + s + ")"
	}
	return s
}

type semantics struct {
	Application whatIs
	Seed        struct{ Kind, Value string }
	Direction   string
	Status      string
	SeedMatches []struct {
		Place codePlace
	} `json:"seed_matches"`
	Goals []struct {
		Place codePlace
		Path  []struct {
			Place    codePlace
			Relation *string
		}
	}
	Nodes []struct {
		Place       codePlace
		Depth       int
		ReachedFrom *string `json:"reached_from"`
	}
	Relations []struct {
		From, To int
		Relation string
		At       int
	}
	Unknowns []struct {
		Place  codePlace
		Reason string
	}
	Summary struct {
		SeedMatches, Nodes, Relations, Functions, Modules, Unknowns, Goals int
	}
	Coverage struct {
		LimitsReached []string `json:"limits_reached"`
	}
	Page struct {
		Offset, Size, Total int
		NextCursor          *string `json:"next_cursor"`
	}
}

func (w *writer) semantics(s *semantics) {
	w.line(w.screen.Paint(terminal.Bold, terminal.Escape(s.Seed.Kind+" "+s.Seed.Value)) + terminal.Escape(", "+s.Direction+", in "+s.Application.Name))
	if len(s.SeedMatches) == 0 {
		w.faint("nothing in the code is named so; --seed-match contains or regex finds parts of names, --seed-kind string looks at all of them")
		return
	}
	w.fact("found", fmt.Sprintf("%s from %s in %s", count(s.Summary.Nodes, "place", "places"),
		count(len(s.SeedMatches), "seed", "seeds"), count(s.Summary.Modules, "module", "modules")))
	for i, g := range s.Goals {
		title := "Goal"
		if len(s.Goals) > 1 {
			title = fmt.Sprintf("Goal %d", i+1)
		}
		var rows [][]string
		for _, step := range g.Path {
			rows = append(rows, []string{deref(step.Relation), step.Place.name(), step.Place.at()})
		}
		w.head(title, count(len(g.Path)-1, "step", "steps"))
		w.columns([]bool{false, false, false}, escaped(rows), terminal.Wrap, nil)
	}
	if len(s.Goals) == 0 {
		w.tree(s)
		var flags []string
		for _, limit := range s.Coverage.LimitsReached {
			flags = append(flags, "--limits-"+strings.ReplaceAll(limit, "_", "-"))
		}
		if len(flags) > 0 {
			w.faint("not all that can be reached was; a larger " + strings.Join(flags, " or ") + " goes further")
		}
	}
	var rows [][]string
	for _, u := range s.Unknowns {
		rows = append(rows, []string{u.Place.name(), u.Place.at() + ": " + u.Reason})
	}
	w.table("Where the code does not tell what goes on", []bool{false, false}, rows)
	if n := s.Page.NextCursor; n != nil {
		w.faint(fmt.Sprintf("%d of %s relations; more with --cursor %s", s.Page.Offset+s.Page.Size, number(int64(s.Page.Total)), *n))
	}
}

// tree writes the places of a page below those from which they were reached.
func (w *writer) tree(s *semantics) {
	below, row := map[string][]int{}, map[string]int{}
	how := map[[2]int]string{}
	for i := range s.Nodes {
		row[s.Nodes[i].Place.NodeID] = i
	}
	for _, r := range s.Relations {
		how[[2]int{r.From, r.To}] = r.Relation
		if _, there := how[[2]int{r.To, r.From}]; !there {
			how[[2]int{r.To, r.From}] = r.Relation + " ←"
		}
	}
	var roots []int
	for i := range s.Nodes {
		from := s.Nodes[i].ReachedFrom
		if from == nil {
			roots = append(roots, i)
		} else if _, here := row[*from]; here {
			below[*from] = append(below[*from], i)
		} else { // on a page before
			roots = append(roots, i)
		}
	}
	type entry struct {
		node, depth int
		before      int
	}
	var rows [][]string
	var list []entry
	for _, r := range roots {
		stack := []entry{{r, 0, -1}}
		for len(stack) > 0 {
			e := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			list = append(list, e)
			next := below[s.Nodes[e.node].Place.NodeID]
			for i := len(next) - 1; i >= 0; i-- {
				stack = append(stack, entry{next[i], e.depth + 1, e.node})
			}
		}
	}
	for _, e := range list {
		p := &s.Nodes[e.node].Place
		relation := ""
		if e.before >= 0 {
			relation = how[[2]int{e.before, e.node}] + " "
		}
		rows = append(rows, []string{strings.Repeat("  ", min(e.depth, maxIndent)) + relation + p.name(), p.at()})
	}
	w.table("Places", []bool{false, false}, rows)
}

// maxIndent bounds how far a tree goes to the right.
const maxIndent = 12
