package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"rea/generated/fault"
	"rea/runtime/progress"
)

// Version of the document; it changes when a reader would have to.
const Version = 1

// Call runs a tool and returns the structured result as JSON.
type Call func(ctx context.Context, tool string, input any) ([]byte, error)

// Options of a report.
type Options struct {
	Open any // input of open_binary
	// Rows is how many functions and used strings are wanted, 0 for all of them.
	// As many as an overview holds are taken from there.
	Rows int
}

// overviewRows is the most that an overview lists.
const overviewRows = 50

// A Report is the results of the tools about one target.
type Report struct {
	Version     int             `json:"report_version"`
	Target      json.RawMessage `json:"target"`
	Binding     json.RawMessage `json:"engine"`
	Layout      json.RawMessage `json:"layout"`
	Overview    json.RawMessage `json:"overview"`
	Procedures  *Rows           `json:"procedures"`
	Strings     *Rows           `json:"used_strings"`
	Missing     []Missing       `json:"missing"`
	Limitations []string        `json:"limitations"`
	Evidence    []Evidence      `json:"evidence"`

	layout *layout // Layout as the text shows it, read while the analysis runs
}

// Rows of a list; Total counts those that were looked at to fill it.
type Rows struct {
	Total    int               `json:"total"`
	Complete bool              `json:"complete"`
	Items    []json.RawMessage `json:"items"`
}

// Missing is a part that could not be had.
type Missing struct {
	Part    string `json:"part"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Action  string `json:"action"`
}

// Evidence names the record that holds a part.
type Evidence struct {
	Operation string `json:"operation"`
	ID        string `json:"evidence_id"`
}

// builder collects one part of a report.
type builder struct {
	call Call
	r    *Report
}

func newBuilder(call Call) *builder {
	return &builder{call, &Report{Version: Version, Missing: []Missing{}, Limitations: []string{}, Evidence: []Evidence{}}}
}

// Build opens the target and asks for everything the report shows. It fails
// when the target can't be opened, its engine doesn't run, or ctx ends; anything
// else that can't be had is Missing. An engine that failed is not asked again.
func Build(ctx context.Context, call Call, o Options) (*Report, error) {
	b := newBuilder(call)
	progress.Report(ctx, "opening")
	if err := b.open(ctx, o.Open); err != nil {
		return nil, err
	}
	layout := newBuilder(call) // needs no analysis, so that it can be had meanwhile
	var layoutErr error
	var wg sync.WaitGroup
	wg.Go(func() {
		layout.r.Layout, layoutErr = layout.sealed(ctx, "inspect_binary_layout", map[string]any{"symbol_limit": 0, "import_limit": 20000})
		if layoutErr == nil {
			layoutErr = read(layout.r.Layout, &layout.r.layout)
		}
	})
	overview := newBuilder(call)
	var overviewErr error
	overview.r.Overview, overviewErr = overview.sealed(ctx, "binary_overview", map[string]any{"detail": "detailed", "limit": overviewRows})
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if engineFailed(overviewErr) {
		return nil, overviewErr
	}
	b.r.Layout, b.r.layout, b.r.Overview = layout.r.Layout, layout.r.layout, overview.r.Overview
	b.join("layout", layout, layoutErr)
	b.join("overview", overview, overviewErr)
	if 0 < o.Rows && o.Rows <= overviewRows {
		return b.r, nil
	}
	var err error
	if b.r.Procedures, err = b.rows(ctx, "list_procedures", map[string]any{}, o.Rows, nil); engineFailed(err) {
		return nil, err
	} else if err != nil {
		b.missing("procedures", err)
	}
	if b.r.Strings, err = b.rows(ctx, "search_strings", map[string]any{"pattern": ".", "mode": "regex"}, o.Rows, used); engineFailed(err) {
		return nil, err
	} else if err != nil {
		b.missing("used_strings", err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return b.r, nil
}

// engineFailed tells that there is no engine any more that could answer.
func engineFailed(err error) bool {
	switch fault.CodeOf(err) {
	case fault.ProviderUnavailableCode, fault.ProviderTimeoutCode, fault.CleanupIncompleteCode:
		return true
	}
	return false
}

// join takes over the evidence and the limits of a part, or why it is missing.
func (b *builder) join(part string, from *builder, err error) {
	if err != nil {
		b.missing(part, err)
	}
	b.r.Evidence = append(b.r.Evidence, from.r.Evidence...)
	b.limit(from.r.Limitations)
}

func (b *builder) open(ctx context.Context, input any) error {
	data, err := b.call(ctx, "open_binary", input)
	if err != nil {
		return err
	}
	var out struct {
		Result struct {
			Target      json.RawMessage
			Binding     json.RawMessage
			Limitations []string
		}
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return fmt.Errorf("reading the result of open_binary: %w", err)
	}
	b.r.Target, b.r.Binding = out.Result.Target, out.Result.Binding
	b.limit(out.Result.Limitations)
	return nil
}

// sealed calls a tool whose result is an evidence record and returns what was found.
func (b *builder) sealed(ctx context.Context, tool string, input any) (json.RawMessage, error) {
	data, err := b.call(ctx, tool, input)
	if err != nil {
		return nil, err
	}
	var record struct {
		ID          string          `json:"evidence_id"`
		Result      json.RawMessage `json:"normalized_result"`
		Limitations []string
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	b.r.Evidence = append(b.r.Evidence, Evidence{tool, record.ID})
	b.limit(record.Limitations)
	return record.Result, nil
}

// limit keeps what results don't cover, each sentence once.
func (b *builder) limit(limitations []string) {
next:
	for _, l := range limitations {
		for _, known := range b.r.Limitations {
			if known == l {
				continue next
			}
		}
		b.r.Limitations = append(b.r.Limitations, l)
	}
}

// pageSize is the most that list tools return at once.
const pageSize = 500

// rows pages through a list until limit items were wanted; 0 takes all.
func (b *builder) rows(ctx context.Context, tool string, input map[string]any, limit int, want func(json.RawMessage) bool) (*Rows, error) {
	rows := &Rows{Items: []json.RawMessage{}}
	for offset := 0; ; {
		input["offset"], input["limit"] = offset, pageSize
		data, err := b.sealed(ctx, tool, input)
		if err != nil {
			return nil, err
		}
		var page struct {
			Total int
			Next  *int `json:"next_offset"`
			Items []json.RawMessage
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, fmt.Errorf("reading a page of %s: %w", tool, err)
		}
		rows.Total = page.Total
		for _, item := range page.Items {
			if want != nil && !want(item) {
				continue
			}
			if limit > 0 && len(rows.Items) == limit {
				return rows, nil
			}
			rows.Items = append(rows.Items, item)
		}
		if page.Next == nil || *page.Next <= offset {
			rows.Complete = true
			return rows, nil
		}
		offset = *page.Next
		progress.Reportf(ctx, "%s: %d of %d", tool, offset, page.Total)
	}
}

func used(item json.RawMessage) bool {
	var s struct{ Users []json.RawMessage }
	return json.Unmarshal(item, &s) == nil && len(s.Users) > 0
}

func (b *builder) missing(part string, err error) {
	m := Missing{Part: part, Code: string(fault.CodeOf(err)), Message: err.Error()}
	var e *fault.Error
	if errors.As(err, &e) {
		m.Action = e.Remediation.Action
	}
	b.r.Missing = append(b.r.Missing, m)
}
