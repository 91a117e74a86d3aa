// Package recorded reads analyses of applications back from Evidence, and holds
// them to what they claim before anything is derived from them.
//
// A record may come from the session or from anywhere: its id only says that it
// was not changed since it was sealed, and anyone can seal. So an analysis is
// taken only when it is of the right operation and authority, speaks of the
// bytes that its subject names, points only to rows that exist, and has the ids
// that its own contents give.
package recorded

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/wire"
	"rea/providers/javascript/graph"
)

// Operation that makes analyses of applications.
const Operation = "analyze_javascript_application"

const predicate = "rea:javascript.analyze_javascript_application:1"

// An Application is a recorded analysis that was found sound.
type Application struct {
	Record *model.EvidenceRecord
	*model.ApplicationAnalysis

	byID map[string]int
}

// Read reads an analysis; pointer is where it stands in the input.
func Read(in model.EvidenceInput, pointer string) (*Application, error) {
	record, err := Of(in, pointer, Operation)
	if err != nil {
		return nil, err
	}
	a := &Application{Record: record, ApplicationAnalysis: &model.ApplicationAnalysis{}}
	if err := wire.Decode(record.NormalizedResult, wire.RecordDepth, a.ApplicationAnalysis, (*model.ApplicationAnalysis).DecodeJSON); err != nil {
		return nil, unsound(record, pointer, "it is not what "+Operation+" gives: "+err.Error())
	}
	if reason := a.check(); reason != "" {
		return nil, unsound(record, pointer, reason)
	}
	return a, nil
}

// Of is the record of an input, which must come from an operation.
func Of(in model.EvidenceInput, pointer, operation string) (*model.EvidenceRecord, error) {
	record, ok := in.(*model.EvidenceRecord)
	if !ok { // what is retained was put in the place of references before
		id := ""
		if ref, ok := in.(*model.EvidenceReference); ok {
			id = ref.EvidenceID
		}
		return nil, fault.EvidenceNotFound(fault.EvidenceNotFoundDetails{EvidenceID: id}, nil)
	}
	if record.Operation != operation {
		return nil, fault.EvidenceNotApplicable(fault.EvidenceNotApplicableDetails{
			EvidenceID: record.EvidenceID, Operation: record.Operation, Accepted: []string{operation}, Pointer: pointer,
		}, nil)
	}
	return record, nil
}

func unsound(record *model.EvidenceRecord, pointer, reason string) error {
	return Unsound(record, pointer+"/normalized_result", reason)
}

// Unsound is the fault for a record that contradicts itself.
func Unsound(record *model.EvidenceRecord, pointer, reason string) error {
	return fault.EvidenceIntegrityMismatch(fault.EvidenceIntegrityMismatchDetails{
		Pointer: pointer, Reason: reason, EvidenceID: &record.EvidenceID,
	}, nil)
}

// check is why an analysis can't be relied on, or "".
func (a *Application) check() string {
	switch s := a.Record.Subject; {
	case a.Record.PredicateType != predicate:
		return "it states " + a.Record.PredicateType + ", not " + predicate
	case a.Record.Authority != model.EvidenceAuthorityShippedArtifact:
		return "its authority is " + string(a.Record.Authority) + ", not that of a shipped artifact"
	case s == nil || s.Digest.SHA256 != a.ApplicationAnalysis.Application.SHA256:
		return "its subject is not the application that it describes"
	}
	if reason := a.checkTables(); reason != "" {
		return reason
	}
	a.byID = make(map[string]int, len(a.Graph.Nodes))
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		switch _, twice := a.byID[n.ID]; {
		case n.ID != graph.ID(n.Kind, graph.Identity{Strategy: n.Identity.Strategy, Key: text(n.Identity.Key), SHA256: text(n.Identity.SHA256)}):
			return fmt.Sprintf("the id of node %d is not that of its identity", i)
		case twice:
			return fmt.Sprintf("node %d repeats an id", i)
		case !within(n.Provenance, len(a.Provenance)) || n.Location != nil && !within(*n.Location, len(a.Locations.File)):
			return fmt.Sprintf("node %d points to a row that is not there", i)
		}
		a.byID[n.ID] = i
	}
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		if !within(e.From, len(a.Graph.Nodes)) || !within(e.To, len(a.Graph.Nodes)) || !within(e.Provenance, len(a.Provenance)) ||
			e.Location != nil && !within(*e.Location, len(a.Locations.File)) {
			return fmt.Sprintf("edge %d points to a row that is not there", i)
		}
	}
	if a.Graph.GraphID != graph.Digest(a.Files, &a.Locations, a.ApplicationAnalysis.Provenance, &a.Graph) {
		return "the id of the graph is not that of its contents"
	}
	return ""
}

func (a *Application) checkTables() string {
	l := &a.Locations
	if n := len(l.File); len(l.Start) != n || len(l.End) != n || len(l.Line) != n {
		return "the columns of locations differ in length"
	}
	for _, f := range l.File {
		if !within(f, len(a.Files)) {
			return "a location points to a file that is not there"
		}
	}
	return ""
}

func within(i int64, n int) bool { return i >= 0 && i < int64(n) }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Node is the index of the node with an id, or -1.
func (a *Application) Node(id string) int {
	if i, ok := a.byID[id]; ok {
		return i
	}
	return -1
}

// Place is a row of the locations, nil for none.
func (a *Application) Place(location *int64) *model.ApplicationPlace {
	if location == nil {
		return nil
	}
	l, i := &a.Locations, *location
	return &model.ApplicationPlace{Path: a.Files[l.File[i]].Path, Start: l.Start[i], End: l.End[i], Line: l.Line[i]}
}

// Item is a node with what it points to.
func (a *Application) Item(node int) model.ApplicationItem {
	n := &a.Graph.Nodes[node]
	item := model.ApplicationItem{
		NodeID: n.ID, Kind: n.Kind, Label: n.Label, SHA256: n.Identity.SHA256, Location: a.Place(n.Location),
		Provenance: a.ApplicationAnalysis.Provenance[n.Provenance], Properties: n.Properties,
	}
	if item.Properties == nil {
		item.Properties = map[string]jsontext.Value{}
	}
	if p := a.Path(node); p != "" {
		item.Path = &p
	}
	return item
}

// Path of the file or original source that a node is, or "".
func (a *Application) Path(node int) string {
	n := &a.Graph.Nodes[node]
	if p := Text(n.Properties["path"]); p != "" {
		return p
	}
	switch n.Identity.Strategy {
	case model.ApplicationNodeIdentityStrategyCanonicalPath, model.ApplicationNodeIdentityStrategySourceMapOriginal:
		return text(n.Identity.Key)
	}
	return ""
}

// Label of a node, or what else names it.
func (a *Application) Label(node int) string {
	n := &a.Graph.Nodes[node]
	for _, s := range []*string{n.Label, n.Identity.Key, n.Identity.SHA256} {
		if s != nil && *s != "" {
			return *s
		}
	}
	return n.ID
}

// Source names the application in results.
func (a *Application) Source() model.ApplicationSource {
	return model.ApplicationSource{
		EvidenceID: a.Record.EvidenceID, GraphID: a.Graph.GraphID, Name: a.ApplicationAnalysis.Application.Name, SHA256: a.ApplicationAnalysis.Application.SHA256,
		Coverage: model.ApplicationSourceCoverage(a.Graph.Coverage.Status),
	}
}

// Text is the string that a property holds, "" for anything else.
func Text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	out, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(out)
}

// Texts are the strings in a property, in any depth, and not the names of its
// members.
func Texts(v jsontext.Value) []string {
	var out []string
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	for {
		t, err := dec.ReadToken()
		if err != nil {
			return out
		}
		if t.Kind() != '"' {
			continue
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); kind == '{' && n%2 == 1 {
			continue // a name
		}
		out = append(out, t.String())
	}
}

// List is a property that is a list of strings.
func List(v jsontext.Value) []string {
	if v.Kind() != '[' {
		return nil
	}
	return slices.Clip(Texts(v))
}

// EdgeID is an id made of what an edge says.
func (a *Application) EdgeID(edge int) string {
	e := a.Graph.Edges[edge]
	h := sha256.New()
	h.Write([]byte(a.Graph.Nodes[e.From].ID + a.Graph.Nodes[e.To].ID))
	if p := a.Place(e.Location); p != nil {
		h.Write(p.AppendJSON(nil))
	}
	h.Write(a.ApplicationAnalysis.Provenance[e.Provenance].AppendJSON(nil))
	e.From, e.To, e.Provenance, e.Location = 0, 0, 0, nil
	h.Write(e.AppendJSON(nil))
	return "jae_" + hex.EncodeToString(h.Sum(nil))
}

// Modules are the code nodes that a name means: an id, or a path, label or id in a
// bundle, and where no such thing is, the end of a path.
func (a *Application) Modules(name string) []int {
	if i := a.Node(name); i >= 0 {
		return []int{i}
	}
	var exact, ends []int
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		switch n.Kind {
		case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup:
		default:
			continue
		}
		path := a.Path(i)
		switch {
		case path == name, text(n.Label) == name, Text(n.Properties["module_id"]) == name, text(n.Identity.Key) == name:
			exact = append(exact, i)
		case strings.HasSuffix(path, "/"+name):
			ends = append(ends, i)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return ends
}
