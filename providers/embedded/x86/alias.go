package x86

import "strings"

// Comparison predicates that assemblers spell into the mnemonic in place of
// an immediate.
var floatPredicates = [...]string{
	"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord",
	"eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true",
	"eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s",
	"eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us",
}

var integerPredicates = [...]string{"eq", "lt", "le", "", "neq", "nlt", "nle", ""}

var xopPredicates = [...]string{"lt", "le", "gt", "ge", "eq", "neq", "false", "true"}

var clmulHalves = map[byte]string{0x00: "lqlq", 0x01: "hqlq", 0x10: "lqhq", 0x11: "hqhq"}

// compareAlias is the mnemonic with the last, immediate operand spelled in.
func (p *printer) compareAlias(name string) (string, bool) {
	e := p.x.entry
	if e.nops < 3 || e.ops[e.nops-1].kind != opI {
		return "", false
	}
	v := p.b[p.x.immAt]
	for _, c := range []struct {
		stem  string
		names []string
		limit int
	}{
		{"vcmp", floatPredicates[:], 32}, {"cmp", floatPredicates[:], 8}, {"vpcmp", integerPredicates[:], 8}, {"vpcom", xopPredicates[:], 8},
	} {
		rest, ok := strings.CutPrefix(name, c.stem)
		if !ok || int(v) >= c.limit || strings.HasPrefix(rest, "estr") || strings.HasPrefix(rest, "istr") || c.names[v] == "" {
			continue
		}
		return c.stem + c.names[v] + rest, true
	}
	if half := clmulHalves[v]; half != "" && strings.HasSuffix(name, "pclmulqdq") {
		return strings.TrimSuffix(name, "qdq") + half + "dq", true
	}
	return "", false
}
