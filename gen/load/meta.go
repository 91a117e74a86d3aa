package load

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonschema"
)

// Compiler is a schema compiler that never leaves the process.
func Compiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	refuse := func(url string) (io.ReadCloser, error) {
		return nil, errors.New(url + ": schemas are not fetched")
	}
	c.RegisterLoader("http", refuse)
	c.RegisterLoader("https", refuse)
	return c
}

// checkMeta holds the tool contracts to contracts/meta.json.
func checkMeta(meta []byte, tools []*Doc, faults *Faults) error {
	schema, err := Compiler().Compile(meta)
	if err != nil {
		return fmt.Errorf("contracts/meta.json: %w", err)
	}
	for _, doc := range tools {
		result := schema.ValidateJSON(doc.Root.AppendJSON(nil))
		if result.IsValid() {
			continue
		}
		for _, f := range readable(doc.Root, Findings(result)) {
			n, _ := doc.Root.Pointer(f.Pointer)
			faults.Add(n, "%s: %s (contracts/meta.json)", cmp.Or(f.Pointer, "contract"), f.Message)
		}
	}
	return nil
}

// readable puts right what the library says of properties that are not there or
// should not be, and drops what it says of the values around another failure.
func readable(root *Node, all []Finding) []Finding {
	var out []Finding
	for _, f := range all {
		if slices.ContainsFunc(all, func(o Finding) bool { return strings.HasPrefix(o.Pointer, f.Pointer+"/") }) {
			continue
		}
		if _, there := root.Pointer(f.Pointer); !there {
			f.Message = "is missing"
		} else if strings.Contains(f.Message, "schema is set to 'false'") {
			f.Message = "is not a known property"
		}
		out = append(out, f)
	}
	return slices.Compact(out)
}

// A Finding is one failure that the schema library reports.
type Finding struct{ Pointer, Message string }

// Findings flattens a result to its innermost failures. The library gives each
// location relative to the one around it and unescaped.
func Findings(r *jsonschema.EvaluationResult) []Finding {
	var out []Finding
	var walk func(r *jsonschema.EvaluationResult, at string)
	walk = func(r *jsonschema.EvaluationResult, at string) {
		at += r.InstanceLocation
		inner := len(out)
		for _, d := range r.Details {
			if !d.Valid {
				walk(d, at)
			}
		}
		if len(out) > inner {
			return
		}
		for _, e := range r.Errors {
			out = append(out, Finding{at, e.Error()})
		}
	}
	walk(r, "")
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(out)
}

// Pointer follows a JSON pointer as far as it leads and says whether it led all
// the way.
func (n *Node) Pointer(pointer string) (*Node, bool) {
	if pointer == "" {
		return n, true
	}
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		next := n.Get(token)
		if n.Kind == Array {
			var i int
			if _, err := fmt.Sscan(token, &i); err == nil && i >= 0 && i < len(n.Items) {
				next = n.Items[i]
			}
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}
