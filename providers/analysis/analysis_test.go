package analysis_test

import (
	"testing"

	"rea/generated/fault"
	"rea/generated/tool"
	"rea/providers/analysis"
	"rea/providers/enginetest"
	"rea/runtime/session"
)

func harness(t testing.TB, f *enginetest.Fake) *enginetest.Harness {
	return enginetest.WithFake(t, f, tool.Families{Analysis: analysis.New(session.Source)})
}

// A call of a tool and its whole output as JSON, or the code of its fault.
type call struct {
	name, tool, input string
	want              string
	code              fault.Code
	limitations       []string
}

// run makes the calls one after the other on one session.
func run(t *testing.T, f *enginetest.Fake, calls []call) {
	t.Helper()
	h := harness(t, f)
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			got := h.Call(t, c.tool, c.input)
			if got.Code != c.code || got.Err != nil && c.code == "" {
				t.Fatalf("code = %q, want %q (err: %v)", got.Code, c.code, got.Err)
			}
			if got.Output != c.want {
				t.Errorf("output:\n got %s\nwant %s", got.Output, c.want)
			}
			if len(got.Limitations) != len(c.limitations) {
				t.Fatalf("limitations = %q, want %q", got.Limitations, c.limitations)
			}
			for i := range c.limitations {
				if got.Limitations[i] != c.limitations[i] {
					t.Errorf("limitation %d = %q, want %q", i, got.Limitations[i], c.limitations[i])
				}
			}
		})
	}
}
