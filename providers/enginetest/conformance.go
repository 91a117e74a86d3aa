package enginetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

// Run checks that an engine keeps the promises of engine.Engine and that its
// facts are those of nm, objdump and readelf. open opens the ELF file at path,
// without analyst names, and closes the engine when the test ends.
func Run(t *testing.T, open func(t *testing.T, path string) engine.Engine) {
	f := build(t)
	s := &suite{fixture: f, eng: open(t, f.path), stripped: open(t, f.stripped)}
	for _, c := range []struct {
		name string
		need model.EngineCapability
		test func(*testing.T, *suite)
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
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.need != "" && !slices.Contains(s.eng.Capabilities(), c.need) {
				t.Skipf("the engine does not state %s", c.need)
			}
			c.test(t, s)
		})
	}
	t.Run("same_answer_of_another_engine", func(t *testing.T) { repeated(t, s, open(t, f.path)) })
	t.Run("closes_twice", func(t *testing.T) {
		eng := open(t, f.path)
		if err := errors.Join(eng.Close(), eng.Close()); err != nil {
			t.Error(err)
		}
	})
}

type suite struct {
	*fixture
	eng, stripped engine.Engine
}

// all reads a whole stream, which must be in address order.
func all[T any](t *testing.T, rows iter.Seq2[T, error], address func(*T) model.Address) []T {
	t.Helper()
	var out []T
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

func everyProcedure(t *testing.T, eng engine.Engine) []model.Procedure {
	t.Helper()
	return all(t, eng.Procedures(t.Context()), func(p *model.Procedure) model.Address { return p.Address })
}

func identity(t *testing.T, s *suite) {
	first, second := s.eng.Profile(), s.eng.Profile()
	if first.Provider.ID == "" || first.Digest == "" {
		t.Errorf("profile = %+v", first)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the profile changes:\n%s", diff)
	}
	documents, err := s.eng.Documents(t.Context())
	if err != nil || len(documents) == 0 || documents[0] == "" {
		t.Errorf("documents = %q, %v", documents, err)
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

func procedures(t *testing.T, s *suite) {
	list := everyProcedure(t, s.eng)
	byAddress := map[model.Address]model.Procedure{}
	for _, p := range list {
		if _, twice := byAddress[p.Address]; twice {
			t.Errorf("%s is listed twice", p.Address)
		}
		byAddress[p.Address] = p
	}
	for _, sym := range s.symbols {
		p, ok := byAddress[model.Address(sym.addr)]
		switch parent := s.parent(sym); {
		case parent != nil && ok:
			t.Errorf("%s at %#x is a part of %s and listed on its own", sym.name, sym.addr, parent.name)
		case parent != nil:
			if of, err := s.eng.Containing(t.Context(), model.Address(sym.addr)); err != nil || of == nil || of.Address != model.Address(parent.addr) {
				t.Errorf("%s at %#x belongs to %s, not to %+v, %v", sym.name, sym.addr, parent.name, of, err)
			}
		case !ok:
			t.Errorf("%s at %#x is not listed", sym.name, sym.addr)
		case slices.Contains(own, sym.name) && (p.Name != sym.name || !p.Named || p.Size != int64(s.wholeSize(sym)) || p.Kind != model.ProcedureKindFunction || !p.Returns):
			t.Errorf("%s of %d bytes is listed as %+v", sym.name, s.wholeSize(sym), p)
		}
	}
	if !slices.ContainsFunc(list, func(p model.Procedure) bool { return p.Name == "puts" && p.Kind == model.ProcedureKindImportStub }) {
		t.Error("the stub of puts is not listed")
	}
}

// strippedProcedures: the unwind tables still tell where functions start.
func strippedProcedures(t *testing.T, s *suite) {
	byAddress := map[model.Address]model.Procedure{}
	for _, p := range everyProcedure(t, s.stripped) {
		byAddress[p.Address] = p
	}
	for _, sym := range s.symbols {
		p, ok := byAddress[model.Address(sym.addr)]
		switch {
		case !slices.Contains(own, sym.name):
		case !ok:
			t.Errorf("%s at %#x is not listed", sym.name, sym.addr)
		case p.Named && sym.name != "main":
			t.Errorf("%s has a name without symbols: %+v", sym.name, p)
		}
	}
}

func resolve(t *testing.T, s *suite) {
	add := s.find(t, "add")
	at := model.Address(add.addr)
	inner := model.Address(add.addr + 1)
	for _, selector := range []string{"add", at.String(), inner.String(), "0X" + inner.String()[2:], " add"} {
		p, err := s.eng.Resolve(t.Context(), selector)
		if selector == " add" {
			if fault.CodeOf(err) != fault.ProcedureNotFoundCode {
				t.Errorf("%q: %+v, %v", selector, p, err)
			}
			continue
		}
		if err != nil || p.Address != at || p.Name != "add" {
			t.Errorf("%q: %+v, %v", selector, p, err)
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
			t.Errorf("%q: %+v, %v; want %s", selector, p, err, code)
		}
	}
}

func containing(t *testing.T, s *suite) {
	loop := s.find(t, "loop")
	for _, addr := range []uint64{loop.addr, loop.addr + 1, loop.addr + loop.size - 1} {
		p, err := s.eng.Containing(t.Context(), model.Address(addr))
		if err != nil || p == nil || p.Address != model.Address(loop.addr) {
			t.Errorf("%#x lies in %+v, %v", addr, p, err)
		}
	}
	data := s.loads[len(s.loads)-1].addr
	for _, addr := range []uint64{data, 0, 1 << 63, 1<<64 - 1} {
		if p, err := s.eng.Containing(t.Context(), model.Address(addr)); err != nil || p != nil {
			t.Errorf("%#x lies in %+v, %v", addr, p, err)
		}
	}
}

func summary(t *testing.T, s *suite) {
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
	if sum.Segments != len(s.loads) {
		t.Errorf("%d segments; readelf lists %d", sum.Segments, len(s.loads))
	}
	if sum.Target.Entry == nil || sum.Target.Stripped {
		t.Errorf("target = %+v", sum.Target)
	}
	if sum.Unresolved < 1 {
		t.Error("the call through a pointer that may change is not counted as unresolved")
	}
}

func cancelled(t *testing.T, s *suite) {
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

func concurrent(t *testing.T, s *suite) {
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
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("another answer:\n%s", diff)
			}
		})
	}
	wg.Wait()
}

func repeated(t *testing.T, s *suite, other engine.Engine) {
	if diff := cmp.Diff(everyProcedure(t, s.eng), everyProcedure(t, other)); diff != "" {
		t.Errorf("procedures:\n%s", diff)
	}
	for _, name := range []string{"main", "choose", "loop"} {
		addr := model.Address(s.find(t, name).addr)
		a, errA := s.eng.Body(t.Context(), addr, everything)
		b, errB := other.Body(t.Context(), addr, everything)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

const everything = engine.Ranges | engine.Blocks | engine.Instructions | engine.Callees | engine.Callers | engine.Outgoing | engine.Incoming |
	engine.UsedStrings | engine.UsedNames | engine.Targets | engine.Locals | engine.Pseudocode | engine.API
