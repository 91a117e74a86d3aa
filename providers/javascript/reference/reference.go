// Package reference reads a source tree as a historical reference: digests,
// fingerprints and metadata of its files, and nothing of their text. What it says
// is about the tree, not about anything that was shipped.
package reference

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/providers/javascript/application"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/tree"
)

// Options bound the reading.
type Options struct {
	Dependencies                bool // node_modules too
	MaxFiles                    int
	MaxFileBytes, MaxTotalBytes int64
}

// dependencies is the folder of what was installed.
const dependencies = "node_modules"

// Read reads the tree at a path of this machine.
func Read(ctx context.Context, name string, o Options) (*model.HistoricalSource, *tree.Tree, error) {
	out := &model.HistoricalSource{
		InventoryState: model.HistoricalSourceInventoryStateComplete,
		Exclusions:     []model.HistoricalSourceExclusion{}, Packages: []model.HistoricalSourcePackage{},
		Relationships: []model.HistoricalSourceRelationship{}, ParseFailures: []model.HistoricalSourceParseFailure{},
	}
	exclude := func(p, reason string) {
		out.Exclusions = append(out.Exclusions, model.HistoricalSourceExclusion{Path: strings.ToValidUTF8(p, "\ufffd"), Reason: reason})
	}
	t, err := tree.Read(ctx, name, tree.Options{
		MaxFiles: o.MaxFiles, MaxFileBytes: o.MaxFileBytes, MaxTextBytes: o.MaxTotalBytes, MaxTotalBytes: o.MaxTotalBytes, MaxDepth: 0, Continue: true,
		Skip: func(dir string) bool {
			if path.Base(dir) != dependencies || o.Dependencies {
				return false
			}
			exclude(filepath.ToSlash(dir), "what is installed there is not a source")
			return true
		},
	})
	if err != nil {
		return nil, nil, err
	}
	a, err := application.Analyze(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	out.RootSHA256, out.Files, out.Bytes = t.SHA256, int64(len(t.Files)), t.Bytes
	out.Vcs = revision(name)
	if out.Vcs.Kind == model.HistoricalSourceVcsKindGit {
		exclude(".git", "the history is not read; its revision is")
	}
	for _, g := range t.Gaps {
		if g.What == "files" || strings.HasPrefix(g.What, "entries of ") {
			out.InventoryState = model.HistoricalSourceInventoryStatePartial
			exclude(g.What, g.Reason)
		}
	}
	slices.SortFunc(out.Exclusions, func(x, y model.HistoricalSourceExclusion) int { return strings.Compare(x.Path, y.Path) })
	entries(out, a)
	relationships(out, a)
	return out, t, nil
}

// languages by extension.
var languages = map[string]string{
	".c": "C", ".cc": "C++", ".cjs": "JavaScript", ".coffee": "CoffeeScript", ".cpp": "C++", ".css": "CSS", ".cts": "TypeScript", ".go": "Go",
	".gyp": "GYP", ".h": "C", ".htm": "HTML", ".html": "HTML", ".js": "JavaScript", ".json": "JSON", ".jsx": "JavaScript", ".less": "Less",
	".md": "Markdown", ".mjs": "JavaScript", ".mm": "Objective-C++", ".mts": "TypeScript", ".py": "Python", ".rs": "Rust", ".sass": "Sass",
	".scss": "SCSS", ".sh": "Shell", ".styl": "Stylus", ".svelte": "Svelte", ".svg": "SVG", ".swift": "Swift", ".toml": "TOML", ".ts": "TypeScript",
	".tsx": "TypeScript", ".vue": "Vue", ".wat": "WebAssembly", ".yaml": "YAML", ".yml": "YAML",
}

// Language of a file by its name, "" for others.
func Language(p string) string { return languages[strings.ToLower(path.Ext(p))] }

func entries(out *model.HistoricalSource, a *model.ApplicationAnalysis) {
	nodes := map[string]*model.ApplicationNode{}
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		switch {
		case n.Identity.Strategy != model.ApplicationNodeIdentityStrategyCanonicalPath || n.Identity.Key == nil:
		case n.Kind == model.ApplicationNodeKindPackage:
			p := model.HistoricalSourcePackage{Path: *n.Identity.Key, Name: n.Label}
			if v := recorded.Text(n.Properties["version"]); v != "" {
				p.Version = &v
			}
			out.Packages = append(out.Packages, p)
		default:
			nodes[*n.Identity.Key] = n
		}
	}
	count := map[string]*model.HistoricalSourceLanguage{}
	out.Entries = make([]model.HistoricalSourceEntry, len(a.Files))
	for i := range a.Files {
		f := &a.Files[i]
		e := model.HistoricalSourceEntry{Path: f.Path, Kind: model.HistoricalSourceKind(f.Kind), Size: f.Size, SHA256: f.SHA256, State: state(f.State)}
		if l := Language(f.Path); l != "" {
			e.Language = &l
			if count[l] == nil {
				count[l] = &model.HistoricalSourceLanguage{Language: l}
			}
			count[l].Files++
			count[l].Bytes += f.Size
		}
		if n := nodes[f.Path]; n != nil {
			e.Features, _ = strconv.ParseInt(string(n.Properties["features"]), 10, 64)
			e.NormalSHA256, e.StructureSHA256, e.Sketch = property(n, "normal_sha256"), property(n, "structure_sha256"), property(n, "sketch")
		}
		if f.State == model.ApplicationFileStateUnavailable || f.State == model.ApplicationFileStateContradicted {
			out.InventoryState = model.HistoricalSourceInventoryStatePartial
		}
		if f.State == model.ApplicationFileStatePartial && f.Reason != nil {
			out.ParseFailures = append(out.ParseFailures, model.HistoricalSourceParseFailure{Path: f.Path, Reason: *f.Reason})
		}
		out.Entries[i] = e
	}
	out.Languages = []model.HistoricalSourceLanguage{}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		out.Languages = append(out.Languages, *count[name])
	}
}

func property(n *model.ApplicationNode, name string) *string {
	if s := recorded.Text(n.Properties[name]); s != "" {
		return &s
	}
	return nil
}

func state(s model.ApplicationFileState) model.HistoricalSourceEntryState {
	switch s {
	case model.ApplicationFileStateAnalyzed:
		return model.HistoricalSourceEntryStateRead
	case model.ApplicationFileStatePartial:
		return model.HistoricalSourceEntryStatePartial
	case model.ApplicationFileStateUnavailable, model.ApplicationFileStateContradicted:
		return model.HistoricalSourceEntryStateUnavailable
	}
	return model.HistoricalSourceEntryStateListed
}

// relationships are the imports between files.
func relationships(out *model.HistoricalSource, a *model.ApplicationAnalysis) {
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		from, to := &a.Graph.Nodes[e.From], &a.Graph.Nodes[e.To]
		if e.Relation != model.ApplicationRelationImports || from.Identity.Key == nil || from.Identity.Strategy != model.ApplicationNodeIdentityStrategyCanonicalPath {
			continue
		}
		r := model.HistoricalSourceRelationship{From: *from.Identity.Key, Kind: recorded.Text(e.Properties["kind"])}
		if to.Identity.Strategy == model.ApplicationNodeIdentityStrategyCanonicalPath {
			r.To = to.Identity.Key
		}
		if s := recorded.Text(e.Properties["specifier"]); s != "" {
			r.Specifier = &s
		}
		out.Relationships = append(out.Relationships, r)
	}
}
