package conform

import (
	"slices"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

// refused checks that what an engine does not state to be able to do is refused,
// with the reason, and not answered all the same.
func refused(t T, s *suite, need model.EngineCapability) {
	add := model.Address(s.Find(t, "add").Addr)
	var answer any
	var err error
	switch need {
	case model.EngineCapabilityPseudocode:
		b := s.body(t, "add", engine.Pseudocode)
		if gap := b.Missing[engine.Pseudocode]; b.Pseudocode != nil || gap.Reason == "" || gap.Remediation == "" {
			t.Errorf("pseudocode, which the engine does not state: %v, reason %+v", b.Pseudocode, gap)
		}
		return
	case model.EngineCapabilityDataTypes:
		types, ok := s.eng.(engine.DataTypes)
		if !ok {
			return
		}
		answer, err = types.DataTypeNames(t.Context(), "")
	case model.EngineCapabilityValueFlow:
		flow, ok := s.eng.(engine.ValueFlow)
		if !ok {
			return
		}
		answer, err = flow.Values(t.Context(), add, "rdi")
	case model.EngineCapabilityWriteAnnotations:
		notes, ok := s.eng.(engine.Annotator)
		if !ok {
			return
		}
		answer, err = notes.Annotate(t.Context(), []engine.Annotation{{Address: add, Kind: engine.NameNote}})
	case model.EngineCapabilityCursor: // the session's, then
		return
	default:
		t.Errorf("every engine must be able to give %s", need)
		return
	}
	if fault.CodeOf(err) != fault.CapabilityUnavailableCode {
		t.Errorf("%s, which the engine does not state: %s", need, said(answer, err))
	}
}

// What follows is asked of engines that state the ability.

func pseudocode(t T, s *suite) {
	for _, name := range Unambiguous() {
		b := s.body(t, name, engine.Pseudocode)
		switch gap := b.Missing[engine.Pseudocode]; {
		case b.Pseudocode == nil:
			t.Errorf("%s has no pseudocode: %s", name, gap.Reason)
		case !strings.Contains(*b.Pseudocode, name):
			t.Errorf("the pseudocode of %s does not name it: %.200s", name, *b.Pseudocode)
		}
	}
}

func dataTypes(t T, s *suite) {
	types, ok := s.eng.(engine.DataTypes)
	if !ok {
		t.Fatal("the engine states data types and has none")
	}
	list, err := types.DataTypeNames(t.Context(), "")
	if err != nil || len(list) == 0 || !slices.IsSorted(list) {
		t.Fatalf("names of types, which must be sorted: %.300s", said(list, err))
	}
	some, err := types.DataTypeNames(t.Context(), list[0])
	if err != nil || !slices.Contains(some, list[0]) || slices.ContainsFunc(some, func(n string) bool { return !strings.Contains(n, list[0]) }) {
		t.Errorf("names with %q: %.300s", list[0], said(some, err))
	}
	if d, err := types.DataType(t.Context(), list[0]); err != nil || d.Name != list[0] {
		t.Errorf("type %q: %s", list[0], said(d, err))
	}
	if d, err := types.DataType(t.Context(), "no such type anywhere"); fault.CodeOf(err) != fault.DataTypeNotFoundCode {
		t.Errorf("a type that does not exist: %s", said(d, err))
	}
}

func valueFlow(t T, s *suite) {
	flow, ok := s.eng.(engine.ValueFlow)
	if !ok {
		t.Fatal("the engine states value flow and has none")
	}
	add := model.Address(s.Find(t, "add").Addr)
	values, err := flow.Values(t.Context(), add, "rdi")
	if err != nil || values.Procedure == nil || values.Procedure.Address != add || values.Scope == "" {
		t.Fatalf("values at %s: %s", add, said(values, err))
	}
	for _, v := range values.Values {
		if !strings.EqualFold(v.Register, "rdi") && !strings.EqualFold(v.Register, "edi") || v.State == model.TracedValueStateUnknown && v.Reason == nil {
			t.Errorf("values at %s: %+v", add, v)
		}
	}
}

// cursor is asked of engines that have one of their own; that of others is the
// session's, and they tell of none.
func cursor(t T, s *suite) {
	own, ok := s.eng.(engine.CursorState)
	if !ok {
		return
	}
	add := model.Address(s.Find(t, "add").Addr)
	if err := own.MoveCursor(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if at, err := own.CursorAt(t.Context()); err != nil || at != nil && *at != add {
		t.Errorf("the cursor was moved to %s: %s", add, said(at, err))
	}
}

// annotations are made all or none, and what was there before is told.
func annotations(t T, s *suite) {
	notes, ok := s.eng.(engine.Annotator)
	if !ok {
		t.Fatal("the engine states annotations and makes none")
	}
	add := model.Address(s.Find(t, "add").Addr)
	text := func(v string) *string { return &v }
	change := func(kind engine.NoteKind, value *string) engine.Annotation {
		return engine.Annotation{Address: add, Kind: kind, Value: value}
	}
	annotate := func(changes ...engine.Annotation) ([]*string, error) { return notes.Annotate(t.Context(), changes) }
	previous, err := annotate(change(engine.NameNote, text("conformance_sum")), change(engine.CommentNote, text("first")),
		change(engine.InlineNote, text("inline")), change(engine.BookmarkNote, text("mark")), change(engine.BookmarkNote, text("again")))
	if err != nil || len(previous) != 5 || previous[1] != nil || previous[2] != nil || previous[3] != nil || previous[4] == nil || *previous[4] != "mark" {
		t.Fatalf("before the first annotations: %s", shown(previous, err))
	}
	if slices.Contains(s.eng.Capabilities(), model.EngineCapabilityPseudocode) {
		if b := s.body(t, "add", engine.Pseudocode); b.Pseudocode == nil || !strings.Contains(*b.Pseudocode, "conformance_sum") {
			t.Error("the pseudocode does not show the name that was given")
		}
	}
	// Whether a name with a space is accepted is the engine's business; what it
	// refuses must leave nothing behind.
	if _, err := annotate(change(engine.CommentNote, text("second")), change(engine.NameNote, text("no name"))); err == nil {
		if _, err := annotate(change(engine.CommentNote, text("first"))); err != nil {
			t.Fatal(err)
		}
	}
	previous, err = annotate(change(engine.NameNote, nil), change(engine.CommentNote, nil), change(engine.InlineNote, nil), change(engine.BookmarkNote, nil))
	if err != nil || len(previous) != 4 || previous[1] == nil || *previous[1] != "first" || previous[3] == nil || *previous[3] != "again" {
		t.Errorf("before they are removed: %s", shown(previous, err))
	}
	if previous, err = annotate(change(engine.CommentNote, nil), change(engine.BookmarkNote, nil)); err != nil || previous[0] != nil || previous[1] != nil {
		t.Errorf("after they were removed: %s", shown(previous, err))
	}
}

func shown(values []*string, err error) string {
	var out []string
	for _, v := range values {
		if v == nil {
			out = append(out, "nothing")
		} else {
			out = append(out, *v)
		}
	}
	return said(out, err)
}
