package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"rea/cmd/graph"
	"rea/cmd/report"
	"rea/cmd/terminal"
	"rea/generated/model"
)

// applicationTool is the tool whose result is set as a map.
const applicationTool = "analyze_javascript_application"

// codeNames are the names of files that are applications on their own.
var codeNames = []string{".cjs", ".crx", ".htm", ".html", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx", ".vsix", ".xpi"}

// isApplication reports whether a path is a folder, an archive or a program of
// JavaScript, and no binary.
func isApplication(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if info.IsDir() {
		return true
	}
	if !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, 16)
	n, err := io.ReadFull(file, start)
	if err != nil && n == 0 {
		return false
	}
	start = start[:n]
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("Cr24")):
		return true
	case isASAR(start, info.Size()):
		return true
	}
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".asar" || slices.Contains(codeNames, ext) && !bytes.ContainsRune(start, 0) // a damaged archive is told as one
}

// isASAR reports whether bytes begin as the header of an ASAR does: the length 4,
// then three lengths, each within the one before.
func isASAR(start []byte, size int64) bool {
	if len(start) < 16 {
		return false
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint32(start[i:])) }
	return at(0) == 4 && at(4) <= size-8 && at(8) <= at(4)-4 && at(12) <= at(8)-4 && at(12) > 0
}

// policyFlag adds the flag that says what becomes of altered files.
func policyFlag(fs *flag.FlagSet) *string {
	policy := string(model.ArtifactIntegrityPolicyFail)
	fs.Var(choice{&policy, []string{policy, string(model.ArtifactIntegrityPolicyRecordAndContinue)}}, "integrity-policy",
		"what to do with files of an application that contradict their archive: `fail|record-and-continue`")
	return &policy
}

// application analyses an application and gives the record.
func (a *app) application(ctx context.Context, path, policy string) ([]byte, error) {
	if !utf8.ValidString(path) {
		return nil, usagef("Open it through a link whose name is valid UTF-8.", "the path %q is not valid UTF-8", path)
	}
	conn := a.connect("", nil)
	defer conn.close()
	ctx, end := a.progress(ctx)
	defer end()
	input, err := json.Marshal(map[string]string{"path": path, "integrity_policy": policy})
	if err != nil {
		return nil, err
	}
	return conn.call(ctx, applicationTool, input)
}

// analyzeApplication prints the map of an application.
func (a *app) analyzeApplication(ctx context.Context, path, policy, format string, rows int) error {
	record, err := a.application(ctx, path, policy)
	if err != nil {
		return err
	}
	m, err := report.ReadApplication(record)
	if err != nil {
		return err
	}
	if format == "json" {
		data, err := m.JSON()
		if err != nil {
			return err
		}
		return a.print(data, format)
	}
	return m.Text(a.out, terminal.Of(a.out, a.getenv), rows)
}

// graphApplication draws the map of an application.
func (a *app) graphApplication(ctx context.Context, path string, own *graphFlags) error {
	record, err := a.application(ctx, path, *own.policy)
	if err != nil {
		return err
	}
	g, err := graph.Application(record, own.nodes)
	if err != nil {
		return err
	}
	return a.writeGraph(g, own)
}

// mapRows bounds the lists of a map that a tool prints.
const mapRows = 15

// findingRows bounds the lists of what was found about an application.
const findingRows = 40

// printResult writes what a tool gave: as a map where that is its form.
func (a *app) printResult(tool string, result []byte, format string) error {
	if format == "json" {
		return a.print(result, format)
	}
	if done, err := report.Finding(a.out, tool, result, terminal.Of(a.out, a.getenv), findingRows); done || err != nil {
		return err
	}
	if tool != applicationTool {
		return a.print(result, format)
	}
	m, err := report.ReadApplication(result)
	if err != nil { // a summary, which has no graph
		return a.print(result, format)
	}
	return m.Text(a.out, terminal.Of(a.out, a.getenv), mapRows)
}
