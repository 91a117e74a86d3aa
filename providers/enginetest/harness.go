package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/runtime/engine"
	"rea/runtime/session"
)

// Harness calls tools on a session with an open target, without dispatch: what
// comes back is exactly what the handler gave.
type Harness struct {
	Session  *session.Session
	bindings []tool.Binding
}

// Open makes a session of provider with the file at path open. "" stands for a
// file of a few bytes, for fakes.
func Open(t testing.TB, provider engine.Provider, recognize session.Recognizer, path string, families tool.Families) *Harness {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "sample")
		if err := os.WriteFile(path, []byte("a sample program"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sess := session.New(session.Config{Providers: []engine.Provider{provider}, Recognize: recognize})
	if _, err := sess.Open(t.Context(), session.OpenRequest{Path: path, Provider: provider.Describe().Provider.ID}); err != nil {
		t.Fatalf("open %s: %v", path, err)
	}
	t.Cleanup(func() {
		if _, err := sess.Close(context.Background(), nil); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &Harness{sess, tool.Bindings(families)}
}

// WithFake is Open for a fake.
func WithFake(t testing.TB, f *Fake, families tool.Families) *Harness {
	t.Helper()
	return WithProvider(t, Provider{Fake: f}, families)
}

// WithProvider is Open for a provider of fakes.
func WithProvider(t testing.TB, p Provider, families tool.Families) *Harness {
	t.Helper()
	recognize := func(string, []byte, string) (session.Recognition, error) {
		return session.Recognition{Kind: model.TargetKindExecutable, Format: model.TargetFormatElf, Architecture: model.ArchitectureX86_64}, nil
	}
	return Open(t, p, recognize, "", families)
}

// Reply is what a call gave: the output as JSON, or the code of its fault.
type Reply struct {
	Output      string
	Limitations []string
	Result      *tool.Result
	Code        fault.Code
	Err         error
}

// Call decodes the input as dispatch would and calls the tool.
func (h *Harness) Call(t testing.TB, name, input string) Reply {
	t.Helper()
	return h.CallWith(t, t.Context(), name, input)
}

// CallWith is Call in a context.
func (h *Harness) CallWith(t testing.TB, ctx context.Context, name, input string) Reply {
	t.Helper()
	i := slices.IndexFunc(h.bindings, func(b tool.Binding) bool { return b.Spec.Name == name })
	if i < 0 {
		t.Fatalf("no tool is named %s", name)
	}
	in, err := h.bindings[i].Decode([]byte(input))
	if err != nil {
		return Reply{Code: fault.InvalidRequestCode, Err: err}
	}
	b, release := h.Session.Acquire()
	defer release()
	ctx, _, stop := session.With(ctx, name, b)
	defer stop()
	result, err := h.bindings[i].Call(ctx, in)
	if err != nil {
		return Reply{Code: fault.CodeOf(err), Err: err}
	}
	return Reply{Output: string(result.Output.AppendJSON(nil)), Limitations: result.Limitations, Result: result}
}
