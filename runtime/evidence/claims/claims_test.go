package claims

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/runtime/engine"
)

func ptr[T any](v T) *T { return &v }

// dossier is a record that analyze_function could have made.
func dossier() *model.EvidenceRecord {
	provider := model.Provider{ID: "embedded", Name: "E", Version: ptr("1")}
	profile := engine.NewProfile(provider, map[string]jsontext.Value{"depth": jsontext.Value("3")})
	r := &model.EvidenceRecord{
		EvidenceID: "ev_x", Operation: "analyze_function", PredicateType: "rea:analysis.analyze_function:1",
		Confidence: "derived", Authority: "shipped-artifact", Provider: provider, AnalysisProfile: &profile, Subject: &model.EvidenceSubject{},
	}
	return r
}

func TestCheck(t *testing.T) {
	if e := Check(dossier()); e != nil {
		t.Fatalf("a record that is in order gives %v", e)
	}
	for name, tt := range map[string]struct {
		change  func(*model.EvidenceRecord)
		pointer string
	}{
		"predicate":        {func(r *model.EvidenceRecord) { r.PredicateType = "rea:native.list_names:1" }, "/predicate_type"},
		"authority":        {func(r *model.EvidenceRecord) { r.Authority = "external-service" }, "/authority"},
		"confidence":       {func(r *model.EvidenceRecord) { r.Confidence = "inferred" }, "/confidence"},
		"subject":          {func(r *model.EvidenceRecord) { r.Subject = nil }, "/subject"},
		"no_profile":       {func(r *model.EvidenceRecord) { r.AnalysisProfile = nil }, "/analysis_profile"},
		"provider_id":      {func(r *model.EvidenceRecord) { r.Provider.ID = "ghidra" }, "/provider"},
		"provider_version": {func(r *model.EvidenceRecord) { r.Provider.Version = ptr("2") }, "/provider"},
		"no_version":       {func(r *model.EvidenceRecord) { r.Provider.Version = nil }, "/provider"},
		"digest":           {func(r *model.EvidenceRecord) { r.AnalysisProfile.Digest = strings.Repeat("0", 64) }, "/analysis_profile/digest"},
		"setting":          {func(r *model.EvidenceRecord) { r.AnalysisProfile.Parameters["depth"] = jsontext.Value("4") }, "/analysis_profile/digest"},
		"layout_of_an_engine": {func(r *model.EvidenceRecord) {
			r.Operation, r.PredicateType, r.Confidence, r.AnalysisProfile = "inspect_binary_layout", "rea:binary.inspect_binary_layout:1", "observed", nil
		}, "/provider"},
	} {
		t.Run(name, func(t *testing.T) {
			r := dossier()
			tt.change(r)
			if e := Check(r); e == nil || e.Pointer != tt.pointer || e.Reason == "" || e.Claimed != "ev_x" {
				t.Errorf("gives %+v, want a refusal at %s", e, tt.pointer)
			}
		})
	}
	unknown := dossier()
	unknown.Operation = "of_a_later_version"
	unknown.PredicateType = "any"
	if e := Check(unknown); e != nil {
		t.Errorf("an unknown operation gives %v", e)
	}
}
