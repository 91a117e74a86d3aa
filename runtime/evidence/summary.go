package evidence

import (
	"strconv"
)

// A Summary is what an index knows of a record without reading it.
type Summary struct {
	ID            ID
	Operation     string
	PredicateType string
	Subject       string // canonical JSON
	SubjectSHA256 string // "" without a subject
	Provider      string // canonical JSON
	ProfileDigest string // "" without a profile
	Procedure     *Procedure
	Dossier       *Dossier
	Bytes         int // of the canonical record
}

// Procedure is the one a finding is about.
type Procedure struct {
	Address string
	Name    string // "" when it has none
}

// Dossier says how complete the value flow of a procedure dossier is.
type Dossier struct {
	ValueFlow string // complete, truncated, unavailable or unknown
	Omitted   *int64 // nil when unknown
}

// dossierOperation makes procedure dossiers.
const dossierOperation = "analyze_function"

func summarize(r *Record) Summary {
	s := Summary{
		ID:            r.id,
		Operation:     r.Operation(),
		PredicateType: r.text(memberPredicate),
		Subject:       string(r.part(memberSubject)),
		Provider:      string(r.part(memberProvider)),
		Bytes:         len(r.canonical),
	}
	s.SubjectSHA256 = unquote(find(find(r.part(memberSubject), "digest"), "sha256"))
	s.ProfileDigest = unquote(find(r.part(memberProfile), "digest"))
	result := r.part(memberResult)
	if procedure := find(result, "procedure"); procedure != nil {
		if address := unquote(find(procedure, "address")); address != "" {
			s.Procedure = &Procedure{Address: address, Name: unquote(find(procedure, "name"))}
		}
	}
	if s.Operation == dossierOperation {
		s.Dossier = dossier(find(result, "value_flow"))
	}
	return s
}

func dossier(flow []byte) *Dossier {
	d := &Dossier{ValueFlow: "unknown"}
	switch string(find(flow, "truncated")) {
	case "true":
		d.ValueFlow = "truncated"
	case "false":
		d.ValueFlow = "complete"
	}
	if flow == nil || string(flow) == "null" {
		d.ValueFlow = "unavailable"
	}
	if n, err := strconv.ParseInt(string(find(flow, "omitted")), 10, 64); err == nil {
		d.Omitted = &n
	}
	return d
}

// share replaces long strings by equal ones that other summaries already hold.
func (s *Summary) share(pool map[string]string) {
	for _, text := range []*string{&s.Operation, &s.PredicateType, &s.Subject, &s.SubjectSHA256, &s.Provider, &s.ProfileDigest} {
		if known, ok := pool[*text]; ok {
			*text = known
		} else {
			pool[*text] = *text
		}
	}
}

// find returns the value of a member of an object in compact JSON, or nil.
func find(doc []byte, name string) []byte {
	if len(doc) == 0 || doc[0] != '{' {
		return nil
	}
	for i := 1; i < len(doc) && doc[i] == '"'; {
		end := skipString(doc, i)
		key := doc[i+1 : end-1]
		start := end + 1
		i = skipValue(doc, start)
		if string(key) == name {
			return doc[start:i]
		}
		i++ // the comma, or the end
	}
	return nil
}
