package report

import (
	"strings"
)

// reference is a tree of sources that was imported.
type reference struct {
	RootSHA256 string `json:"root_sha256"`
	Files      int
	Bytes      int64
	Packages   []struct{ Path, Name, Version string }
	Vcs        struct {
		Kind     string
		Revision *string
	}
	Exclusions    []struct{ Path, Reason string }
	ParseFailures []struct{ Path, Reason string } `json:"parse_failures"`
	Entries       []struct {
		Path, Kind, State string
		Language          *string
		Size              int64
		Features          int
		SHA256            string
	}
}

func (w *writer) reference(r *reference) {
	name := "sources"
	for _, p := range r.Packages {
		if p.Path == "." {
			name = strings.TrimSpace(p.Name + " " + p.Version)
		}
	}
	w.line(escaped([][]string{{name}})[0][0])
	w.fact("root sha256", r.RootSHA256)
	w.fact("files", count(r.Files, "file", "files")+", "+number(r.Bytes)+" bytes")
	if r.Vcs.Kind != "none" && r.Vcs.Kind != "" {
		w.fact("revision", r.Vcs.Kind+" "+deref(r.Vcs.Revision))
	}
	if len(r.Packages) > 1 {
		var rows [][]string
		for _, p := range r.Packages {
			rows = append(rows, []string{p.Name, p.Version, p.Path})
		}
		w.table("Packages", []bool{false, false, false}, rows)
	}
	var rows [][]string
	for _, e := range r.Entries {
		rows = append(rows, []string{e.Path, deref(e.Language), number(e.Size), e.State, e.SHA256[:min(12, len(e.SHA256))]})
	}
	w.table("Files", []bool{false, false, true, false, false}, rows)
	for _, left := range []struct {
		title string
		list  []struct{ Path, Reason string }
	}{{"Left out", r.Exclusions}, {"Not parsed", r.ParseFailures}} {
		var rows [][]string
		for _, x := range left.list {
			rows = append(rows, []string{x.Path, x.Reason})
		}
		w.table(left.title, []bool{false, false}, rows)
	}
	w.faint("--format json gives the digests; compare-source-to-bundle takes it as --reference @FILE")
}
