package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"rea/cmd/terminal"
)

// texts are how results of the tools for applications are set for people, by tool.
var texts = map[string]func(w *writer, result json.RawMessage) error{
	"trace_application_feature":        set((*writer).feature),
	"trace_javascript_semantics":       set((*writer).semantics),
	"compare_application_versions":     set((*writer).versions),
	"compare_source_to_bundle":         set((*writer).sources),
	"compare_javascript_export_shapes": set((*writer).exports),
	"import_reference_source":          set((*writer).reference),
}

func set[T any](write func(w *writer, result *T)) func(*writer, json.RawMessage) error {
	return func(w *writer, raw json.RawMessage) error {
		var result T
		if err := json.Unmarshal(raw, &result); err != nil {
			return err
		}
		write(w, &result)
		return nil
	}
}

// Finding writes what a tool for applications found for people, and reports whether
// that tool has such a form. rows bounds each list, 0 leaves them whole.
func Finding(out io.Writer, tool string, record []byte, screen terminal.Screen, rows int) (bool, error) {
	text := texts[tool]
	if text == nil {
		return false, nil
	}
	var r struct {
		ID          string          `json:"evidence_id"`
		Result      json.RawMessage `json:"normalized_result"`
		Limitations []string
	}
	if err := json.Unmarshal(record, &r); err != nil || r.ID == "" {
		return false, nil
	}
	w := &writer{out: bufio.NewWriter(out), screen: screen, width: screen.Width, rows: rows}
	if w.width == 0 {
		w.width = 100
	}
	if err := text(w, r.Result); err != nil {
		return false, fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	w.head("Not seen", "")
	for _, l := range r.Limitations {
		w.remark(l)
	}
	w.line("")
	w.faint("evidence " + r.ID + "; --format json gives all of it")
	return true, w.out.Flush()
}

// whatIs is an application in a result.
type whatIs struct {
	Name       string
	SHA256     string
	RootSHA256 string `json:"root_sha256"`
	Files      int
	Coverage   string
}

// place is where something stands.
type place struct {
	Path       string
	Start, End int64
	Line       int64
}

// String is "file:line", with the byte where a line is too long to find it by.
func (p *place) String() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.Path, p.Line)
}

// counted joins the counts that are not 0, in an order.
func counted(counts map[string]int, order []string) string {
	var parts []string
	for _, name := range order {
		if n := counts[name]; n > 0 {
			parts = append(parts, number(int64(n))+" "+name)
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// escaped are the rows of a table, safe for a terminal.
func escaped(rows [][]string) [][]string {
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Escape(row[i])
		}
	}
	return rows
}

// table writes a section of rows whose last column is wrapped, if there are any.
func (w *writer) table(title string, right []bool, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	w.head(title, number(int64(len(rows))))
	shown := w.bound(len(rows))
	w.columns(right, escaped(rows)[:shown], terminal.Wrap, nil)
	w.more(shown, len(rows), "--format json has all")
}

// coverage writes why a side of a comparison is not seen whole.
func (w *writer) coverage(side string, reasons []string) {
	for _, r := range reasons {
		w.remark(side + ": " + r)
	}
}

// page says how to see what follows.
func (w *writer) page(shown, total int, next *int) {
	if next != nil {
		w.faint(fmt.Sprintf("%d of %s; more with --offset %d", shown, number(int64(total)), *next))
	}
}
