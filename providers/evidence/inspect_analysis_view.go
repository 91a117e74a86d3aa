package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	store "rea/runtime/evidence"
)

// InspectAnalysisView shows facts of a recorded analysis, exactly as they were
// recorded. The record is the parent of the view.
func (h *Handlers) InspectAnalysisView(ctx context.Context, in *tool.InspectAnalysisViewInput) (*tool.Finding[tool.InspectAnalysisViewOutput], error) {
	record, ok := in.Analysis.(*model.EvidenceRecord)
	if !ok { // dispatch has replaced references
		return nil, fault.EvidenceNotFound(fault.EvidenceNotFoundDetails{EvidenceID: in.Analysis.(*model.EvidenceReference).EvidenceID}, nil)
	}
	views, ok := viewsOf[record.Operation]
	if !ok {
		return nil, fault.EvidenceNotApplicable(fault.EvidenceNotApplicableDetails{
			EvidenceID: record.EvidenceID, Operation: record.Operation, Accepted: Viewed(), Pointer: "/analysis",
		}, nil)
	}
	v, ok := views[in.View]
	if !ok {
		return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
			Pointer: "/view", Keyword: "enum", Expected: "a view of " + record.Operation + ": " + strings.Join(viewNames(views), ", "),
		}, nil)
	}
	if err := unused(v, in); err != nil {
		return nil, err
	}
	if err := checkShape(record); err != nil {
		return nil, err
	}
	result, err := object(record.NormalizedResult)
	if err != nil {
		return nil, err
	}
	facts, err := v.read(result, in)
	if err != nil {
		return nil, err
	}
	out := tool.InspectAnalysisViewOutput{
		ParentEvidenceID: record.EvidenceID,
		ParentOperation:  record.Operation,
		View:             in.View,
		State:            model.AnalysisViewResultStateAvailable,
		Unit:             facts.unit,
		Total:            facts.total,
		Offset:           facts.offset,
		Returned:         facts.returned,
		NextOffset:       facts.next,
		Complete:         facts.complete,
		Facts:            facts.value,
	}
	if facts.unavailable != "" {
		out.State, out.Reason = model.AnalysisViewResultStateUnavailable, &facts.unavailable
	}
	if out.FactsSHA256, err = digest(facts.value); err != nil {
		return nil, err
	}
	limitations := parentLimitations(record, in.View)
	if facts.limitation != "" {
		limitations = append(limitations, facts.limitation)
	}
	return &tool.Finding[tool.InspectAnalysisViewOutput]{
		Result:      out,
		Limitations: limitations,
		Locations:   record.Locations,
		Links:       []string{record.EvidenceID},
		Subject:     record.Subject,
	}, nil
}

// repeated is how many bytes of its parent's limitations a view repeats; the
// summary has room for more, because it stands for the whole.
const (
	repeated        = 512
	repeatedSummary = 16 << 10
)

// parentLimitations are those of the analysis, or the first of them and how many
// more there are.
func parentLimitations(record *model.EvidenceRecord, view model.AnalysisView) []string {
	room, where := repeated, "view summary shows them"
	if view == model.AnalysisViewSummary {
		room, where = repeatedSummary, "they are in the record itself"
	}
	out := []string{}
	for i, l := range record.Limitations {
		if ofAnother(record.Operation, view, l) {
			continue
		}
		if room -= len(l); room < 0 {
			return append(out, fmt.Sprintf("%d more limitations of the analysis apply; %s", len(record.Limitations)-i, where))
		}
		out = append(out, l)
	}
	return out
}

// ofAnother reports whether a limitation, which begins with the name of a list,
// is about another one than the view shows.
func ofAnother(operation string, view model.AnalysisView, limitation string) bool {
	about, _, named := strings.Cut(limitation, ": ")
	if !named || view == model.AnalysisViewSummary {
		return false
	}
	summary, ok := viewsOf[operation][model.AnalysisViewSummary].(overview)
	if !ok || !slices.Contains(summary.lists, page(about)) {
		return false
	}
	switch shown := viewsOf[operation][view].(type) {
	case page:
		return about != string(shown)
	case row:
		return about != string(shown.list)
	}
	return true
}

func digest(value jsontext.Value) (string, error) {
	canonical, err := store.Canonical(value)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// facts are what a view selects.
type facts struct {
	value       jsontext.Value
	unit        model.AnalysisViewResultUnit
	total       *int64
	offset      int64
	returned    int64
	next        *int64
	complete    bool
	unavailable string // why there are none
	limitation  string
}

// null stands for facts that are unavailable.
var null = jsontext.Value("null")

func unavailable(unit model.AnalysisViewResultUnit, reason string) *facts {
	return &facts{value: null, unit: unit, unavailable: reason}
}

// A view reads facts out of a result.
type view interface {
	read(result map[string]jsontext.Value, in *tool.InspectAnalysisViewInput) (*facts, error)
	takes() selectors
}

// selectors say which arguments a view makes use of.
type selectors struct{ name, node, offset bool }

// unused refuses an argument that the view would not look at: its answer would
// not be the one that was asked for.
func unused(v view, in *tool.InspectAnalysisViewInput) error {
	takes := v.takes()
	for _, a := range []struct {
		pointer, what string
		unused        bool
	}{
		{"/name", "name", in.Name != nil && !takes.name},
		{"/node_id", "node_id", in.NodeID != nil && !takes.node},
		{"/offset", "offset", in.Offset != 0 && !takes.offset},
	} {
		if a.unused {
			return fault.InvalidRequest(fault.InvalidRequestDetails{
				Pointer: a.pointer, Keyword: "not", Expected: fmt.Sprintf("no %s, which view %s does not take", a.what, in.View),
			}, nil)
		}
	}
	return nil
}

// object reads the members of a JSON object, leaving the values as they are.
func object(value jsontext.Value) (map[string]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(value))
	if dec.PeekKind() != '{' {
		return map[string]jsontext.Value{}, nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out := map[string]jsontext.Value{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		member, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		out[key] = member.Clone()
	}
	return out, nil
}

// rows reads the items of a JSON array.
func rows(value jsontext.Value) ([]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(value))
	if dec.PeekKind() != '[' {
		return nil, nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var out []jsontext.Value
	for dec.PeekKind() != ']' {
		item, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		out = append(out, item.Clone())
	}
	return out, nil
}

// text is a JSON string, "" for anything else.
func text(value jsontext.Value) string {
	out, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(out)
}

func integer(value jsontext.Value) *int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// reasonFor is why a facet is unavailable and what to do about it, "" when it is
// not.
func reasonFor(facet map[string]jsontext.Value) string {
	if text(facet["state"]) != "unavailable" {
		return ""
	}
	reason := text(facet["reason"])
	if way := text(facet["remediation"]); way != "" {
		reason += ". " + way
	}
	return reason
}

// members are the view of single members, together.
type members []string

func (members) takes() selectors { return selectors{} }

func (m members) read(result map[string]jsontext.Value, _ *tool.InspectAnalysisViewInput) (*facts, error) {
	out := []byte{'{'}
	complete := true
	for i, name := range m {
		value, ok := result[name]
		if !ok {
			value, complete = null, false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, name)
		out = append(append(out, ':'), value...)
	}
	return &facts{value: append(out, '}'), unit: model.AnalysisViewResultUnitValue, returned: 1, complete: complete}, nil
}

// overview is the view of single members and of how long the lists are.
type overview struct {
	members members
	lists   []page
}

func (overview) takes() selectors { return selectors{} }

func (o overview) read(result map[string]jsontext.Value, in *tool.InspectAnalysisViewInput) (*facts, error) {
	f, err := o.members.read(result, in)
	if err != nil {
		return nil, err
	}
	out := append(f.value[:len(f.value)-1], `,"totals":{`...)
	for i, p := range o.lists {
		l, err := p.list(result)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, string(p))
		out = append(out, ':')
		if l.total == nil {
			out = append(out, null...)
		} else {
			out = strconv.AppendInt(out, *l.total, 10)
		}
	}
	f.value = append(out, "}}"...)
	return f, nil
}

// member is the view of one member that may be unavailable.
type member string

func (member) takes() selectors { return selectors{} }

func (m member) read(result map[string]jsontext.Value, _ *tool.InspectAnalysisViewInput) (*facts, error) {
	value, ok := result[string(m)]
	if !ok || value.Kind() == 'n' {
		return unavailable(model.AnalysisViewResultUnitValue, "the analysis did not record "+string(m)), nil
	}
	if value.Kind() == '{' {
		facet, err := object(value)
		if err != nil {
			return nil, err
		}
		if reason := reasonFor(facet); reason != "" {
			return unavailable(model.AnalysisViewResultUnitValue, reason), nil
		}
	}
	return &facts{value: value, unit: model.AnalysisViewResultUnitValue, returned: 1, complete: true}, nil
}

// page is the view of a list: an array, or an object that holds one page of it
// as items, with total and offset.
type page string

func (page) takes() selectors { return selectors{offset: true} }

func (p page) read(result map[string]jsontext.Value, in *tool.InspectAnalysisViewInput) (*facts, error) {
	list, err := p.list(result)
	if err != nil || list.unavailable != "" {
		return unavailable(model.AnalysisViewResultUnitRows, list.unavailable), err
	}
	if list.empty() {
		return unavailable(model.AnalysisViewResultUnitRows, p.missing(list)), nil
	}
	held := int64(len(list.rows))
	// offset counts the rows of the whole list, of which the record holds those
	// from list.start on.
	start := min(max(in.Offset-list.start, 0), held)
	end := start + min(in.Limit, held-start)
	f := &facts{
		value:    join(list.rows[start:end]),
		unit:     model.AnalysisViewResultUnitRows,
		total:    list.total,
		offset:   list.start + start,
		returned: end - start,
		complete: list.whole(),
	}
	if end < held {
		next := list.start + end
		f.next = &next
	}
	if !f.complete {
		f.limitation = "the record holds rows " + span(list.start, held) + " of " + string(p) + "; repeat the analysis with another offset for the others"
	}
	return f, nil
}

// missing is why a list of which rows exist has none in the record.
func (p page) missing(l list) string {
	if l.total == nil {
		return "the analysis recorded no rows of " + string(p) + ", and not how many there are; repeat it with a larger limit"
	}
	return fmt.Sprintf("the analysis recorded none of the %d rows of %s; repeat it with a larger limit and a smaller offset", *l.total, p)
}

func span(start, n int64) string {
	return strconv.FormatInt(start, 10) + " to " + strconv.FormatInt(start+n-1, 10)
}

type list struct {
	rows        []jsontext.Value
	start       int64
	total       *int64
	unavailable string
}

// whole reports whether the record holds all rows.
func (l list) whole() bool {
	return l.start == 0 && l.total != nil && *l.total == int64(len(l.rows))
}

// empty reports whether the record holds nothing of rows that may exist.
func (l list) empty() bool { return len(l.rows) == 0 && !l.whole() }

func (p page) list(result map[string]jsontext.Value) (l list, err error) {
	value, ok := result[string(p)]
	switch {
	case !ok || value.Kind() == 'n':
		l.unavailable = "the analysis did not record " + string(p)
	case value.Kind() == '[':
		l.rows, err = rows(value)
		n := int64(len(l.rows))
		l.total = &n
	default:
		holder, err := object(value)
		if err != nil {
			return l, err
		}
		if l.unavailable = reasonFor(holder); l.unavailable != "" {
			return l, nil
		}
		if offset := integer(holder["offset"]); offset != nil {
			l.start = *offset
		}
		l.total = integer(holder["total"])
		l.rows, err = rows(holder["items"])
		return l, err
	}
	return l, err
}

func join(values []jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// row is the view of the rows of a list that have a name.
type row struct {
	list page
	view model.AnalysisView // of the whole list
}

func (row) takes() selectors { return selectors{name: true, offset: true} }

func (r row) read(result map[string]jsontext.Value, in *tool.InspectAnalysisViewInput) (*facts, error) {
	if in.Name == nil {
		return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
			Pointer: "/name", Keyword: "required", Expected: fmt.Sprintf("the name of one of the %s; view %s lists them", r.list, r.view),
		}, nil)
	}
	list, err := r.list.list(result)
	if err != nil || list.unavailable != "" {
		return unavailable(model.AnalysisViewResultUnitRows, list.unavailable), err
	}
	if list.empty() {
		return unavailable(model.AnalysisViewResultUnitRows, r.list.missing(list)), nil
	}
	var found []jsontext.Value
	nearest := nearestNames{wanted: *in.Name}
	for _, item := range list.rows {
		fields, err := object(item)
		if err != nil {
			return nil, err
		}
		name := text(fields["name"])
		if name == *in.Name {
			found = append(found, item)
		}
		nearest.add(name)
	}
	switch {
	case len(found) > 0:
		f := pageOf(len(found), in, "", func(b []byte, i int) []byte { return append(b, found[i]...) })
		if f.complete = list.whole(); !f.complete {
			f.limitation = fmt.Sprintf("the record holds %d of %d %s; others may have the name, too", len(list.rows), *list.total, r.list)
		}
		return f, nil
	case list.whole():
		return nil, fault.Advise(fault.NameNotFound(fault.NameNotFoundDetails{Name: *in.Name, Nearest: nearest.names()}, nil),
			fmt.Sprintf("View %s lists the names of the %s, by pages with offset and limit.", r.view, r.list))
	}
	// Nothing is known of the rows that the record does not hold.
	reason := fmt.Sprintf("%s is not among the %d of %d %s that the record holds", quote(*in.Name), len(list.rows), *list.total, r.list)
	if names := nearest.names(); len(names) > 0 {
		for i := range names {
			names[i] = quote(names[i])
		}
		reason += ", of which the nearest are " + strings.Join(names, ", ")
	}
	return unavailable(model.AnalysisViewResultUnitRows, reason+fmt.Sprintf("; repeat the analysis with a larger %s_limit", r.view[:len(r.view)-1])), nil
}

// quote is a name for a text, cut to a readable length.
func quote(name string) string {
	const shown = 200
	if len(name) > shown {
		name = strings.ToValidUTF8(name[:shown], "") + "…"
	}
	return strconv.Quote(name)
}

// code is the view of a text that is paged by UTF-16 code units.
type code string

func (code) takes() selectors { return selectors{offset: true} }

func (c code) read(result map[string]jsontext.Value, in *tool.InspectAnalysisViewInput) (*facts, error) {
	value, ok := result[string(c)]
	if !ok || value.Kind() != '{' {
		return unavailable(model.AnalysisViewResultUnitUtf16, "the analysis did not record "+string(c)), nil
	}
	facet, err := object(value)
	if err != nil {
		return nil, err
	}
	if reason := reasonFor(facet); reason != "" {
		return unavailable(model.AnalysisViewResultUnitUtf16, reason), nil
	}
	held := text(facet["text"])
	start := int64(0)
	if offset := integer(facet["offset"]); offset != nil {
		start = *offset
	}
	part, first, units := cutUTF16(held, max(in.Offset-start, 0), in.Limit)
	quoted, err := jsontext.AppendQuote(nil, part)
	if err != nil {
		return nil, err
	}
	size := utf16Length(part)
	f := &facts{
		value: quoted, unit: model.AnalysisViewResultUnitUtf16, total: integer(facet["total_chars"]),
		offset: start + first, returned: size,
		complete: start == 0 && (facet["next_offset"] == nil || facet["next_offset"].Kind() == 'n'),
	}
	if first+size < units {
		next := start + first + size
		f.next = &next
	}
	if !f.complete {
		f.limitation = "the record holds only a part of " + string(c)
	}
	return f, nil
}

// cutUTF16 takes limit code units of s from offset on. A pair of surrogates is
// never divided: a page that would begin inside one begins before it, and one
// that has room for half of one ends before it, unless it would be empty.
func cutUTF16(s string, offset, limit int64) (part string, first, units int64) {
	start, end := -1, len(s)
	cut := false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		width := utf16Width(r)
		if start < 0 && units+width > offset {
			start, first = i, units
		}
		if start >= 0 && !cut && units > first && units+width-first > limit {
			end, cut = i, true
		}
		units += width
		i += size
	}
	if start < 0 {
		return "", units, units
	}
	return s[start:end], first, units
}

func utf16Width(r rune) int64 {
	if r > 0xffff {
		return 2
	}
	return 1
}

func utf16Length(s string) int64 {
	n := int64(0)
	for _, r := range s {
		n += utf16Width(r)
	}
	return n
}
