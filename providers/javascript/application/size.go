package application

import (
	"rea/generated/model"
	"rea/providers/javascript/semantic"
)

// Size is about how long an analysis is as JSON.
func Size(a *model.ApplicationAnalysis) int {
	const node, edge, file, location = 500, 150, 300, 24
	return semantic.Size(&a.Semantics) + node*len(a.Graph.Nodes) + edge*len(a.Graph.Edges) + file*len(a.Files) + location*len(a.Locations.File) + 4096
}
