package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/wire"
)

// SchemaVersion of the records that are made and accepted.
const SchemaVersion = 2

// An ID is the identity of a record.
type ID [sha256.Size]byte

const idPrefix = "ev_"

func (id ID) String() string { return idPrefix + hex.EncodeToString(id[:]) }

// ParseID reads the text form of an id.
func ParseID(s string) (ID, error) {
	var id ID
	digits, ok := strings.CutPrefix(s, idPrefix)
	if !ok || len(digits) != 2*len(id) || strings.ToLower(digits) != digits {
		return id, fmt.Errorf("an evidence id is %q and 64 lowercase hex digits", idPrefix)
	}
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return id, fmt.Errorf("an evidence id is %q and 64 lowercase hex digits", idPrefix)
	}
	return id, nil
}

// The members of a record, in canonical order.
const (
	memberProfile = iota
	memberAuthority
	memberConfidence
	memberEnvironment
	memberID
	memberLinks
	memberLimitations
	memberLocations
	memberResult
	memberOperation
	memberParameters
	memberPredicate
	memberProvider
	memberRaw
	memberVersion
	memberSubject
	memberCount
)

var memberNames = [memberCount]string{
	"analysis_profile", "authority", "confidence", "environment", "evidence_id", "evidence_links",
	"limitations", "locations", "normalized_result", "operation", "parameters", "predicate_type",
	"provider", "raw_result", "schema_version", "subject",
}

var subjectNames = [...]string{"architecture", "digest", "format", "local_path", "name"}

// subjectSemantic is how many of subjectNames, from the first, are semantic.
const subjectSemantic = 3

// A Record is one sealed record. It is immutable.
type Record struct {
	id        ID
	canonical []byte
	spans     [memberCount]span
}

// ID is the identity.
func (r *Record) ID() ID { return r.id }

// Bytes is the canonical JSON. It must not be changed.
func (r *Record) Bytes() []byte { return r.canonical }

// Member is the canonical JSON of one member, which must not be changed; nil
// when the name is not that of a member.
func (r *Record) Member(name string) []byte {
	for i, known := range memberNames {
		if known == name {
			return r.part(i)
		}
	}
	return nil
}

func (r *Record) part(i int) []byte { return r.canonical[r.spans[i].start:r.spans[i].end] }

// text is the value of a string member, "" when it is none.
func (r *Record) text(i int) string { return unquote(r.part(i)) }

func unquote(value []byte) string {
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(text)
}

// Operation is the tool that made the record.
func (r *Record) Operation() string { return r.text(memberOperation) }

// An IntegrityError says where a record is not what it should be.
type IntegrityError struct {
	Pointer  string // JSON pointer into the record or the bundle
	Reason   string
	Claimed  string // id the record carries, or ""
	Computed string // id its content has, or ""
	// Remedy is what to do, "" for what helps with records that were altered.
	Remedy string
}

func (e *IntegrityError) Error() string { return fmt.Sprintf("%s: %s", e.Pointer, e.Reason) }

// Seal makes a record from the JSON of its members. evidence_id may be absent
// from draft and is ignored there; every other member must be present. Seal
// checks form, not meaning: it is the caller's part that the members hold what
// the package documentation says.
func Seal(draft []byte) (*Record, error) {
	canonical, err := Canonical(draft)
	if err != nil {
		return nil, fmt.Errorf("sealing evidence: %w", err)
	}
	r := &Record{canonical: canonical}
	if err := r.placeID(); err != nil {
		return nil, fmt.Errorf("sealing evidence: %w", err)
	}
	if err := r.identify(); err != nil {
		return nil, fmt.Errorf("sealing evidence: %w", err)
	}
	hex.Encode(r.canonical[r.spans[memberID].start+1+len(idPrefix):], r.id[:])
	return r, nil
}

// blankID stands in for an id until it is known.
var blankID = []byte(`"` + idPrefix + strings.Repeat("0", 2*sha256.Size) + `"`)

// placeID makes room for the id where evidence_id belongs, and finds the members.
func (r *Record) placeID() error {
	var spans [memberCount]span
	if err := splitObject(r.canonical, 0, memberNames[:], spans[:]); err == nil {
		id := spans[memberID]
		if id.end-id.start == len(blankID) {
			copy(r.canonical[id.start:], blankID)
			r.spans = spans
			return nil
		}
		r.canonical = splice(r.canonical, id.start, id.end, blankID)
	} else {
		var rest []string
		rest = append(rest, memberNames[:memberID]...)
		rest = append(rest, memberNames[memberID+1:]...)
		if err := splitObject(r.canonical, 0, rest, spans[:]); err != nil {
			return err
		}
		at := spans[memberID-1].end
		r.canonical = splice(r.canonical, at, at, append([]byte(`,"`+memberNames[memberID]+`":`), blankID...))
	}
	return splitObject(r.canonical, 0, memberNames[:], r.spans[:])
}

func splice(doc []byte, start, end int, part []byte) []byte {
	out := make([]byte, 0, len(doc)-(end-start)+len(part))
	out = append(out, doc[:start]...)
	out = append(out, part...)
	return append(out, doc[end:]...)
}

// index finds the members and computes the identity.
func (r *Record) index() error {
	if err := splitObject(r.canonical, 0, memberNames[:], r.spans[:]); err != nil {
		return err
	}
	return r.identify()
}

// identify hashes the semantic form straight from the canonical bytes: of the
// sorted members two are left out, and of the subject its last two.
func (r *Record) identify() error {
	h := sha256.New()
	doc := r.canonical
	wire.Write(h, doc[:r.spans[memberConfidence].end])
	wire.Write(h, doc[r.spans[memberID].end:r.spans[memberSubject].start])
	subject := r.part(memberSubject)
	if string(subject) == "null" {
		h.Write(subject)
	} else {
		var spans [len(subjectNames)]span
		if err := splitObject(doc, r.spans[memberSubject].start, subjectNames[:], spans[:]); err != nil {
			return fmt.Errorf("subject: %w", err)
		}
		h.Write(doc[r.spans[memberSubject].start:spans[subjectSemantic-1].end])
		h.Write([]byte("}"))
	}
	h.Write([]byte("}"))
	h.Sum(r.id[:0])
	return nil
}

// Verify admits a record from outside: raw may be any JSON that means a record,
// in any member order; its claimed identity must be the one its content has.
// Failures are [*IntegrityError]s.
func Verify(raw []byte) (*Record, error) {
	canonical, err := Canonical(raw)
	if err != nil {
		pointer, reason := Place(raw, err)
		return nil, &IntegrityError{Pointer: pointer, Reason: reason}
	}
	return verify(canonical)
}

func verify(canonical []byte) (*Record, error) {
	r := &Record{canonical: canonical}
	if err := r.index(); err != nil {
		return nil, &IntegrityError{Reason: err.Error()}
	}
	claimed := r.text(memberID)
	if claimed != r.id.String() {
		return nil, &IntegrityError{
			Pointer:  "/evidence_id",
			Reason:   "the identity is not that of the content",
			Claimed:  shorten(claimed),
			Computed: r.id.String(),
		}
	}
	if err := r.checkMeaning(); err != nil {
		return nil, err
	}
	return r, nil
}

func shorten(s string) string {
	const shown = 80
	if len(s) > shown {
		return string(printable([]byte(s)))
	}
	return s
}

// AsIntegrity finds the integrity error in a chain.
func AsIntegrity(err error) (*IntegrityError, bool) {
	var e *IntegrityError
	return e, errors.As(err, &e)
}
