package conform

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

// T is what a check reports to; a *testing.T is one.
type T interface {
	Helper()
	Context() context.Context
	TempDir() string
	Error(...any)
	Errorf(format string, args ...any)
	// Fatal, Fatalf and Skipf end the check.
	Fatal(...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Suite runs every check of an engine, each by run. Of an ability that the engine
// does not state, named by unstated, the check is that it refuses. open opens the ELF file at
// path, without analyst names, and sees to it that the engine is closed when t
// is done.
func Suite(t T, run func(name string, unstated model.EngineCapability, check func(T)), open func(t T, path string) engine.Engine) {
	f := Build(t)
	s := &suite{Fixture: f, eng: open(t, f.Path), stripped: open(t, f.Stripped)}
	for _, c := range []struct {
		name string
		need model.EngineCapability
		test func(T, *suite)
	}{
		{"identity", "", identity},
		{"segments", model.EngineCapabilitySegments, segments},
		{"bytes", model.EngineCapabilityBytes, readBytes},
		{"file_offsets", model.EngineCapabilityFileOffsets, fileOffsets},
		{"procedures", model.EngineCapabilityFunctions, procedures},
		{"stripped_procedures", model.EngineCapabilityFunctions, strippedProcedures},
		{"resolve", model.EngineCapabilityFunctions, resolve},
		{"containing", model.EngineCapabilityFunctions, containing},
		{"instructions", model.EngineCapabilityBody, instructions},
		{"blocks", model.EngineCapabilityBody, blocks},
		{"facets", model.EngineCapabilityBody, facets},
		{"calls", model.EngineCapabilityReferences, calls},
		{"call_targets", model.EngineCapabilityCallTargets, callTargets},
		{"references", model.EngineCapabilityReferences, references},
		{"strings", model.EngineCapabilityStrings, texts},
		{"names", model.EngineCapabilityNames, names},
		{"listing", model.EngineCapabilityBody, listing},
		{"summary", model.EngineCapabilityFunctions, summary},
		{"cancelled", model.EngineCapabilityFunctions, cancelled},
		{"concurrent", model.EngineCapabilityFunctions, concurrent},
		{"pseudocode", model.EngineCapabilityPseudocode, pseudocode},
		{"data_types", model.EngineCapabilityDataTypes, dataTypes},
		{"value_flow", model.EngineCapabilityValueFlow, valueFlow},
		{"cursor", model.EngineCapabilityCursor, cursor},
		{"same_answer_of_another_engine", "", func(t T, s *suite) { repeated(t, s, open(t, f.Path)) }},
		{"annotations", model.EngineCapabilityWriteAnnotations, func(t T, s *suite) {
			annotations(t, &suite{Fixture: f, eng: open(t, f.Path)})
		}},
	} {
		// One check that ends the engine is no reason to fail all others.
		if ended(t.Context(), s.eng) {
			s.eng = open(t, f.Path)
		}
		if ended(t.Context(), s.stripped) {
			s.stripped = open(t, f.Stripped)
		}
		if c.need != "" && !slices.Contains(s.eng.Capabilities(), c.need) {
			run(c.name, c.need, func(t T) { refused(t, s, c.need) })
		} else {
			run(c.name, "", func(t T) { c.test(t, s) })
		}
	}
	run("closes_twice", "", func(t T) {
		eng := open(t, f.Path)
		if err := errors.Join(eng.Close(), eng.Close()); err != nil {
			t.Error(err)
		}
	})
}

type suite struct {
	*Fixture
	eng, stripped engine.Engine
}

// all reads a whole stream, which must be in address order.
func all[Row any](t T, rows iter.Seq2[Row, error], address func(*Row) model.Address) []Row {
	t.Helper()
	var out []Row
	last := model.Address(0)
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		if a := address(&row); a < last {
			t.Fatalf("%s comes after %s", a, last)
		} else {
			last = a
		}
		out = append(out, row)
	}
	return out
}

func everyProcedure(t T, eng engine.Engine) []model.Procedure {
	t.Helper()
	return all(t, eng.Procedures(t.Context()), func(p *model.Procedure) model.Address { return p.Address })
}

// said is an answer: what came, or why nothing did.
func said(answer any, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%+v", answer)
}

// Start makes an engine do what its first question does. It fails where the
// engine cannot be had.
func Start(ctx context.Context, eng engine.Engine) error {
	_, err := eng.Item(ctx, 0, 1)
	return err
}

// ended tells whether an engine has ended, so that no question is answered any more.
func ended(ctx context.Context, eng engine.Engine) bool {
	return fault.CodeOf(Start(ctx, eng)) == fault.ProviderUnavailableCode
}

func identity(t T, s *suite) {
	first, second := s.eng.Profile(), s.eng.Profile()
	if first.Provider.ID == "" || first.Digest == "" {
		t.Errorf("profile = %+v", first)
	}
	if diff := diff(first, second); diff != "" {
		t.Errorf("the profile changes:\n%s", diff)
	}
	documents, err := s.eng.Documents(t.Context())
	if err != nil || len(documents) == 0 || documents[0] == "" {
		t.Errorf("documents: %s", said(documents, err))
	}
	done := make(chan engine.Activity, 1)
	go func() { done <- s.eng.Activity() }()
	select {
	case a := <-done:
		if a.Status != "idle" && a.Status != "busy" {
			t.Errorf("activity = %+v", a)
		}
	case <-time.After(time.Second):
		t.Error("activity blocks")
	}
}

func procedures(t T, s *suite) {
	list := everyProcedure(t, s.eng)
	byAddress := map[model.Address]model.Procedure{}
	for _, p := range list {
		if _, twice := byAddress[p.Address]; twice {
			t.Errorf("%s is listed twice", p.Address)
		}
		byAddress[p.Address] = p
	}
	for _, sym := range s.Symbols {
		p, ok := byAddress[model.Address(sym.Addr)]
		switch parent := s.parent(sym); {
		case parent != nil && ok:
			t.Errorf("%s at %#x is a part of %s and listed on its own", sym.Name, sym.Addr, parent.Name)
		case parent != nil:
			if of, err := s.eng.Containing(t.Context(), model.Address(sym.Addr)); err != nil || of == nil || of.Address != model.Address(parent.Addr) {
				t.Errorf("%s at %#x belongs to %s, not to %s", sym.Name, sym.Addr, parent.Name, said(of, err))
			}
		case !ok:
			t.Errorf("%s at %#x is not listed", sym.Name, sym.Addr)
		case slices.Contains(own, sym.Name) && (p.Name != sym.Name || !p.Named || p.Size != int64(s.WholeSize(sym)) || p.Kind != model.ProcedureKindFunction || !p.Returns):
			t.Errorf("%s of %d bytes is listed as %+v", sym.Name, s.WholeSize(sym), p)
		}
	}
	if !slices.ContainsFunc(list, func(p model.Procedure) bool { return p.Name == "puts" && p.Kind == model.ProcedureKindImportStub }) {
		t.Error("the stub of puts is not listed")
	}
}

// strippedProcedures: the unwind tables still tell where functions start.
func strippedProcedures(t T, s *suite) {
	byAddress := map[model.Address]model.Procedure{}
	for _, p := range everyProcedure(t, s.stripped) {
		byAddress[p.Address] = p
	}
	for _, sym := range s.Symbols {
		p, ok := byAddress[model.Address(sym.Addr)]
		switch {
		case !slices.Contains(own, sym.Name):
		case !ok:
			t.Errorf("%s at %#x is not listed", sym.Name, sym.Addr)
		case p.Named && sym.Name != "main":
			t.Errorf("%s has a name without symbols: %+v", sym.Name, p)
		}
	}
}

func resolve(t T, s *suite) {
	add := s.Find(t, "add")
	at := model.Address(add.Addr)
	inner := model.Address(add.Addr + 1)
	for _, selector := range []string{"add", at.String(), inner.String(), "0X" + inner.String()[2:], " add"} {
		p, err := s.eng.Resolve(t.Context(), selector)
		if selector == " add" {
			if fault.CodeOf(err) != fault.ProcedureNotFoundCode {
				t.Errorf("%q: %s", selector, said(p, err))
			}
			continue
		}
		if err != nil || p.Address != at || p.Name != "add" {
			t.Errorf("%q: %s", selector, said(p, err))
		}
	}
	for selector, code := range map[string]fault.Code{
		"no_such_function_anywhere": fault.ProcedureNotFoundCode,
		"0xZZ":                      fault.ProcedureNotFoundCode,
		"0x10000000000000000":       fault.ProcedureNotFoundCode,
		"0xffffffffffffffff":        fault.ProcedureNotFoundCode,
		"0x0":                       fault.ProcedureNotFoundCode,
		"\x00\xff":                  fault.ProcedureNotFoundCode,
		"twice":                     fault.AmbiguousProcedureCode,
	} {
		if p, err := s.eng.Resolve(t.Context(), selector); fault.CodeOf(err) != code {
			t.Errorf("%q: %s; want %s", selector, said(p, err), code)
		}
	}
}

func containing(t T, s *suite) {
	loop := s.Find(t, "loop")
	for _, addr := range []uint64{loop.Addr, loop.Addr + 1, loop.Addr + loop.Size - 1} {
		p, err := s.eng.Containing(t.Context(), model.Address(addr))
		if err != nil || p == nil || p.Address != model.Address(loop.Addr) {
			t.Errorf("%#x lies in %s", addr, said(p, err))
		}
	}
	data := s.Loads[len(s.Loads)-1].Addr
	for _, addr := range []uint64{data, 0, 1 << 63, 1<<64 - 1} {
		if p, err := s.eng.Containing(t.Context(), model.Address(addr)); err != nil || p != nil {
			t.Errorf("%#x lies in %s", addr, said(p, err))
		}
	}
}

func summary(t T, s *suite) {
	sum, err := s.eng.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list := everyProcedure(t, s.eng)
	named := 0
	for _, p := range list {
		if p.Named {
			named++
		}
	}
	if sum.Procedures != len(list) || sum.Named != named {
		t.Errorf("%d procedures, %d named; the list has %d, %d", sum.Procedures, sum.Named, len(list), named)
	}
	if sum.Segments != len(s.Loads) {
		t.Errorf("%d segments; readelf lists %d", sum.Segments, len(s.Loads))
	}
	if sum.Target.Entry == nil || sum.Target.Stripped {
		t.Errorf("target = %+v", sum.Target)
	}
	if sum.Unresolved < 1 {
		t.Error("the call through a pointer that may change is not counted as unresolved")
	}
}

func cancelled(t T, s *suite) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	rows := 0
	var last error
	for _, err := range s.eng.Procedures(ctx) {
		if last = err; err != nil {
			break
		}
		rows++
	}
	if last == nil && rows > 4096 {
		t.Errorf("%d procedures came after the context had ended", rows)
	}
	if last != nil && !errors.Is(last, context.Canceled) {
		t.Errorf("err = %v", last)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %s to end", d)
	}
	if got := everyProcedure(t, s.eng); len(got) < len(own) {
		t.Errorf("after a cancelled call %d procedures are left", len(got))
	}
}

func concurrent(t T, s *suite) {
	want := everyProcedure(t, s.eng)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var got []model.Procedure
			for p, err := range s.eng.Procedures(t.Context()) {
				if err != nil {
					t.Error(err)
					return
				}
				if p.Kind == model.ProcedureKindFunction {
					if _, err := s.eng.Body(t.Context(), p.Address, engine.Blocks|engine.Callees); err != nil {
						t.Error(err)
						return
					}
				}
				got = append(got, p)
			}
			if diff := diff(want, got); diff != "" {
				t.Errorf("another answer:\n%s", diff)
			}
		})
	}
	wg.Wait()
}

func repeated(t T, s *suite, other engine.Engine) {
	if diff := diff(everyProcedure(t, s.eng), everyProcedure(t, other)); diff != "" {
		t.Errorf("procedures:\n%s", diff)
	}
	for _, name := range []string{"main", "choose", "loop"} {
		addr := model.Address(s.Find(t, name).Addr)
		a, errA := s.eng.Body(t.Context(), addr, everything)
		b, errB := other.Body(t.Context(), addr, everything)
		if errA != nil || errB != nil {
			t.Fatal(errors.Join(errA, errB))
		}
		if diff := diff(a, b); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

const everything = engine.Ranges | engine.Blocks | engine.Instructions | engine.Callees | engine.Callers | engine.Outgoing | engine.Incoming |
	engine.UsedStrings | engine.UsedNames | engine.Targets | engine.Locals | engine.Pseudocode | engine.API
