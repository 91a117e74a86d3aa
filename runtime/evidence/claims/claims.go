// Package claims holds records to what their own operation could have made.
//
// The identity of a record only says that it was not changed since it was
// sealed, and anyone can seal. What a record claims of its making (what kind of
// statement it is, on whose authority, by which engine in which configuration,
// about what) is therefore compared with the contract of its operation before
// something is derived from it, in whatever way the record came.
package claims

import (
	"fmt"
	"sync"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/evidence"
)

// Own is the id of the provider of findings that no engine took part in.
const Own = "rea"

var specs = sync.OnceValue(func() map[string]*tool.Spec {
	m := map[string]*tool.Spec{}
	for _, s := range tool.Specs() {
		m[s.Name] = s
	}
	return m
})

// Check says where and why a record cannot have been made by its operation, nil
// when it can. Of operations that this program does not know it says nothing:
// they are refused by whoever takes only some.
func Check(r *model.EvidenceRecord) *evidence.IntegrityError {
	spec := specs()[r.Operation]
	if spec == nil || spec.Evidence == nil {
		return nil
	}
	refuse := func(pointer, format string, args ...any) *evidence.IntegrityError {
		return &evidence.IntegrityError{Pointer: pointer, Reason: fmt.Sprintf(format, args...), Claimed: r.EvidenceID}
	}
	switch e := spec.Evidence; {
	case r.PredicateType != e.PredicateType:
		return refuse("/predicate_type", "it is %q, and %s states %q", r.PredicateType, r.Operation, e.PredicateType)
	case r.Authority != e.Authority:
		return refuse("/authority", "it is %s, and that of %s is %s", r.Authority, r.Operation, e.Authority)
	case r.Confidence != e.Confidence:
		return refuse("/confidence", "it is %s, and that of %s is %s", r.Confidence, r.Operation, e.Confidence)
	case r.Subject == nil && spec.Requires.Target:
		return refuse("/subject", "it is null, and %s is about a target", r.Operation)
	case r.AnalysisProfile == nil && len(spec.Requires.Engine) > 0:
		return refuse("/analysis_profile", "it is null, and %s asks an engine", r.Operation)
	case r.AnalysisProfile == nil && r.Provider.ID != Own:
		return refuse("/provider", "it is %q without an analysis profile; what no engine took part in is of %q", r.Provider.ID, Own)
	case r.AnalysisProfile == nil:
		return nil
	}
	p := r.AnalysisProfile
	if !sameProvider(&p.Provider, &r.Provider) {
		return refuse("/provider", "it is not the provider of the analysis profile")
	}
	if want := engine.NewProfile(p.Provider, p.Parameters).Digest; p.Digest != want {
		return refuse("/analysis_profile/digest", "it is not that of the provider and the parameters, %s", want)
	}
	return nil
}

func sameProvider(a, b *model.Provider) bool {
	if a.ID != b.ID || a.Name != b.Name || (a.Version == nil) != (b.Version == nil) {
		return false
	}
	return a.Version == nil || *a.Version == *b.Version
}
