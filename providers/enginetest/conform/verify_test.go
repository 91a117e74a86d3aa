package conform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/embedded"
	"rea/providers/format/native"
	"rea/runtime/engine"
)

func open(_ context.Context, path string) (engine.Engine, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	im, err := native.Load(data, native.Options{})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return embedded.Provider{Version: "test"}.Open(context.Background(), &engine.Target{
		Path: path, Name: filepath.Base(path), SHA256: hex.EncodeToString(sum[:]), Data: data,
		Kind: model.TargetKind(im.Kind), Format: model.TargetFormat(im.Format), Architecture: model.Architecture(im.Arch),
	}, engine.NoNames{})
}

func verified(t *testing.T, open func(context.Context, string) (engine.Engine, error)) map[string]Check {
	t.Helper()
	var begun int
	checks, err := Verify(t.Context(), open, func(string) { begun++ })
	if err != nil {
		t.Fatal(err)
	}
	if checks[0].State == Skipped {
		t.Skip(checks[0].Notes)
	}
	if begun != len(checks) {
		t.Errorf("%d checks were begun and %d are told", begun, len(checks))
	}
	byName := map[string]Check{}
	for _, c := range checks {
		byName[c.Name] = c
	}
	return byName
}

func TestVerify_passes_a_good_engine(t *testing.T) {
	checks := verified(t, open)
	for name, c := range checks {
		if optional := name == "annotations" || name == "pseudocode"; c.State != Passed && !optional || optional && c.State != Skipped {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if len(checks) < 20 {
		t.Errorf("only %d checks", len(checks))
	}
}

// liar is an engine that is wrong about bytes and panics about names.
type liar struct{ engine.Engine }

func (liar) Bytes(context.Context, model.Address, int) ([]byte, error) { return []byte{0xcc}, nil }
func (liar) Containing(context.Context, model.Address) (*model.Procedure, error) {
	panic("no idea")
}

func (l liar) Close() error { return errors.Join(l.Engine.Close(), errors.New("stuck")) }

func TestVerify_tells_what_differs(t *testing.T) {
	checks := verified(t, func(ctx context.Context, path string) (engine.Engine, error) {
		eng, err := open(ctx, path)
		return liar{eng}, err
	})
	for name, want := range map[string]string{"bytes": "add: cc", "containing": "no idea", "program": "stuck"} {
		if c := checks[name]; c.State != Differs || !strings.Contains(strings.Join(c.Notes, "\n"), want) {
			t.Errorf("%s: %+v, want %q", name, c, want)
		}
	}
	if c := checks["segments"]; c.State != Passed {
		t.Errorf("segments: %+v", c)
	}
}

func TestVerify_engine_that_does_not_open(t *testing.T) {
	checks := verified(t, func(context.Context, string) (engine.Engine, error) { return nil, errors.New("not today") })
	if c := checks["program"]; len(checks) != 1 || c.State != Differs || !strings.Contains(c.Notes[0], "not today") {
		t.Errorf("checks are %+v", checks)
	}
}

func TestVerify_cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if checks, err := Verify(ctx, open, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("checks %+v, %v", checks, err)
	}
}

func TestCompare(t *testing.T) {
	ref, err := open(t.Context(), "/bin/true")
	if err != nil {
		t.Skip(err)
	}
	compare := func(of func(engine.Engine) engine.Engine) []Check {
		t.Helper()
		checks, err := Compare(t.Context(), func(ctx context.Context) (engine.Engine, error) {
			eng, err := open(ctx, "/bin/true")
			return of(eng), err
		}, ref)
		if err != nil {
			t.Fatal(err)
		}
		return checks
	}
	for _, c := range compare(func(e engine.Engine) engine.Engine { return e }) {
		if c.State == Differs || c.State == Skipped && c.Name != "pseudocode" {
			t.Errorf("%+v", c)
		}
	}
	for _, c := range compare(func(e engine.Engine) engine.Engine { return liar{e} }) {
		if (c.Name == "bytes" || c.Name == "procedures") != (c.State == Differs) {
			t.Errorf("a liar: %+v", c)
		}
	}
	// What could not be looked at has not passed.
	for _, c := range compare(func(e engine.Engine) engine.Engine { return empty{e} }) {
		if (c.Name == "blocks" || c.Name == "calls" || c.Name == "bytes") && c.State != Skipped || c.Name == "procedures" && c.State != Differs {
			t.Errorf("an engine without functions: %+v", c)
		}
	}
	opened := 0
	for _, c := range compare(func(e engine.Engine) engine.Engine {
		opened++
		return &mortal{Engine: e}
	}) {
		if (c.Name == "names") != (c.State == Differs) && c.State != Skipped {
			t.Errorf("an engine that ends when it is asked for names: %+v", c)
		}
	}
	if opened != 2 {
		t.Errorf("it was opened %d times", opened)
	}
}

// empty lists no functions.
type empty struct{ engine.Engine }

func (empty) Procedures(context.Context) iter.Seq2[model.Procedure, error] {
	return func(func(model.Procedure, error) bool) {}
}

// mortal ends when it is asked for names.
type mortal struct {
	engine.Engine
	dead bool
}

func (m *mortal) Names(context.Context) iter.Seq2[model.NameItem, error] {
	m.dead = true
	return func(yield func(model.NameItem, error) bool) {
		_, err := m.Item(context.Background(), 0, 1)
		yield(model.NameItem{}, err)
	}
}

func (m *mortal) Item(ctx context.Context, at model.Address, step int) (*engine.Item, error) {
	if m.dead {
		return nil, fault.ProviderUnavailable(fault.ProviderUnavailableDetails{ProviderID: "m", Reason: "it ended", Candidates: []string{}}, nil)
	}
	return m.Engine.Item(ctx, at, step)
}

// TestCompare_with_an_engine_that_does_not_start gives its error and no checks.
func TestCompare_with_an_engine_that_does_not_start(t *testing.T) {
	eng, err := open(t.Context(), "/bin/true")
	if err != nil {
		t.Skip(err)
	}
	checks, err := Compare(t.Context(), func(context.Context) (engine.Engine, error) { return &mortal{eng, true}, nil }, eng)
	if fault.CodeOf(err) != fault.ProviderUnavailableCode || checks != nil {
		t.Errorf("checks %+v, %v", checks, err)
	}
}
