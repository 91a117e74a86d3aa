// Package mapping finds the files of a historical source tree in a shipped
// application.
//
// # Signals
//
// A file and a node of the application are held together by signals, each with a
// weight (see [Weights]): equal bytes prove, equal names suggest. Candidates are
// found by keys that both sides have, so that the work grows with what they share.
//
// # Status
//
// Bundling rewrites code, so a file is called unchanged only when its bytes or its
// normal form are there, and modified only when a source map or a path names it
// and tells other bytes. Where only bundled code bears its name, how much of it is
// the same is unknown.
package mapping

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/fingerprint"
	"rea/providers/javascript/recorded"
)

// Algorithm names how scores are made.
const Algorithm = "rea.javascript.source-mapping/1"

// A Kind of signal.
type Kind string

// Signals.
const (
	Digest       Kind = "exact-source-digest"
	Normal       Kind = "normal-form"
	Structure    Kind = "structural-fingerprint"
	MapPath      Kind = "source-map-original-path"
	BundlePath   Kind = "bundle-path"
	ExactPath    Kind = "current-path-exact"
	PathSuffix   Kind = "current-path-suffix"
	Similar      Kind = "similar-features"
	BaseName     Kind = "basename-match"
	SameLanguage Kind = "language-extension"
)

// Weights of signals.
var Weights = map[Kind]int64{
	Digest: 100, Normal: 90, Structure: 70, MapPath: 60, BundlePath: 60, ExactPath: 60, PathSuffix: 35, Similar: 30, BaseName: 20, SameLanguage: 5,
}

// MinimumScore of a candidate.
const MinimumScore = 20

// A Signal speaks for a candidate.
type Signal struct {
	Kind            Kind
	Source, Current string // what agrees
}

// A Candidate is a node that may be a file.
type Candidate struct {
	Node    int
	Score   int64
	Signals []Signal
}

// Has reports whether a signal speaks for a candidate.
func (c *Candidate) Has(kinds ...Kind) bool {
	return slices.ContainsFunc(c.Signals, func(s Signal) bool { return slices.Contains(kinds, s.Kind) })
}

// Confidence in a candidate.
func (c *Candidate) Confidence() string {
	switch {
	case c.Has(Digest):
		return "exact"
	case c.Has(Normal), c.Has(MapPath), c.Has(BundlePath, ExactPath) && c.Has(Structure, Similar):
		return "high"
	case c.Has(Structure, BundlePath, ExactPath), c.Has(PathSuffix) && c.Has(Similar):
		return "medium"
	}
	return "low"
}

// A Status is what became of a file.
type Status string

// Statuses.
const (
	Unchanged  Status = "unchanged"
	Modified   Status = "modified"
	Removed    Status = "removed"
	Split      Status = "split"
	Merged     Status = "merged"
	Duplicated Status = "duplicated"
	Unknown    Status = "unknown"
)

// An Item is what became of one file.
type Item struct {
	Entry      int
	Status     Status
	Candidates []Candidate // best first
	Reason     string
}

// A Result is a comparison.
type Result struct {
	Items       []Item
	Unmapped    []int // nodes that no file maps to
	Evaluations int64
}

// Compare finds the files of a reference in an application. complete says that the
// application shows all its code, so that what is not in it is gone.
func Compare(ctx context.Context, app *recorded.Application, ref *model.HistoricalSource, complete bool) (*Result, error) {
	x := newIndex(app)
	r := &Result{}
	mapped := map[int]bool{}
	claims := map[int]int{} // files that have a node as their only strong candidate
	for i := range ref.Entries {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		it := Item{Entry: i, Candidates: x.candidates(&ref.Entries[i], &r.Evaluations)}
		for _, c := range it.Candidates {
			if c.Confidence() != "low" {
				mapped[c.Node] = true
			}
		}
		if n := x.only(it.Candidates); n >= 0 {
			claims[n]++
		}
		r.Items = append(r.Items, it)
	}
	for i := range r.Items {
		it := &r.Items[i]
		x.judge(it, &ref.Entries[it.Entry], complete)
		if n := x.only(it.Candidates); n >= 0 && claims[n] > 1 && (it.Status == Unknown || it.Status == Modified) && x.code(n) {
			it.Status, it.Reason = Merged, "other files have the same node as their only likely one"
		}
	}
	for _, n := range x.nodes {
		if !mapped[n] {
			r.Unmapped = append(r.Unmapped, n)
		}
	}
	return r, ctx.Err()
}

// index finds nodes by what files know.
type index struct {
	app   *recorded.Application
	nodes []int
	// By digest, normal form, structure, base name and bands of sketches.
	keys map[string][]int
	// holders are files that a bundler made: their names are those of bundles.
	holders map[int]bool
}

func newIndex(app *recorded.Application) *index {
	x := &index{app: app, keys: map[string][]int{}, holders: map[int]bool{}}
	x.hold()
	for i := range app.Graph.Nodes {
		n := &app.Graph.Nodes[i]
		switch n.Kind {
		case model.ApplicationNodeKindJavascriptAsset, model.ApplicationNodeKindJavascriptModule, model.ApplicationNodeKindModuleGroup,
			model.ApplicationNodeKindSourceModule, model.ApplicationNodeKindHTMLDocument, model.ApplicationNodeKindFile, model.ApplicationNodeKindNativeAddon:
		default:
			continue
		}
		x.nodes = append(x.nodes, i)
		if n.Identity.SHA256 != nil {
			x.add("digest "+*n.Identity.SHA256, i)
		}
		if p := Clean(app.Path(i)); p != "" {
			x.add("base "+strings.ToLower(path.Base(p)), i)
		}
		for _, k := range prints(recorded.Text(n.Properties["normal_sha256"]), recorded.Text(n.Properties["structure_sha256"]), recorded.Text(n.Properties["sketch"])) {
			x.add(k, i)
		}
	}
	return x
}

// hold finds the files that a bundler made: they hold modules, or load files that do.
func (x *index) hold() {
	nodes, chunks := x.app.Graph.Nodes, map[int]bool{}
	for i := range x.app.Graph.Edges {
		e := &x.app.Graph.Edges[i]
		if e.Relation == model.ApplicationRelationContains && x.code(int(e.To)) && nodes[e.From].Kind == model.ApplicationNodeKindJavascriptAsset {
			x.holders[int(e.From)] = true
			if by := recorded.Text(nodes[e.To].Properties["bundler"]); by != string(bundle.Joined) {
				chunks[int(e.From)] = true
			}
		}
	}
	for i := range x.app.Graph.Edges {
		e := &x.app.Graph.Edges[i]
		if e.Relation == model.ApplicationRelationImports && chunks[int(e.To)] && nodes[e.From].Kind == model.ApplicationNodeKindJavascriptAsset {
			x.holders[int(e.From)] = true
		}
	}
}

func (x *index) add(key string, node int) { x.keys[key] = append(x.keys[key], node) }

// prints are the keys of fingerprints.
func prints(normal, structure, sketch string) []string {
	var out []string
	if normal != "" {
		out = append(out, "normal "+normal)
	}
	if structure != "" {
		out = append(out, "structure "+structure)
	}
	if len(sketch) == 4*fingerprint.Positions {
		for i := 0; i+8 <= len(sketch); i += 8 {
			out = append(out, "band "+string(rune('a'+i/8))+sketch[i:i+8])
		}
	}
	return out
}

// Clean is an original path without the scheme, the query and the way up that
// bundlers write: "webpack://app/./src/a.js?1a2b" is "src/a.js".
func Clean(p string) string {
	if _, rest, ok := strings.Cut(p, "://"); ok {
		_, p, _ = strings.Cut(rest, "/")
	}
	p, _, _ = strings.Cut(p, "?")
	p = strings.TrimLeft(path.Clean("/"+p), "/")
	return p
}

// maxBucket bounds the nodes of one key that are looked at.
const maxBucket = 2000

func (x *index) candidates(e *model.HistoricalSourceEntry, evaluations *int64) []Candidate {
	keys := append([]string{"base " + strings.ToLower(path.Base(e.Path))}, prints(text(e.NormalSHA256), text(e.StructureSHA256), text(e.Sketch))...)
	if e.SHA256 != nil {
		keys = append(keys, "digest "+*e.SHA256)
	}
	var nodes []int
	for _, k := range keys {
		if list := x.keys[k]; len(list) <= maxBucket {
			nodes = append(nodes, list...)
		}
	}
	slices.Sort(nodes)
	var out []Candidate
	for _, n := range slices.Compact(nodes) {
		*evaluations++
		c := Candidate{Node: n, Signals: x.signals(e, n)}
		for _, s := range c.Signals {
			c.Score += Weights[s.Kind]
		}
		if c.Score >= MinimumScore {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (x *index) signals(e *model.HistoricalSourceEntry, node int) []Signal {
	n := &x.app.Graph.Nodes[node]
	var out []Signal
	agree := func(kind Kind, source, current string) { out = append(out, Signal{kind, source, current}) }
	if e.SHA256 != nil && n.Identity.SHA256 != nil && *e.SHA256 == *n.Identity.SHA256 {
		agree(Digest, *e.SHA256, *n.Identity.SHA256)
	}
	if a, b := text(e.NormalSHA256), recorded.Text(n.Properties["normal_sha256"]); a != "" && a == b && e.Features >= 3 {
		agree(Normal, a, b)
	}
	if a, b := text(e.StructureSHA256), recorded.Text(n.Properties["structure_sha256"]); a != "" && a == b {
		agree(Structure, a, b)
	} else if fingerprint.Similar(text(e.Sketch), recorded.Text(n.Properties["sketch"])) >= 0.5 {
		agree(Similar, text(e.Sketch), recorded.Text(n.Properties["sketch"]))
	}
	p := Clean(x.app.Path(node))
	made := x.holders[node] && len(out) == 0
	switch {
	case p == "" || !x.tells(n):
	case made && !strings.EqualFold(path.Base(e.Path), path.Base(p)):
	case made: // of any file it may have the name
		agree(BaseName, path.Base(e.Path), path.Base(p))
	case samePath(e.Path, p) && n.Kind == model.ApplicationNodeKindSourceModule:
		agree(MapPath, e.Path, x.app.Path(node))
	case samePath(e.Path, p) && !x.isFile(n):
		agree(BundlePath, e.Path, x.app.Path(node))
	case e.Path == p:
		agree(ExactPath, e.Path, p)
	case samePath(e.Path, p):
		agree(PathSuffix, e.Path, p)
	case strings.EqualFold(path.Base(e.Path), path.Base(p)):
		agree(BaseName, path.Base(e.Path), path.Base(p))
	}
	if len(out) > 0 && p != "" && path.Ext(p) != "" && strings.EqualFold(path.Ext(p), path.Ext(e.Path)) {
		agree(SameLanguage, path.Ext(e.Path), path.Ext(p))
	}
	return out
}

// tells reports whether the path of a node is one of a file.
func (x *index) tells(n *model.ApplicationNode) bool {
	return x.isFile(n) || n.Kind == model.ApplicationNodeKindSourceModule || recorded.Text(n.Properties["path"]) != ""
}

func (x *index) isFile(n *model.ApplicationNode) bool {
	return n.Identity.Strategy == model.ApplicationNodeIdentityStrategyCanonicalPath
}

// samePath reports whether one path ends in the other, and not in its last part
// alone unless that is all of it. What is under node_modules is no source of the
// tree unless the tree says so.
func samePath(source, current string) bool {
	if at := strings.LastIndex(current, "node_modules/"); at >= 0 && !strings.Contains(source, "node_modules/") {
		return false
	}
	if source == current {
		return true
	}
	long, short := source, current
	if len(long) < len(short) {
		long, short = short, long
	}
	return strings.HasSuffix(long, "/"+short) && (strings.Contains(short, "/") || !strings.Contains(source, "/"))
}
