// Package versions compares two analyses of an application: what of the one is
// what of the other, and what became of it.
//
// # Matching
//
// Nodes are matched in stages, from what proves most to what proves least: the
// same identity, the same bytes, the same original path, the same normal form,
// the same features, the same place among matched neighbours, the most similar
// sketch. A stage matches only what is unique on both sides by its key; what it
// leaves may be unique for a later one. What two or more nodes could be stays
// ambiguous, with the candidates.
//
// # Status
//
// A match says that two nodes are the same thing, not that it is unchanged. It is
// unchanged only when its bytes are equal, or its normal form is (package
// fingerprint) and all it loads is matched in the same places: bundlers number
// modules anew, and equal code that loads something else is other code. What
// contradicts its container is a contradiction, whatever it equals.
//
// A node without a match was removed or added only where the other side was read
// completely enough to have shown it; else that is unknown.
package versions

import (
	"context"

	"rea/generated/model"
	"rea/providers/javascript/recorded"
)

// A Basis says by what two nodes were matched.
type Basis string

// Bases of matches.
const (
	None        Basis = "none"
	Identity    Basis = "exact-node-identity"
	Content     Basis = "exact-content-digest"
	Original    Basis = "original-path"
	Path        Basis = "path"
	Normal      Basis = "normal-form"
	Structure   Basis = "structural-fingerprint"
	ModuleID    Basis = "module-id"
	Neighbours  Basis = "matched-neighbours"
	Similarity  Basis = "similar-features"
	SemanticKey Basis = "semantic-key"
	Order       Basis = "order-of-appearance"
)

// confidences of matches by their basis.
var confidences = map[Basis]model.ApplicationProvenanceConfidence{
	None: model.ApplicationProvenanceConfidenceUnknown, Identity: model.ApplicationProvenanceConfidenceExact, Content: model.ApplicationProvenanceConfidenceExact,
	Original: model.ApplicationProvenanceConfidenceHigh, Path: model.ApplicationProvenanceConfidenceHigh, Normal: model.ApplicationProvenanceConfidenceHigh,
	Structure: model.ApplicationProvenanceConfidenceMedium, ModuleID: model.ApplicationProvenanceConfidenceMedium,
	Neighbours: model.ApplicationProvenanceConfidenceMedium, Similarity: model.ApplicationProvenanceConfidenceLow,
	SemanticKey: model.ApplicationProvenanceConfidenceHigh, Order: model.ApplicationProvenanceConfidenceLow,
}

// Confidence of a basis.
func (b Basis) Confidence() model.ApplicationProvenanceConfidence { return confidences[b] }

// A Status is what became of a node.
type Status string

// Statuses.
const (
	Added         Status = "added"
	Removed       Status = "removed"
	Changed       Status = "changed"
	Moved         Status = "moved"
	Unchanged     Status = "unchanged"
	Ambiguous     Status = "ambiguous"
	Contradiction Status = "contradiction"
	Unknown       Status = "unknown"
)

// A Dimension is a respect in which two nodes differ.
type Dimension string

// Dimensions.
const (
	InContent       Dimension = "content"
	InLocation      Dimension = "location"
	InProperties    Dimension = "properties"
	InRelationships Dimension = "relationships"
	InAvailability  Dimension = "availability"
)

// A Change is one fact that differs. Left or right is nil where it is absent.
type Change struct {
	Dimension   Dimension
	Name        string
	Left, Right []byte // JSON
}

// An Item is a node of either side, or one of both.
type Item struct {
	Left, Right int // rows, -1 for none
	Status      Status
	Basis       Basis
	Candidates  []int // rows of the other side
	Omitted     int   // candidates that are not among them
	Dimensions  []Dimension
	Changes     []Change
	Reason      string // why the status is not certain
	// Rewritten: the bytes differ and what they do does not.
	Rewritten bool
}

// A Comparison is all that became of two sides.
type Comparison struct {
	Items []Item
	Left  Coverage
	Right Coverage
}

// Compare compares two analyses.
func Compare(ctx context.Context, left, right *recorded.Application) (*Comparison, error) {
	m := &matcher{ctx: ctx, l: newSide(left), r: newSide(right)}
	for _, match := range []func() error{m.files, m.modules, m.assets, m.sources, m.facts} {
		if err := match(); err != nil {
			return nil, err
		}
	}
	c := &Comparison{Left: m.l.coverage, Right: m.r.coverage}
	j := newJudge(m)
	for i := range m.l.app.Graph.Nodes {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !m.l.compared(i) {
			continue
		}
		if to := m.l.pair[i]; to >= 0 {
			c.Items = append(c.Items, j.pair(i, to))
		} else {
			c.Items = append(c.Items, j.lone(i, m.l, m.r))
		}
	}
	for i := range m.r.app.Graph.Nodes {
		if m.r.compared(i) && m.r.pair[i] < 0 {
			c.Items = append(c.Items, j.lone(i, m.r, m.l))
		}
	}
	return c, ctx.Err()
}
