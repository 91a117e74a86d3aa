// Package schema holds the schemas of the tools, ready to be sent.
//
// The canonical ones say what the decoders of package tool accept. The advertised
// ones are what tools/list shows: inputs in two profiles, with unions at the root
// merged into one object, and outputs, for tools that seal Evidence the whole
// record, with an $id made from their content.
package schema

import (
	_ "embed"
	"fmt"
	"sort"
)

// A Profile is a form of the advertised inputs.
type Profile int

const (
	Full    Profile = iota // with prose and examples
	Compact                // structure only, references expanded, at most 13,312 bytes each
)

// ParseProfile reads the name of a profile.
func ParseProfile(name string) (Profile, error) {
	switch name {
	case "full":
		return Full, nil
	case "compact":
		return Compact, nil
	}
	return Full, fmt.Errorf("input schema profile %q: it is full or compact", name)
}

func (p Profile) String() string {
	if p == Compact {
		return "compact"
	}
	return "full"
}

// The order of blobs is the order of the index.
const (
	canonicalInput = iota
	canonicalOutput
	fullInput
	compactInput
	output
	blobs
)

var (
	//go:embed canonical_input.gen.jsonl
	canonicalInputs string
	//go:embed canonical_output.gen.jsonl
	canonicalOutputs string
	//go:embed full_input.gen.jsonl
	fullInputs string
	//go:embed compact_input.gen.jsonl
	compactInputs string
	//go:embed output.gen.jsonl
	outputs string
)

type entry struct {
	tool  string
	spans [blobs][2]int
}

// Input is the advertised input of a tool, "" for a name that is none.
func Input(tool string, p Profile) string {
	if p == Compact {
		return find(tool, compactInput, compactInputs)
	}
	return find(tool, fullInput, fullInputs)
}

// Output is the advertised output of a tool.
func Output(tool string) string { return find(tool, output, outputs) }

// CanonicalInput is exactly what the input's decoder accepts.
func CanonicalInput(tool string) string { return find(tool, canonicalInput, canonicalInputs) }

// CanonicalOutput is what a handler of the tool returns, without a record around
// it.
func CanonicalOutput(tool string) string { return find(tool, canonicalOutput, canonicalOutputs) }

func find(tool string, blob int, text string) string {
	i := sort.Search(len(index), func(i int) bool { return index[i].tool >= tool })
	if i == len(index) || index[i].tool != tool {
		return ""
	}
	span := index[i].spans[blob]
	return text[span[0]:span[1]]
}
