package evidence

import (
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/engine"
	store "rea/runtime/evidence"
)

func ptr[T any](v T) *T { return &v }

var embedded = model.Provider{ID: "embedded", Name: "E", Version: ptr("1")}

// profileDigest is that of the profile of every record that an engine made.
var profileDigest = engine.NewProfile(embedded, nil).Digest

// recordOf is what dispatch would seal of a result about the bytes with a digest.
func recordOf(operation, sha, result string) *model.EvidenceRecord {
	r := &model.EvidenceRecord{
		EvidenceID: "ev_" + strings.Repeat("0", 64), Operation: operation, NormalizedResult: []byte(result),
		Provider: model.Provider{ID: "rea", Name: "rea", Version: ptr("1.2.3")}, Limitations: []string{"engine limit"},
		Subject: &model.EvidenceSubject{Name: "x", Format: ptr("elf"), LocalPath: ptr("/x")},
	}
	r.Subject.Digest.SHA256 = sha
	for _, spec := range tool.Specs() {
		if spec.Name != operation {
			continue
		}
		r.PredicateType, r.Confidence, r.Authority = spec.Evidence.PredicateType, spec.Evidence.Confidence, spec.Evidence.Authority
		if len(spec.Requires.Engine) > 0 {
			profile := engine.NewProfile(embedded, nil)
			r.Provider, r.AnalysisProfile = embedded, &profile
		}
	}
	return r
}

func procedure(address wire.Address, name string) model.Procedure {
	return model.Procedure{Address: address, Name: name, Kind: "function", Source: "symbol", Returns: true}
}

func procedures(offset int64, total int64, next *int64, names ...string) model.ProcedurePage {
	p := model.ProcedurePage{Offset: offset, Total: &total, NextOffset: next}
	for i, name := range names {
		p.Items = append(p.Items, procedure(wire.Address(0x1000+i), name))
	}
	return p
}

// functionOf is an analysis of main: three callees, two of nine callers from the
// sixth on, and the part of the pseudocode that begins at code unit 10.
func functionOf() *tool.AnalyzeFunctionOutput {
	return &tool.AnalyzeFunctionOutput{
		Procedure:  procedure(0x401000, "main"),
		Pseudocode: &model.PseudocodeFacetAvailable{Text: "a😀b😀c", Offset: 10, TotalChars: 40, NextOffset: ptr[int64](17)},
		NativeAPI:  &model.Unavailable{Reason: "no types", Remediation: "r"},
		Callees:    procedures(0, 3, nil, "a", "b", "c"),
		Callers:    procedures(5, 9, ptr[int64](7), "d", "e"),
		Comments:   model.CommentPage{Total: ptr[int64](0)},
	}
}

func dossierOf() string { return jsonOf(functionOf()) }

func rowsOf(names ...string) string { return jsonRows(procedures(0, 0, nil, names...).Items) }

// layoutOf is a layout with two sections and the first two of 900 symbols.
func layoutOf(sha string) *tool.InspectBinaryLayoutOutput {
	section := func(name string) model.Section { return model.Section{Name: name, Type: "progbits"} }
	symbol := func(name string) tool.InspectBinaryLayoutOutputSymbolsItem {
		return tool.InspectBinaryLayoutOutputSymbolsItem{Name: name, Kind: "func", Source: "symtab"}
	}
	out := &tool.InspectBinaryLayoutOutput{
		Mitigations: []model.Mitigation{{Name: "pie", State: "enabled", Detail: "ET_DYN"}},
		Libraries:   []model.Library{{Name: "libc"}},
	}
	out.Target = tool.InspectBinaryLayoutOutputTarget{SHA256: sha, Format: "elf", Architecture: "x86_64", Endian: "little"}
	out.Sections.Total, out.Sections.Items = 2, []model.Section{section(".text"), section(".data")}
	out.Symbols.Total, out.Symbols.NextOffset = 900, ptr[int64](2)
	out.Symbols.Items = []tool.InspectBinaryLayoutOutputSymbolsItem{symbol("main"), symbol("main")}
	out.Relocations.Total, out.Relocations.NextOffset = 5, ptr[int64](0)
	return out
}

// jsonOf is a value as records hold it.
func jsonOf(v wire.Appender) string {
	canonical, err := store.Canonical(v.AppendJSON(nil))
	if err != nil {
		panic(err)
	}
	return string(canonical)
}

func jsonRows(rows []model.Procedure) string {
	var out []string
	for i := range rows {
		out = append(out, jsonOf(&rows[i]))
	}
	return "[" + strings.Join(out, ",") + "]"
}
