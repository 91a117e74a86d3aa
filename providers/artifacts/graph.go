package artifacts

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"rea/generated/model"
	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

// graph is a walk as the contract tells it.
type graph struct {
	root           model.ArtifactRoot
	counts         model.ArtifactCounts
	items          []*inventory.Item
	artifacts      []*model.ArtifactNode
	edges          []model.ArtifactEdge
	claims         []model.ArtifactClaim
	contradictions []model.ArtifactContradiction
	limits         []model.ArtifactLimit
	limitations    []string
	digest         string
	complete       bool

	bySHA  map[string]*model.ArtifactNode
	within map[[2]string]int64
	listed hash.Hash
}

func newGraph(res *inventory.Result, selected bool) *graph {
	g := &graph{bySHA: map[string]*model.ArtifactNode{}, within: map[[2]string]int64{}, listed: sha256.New(), complete: !selected}
	root := res.Root
	g.root = model.ArtifactRoot{
		SHA256: optional(root.SHA256), Size: known(root.Size), Format: root.Format, Kind: root.Kind, Architecture: optional(root.Architecture),
	}
	if root.SHA256 != "" {
		g.artifact(root)
	}
	for _, note := range root.Notes {
		g.limit("%s", note)
	}
	g.complete = g.complete && !root.Opaque
	g.node(root.Inside, root)
	g.digest = hex.EncodeToString(g.listed.Sum(nil))
	if root.Format == "directory" {
		g.root.SHA256 = directoryDigest(root.Inside, selected)
	}
	g.counts.Artifacts, g.counts.Containers, g.counts.Bytes = int64(len(g.artifacts)), res.Expanded, res.Bytes
	g.counts.Occurrences = int64(len(g.items))
	for _, l := range res.Limits {
		g.complete = false
		g.limits = append(g.limits, model.ArtifactLimit{Limit: model.ArtifactLimitLimit(l.Name), Value: l.Value, At: l.At, LeftOut: known(l.LeftOut)})
		g.limit("the limit of %s (%d) was reached at %q; raise max_%s to read on", l.Name, l.Value, l.At, parameter(l.Name))
	}
	for _, p := range res.Missed {
		g.limit("selected and not found: %q", p)
	}
	for pair, n := range g.within {
		g.edges = append(g.edges, model.ArtifactEdge{Parent: pair[0], Child: pair[1], Count: n})
	}
	slices.SortFunc(g.edges, func(a, b model.ArtifactEdge) int {
		return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Child, b.Child))
	})
	slices.SortFunc(g.artifacts, func(a, b *model.ArtifactNode) int { return cmp.Compare(a.SHA256, b.SHA256) })
	return g
}

// parameter is the name of the bound behind max_.
func parameter(limit string) string {
	if limit == inventory.LimitTime {
		return "seconds"
	}
	return limit
}

func (g *graph) limit(format string, args ...any) {
	g.limitations = append(g.limitations, fmt.Sprintf(format, args...))
}

// node adds a container and everything in it, each behind what holds it.
func (g *graph) node(n *inventory.Node, of *inventory.Item) {
	if n == nil {
		return
	}
	where := "the root"
	if n.Path != "" {
		where = strconv.Quote(n.Path)
	}
	if n.Failed != nil {
		g.complete = false
		g.limit("%s: entries end early: %v", where, n.Failed)
	}
	if n.Skipped > 0 {
		g.limit("%s: %d entries are not selected", where, n.Skipped)
	}
	if n.Cut {
		g.complete = false
	}
	for _, gap := range n.Gaps {
		g.complete = false
		g.limit("%s: not listed: %s", where, gap)
	}
	for _, note := range n.Notes {
		g.limit("%s: %s", where, note)
	}
	for _, c := range n.Claims {
		g.claims = append(g.claims, model.ArtifactClaim{Container: n.Path, Kind: c.Kind, Name: c.Name, Offset: known(c.Offset), Size: known(c.Size)})
	}
	for _, it := range n.Items {
		g.item(it, of)
		g.node(it.Inside, it)
	}
}

func (g *graph) item(it *inventory.Item, of *inventory.Item) {
	g.items = append(g.items, it)
	writeListing(g.listed, it)
	c := &g.counts
	switch it.Type {
	case container.File, container.Slice, container.Stream:
		c.Files++
	case container.Directory:
		c.Directories++
	case container.Symlink, container.Hardlink:
		c.Links++
	default:
		c.Others++
	}
	if it.Encrypted {
		c.Encrypted++
	}
	if it.Opaque || it.Quarantined && it.Kind == inventory.KindContainer {
		g.complete = false
	}
	switch it.Status {
	case inventory.Unreadable:
		c.Unreadable++
		g.complete = false
	case inventory.NotHashed:
		c.NotHashed++
		g.complete = false
	case inventory.Mismatched:
		c.Mismatched++
		g.contradict(it, of)
	}
	if it.SHA256 == "" {
		return
	}
	g.artifact(it)
	if of.SHA256 != "" {
		g.within[[2]string{of.SHA256, it.SHA256}]++
	}
}

func (g *graph) artifact(it *inventory.Item) {
	a := g.bySHA[it.SHA256]
	if a == nil {
		a = &model.ArtifactNode{SHA256: it.SHA256, Size: it.Size, Format: it.Format, Kind: it.Kind, Architecture: optional(it.Architecture)}
		g.bySHA[it.SHA256] = a
		g.artifacts = append(g.artifacts, a)
	}
	a.Occurrences++
}

func (g *graph) contradict(it, of *inventory.Item) {
	for _, check := range it.Checks {
		if check.Matches {
			continue
		}
		c := model.ArtifactContradiction{
			Path: it.Path, Container: it.Container, ContainerSHA256: optional(of.SHA256), Type: model.ArtifactEntryType(it.Type),
			Algorithm: check.Algorithm, Declared: optional(check.Declared), Observed: optional(check.Observed), ObservedSHA256: optional(it.SHA256),
			Unpacked: it.Unpacked, Quarantined: it.Quarantined,
		}
		if it.Unpacked {
			c.Cause = optional(inventory.CauseUnpacked)
		}
		g.contradictions = append(g.contradictions, c)
	}
}

// writeListing adds one line of the listing that the digest of an inventory is
// over: path, type, mode, size, digest, target of a link.
func writeListing(h hash.Hash, it *inventory.Item) {
	fmt.Fprintf(h, "%q %s %d %d %s %s %q\n", it.Path, it.Type, it.Mode, it.Size, it.Status, it.SHA256, it.Link)
}

// directoryDigest stands for a directory as the digest of its bytes stands for
// a file: over its own listing, whatever is nested in its files.
func directoryDigest(n *inventory.Node, selected bool) *string {
	if n == nil || n.Failed != nil || n.Cut || selected || len(n.Notes) > 0 || len(n.Gaps) > 0 {
		return nil
	}
	h := sha256.New()
	for _, it := range n.Items {
		if it.Type == container.File && it.SHA256 == "" {
			return nil
		}
		fmt.Fprintf(h, "%q %s %d %d %s %q\n", it.Path, it.Type, it.Mode, it.Size, it.SHA256, it.Link)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	return &sum
}

func occurrence(it *inventory.Item) model.ArtifactOccurrence {
	o := model.ArtifactOccurrence{
		Path: it.Path, Container: it.Container, Type: model.ArtifactEntryType(it.Type), SHA256: optional(it.SHA256),
		HashStatus: model.ArtifactHashStatus(it.Status), Size: known(it.Size), DeclaredSize: known(it.Declared), PackedSize: known(it.Packed),
		Method: optional(it.Method), Format: optional(it.Format), Role: optional(role(it)), Link: optional(it.Link), Offset: known(it.Offset), Encrypted: it.Encrypted, Unpacked: it.Unpacked,
		Declared: []model.ArtifactDigestCheck{}, Notes: it.Notes,
	}
	if it.Mode >= 0 {
		o.Mode = optional(fmt.Sprintf("%04o", it.Mode))
	}
	for _, c := range it.Checks {
		matches := c.Matches
		o.Declared = append(o.Declared, model.ArtifactDigestCheck{
			Algorithm: c.Algorithm, Declared: optional(c.Declared), Observed: optional(c.Observed), Matches: &matches,
		})
	}
	return o
}

// role by name, else by what the content is.
func role(it *inventory.Item) string {
	if it.Role != "" {
		return it.Role
	}
	switch it.Kind {
	case inventory.KindExecutable, inventory.KindLibrary, inventory.KindObject, inventory.KindScript, inventory.KindContainer:
		return it.Kind
	}
	return ""
}
