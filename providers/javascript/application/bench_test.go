//go:build unix

package application_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"rea/providers/javascript/application"
	"rea/providers/javascript/jstest"
	"rea/providers/javascript/tree"
)

// BenchmarkAnalyze is the whole analysis, from reading files to the document.
func BenchmarkAnalyze(b *testing.B) {
	dir := jstest.Packages(b, "lodash@4.17.21", "react-dom@18.3.1", "three@0.170.0", "typescript@5.7.2", "monaco-editor@0.52.2")
	for _, name := range []string{"lodash/lodash.js", "react-dom/cjs/react-dom.production.min.js", "three/build/three.module.min.js", "typescript/lib/typescript.js", "monaco-editor/min"} {
		b.Run(filepath.Base(name), func(b *testing.B) {
			path := filepath.Join(dir, "node_modules", name)
			if _, err := os.Stat(path); err != nil {
				b.Skip(err)
			}
			var source, document int64
			began := processorTime()
			var peak uint64
			for b.Loop() {
				t, err := tree.Read(b.Context(), path, bounds)
				if err != nil {
					b.Fatal(err)
				}
				out, err := application.Analyze(b.Context(), t)
				if err != nil {
					b.Fatal(err)
				}
				source, document = out.Application.JavascriptBytes, int64(len(out.AppendJSON(nil)))
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.Sys)
			}
			b.SetBytes(source)
			// What two processors do when nothing else runs on them.
			b.ReportMetric(2*float64(source)*float64(b.N)/1e6/(processorTime()-began).Seconds(), "MB/s-2-cores")
			b.ReportMetric(float64(document)/float64(source), "document/source")
			b.ReportMetric(float64(peak)/1e6, "sys-MB")
		})
	}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
