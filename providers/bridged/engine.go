// Package bridged is the engine.Engine of an engine that runs in a process of
// its own and speaks the protocol of runtime/bridge.
//
// The facts of the analysis come from that process; the lists are fetched once
// and kept, because they do not change while the target is open. What the file
// itself says (segments, bytes, offsets, Objective-C and Swift metadata) is read
// from the file, so that it needs no start and is the same with every engine.
package bridged

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
)

// Config is what an engine is made of.
type Config struct {
	Profile      model.AnalysisProfile
	Capabilities []model.EngineCapability
	Link         *bridge.Link
	File         engine.Engine // reads the file; closed with the engine
	Target       *engine.Target
	Names        engine.Names
	// Decompile is how long the decompilation of one function may take.
	Decompile time.Duration
	// ShowsNames says that the engine's copy takes names, so that its
	// decompiler can show the analyst's.
	ShowsNames bool
	// HasCursor says that the engine has a cursor of its own.
	HasCursor bool
}

// Engine answers questions about one target.
type Engine struct {
	config Config
	link   *bridge.Link

	program   kept[facts.ProgramFacts]
	index     kept[*index]
	names     kept[*nameIndex]
	texts     kept[*textIndex]
	transfers kept[*transferIndex]
	types     kept[[]string]

	waiting atomic.Int64 // calls that wait for a list that another call fetches

	syncing sync.Mutex
	shown   map[model.Address]string // analyst names in the engine's copy
	before  map[model.Address]*string
	pinned  map[model.Address]bool // named in the copy alone

	closing sync.Once
	closed  error
}

// New makes an engine; nothing is started.
func New(config Config) *Engine {
	return &Engine{config: config, link: config.Link, shown: map[model.Address]string{}, before: map[model.Address]*string{}, pinned: map[model.Address]bool{}}
}

var (
	_ engine.Engine     = (*Engine)(nil)
	_ engine.DataTypes  = (*Engine)(nil)
	_ engine.ValueFlow  = (*Engine)(nil)
	_ engine.ObjectiveC = (*Engine)(nil)
	_ engine.Swift      = (*Engine)(nil)
	_ engine.Annotator  = (*Engine)(nil)

	_ engine.CursorState = (*Engine)(nil)
	_ engine.Ender       = (*Engine)(nil)
)

// Profile is the exact configuration.
func (e *Engine) Profile() model.AnalysisProfile { return e.config.Profile }

// Capabilities of the open target.
func (e *Engine) Capabilities() []model.EngineCapability { return e.config.Capabilities }

// Activity never blocks behind the engine.
func (e *Engine) Activity() engine.Activity {
	a := e.link.Activity()
	if a.Running > 0 {
		a.Queued += int(e.waiting.Load())
	}
	return a
}

// Ended reports whether the engine's process has ended by itself.
func (e *Engine) Ended() bool { return e.link.Ended() }

// Processes are what was observed of the engine's processes.
func (e *Engine) Processes() []model.AnalysisRunProcessLineageSnapshotsProvider {
	return e.link.Processes()
}

// Documents is the file, with its slice where the file has several.
func (e *Engine) Documents(context.Context) ([]string, error) {
	t := e.config.Target
	if len(t.Slices) > 1 {
		return []string{fmt.Sprintf("%s (%s)", t.Name, t.Slice)}, nil
	}
	return []string{t.Name}, nil
}

// Segments are those of the file.
func (e *Engine) Segments(ctx context.Context) ([]model.Segment, []model.Section, error) {
	return e.config.File.Segments(ctx)
}

// Bytes are those of the file, before any relocation.
func (e *Engine) Bytes(ctx context.Context, addr model.Address, n int) ([]byte, error) {
	return e.config.File.Bytes(ctx, addr, n)
}

// Locate tells where addr lies in the file.
func (e *Engine) Locate(ctx context.Context, addr model.Address) (engine.Location, error) {
	return e.config.File.Locate(ctx, addr)
}

// ObjCClasses are read from the file.
func (e *Engine) ObjCClasses(ctx context.Context) ([]model.ObjCClass, error) {
	if f, ok := e.config.File.(engine.ObjectiveC); ok {
		return f.ObjCClasses(ctx)
	}
	return nil, e.lacks(model.EngineCapabilityObjectiveC)
}

// ObjCProtocols are read from the file.
func (e *Engine) ObjCProtocols(ctx context.Context) ([]model.ObjCProtocol, error) {
	if f, ok := e.config.File.(engine.ObjectiveC); ok {
		return f.ObjCProtocols(ctx)
	}
	return nil, e.lacks(model.EngineCapabilityObjectiveC)
}

// SwiftTypes are read from the file.
func (e *Engine) SwiftTypes(ctx context.Context) ([]model.SwiftType, error) {
	if f, ok := e.config.File.(engine.Swift); ok {
		return f.SwiftTypes(ctx)
	}
	return nil, e.lacks(model.EngineCapabilitySwift)
}

// Close ends the engine's process and waits until it is gone.
func (e *Engine) Close() error {
	e.closing.Do(func() {
		e.closed = e.link.Close()
		if err := e.config.File.Close(); e.closed == nil {
			e.closed = err
		}
	})
	return e.closed
}

func (e *Engine) lacks(c model.EngineCapability) error {
	id := e.config.Profile.Provider.ID
	return fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
		Tool: id, Reason: "the bound engine " + id + " does not supply " + string(c), Missing: []string{string(c)}, Providers: []string{},
	}, nil)
}

func (e *Engine) states(c model.EngineCapability) bool {
	for _, have := range e.config.Capabilities {
		if have == c {
			return true
		}
	}
	return false
}

// ask asks one question and decodes its last value into out.
func (e *Engine) ask(ctx context.Context, q bridge.Question, out any) error {
	end, err := e.link.Ask(ctx, q)
	if errors.Is(err, errRows) {
		return e.unreadable(q.Op, err)
	}
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(end, out); err != nil {
		return e.unreadable(q.Op, err)
	}
	return nil
}

// unreadable is the fault of an engine that answers against the protocol.
func (e *Engine) unreadable(op string, cause error) error {
	id := e.config.Profile.Provider.ID
	return fault.Advise(fault.ProviderUnavailable(fault.ProviderUnavailableDetails{
		ProviderID: id, Candidates: []string{}, Reason: "its bridge script answers " + op + " with what is no answer to it",
	}, cause), "Find out more with rea doctor --provider "+id+" --verify FILE, or open the target with another engine.")
}

// errRows says that rows are not of the form that was asked for.
var errRows = errors.New("rows that cannot be read")

// maxRows bounds a list that is kept.
const maxRows = 20_000_000

// rows collects the rows of the parts that are wanted, each into its slice.
func rows[T any](out *[]T) func(jsontext.Value) error {
	return func(data jsontext.Value) error {
		var chunk []T
		if err := json.Unmarshal(data, &chunk); err != nil {
			return fmt.Errorf("%w: %w", errRows, err)
		}
		if len(*out)+len(chunk) > maxRows {
			return fmt.Errorf("more than %d rows", maxRows)
		}
		*out = append(*out, chunk...)
		return nil
	}
}

// list asks for all the rows of one operation.
func list[T any](ctx context.Context, e *Engine, op string) ([]T, error) {
	if _, err := e.programFacts(ctx); err != nil {
		return nil, err
	}
	var out []T
	add := rows(&out)
	err := e.ask(ctx, bridge.Question{Op: op, Whole: true, Rows: func(_ string, data jsontext.Value) error {
		if err := add(data); err != nil {
			return fmt.Errorf("the engine's %s: %w", op, err)
		}
		return nil
	}}, nil)
	return out, err
}

// kept is a value that is fetched once. A fetch that fails or is given up is
// made again by the next who asks.
type kept[T any] struct {
	once  sync.Once
	turn  chan struct{}
	value atomic.Pointer[T]
}

// keep gives the value of k, and fetches it when there is none yet.
func keep[T any](ctx context.Context, e *Engine, k *kept[T], fetch func(context.Context) (T, error)) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	if v := k.value.Load(); v != nil {
		return *v, nil
	}
	// Everybody waits for the start, not only who has the turn: it is given up
	// when the last one gives up.
	if err := e.link.Start(ctx); err != nil {
		return zero, err
	}
	k.once.Do(func() { k.turn = make(chan struct{}, 1) })
	e.waiting.Add(1)
	select {
	case k.turn <- struct{}{}:
		e.waiting.Add(-1)
	case <-ctx.Done():
		e.waiting.Add(-1)
		return zero, ctx.Err()
	}
	defer func() { <-k.turn }()
	if v := k.value.Load(); v != nil {
		return *v, nil
	}
	v, err := fetch(ctx)
	if err != nil {
		return zero, err
	}
	k.value.Store(&v)
	return v, nil
}

func (e *Engine) programFacts(ctx context.Context) (facts.ProgramFacts, error) {
	return keep(ctx, e, &e.program, func(ctx context.Context) (p facts.ProgramFacts, err error) {
		if err = e.ask(ctx, bridge.Question{Op: facts.Program, Whole: true}, &p); err != nil {
			return p, err
		}
		return p, e.placed(&p)
	})
}

// placed checks that the engine has the code of the file where the file has it:
// facts of the two are put together by address.
func (e *Engine) placed(p *facts.ProgramFacts) error {
	if len(p.Memory) == 0 {
		return nil
	}
	im, err := image(e.config.Target)
	if err != nil {
		return err
	}
	for i := range im.Segments {
		s := &im.Segments[i]
		if !s.Perm.Execute || s.FileSize == 0 {
			continue
		}
		middle, found := s.Addr+s.FileSize/2, false
		for k := 0; k+1 < len(p.Memory); k += 2 {
			found = found || p.Memory[k] <= middle && middle < p.Memory[k+1]
		}
		if !found {
			return fault.ProviderUnavailable(fault.ProviderUnavailableDetails{
				ProviderID: e.config.Profile.Provider.ID, Candidates: []string{},
				Reason: fmt.Sprintf("it has loaded the image at %s, and the file has code at %s", model.Address(p.ImageBase), model.Address(s.Addr)),
			}, nil)
		}
	}
	return nil
}
