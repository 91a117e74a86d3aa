package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"rea/generated/catalog"
	"rea/generated/schema"
	"rea/generated/tool"
)

// Digest identifies the inventory: SHA-256 over every tool with its canonical
// and advertised schemas and over every error. Two builds have the same digest
// when a client could not tell their tools apart. It does not depend on what is
// shown to a client.
func Digest() string { return digest() }

var digest = sync.OnceValue(func() string {
	h := sha256.New()
	// Each part is preceded by its length, so that parts can't run together.
	part := func(s string) { fmt.Fprintf(h, "%d:", len(s)); io.WriteString(h, s) }
	describe := func(v any) {
		data, err := json.Marshal(v)
		if err != nil { // the types hold nothing that can't be written
			data = []byte(err.Error())
		}
		part(string(data))
	}
	for _, spec := range tool.Specs() {
		t := toolOf(spec)
		t.InputSchema, t.CompactInputSchema, t.OutputSchema = nil, nil, nil
		describe(t)
		part(schema.CanonicalInput(spec.Name))
		part(schema.CanonicalOutput(spec.Name))
		part(schema.Input(spec.Name, schema.Full))
		part(schema.Input(spec.Name, schema.Compact))
		part(schema.Output(spec.Name))
	}
	for _, f := range catalog.Faults() {
		describe(f)
	}
	return hex.EncodeToString(h.Sum(nil))
})
