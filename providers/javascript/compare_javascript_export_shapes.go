package javascript

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/shape"
	"rea/providers/javascript/versions"
	"rea/runtime/query"
)

// CompareJavascriptExportShapes compares what modules of two analysed applications
// export.
func (h *Handlers) CompareJavascriptExportShapes(ctx context.Context, in *tool.CompareJavascriptExportShapesInput) (*tool.Finding[tool.CompareJavascriptExportShapesOutput], error) {
	left, err := recorded.Read(in.Left, "/left")
	if err != nil {
		return nil, err
	}
	right, err := recorded.Read(in.Right, "/right")
	if err != nil {
		return nil, err
	}
	s := &shapes{left: left, right: right, in: in}
	pairs, err := s.modules(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.module(p[0], p[1])
	}
	if in.LeftExportName != nil && s.out.Summary.Exports == 0 {
		return nil, fault.NameNotFound(fault.NameNotFoundDetails{Name: *in.LeftExportName, Nearest: []string{}}, nil)
	}
	s.finish()
	return &tool.Finding[tool.CompareJavascriptExportShapesOutput]{
		Result: s.out, Links: []string{left.Record.EvidenceID, right.Record.EvidenceID}, Limitations: s.limitations(len(pairs)),
	}, nil
}

// shapes compares the exports of modules.
type shapes struct {
	left, right *recorded.Application
	in          *tool.CompareJavascriptExportShapesInput
	out         tool.CompareJavascriptExportShapesOutput
	changes     []model.ExportShapeChange
}

// modules are the pairs of modules to compare.
func (s *shapes) modules(ctx context.Context) ([][2]int, error) {
	l, r := -1, -1
	var err error
	if s.in.LeftModulePath != nil {
		if l, err = oneModule(s.left, *s.in.LeftModulePath, "/left_module_path"); err != nil {
			return nil, err
		}
	}
	if s.in.RightModulePath != nil {
		if r, err = oneModule(s.right, *s.in.RightModulePath, "/right_module_path"); err != nil {
			return nil, err
		}
		if l >= 0 {
			return [][2]int{{l, r}}, nil
		}
	}
	c, err := versions.Compare(ctx, s.left, s.right)
	if err != nil {
		return nil, err
	}
	var out [][2]int
	for i := range c.Items {
		it := &c.Items[i]
		if it.Left < 0 || it.Right < 0 || l >= 0 && it.Left != l || r >= 0 && it.Right != r {
			continue
		}
		if len(exportsOf(s.left, it.Left))+len(exportsOf(s.right, it.Right)) > 0 {
			out = append(out, [2]int{it.Left, it.Right})
		}
	}
	if len(out) == 0 && l >= 0 {
		return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
			Pointer: "/right_module_path", Keyword: "required", Expected: "the right module, since the left one was matched with none that exports something",
		}, nil)
	}
	return out, nil
}

func oneModule(a *recorded.Application, name, pointer string) (int, error) {
	found := a.Modules(name)
	switch len(found) {
	case 0:
		return 0, fault.NameNotFound(fault.NameNotFoundDetails{Name: name, Nearest: []string{}}, nil)
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, n := range found[:min(len(found), 20)] {
		ids = append(ids, a.Graph.Nodes[n].ID)
	}
	return 0, fault.InvalidRequest(fault.InvalidRequestDetails{
		Pointer: pointer, Keyword: "enum", Expected: fmt.Sprintf("the node id of one of the %d modules of that name: %s", len(found), strings.Join(ids, ", ")),
	}, nil)
}

// exportsOf are the exports of a module, each with its shape where it is known.
func exportsOf(a *recorded.Application, node int) map[string]jsontext.Value {
	p := a.Graph.Nodes[node].Properties
	out := map[string]jsontext.Value{}
	for _, name := range recorded.List(p["exports"]) {
		out[name] = nil
	}
	known := map[string]jsontext.Value{}
	if v := p["export_shapes"]; v.Kind() == '{' && json.Unmarshal(v, &known) == nil {
		for name, v := range known {
			out[name] = v
		}
	}
	return out
}

// module compares the exports of two modules.
func (s *shapes) module(l, r int) {
	s.out.Summary.Modules++
	a, b := exportsOf(s.left, l), exportsOf(s.right, r)
	if s.in.LeftExportName != nil || s.in.RightExportName != nil {
		s.named(l, r, a, b)
		return
	}
	names := make([]string, 0, len(a))
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x, inLeft := a[name]
		y, inRight := b[name]
		switch {
		case inLeft && inRight:
			s.compare(l, r, name, x, y)
		case inLeft:
			s.lone(l, r, name, shape.Removed, x, nil, open(s.right, r, b))
		default:
			s.lone(l, r, name, shape.Added, nil, y, open(s.left, l, a))
		}
	}
}

// named compares the exports that the input names.
func (s *shapes) named(l, r int, a, b map[string]jsontext.Value) {
	left, right := s.in.LeftExportName, s.in.RightExportName
	if left == nil {
		left = right
	}
	if right == nil {
		right = left
	}
	x, inLeft := a[*left]
	y, inRight := b[*right]
	switch {
	case inLeft && inRight:
		s.compare(l, r, *left, x, y)
	case inLeft:
		s.lone(l, r, *left, shape.Removed, x, nil, open(s.right, r, b))
	case inRight:
		s.lone(l, r, *right, shape.Added, nil, y, open(s.left, l, a))
	}
}

// open reports whether a module may export names that are not seen: it hands on
// those of another, makes some when it runs, or was not read completely.
func open(app *recorded.Application, node int, exports map[string]jsontext.Value) bool {
	_, all := exports["*"]
	_, whole := exports["module.exports"]
	return all || whole || partial(app, node)
}

// partial reports whether the file of a module was not read completely.
func partial(app *recorded.Application, node int) bool {
	p := app.Path(node)
	if f := recorded.Text(app.Graph.Nodes[node].Properties["file"]); f != "" {
		p = f
	}
	i := slices.IndexFunc(app.Files, func(f model.ApplicationFile) bool { return f.Path == p })
	return i >= 0 && app.Files[i].State != model.ApplicationFileStateAnalyzed
}

func (s *shapes) lone(l, r int, name string, status shape.Status, x, y jsontext.Value, open bool) {
	s.out.Summary.Exports++
	c := shape.Change{Status: status, Left: orNull(x), Right: orNull(y)}
	switch {
	case name == "*":
		c.Status, c.Reason = shape.Unknown, "it stands for names that are not seen"
	case open:
		c.Status, c.Reason = shape.Unknown, "the other side may export names that are not seen"
	}
	s.change(l, r, name, &c)
}

func (s *shapes) compare(l, r int, name string, x, y jsontext.Value) {
	s.out.Summary.Exports++
	if x == nil && y == nil {
		s.out.Coverage.ExportsWithoutShape++
		return
	}
	if x == nil || y == nil {
		s.out.Coverage.ExportsWithoutShape++
		s.change(l, r, name, &shape.Change{Status: shape.Unknown, Left: orNull(x), Right: orNull(y), Reason: "one side is made where it is not seen"})
		return
	}
	d := shape.Compare(x, y)
	s.out.Coverage.UnpairedVariants += int64(d.Unpaired)
	if len(d.Changes) == 0 {
		s.out.Summary.Unchanged++
	}
	for i := range d.Changes {
		s.change(l, r, name, &d.Changes[i])
	}
}

func (s *shapes) change(l, r int, name string, c *shape.Change) {
	row := model.ExportShapeChange{Export: name, Path: c.Path, Status: model.ExportShapeChangeStatus(c.Status), Left: c.Left, Right: c.Right}
	x, y := s.left.Item(l), s.right.Item(r)
	row.Module = model.ExportShapeChangeModule{LeftNodeID: &x.NodeID, RightNodeID: &y.NodeID, LeftPath: x.Path, RightPath: y.Path}
	row.LeftLocation, row.RightLocation = x.Location, y.Location
	if c.Discriminant != nil {
		row.Discriminant = &model.ExportShapeChangeDiscriminant{Path: c.Discriminant.Path, Value: c.Discriminant.Value}
	}
	if c.Reason != "" {
		row.Reason = &c.Reason
	}
	row.ChangeID = "jsc_" + digest(row.AppendJSON([]byte(s.left.Graph.GraphID+s.right.Graph.GraphID)))
	s.changes = append(s.changes, row)
	switch c.Status {
	case shape.Added:
		s.out.Summary.Added++
	case shape.Removed:
		s.out.Summary.Removed++
	case shape.Changed:
		s.out.Summary.Changed++
	case shape.Unknown:
		s.out.Summary.Unknown++
	}
}

func (s *shapes) finish() {
	out := &s.out
	out.Left, out.Right = s.left.Source(), s.right.Source()
	l, r := versions.CoverageOf(s.left), versions.CoverageOf(s.right)
	out.Coverage.Left, out.Coverage.Right = sideCoverage(s.left, l), sideCoverage(s.right, r)
	out.Coverage.Status = tool.CompareJavascriptExportShapesOutputCoverageStatusCompleteWithinInputs
	if l.Code || r.Code {
		out.Coverage.Status = tool.CompareJavascriptExportShapesOutputCoverageStatusPartial
	}
	switch n := &out.Summary; {
	case n.Added+n.Removed+n.Changed > 0:
		out.Status = tool.CompareJavascriptExportShapesOutputStatusChanged
	case n.Unknown > 0 || out.Coverage.ExportsWithoutShape > 0 || n.Exports == 0:
		out.Status = tool.CompareJavascriptExportShapesOutputStatusUnknown
	default:
		out.Status = tool.CompareJavascriptExportShapesOutputStatusUnchanged
	}
	all := []byte(out.Left.GraphID + out.Right.GraphID)
	for i := range s.changes {
		all = append(all, s.changes[i].ChangeID...)
	}
	out.ComparisonID = "jse_" + digest(all)
	page := query.Slice(s.changes, s.in.Offset, s.in.Limit)
	out.Total, out.Offset, out.NextOffset, out.Changes = page.Total, page.Offset, page.Next, page.Items
}

func (s *shapes) limitations(pairs int) []string {
	out := []string{"shapes are read from syntax; that values agree with them when the program runs was not observed"}
	if s.in.LeftModulePath == nil && s.in.RightModulePath == nil {
		out = append(out, fmt.Sprintf("%d pairs of modules that were matched and export something were compared; compare_application_versions lists the others", pairs))
	}
	if n := s.out.Coverage.ExportsWithoutShape; n > 0 {
		out = append(out, fmt.Sprintf("of %d exports it is not known what they look like", n))
	}
	if s.out.NextOffset != nil {
		out = append(out, fmt.Sprintf("changes: %d of %d rows are given; go on with offset %d", len(s.out.Changes), s.out.Total, *s.out.NextOffset))
	}
	return out
}
