package evidence

import (
	"context"
	"fmt"
	"testing"

	"rea/generated/tool"
	store "rea/runtime/evidence"
	"rea/runtime/session"
)

// BenchmarkSummary lists 10,000 records.
func BenchmarkSummary(b *testing.B) {
	l := store.NewLedger(b.TempDir(), 0)
	defer l.Clear()
	for i := range 10_000 {
		r, err := store.Seal(fmt.Appendf(nil, `{"schema_version":2,"operation":"analyze_function","predicate_type":"rea:test:1","normalized_result":{"procedure":{"address":"0x%x","name":"f%d"}},
			"confidence":"observed","authority":"shipped-artifact","subject":{"name":"x","digest":{"sha256":%q},"format":"elf","architecture":null,"local_path":"/x"},
			"provider":{"id":"embedded","name":"E","version":null},"analysis_profile":null,"parameters":{},"limitations":[],"locations":[],"evidence_links":[],"environment":null,"raw_result":null}`, i, i, shaA))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	h := New(Config{Session: session.New(session.Config{Ledger: l})})
	in := &tool.GetEvidenceBundleInput{Detail: tool.GetEvidenceBundleInputDetailSummary}
	b.ReportAllocs()
	for b.Loop() {
		out, err := h.GetEvidenceBundle(context.Background(), in)
		if err != nil || out.Result.Total != 10_000 {
			b.Fatal(err)
		}
		out.AppendJSON(nil)
	}
}
