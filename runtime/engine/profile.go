package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/generated/wire"
)

// NewProfile seals the configuration of an engine: its digest is the SHA-256
// of the canonical JSON of {"parameters":…,"provider":…}.
func NewProfile(p model.Provider, parameters map[string]jsontext.Value) model.AnalysisProfile {
	b := []byte(`{"parameters":{`)
	for i, name := range slices.Sorted(maps.Keys(parameters)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, name)
		b = append(b, ':')
		b = append(b, parameters[name]...)
	}
	b = append(b, `},"provider":`...)
	canonical := jsontext.Value(append(p.AppendJSON(b), '}'))
	// Every part was written by us as valid JSON; an engine that hands over
	// anything else gets the digest of what it handed over.
	_ = canonical.Canonicalize()
	sum := sha256.Sum256(canonical)
	return model.AnalysisProfile{Provider: p, Parameters: parameters, Digest: hex.EncodeToString(sum[:])}
}
