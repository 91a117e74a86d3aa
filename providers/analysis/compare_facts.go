package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
)

// Dimensions of a comparison.
const (
	dimSize       = "size"
	dimSignature  = "signature"
	dimInterface  = "calling_interface"
	dimLocals     = "locals"
	dimBlocks     = "control_flow"
	dimCallees    = "callees"
	dimUnresolved = "unresolved_calls"
	dimStrings    = "strings"
	dimNames      = "names"
	dimReferences = "references"
	dimAssembly   = "assembly"
	dimPseudocode = "pseudocode"
	dimCallers    = "callers"
)

// facts are what one record says in one dimension, as texts without addresses.
type facts struct {
	dimension string
	items     []string
	ordered   bool     // the order of items is part of the fact
	exact     []string // decides equality where items alone do not; nil otherwise
	one       bool     // a single value, not a list
	absent    string   // why nothing is known, "" when something is
	total     int64    // rows there are; more than items when the record holds a page
	whole     bool     // items are all rows
	anonymous int      // items that could not be told from one another
}

// factsOf reads all dimensions of a dossier, in a fixed order. Addresses are
// kept where both records are of the same bytes: there they mean the same.
func factsOf(o *tool.AnalyzeFunctionOutput, same bool) []facts {
	n := namer{same}
	out := []facts{
		single(dimSize, fmt.Sprintf("%d bytes", o.Procedure.Size)),
		optionalFact(dimSignature, o.Signature),
		interfaceFacts(o.NativeAPI),
		localFacts(o.Locals),
		blockFacts(o),
		n.procedures(dimCallees, &o.Callees),
		unresolvedFacts(&o.UnresolvedCalls),
		n.used(dimStrings, &o.ReferencedStrings),
		n.used(dimNames, &o.ReferencedNames),
		n.references(&o.OutgoingReferences),
		n.assembly(o),
		pseudocodeFacts(o.Pseudocode),
		n.procedures(dimCallers, &o.Callers),
	}
	return out
}

func single(dimension, value string) facts {
	return facts{dimension: dimension, items: []string{value}, one: true, total: 1, whole: true}
}

func optionalFact(dimension string, value *string) facts {
	if value == nil {
		return facts{dimension: dimension, absent: "the record has none"}
	}
	return single(dimension, *value)
}

// list makes facts of a page of rows.
func list(dimension string, items []string, offset int64, total *int64) facts {
	f := facts{dimension: dimension, items: items}
	if total == nil {
		f.absent = "the engine could not supply it"
		return f
	}
	f.total = *total
	f.whole = offset == 0 && int64(len(items)) == *total
	return f
}

func interfaceFacts(api model.NativeAPI) facts {
	switch api := api.(type) {
	case *model.Unavailable:
		return facts{dimension: dimInterface, absent: api.Reason}
	case *model.NativeAPIAvailable:
		items := []string{"convention " + api.CallingConvention, "returns " + orUnknown(api.ReturnType)}
		for i, v := range api.Parameters {
			items = append(items, fmt.Sprintf("parameter %d %s in %s", i+1, orUnknown(v.Type), orUnknown(v.Location)))
		}
		n := int64(len(items))
		return list(dimInterface, items, 0, &n)
	}
	return facts{dimension: dimInterface, absent: "the record has none"}
}

func localFacts(locals []model.LocalVariable) facts {
	if len(locals) == 0 {
		return facts{dimension: dimLocals, absent: "the record has none"}
	}
	var items []string
	for _, v := range locals {
		items = append(items, v.Name+": "+orUnknown(v.Type))
	}
	n := int64(len(items))
	return list(dimLocals, items, 0, &n)
}

func orUnknown(s *string) string {
	if s == nil {
		return "(unknown)"
	}
	return *s
}

func unresolvedFacts(p *model.UnresolvedPage) facts {
	return rows(dimUnresolved, p.Items, p.Offset, p.Total, func(u *model.UnresolvedPageItem) (string, bool) {
		return string(u.Kind) + " " + u.Operand, true
	})
}

func pseudocodeFacts(p model.PseudocodeFacet) facts {
	switch p := p.(type) {
	case *model.PseudocodeFacetAvailable:
		lines := strings.Split(p.Text, "\n")
		n := int64(len(lines))
		f := list(dimPseudocode, lines, p.Offset, &n)
		f.ordered = true
		if p.Offset > 0 || p.NextOffset != nil {
			f.whole, f.total = false, p.TotalChars
		}
		return f
	case *model.Unavailable:
		return facts{dimension: dimPseudocode, absent: p.Reason}
	}
	return facts{dimension: dimPseudocode, absent: "the record has none"}
}

// blockFacts describes the graph so that two functions are equal exactly if
// their graphs are: blocks are numbered breadth-first from the entry, edges in
// order of kind and address. A changed graph is shown by the blocks whose own
// shape is new, because numbers shift.
func blockFacts(o *tool.AnalyzeFunctionOutput) facts {
	blocks := o.BasicBlocks.Items
	index := make(map[model.Address]int, len(blocks))
	for i := range blocks {
		index[blocks[i].Start] = i
	}
	order := breadthFirst(blocks, index, o.Procedure.Address)
	number := make([]int, len(blocks))
	for n, i := range order {
		number[i] = n
	}
	var items []string
	exact := []string{}
	for _, i := range order {
		var kinds, edges []string
		for _, s := range sortedSuccessors(&blocks[i]) {
			to := "outside"
			if j, inside := index[s.Address]; inside {
				to = strconv.Itoa(number[j])
			}
			kinds = append(kinds, string(s.Kind))
			edges = append(edges, string(s.Kind)+" "+to)
		}
		items = append(items, fmt.Sprintf("block of %d instructions [%s]", blocks[i].Instructions, strings.Join(kinds, ", ")))
		exact = append(exact, fmt.Sprintf("%d [%s]", blocks[i].Instructions, strings.Join(edges, ", ")))
	}
	f := list(dimBlocks, items, o.BasicBlocks.Offset, o.BasicBlocks.Total)
	f.exact = exact
	return f
}

func breadthFirst(blocks []model.BasicBlock, index map[model.Address]int, entry model.Address) []int {
	order := make([]int, 0, len(blocks))
	met := make([]bool, len(blocks))
	walk := func(from int) {
		if met[from] {
			return
		}
		met[from] = true
		order = append(order, from)
		for next := len(order) - 1; next < len(order); next++ {
			for _, s := range sortedSuccessors(&blocks[order[next]]) {
				if i, inside := index[s.Address]; inside && !met[i] {
					met[i] = true
					order = append(order, i)
				}
			}
		}
	}
	if i, ok := index[entry]; ok {
		walk(i)
	}
	for i := range blocks {
		walk(i)
	}
	return order
}

func sortedSuccessors(b *model.BasicBlock) []model.Successor {
	out := slices.Clone(b.Successors)
	slices.SortFunc(out, func(x, y model.Successor) int {
		if c := strings.Compare(string(x.Kind), string(y.Kind)); c != 0 {
			return c
		}
		switch {
		case x.Address < y.Address:
			return -1
		case x.Address > y.Address:
			return 1
		}
		return 0
	})
	return out
}
