package versions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"rea/generated/model"
	"rea/providers/javascript/application"
	"rea/providers/javascript/jstest"
	"rea/providers/javascript/recorded"
	"rea/providers/javascript/tree"
)

// analyzed is the recorded analysis of a folder or file.
func analyzed(t testing.TB, path string) *recorded.Application {
	t.Helper()
	read, err := tree.Read(t.Context(), path, tree.Options{MaxFiles: 1e5, MaxFileBytes: 1 << 30, MaxTextBytes: 1 << 30, MaxTotalBytes: 1 << 32, MaxDepth: 4, Continue: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := application.Analyze(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	return record(t, a)
}

func record(t testing.TB, a *model.ApplicationAnalysis) *recorded.Application {
	t.Helper()
	r := &model.EvidenceRecord{
		EvidenceID: "ev_0", Operation: recorded.Operation, PredicateType: "rea:javascript.analyze_javascript_application:1",
		Authority: model.EvidenceAuthorityShippedArtifact, Subject: &model.EvidenceSubject{}, NormalizedResult: a.AppendJSON(nil),
	}
	r.Subject.Digest.SHA256 = a.Application.SHA256
	out, err := recorded.Read(r, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A release is one build of one package.
type release struct {
	Name, Builder, Text string
	Names, Digests      []string // of original files
	Offsets, Sources    []int    // places of the text, and the files they are from
}

// releases are ten packages, each in two releases.
var releases = struct {
	old, new []string
	entries  map[string][]string
}{
	old: []string{
		"lodash@4.17.20", "semver@7.5.3", "date-fns@2.29.3", "ajv@8.11.0", "axios@1.5.0", "express@4.18.1", "zod@3.21.4", "rxjs@7.5.7", "uuid@8.3.2", "yargs@17.6.0",
	},
	new: []string{
		"lodash@4.17.21", "semver@7.6.0", "date-fns@2.30.0", "ajv@8.12.0", "axios@1.6.0", "express@4.19.2", "zod@3.22.4", "rxjs@7.8.1", "uuid@9.0.1", "yargs@17.7.2",
	},
	entries: map[string][]string{
		"lodash":   {"lodash/template", "lodash/merge", "lodash/debounce", "lodash/trim", "lodash/sortBy", "lodash/fp/curry", "lodash/toNumber", "lodash/chain"},
		"semver":   {"semver"},
		"date-fns": {"date-fns"},
		"ajv":      {"ajv"},
		"axios":    {"axios"},
		"express":  {"express"},
		"zod":      {"zod"},
		"rxjs":     {"rxjs", "rxjs/operators", "rxjs/ajax"},
		"uuid":     {"uuid"},
		"yargs":    {"yargs"},
	},
}

func built(t testing.TB, tools, packages string) map[string]*release {
	t.Helper()
	entries, err := json.Marshal(releases.entries)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/releases.cjs")
	if err != nil {
		t.Fatal(err)
	}
	// Builds are kept beside the packages, as those are: both are the same every time.
	sum := sha256.Sum256(append(append(script, entries...), tools...))
	kept := filepath.Join(packages, "releases-"+hex.EncodeToString(sum[:8])+".json")
	data, err := os.ReadFile(kept)
	if err != nil {
		cmd := exec.Command("node", "testdata/releases.cjs", tools, packages, string(entries))
		cmd.Stderr = os.Stderr
		if data, err = cmd.Output(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var list []*release
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]*release{}
	for _, r := range list {
		out[r.Builder+" "+r.Name] = r
	}
	return out
}

// source of a module: the original file that most of its text is from.
func (r *release) source(from, to int64) int {
	count := map[int]int{}
	for i, at := range r.Offsets {
		if int64(at) >= from && int64(at) < to {
			count[r.Sources[i]]++
		}
	}
	best := -1
	for s, n := range count {
		if best < 0 || n > count[best] || n == count[best] && s < best {
			best = s
		}
	}
	return best
}

// modules of a build, by the original file that they are from; files that are in
// several modules or groups are left out.
func (r *release) modules(a *recorded.Application) map[string]int {
	out := map[string]int{}
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if n.Kind != model.ApplicationNodeKindJavascriptModule || n.Location == nil {
			continue
		}
		s := r.source(a.Locations.Start[*n.Location], a.Locations.End[*n.Location])
		if s < 0 {
			continue
		}
		if _, twice := out[r.Names[s]]; twice {
			out[r.Names[s]] = -1
		} else {
			out[r.Names[s]] = i
		}
	}
	return out
}

func (r *release) digests() map[string]string {
	out := map[string]string{}
	for i, name := range r.Names {
		out[name] = r.Digests[i]
	}
	return out
}

func TestReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("builds twenty bundles")
	}
	tools := jstest.Packages(t, "webpack@5.98.0", "esbuild@0.25.5", "terser-webpack-plugin@5.3.14", "@jridgewell/trace-mapping@0.3.25")
	old, recent := built(t, tools, jstest.Packages(t, releases.old...)), built(t, tools, jstest.Packages(t, releases.new...))
	total, matched, called, wrong := 0, 0, 0, 0
	for name, l := range old {
		r := recent[name]
		a, b := analyzed(t, l.write(t)), analyzed(t, r.write(t))
		c, err := Compare(t.Context(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		left, right := l.modules(a), r.modules(b)
		was, is := l.digests(), r.digests()
		origin := map[int]string{}
		for source, node := range right {
			origin[node] = source
		}
		became := map[int]*Item{}
		for i := range c.Items {
			if c.Items[i].Left >= 0 {
				became[c.Items[i].Left] = &c.Items[i]
			}
		}
		n, found, unchanged := 0, 0, 0
		for source, node := range left {
			if node < 0 {
				continue
			}
			it := became[node]
			if it == nil {
				t.Fatalf("%s: nothing became of %s", name, source)
			}
			to := ""
			if it.Right >= 0 {
				to = origin[it.Right]
			}
			if (it.Status == Unchanged || it.Status == Moved) && it.Right >= 0 && (to == "" || was[source] != is[to]) {
				wrong++
				t.Errorf("%s: %s is called %s, matched with %q by %s", name, source, it.Status, to, it.Basis)
			}
			if at, ok := right[source]; !ok || at < 0 || was[source] == "" || was[source] != is[source] {
				continue
			}
			n++
			if to == source {
				found++
			} else {
				t.Logf("%s: %s (%s) is matched with %q by %s: %s", name, source, it.Status, to, it.Basis, it.Reason)
			}
			if it.Status == Unchanged {
				unchanged++
			}
		}
		t.Logf("%-32s %4d modules, %4d of them unchanged, %4d matched, %4d called unchanged", name, len(left), n, found, unchanged)
		total, matched, called = total+n, matched+found, called+unchanged
	}
	t.Logf("of %d unchanged modules %d were matched and %d called unchanged; %d that changed were called unchanged", total, matched, called, wrong)
	if total < 500 {
		t.Errorf("only %d modules to compare", total)
	}
	if matched*100 < total*95 {
		t.Errorf("%d of %d unchanged modules were matched", matched, total)
	}
}

func (r *release) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bundle.js"), []byte(r.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
