package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rea/cmd/terminal"
)

// verdicts are what becomes of things between releases, gravest first.
var verdicts = []string{"removed", "added", "changed", "modified", "moved", "split", "merged", "duplicated", "contradiction", "ambiguous", "unknown", "unchanged"}

type changeSide struct {
	NodeID   string `json:"node_id"`
	Label    *string
	Path     *string
	Location *place
}

func (s *changeSide) name(kind string) string {
	if s == nil {
		return ""
	}
	return named(kind, s.Label, s.Path)
}

type reasonsOf struct{ Reasons []string }

type versions struct {
	Left, Right whatIs
	Status      string
	Summary     map[string]int
	ByKind      map[string]map[string]int `json:"by_kind"`
	Coverage    struct {
		Status      string
		Left, Right reasonsOf
	}
	Total      int
	NextOffset *int `json:"next_offset"`
	Items      []struct {
		Kind, Status string
		Left, Right  *changeSide
		Rewritten    bool
		Dimensions   []string
		Changes      []struct {
			Dimension, Name string
			Left, Right     json.RawMessage
		}
		Match struct {
			Basis, Confidence string
			Candidates        []string // ids of nodes
		}
		Reason *string
	}
}

// title writes what two results are compared.
func (w *writer) title(left, right string) {
	w.line(w.screen.Paint(terminal.Bold, terminal.Escape(left+" → "+right)))
}

func (w *writer) versions(v *versions) {
	w.title(v.Left.Name, v.Right.Name)
	w.fact("result", counted(v.Summary, verdicts))
	w.fact("old", v.Left.SHA256)
	w.fact("new", v.Right.SHA256)
	w.verdictTable(v.ByKind)
	known := map[string]string{} // names by node
	for i := range v.Items {
		for _, side := range []*changeSide{v.Items[i].Left, v.Items[i].Right} {
			if side != nil {
				known[side.NodeID] = side.name(v.Items[i].Kind)
			}
		}
	}
	for _, status := range verdicts {
		var rows [][]string
		for i := range v.Items {
			it := &v.Items[i]
			if it.Status != status {
				continue
			}
			names, at := it.Left.name(it.Kind), ""
			switch {
			case it.Left == nil:
				names = it.Right.name(it.Kind)
				at = it.Right.Location.String()
			case it.Right != nil && it.Right.name(it.Kind) != names:
				names += " → " + it.Right.name(it.Kind)
			}
			if it.Left != nil {
				at = it.Left.Location.String()
			}
			var what []string
			if at != "" {
				what = append(what, "at "+at)
			}
			if it.Rewritten {
				what = append(what, "rewritten")
			}
			for _, c := range it.Changes {
				what = append(what, fmt.Sprintf("%s: %s → %s", c.Name, value(c.Left), value(c.Right)))
			}
			if len(it.Changes) == 0 && len(it.Dimensions) > 0 {
				what = append(what, strings.Join(it.Dimensions, ", "))
			}
			if n := len(it.Match.Candidates); n > 0 {
				var list []string
				for _, id := range it.Match.Candidates {
					name := known[id]
					if name == "" { // it stands on another page
						name = id[:min(16, len(id))] + "…"
					}
					list = append(list, name)
				}
				what = append(what, "may be "+few(list, 3))
			}
			if it.Reason != nil {
				what = append(what, *it.Reason)
			}
			rows = append(rows, []string{it.Kind, names, few(what, 6)})
		}
		w.table(strings.ToUpper(status[:1])+status[1:], []bool{false, false, false}, rows)
	}
	w.page(len(v.Items), v.Total, v.NextOffset)
	if len(v.Coverage.Left.Reasons)+len(v.Coverage.Right.Reasons) > 0 {
		w.head("Not seen of the sides", "")
		w.coverage("old", v.Coverage.Left.Reasons)
		w.coverage("new", v.Coverage.Right.Reasons)
	}
}

// verdictTable writes counts by kind, without the columns that are empty.
func (w *writer) verdictTable(byKind map[string]map[string]int) {
	var used []string
	for _, v := range verdicts {
		for _, counts := range byKind {
			if counts[v] > 0 && !slices.Contains(used, v) {
				used = append(used, v)
			}
		}
	}
	if len(used) == 0 {
		return
	}
	right := make([]bool, 1+len(used))
	for i := range used {
		right[1+i] = true
	}
	rows := [][]string{append([]string{""}, used...)}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		row, some := []string{kind}, false
		for _, v := range used {
			n := byKind[kind][v]
			some = some || n > 0
			cell := ""
			if n > 0 {
				cell = number(int64(n))
			}
			row = append(row, cell)
		}
		if some {
			rows = append(rows, row)
		}
	}
	last := len(right) - 1 // stands right as the others do
	width := 0
	for _, row := range rows {
		width = max(width, len(row[last]))
	}
	for _, row := range rows {
		row[last] = terminal.PadLeft(row[last], width)
	}
	w.head("By kind", "")
	w.grid(right, rows)
}

// value is a JSON value in few words.
func value(v json.RawMessage) string {
	var x any
	if len(v) == 0 || json.Unmarshal(v, &x) != nil || x == nil {
		return "none"
	}
	return terminal.Truncate(plain(x), maxValue)
}

// plain writes a JSON value for reading: texts as they are.
func plain(v any) string {
	var parts []string
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, x := range v {
			parts = append(parts, plain(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+": "+plain(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(b)
	}
}

// maxValue bounds a value that stands in a line with others.
const maxValue = 60

type sources struct {
	Application, Reference whatIs
	Summary                map[string]int
	Coverage               struct {
		Status      string
		Application reasonsOf
	}
	Total      int
	NextOffset *int `json:"next_offset"`
	Items      []struct {
		Path       string `json:"source_path"`
		Status     string
		Confidence string
		Candidates []struct {
			Kind        string
			Label, Path *string
			Score       int
		}
		Reason *string
	}
}

func (w *writer) sources(s *sources) {
	w.title("sources "+s.Reference.RootSHA256[:min(12, len(s.Reference.RootSHA256))], s.Application.Name)
	w.fact("result", counted(s.Summary, verdicts))
	w.fact("sources", count(s.Reference.Files, "file", "files"))
	w.fact("application", s.Application.SHA256)
	for _, status := range verdicts {
		var rows [][]string
		for _, it := range s.Items {
			if it.Status != status {
				continue
			}
			var to []string
			for _, c := range it.Candidates {
				name := named(c.Kind, c.Label, c.Path)
				if name == it.Path {
					name = "at the same path"
				}
				if status != "unchanged" {
					name += fmt.Sprintf(" (%d)", c.Score)
				}
				to = append(to, name)
				if status == "unchanged" || status == "modified" {
					break // the others are of lower rank
				}
			}
			if it.Reason != nil {
				to = append(to, *it.Reason)
			}
			rows = append(rows, []string{it.Path, it.Confidence, few(to, 4)})
		}
		w.table(strings.ToUpper(status[:1])+status[1:], []bool{false, false, false}, rows)
	}
	w.page(len(s.Items), s.Total, s.NextOffset)
	if len(s.Coverage.Application.Reasons) > 0 {
		w.head("Not seen of the application", "")
		w.coverage("application", s.Coverage.Application.Reasons)
	}
}

type exports struct {
	Left, Right whatIs
	Summary     map[string]int
	Coverage    struct {
		Left, Right reasonsOf
	}
	Total      int
	NextOffset *int `json:"next_offset"`
	Changes    []struct {
		Module struct {
			Left  *string `json:"left_path"`
			Right *string `json:"right_path"`
		}
		Export, Path, Status string
		Left, Right          json.RawMessage
		LeftLocation         *place `json:"left_location"`
		RightLocation        *place `json:"right_location"`
		Reason               *string
	}
}

func (w *writer) exports(e *exports) {
	w.title(e.Left.Name, e.Right.Name)
	w.fact("result", counted(e.Summary, verdicts))
	w.fact("compared", count(e.Summary["exports"], "export", "exports")+" of "+count(e.Summary["modules"], "module", "modules"))
	module := ""
	for i, c := range e.Changes {
		name := deref(c.Module.Left)
		if name == "" {
			name = deref(c.Module.Right)
		} else if r := deref(c.Module.Right); r != "" && r != name {
			name += " → " + r
		}
		if i == 0 || name != module {
			module = name
			w.head(terminal.Escape(original(name)), "")
		}
		export := c.Export
		if c.Path != "" {
			export += "." + strings.TrimPrefix(strings.ReplaceAll("."+c.Path, ".members.", "."), ".")
		}
		lead := fmt.Sprintf("  %s  ", terminal.Pad(c.Status, len("unchanged")))
		var lines []string
		switch {
		case c.Status == "changed":
			lines = []string{export, "  old " + shape(c.Left) + at(c.LeftLocation), "  new " + shape(c.Right) + at(c.RightLocation)}
		case string(c.Left) != "null" && len(c.Left) > 0:
			lines = []string{export + ": " + shape(c.Left) + at(c.LeftLocation)}
		case string(c.Right) != "null" && len(c.Right) > 0:
			lines = []string{export + ": " + shape(c.Right) + at(c.RightLocation)}
		default:
			lines = []string{export}
		}
		if c.Reason != nil {
			lines[0] += "  (" + *c.Reason + ")"
		}
		for _, l := range lines {
			indent := ""
			for _, part := range terminal.Wrap(terminal.Escape(l), max(lastWidth, w.width-len(lead)-4)) {
				w.line(lead + indent + part)
				lead, indent = strings.Repeat(" ", len(lead)), "    "
			}
		}
	}
	w.line("")
	w.page(len(e.Changes), e.Total, e.NextOffset)
	if len(e.Coverage.Left.Reasons)+len(e.Coverage.Right.Reasons) > 0 {
		w.head("Not seen of the sides", "")
		w.coverage("old", e.Coverage.Left.Reasons)
		w.coverage("new", e.Coverage.Right.Reasons)
	}
}

func at(p *place) string {
	if p == nil {
		return ""
	}
	return "  " + p.String()
}

// shape is what an export is, as it would be declared.
func shape(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return "nothing"
	}
	return declared(v, 0)
}

// maxShape bounds how deep a shape is written.
const maxShape = 4

func declared(v any, depth int) string {
	m, ok := v.(map[string]any)
	if !ok {
		return terminal.Truncate(fmt.Sprint(v), maxValue)
	}
	if depth > maxShape {
		return "…"
	}
	if pattern, ok := m["pattern"]; ok { // a parameter
		return fmt.Sprint(pattern)
	}
	kind, _ := m["kind"].(string)
	switch kind {
	case "function":
		var params []string
		list, _ := m["params"].([]any)
		for _, p := range list {
			param, _ := p.(map[string]any)
			s := fmt.Sprint(param["pattern"])
			if param["rest"] == true {
				s = "..." + s
			}
			if param["default"] == true || param["optional"] == true {
				s += "?"
			}
			params = append(params, s)
		}
		s := "function (" + strings.Join(params, ", ") + ")"
		if m["async"] == true {
			s = "async " + s
		}
		returns, _ := m["returns"].([]any)
		var gives []string
		for _, r := range returns {
			gives = append(gives, declared(r, depth+1))
		}
		if len(gives) > 0 {
			s += ": " + few(gives, 3)
		}
		return s
	case "class", "object":
		members, _ := m["members"].(map[string]any)
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(members)) {
			part := declared(members[name], depth+1)
			if f, ok := strings.CutPrefix(part, "function "); ok {
				parts = append(parts, name+f)
			} else {
				parts = append(parts, name+": "+part)
			}
		}
		if m["members_open"] == true || m["open"] == true {
			parts = append(parts, "…")
		}
		return kind + " {" + few(parts, 12) + "}"
	case "":
		return terminal.Truncate(fmt.Sprint(v), maxValue)
	}
	if value, ok := m["value"]; ok {
		if kind == "string" {
			return fmt.Sprintf("%q", value)
		}
		return fmt.Sprintf("%s %v", kind, value)
	}
	return kind
}
