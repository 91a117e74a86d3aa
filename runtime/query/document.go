package query

import (
	"context"
	"slices"

	"rea/generated/fault"
	"rea/runtime/engine"
)

// Document is the open document that name means: the engine's first when name
// is nil, document_not_found when there is none of that name.
func Document(ctx context.Context, eng engine.Engine, name *string) (string, error) {
	documents, err := eng.Documents(ctx)
	if err != nil {
		return "", err
	}
	wanted := ""
	switch {
	case name != nil:
		wanted = *name
	case len(documents) > 0:
		return documents[0], nil
	}
	if slices.Contains(documents, wanted) {
		return wanted, nil
	}
	if documents == nil {
		documents = []string{}
	}
	return "", fault.DocumentNotFound(fault.DocumentNotFoundDetails{Document: wanted, Documents: documents}, nil)
}
