// Package dispatch runs calls of tools: the one way from a name and JSON
// arguments to a result, for MCP and for the command line alike.
//
// A call is looked up, its arguments are decoded and checked, its needs are
// compared with the session, references to retained Evidence are replaced by
// the records, the handler runs, and what it found is sealed and kept. An error
// that comes out is always a *fault.Error.
//
// A call gives way to cancellation before it computes and before it publishes:
// nothing of a cancelled call is recorded.
package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/generated/wire"
	"rea/runtime/evidence"
	"rea/runtime/session"
)

// Config is what a dispatcher is made of.
type Config struct {
	Session  *session.Session
	Bindings []tool.Binding
	// Version of rea; it is the version of the provider of findings that no
	// engine took part in.
	Version string
	// Families whose tools can be called; nil means all.
	Families []string
	// Ephemeral says that the session ends with the call, so that nothing can be
	// asked of a record later.
	Ephemeral bool
	// Viewed are the operations whose records inspect_analysis_view shows, sorted.
	Viewed []string
	// Log receives what callers are not told, such as the stack of a panic; nil discards it.
	Log *slog.Logger
}

// A Dispatcher runs calls in one session. It may be used concurrently.
type Dispatcher struct {
	config   Config
	bindings map[string]*tool.Binding
	host     string
}

// New makes a dispatcher.
func New(config Config) *Dispatcher {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	d := &Dispatcher{config: config, bindings: make(map[string]*tool.Binding, len(config.Bindings)), host: runtime.GOOS}
	for i := range config.Bindings {
		b := &config.Bindings[i]
		d.bindings[b.Spec.Name] = b
	}
	return d
}

// Session is the session calls run in.
func (d *Dispatcher) Session() *session.Session { return d.config.Session }

// Version of rea.
func (d *Dispatcher) Version() string { return d.config.Version }

// Shown reports whether the tools of a family can be called.
func (d *Dispatcher) Shown(family string) bool {
	return d.config.Families == nil || slices.Contains(d.config.Families, family)
}

// Families are all there are, hidden ones included, in order of name.
func (d *Dispatcher) Families() []string { return tool.FamilyNames() }

// Spec is the specification of a tool that can be called, or nil.
func (d *Dispatcher) Spec(name string) *tool.Spec {
	if b := d.bindings[name]; b != nil && d.Shown(b.Spec.Family) {
		return b.Spec
	}
	return nil
}

// Specs are the tools that can be called, in order of name.
func (d *Dispatcher) Specs() []*tool.Spec {
	var specs []*tool.Spec
	for i := range d.config.Bindings {
		if spec := d.config.Bindings[i].Spec; d.Shown(spec.Family) {
			specs = append(specs, spec)
		}
	}
	slices.SortFunc(specs, func(a, b *tool.Spec) int { return cmp.Compare(a.Name, b.Name) })
	return specs
}

// An Outcome is what a call gave.
type Outcome struct {
	Spec *tool.Spec
	// Output is what the handler returned, or a snapshot held.
	Output wire.Appender
	// Document is the JSON a caller gets: the complete record in the order of
	// its contract for tools that seal Evidence, else the output.
	Document []byte
	// Record is the sealed record, nil for tools that seal nothing.
	Record *evidence.Record
}

// Call runs a tool with JSON arguments; none are the empty object.
func (d *Dispatcher) Call(ctx context.Context, name string, args []byte) (_ *Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.config.Log.Error("panic", "tool", name, "panic", p, "stack", string(debug.Stack()))
			err = failure(name, fmt.Errorf("internal error: %v", p))
		}
	}()
	b := d.bindings[name]
	if b == nil || !d.Shown(b.Spec.Family) {
		return nil, d.unknown(name)
	}
	out, err := d.run(ctx, b, args)
	if err != nil {
		return nil, d.explain(ctx, b.Spec, err)
	}
	return out, nil
}

// run is a call up to the mapping of errors.
func (d *Dispatcher) run(ctx context.Context, b *tool.Binding, args []byte) (*Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		args = []byte("{}")
	}
	in, err := b.Decode(args)
	if err != nil {
		return nil, invalid(err)
	}
	var bound *session.Binding
	if mayRead(b.Spec) {
		held, release := d.config.Session.Acquire()
		defer release()
		bound = held
	}
	if a := d.availability(b.Spec, d.stateOf(bound)); !a.available {
		return nil, a.fault(b.Spec)
	}
	ctx, call, stop := session.With(ctx, b.Spec.Name, bound)
	defer stop()
	var parameters []byte
	if b.Spec.Evidence != nil {
		if parameters, err = d.parameters(b, in); err != nil {
			return nil, err
		}
	}
	summary := false
	if b.Spec.Summarized {
		if summary, parameters, err = d.summarized(b.Spec, parameters); err != nil {
			return nil, err
		}
	}
	out, err := d.answer(ctx, call, b, bound, in, parameters)
	if err != nil || !summary {
		return out, err
	}
	return d.summaryOf(ctx, out.Record.ID())
}

// mayRead reports whether a call works on the open target: because it must, or
// because it does when its input names no file.
func mayRead(spec *tool.Spec) bool {
	return spec.Requires.Target || len(spec.Requires.Engine) > 0 || spec.Effects.ReadsTarget && !spec.Effects.ChangesSession
}

// answer is a call from its checked input to its outcome.
func (d *Dispatcher) answer(ctx context.Context, call *session.Call, b *tool.Binding, bound *session.Binding, in wire.Appender, parameters []byte) (*Outcome, error) {
	reusable := bound != nil && pure(b.Spec)
	if reusable {
		if out, err := d.reuse(bound, b, parameters); out != nil || err != nil {
			return out, err
		}
	}
	if err := d.resolve(b, in); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	result, err := b.Call(ctx, in)
	if errors.Is(err, context.Canceled) {
		return nil, cancelled(ctx)
	}
	if err != nil {
		return nil, err
	}
	if result == nil || result.Output == nil {
		return nil, errors.New("the handler returned nothing")
	}
	if b.Spec.Evidence == nil {
		return &Outcome{Spec: b.Spec, Output: result.Output, Document: result.Output.AppendJSON(nil)}, nil
	}
	out, err := d.seal(ctx, call, b.Spec, bound, parameters, result)
	if err == nil && reusable && !call.UsedCursor() && bound.Notes.Edits() == 0 {
		bound.Remember(b.Spec.Name, parameters, out.Record.ID())
	}
	return out, err
}

// pure reports whether a tool only reads the target, so that the same call has
// the same answer.
func pure(spec *tool.Spec) bool {
	e := spec.Effects
	return spec.Evidence != nil && spec.Requires.Target && len(spec.Retained) == 0 && len(spec.Paths) == 0 &&
		!(e.ChangesSession || e.DiscardsData || e.WritesFiles || e.StartsProcesses || e.ExecutesForeignCode || e.MutatesDevice || e.UsesNetwork)
}

// reuse answers a call from the snapshot of the target, nil when it cannot. The
// document is the one that the call would make, in the order of its contract.
func (d *Dispatcher) reuse(bound *session.Binding, b *tool.Binding, parameters []byte) (*Outcome, error) {
	record := bound.Reusable(b.Spec.Name, parameters)
	if record == nil {
		return nil, nil
	}
	m, err := record.Decode()
	if err != nil {
		return nil, nil // what cannot be read is computed
	}
	output, err := b.Recall(m.NormalizedResult)
	if err != nil {
		return nil, nil
	}
	if subject := bound.Subject(); subject != nil && m.Subject != nil {
		// The same bytes may lie elsewhere now, which is no part of the identity.
		m.Subject.Name, m.Subject.LocalPath = subject.Name, subject.LocalPath
		if here, err := evidence.Seal(m.AppendJSON(nil)); err == nil && here.ID() == record.ID() {
			record = here
		}
	}
	m.NormalizedResult = output.AppendJSON(nil)
	if _, err := d.config.Session.Ledger().Append(record); err != nil {
		return nil, storage(err)
	}
	return &Outcome{Spec: b.Spec, Output: output, Document: m.AppendJSON(nil), Record: record}, nil
}

// unknown is the fault for a name that no callable tool has.
func (d *Dispatcher) unknown(name string) error {
	const shown = 100
	if len(name) > shown {
		name = name[:shown] + "…"
	}
	return fault.ToolNotFound(fault.ToolNotFoundDetails{Name: name, Nearest: d.nearest(name)}, nil)
}

// nearest are up to three callable tools with names like name.
func (d *Dispatcher) nearest(name string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, spec := range d.Specs() {
		if n := distance(name, spec.Name); n <= max(2, len(name)/3) {
			found = append(found, candidate{spec.Name, n})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := []string{}
	for _, c := range found[:min(3, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// invalid is the fault for arguments that do not decode.
func invalid(err error) error {
	var e *model.InvalidError
	if !errors.As(err, &e) {
		return err
	}
	return fault.InvalidRequest(fault.InvalidRequestDetails{
		Pointer: e.Pointer, Keyword: e.Keyword, Expected: e.Message,
	}, err)
}
