package session

import (
	"testing"

	"rea/generated/fault"
	"rea/runtime/engine"
)

// pickyProvider analyses nothing.
type pickyProvider struct{ fakeProvider }

func (p *pickyProvider) Supports(*engine.Target) engine.Support {
	return engine.Support{Reason: "not this architecture"}
}

func TestOpen_without_an_engine(t *testing.T) {
	s := newSession(t, &pickyProvider{fakeProvider{id: "embedded"}})
	path := file(t, "a", "one")
	b := open(t, s, path)
	if b.Engine != nil || b.Model() != nil || len(b.Limitations) != 1 {
		t.Errorf("engine %v, limitations %q", b.Engine, b.Limitations)
	}
	for _, wish := range []string{"embedded", engine.Auto} {
		if _, err := s.Open(t.Context(), OpenRequest{Path: path, Provider: wish}); fault.CodeOf(err) != fault.ProviderSelectionCode {
			t.Errorf("wish %s: %v", wish, err)
		}
	}
	if _, err := s.Close(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
