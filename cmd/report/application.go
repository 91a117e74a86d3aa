package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"rea/cmd/terminal"
	"rea/generated/model"
	"rea/generated/wire"
)

// applicationTool makes the analyses that maps are made of.
const applicationTool = "analyze_javascript_application"

// An Application is the map of a JavaScript application.
type Application struct {
	Version     int             `json:"report_version"`
	Analysis    json.RawMessage `json:"application"`
	Limitations []string        `json:"limitations"`
	Evidence    []Evidence      `json:"evidence"`

	read model.ApplicationAnalysis
	// Edges of each node.
	from, to [][]int
}

// ReadApplication reads the record of an analysis.
func ReadApplication(record []byte) (*Application, error) {
	var r struct {
		ID          string          `json:"evidence_id"`
		Result      json.RawMessage `json:"normalized_result"`
		Limitations []string
	}
	if err := json.Unmarshal(record, &r); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", applicationTool, err)
	}
	a := &Application{Version: Version, Analysis: r.Result, Limitations: r.Limitations, Evidence: []Evidence{{applicationTool, r.ID}}}
	if err := wire.Decode(jsontext.Value(r.Result), wire.RecordDepth, &a.read, (*model.ApplicationAnalysis).DecodeJSON); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", applicationTool, err)
	}
	g := &a.read.Graph
	a.from, a.to = make([][]int, len(g.Nodes)), make([][]int, len(g.Nodes))
	for i := range g.Edges {
		e := &g.Edges[i]
		a.from[e.From] = append(a.from[e.From], i)
		a.to[e.To] = append(a.to[e.To], i)
	}
	return a, nil
}

// JSON is the document, on lines that diff well.
func (a *Application) JSON() ([]byte, error) { return json.MarshalIndent(a, "", "  ") }

// Text writes the map for people. rows bounds each list, 0 leaves them whole.
func (a *Application) Text(out io.Writer, screen terminal.Screen, rows int) error {
	w := &writer{out: bufio.NewWriter(out), screen: screen, width: screen.Width, rows: rows}
	if w.width == 0 {
		w.width = 100
	}
	m := &mapWriter{writer: w, Application: a}
	for _, section := range []func(){
		m.head, m.packages, m.processes, m.windows, m.messages, m.bridges,
		m.endpoints, m.storage, m.native, m.bundles, m.modules, m.sources, m.libraries, m.externals, m.open, m.gaps,
	} {
		section()
	}
	return w.out.Flush()
}
