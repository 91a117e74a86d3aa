package embedded

import (
	"context"
	"errors"
	"sync"

	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
)

// flow is the data flow of one function.
type flow struct {
	f    *ssa.Func
	sets *values.Analysis
	mu   sync.Mutex // sets remembers what it evaluated
}

// at is what v can be in a block.
func (x *flow) at(v ssa.ID, block int32) values.Set {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.sets.At(v, block)
}

// keptFlows are the flows of the functions asked for last.
type keptFlows struct {
	mu   sync.Mutex
	last []keptFlow
}

// keptFlow is a flow, or why there is none.
type keptFlow struct {
	function int
	flow     *flow
	reason   string
}

// mostKept bounds how many are kept.
const mostKept = 8

func (c *keptFlows) get(i int) (keptFlow, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.last {
		if r.function == i {
			return r, true
		}
	}
	return keptFlow{}, false
}

func (c *keptFlows) put(x keptFlow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.last) >= mostKept {
		c.last = append(c.last[:0:0], c.last[1:]...)
	}
	c.last = append(c.last, x)
}

// flowOf is the data flow of function i, with the registers recorded before the
// instructions at observe. A function beyond the bounds gives nil and the reason.
func (e *Engine) flowOf(ctx context.Context, p *program.Program, i int, observe ...uint64) (*flow, string, error) {
	if len(observe) == 0 {
		if x, ok := e.kept.get(i); ok {
			return x.flow, x.reason, nil
		}
	}
	l := e.lowered()
	if l == nil {
		return nil, "there is no data flow for this architecture", nil
	}
	if len(p.FunctionBlocks(i)) == 0 {
		return nil, "the procedure has no code in this file", nil
	}
	f, err := ssa.Build(ctx, l.Function(i, observe...))
	var limit *ssa.LimitError
	switch {
	case errors.As(err, &limit):
		reason := limit.Error() + ", so its data flow is not followed"
		if len(observe) == 0 {
			e.kept.put(keptFlow{i, nil, reason})
		}
		return nil, reason, nil
	case errors.Is(err, ssa.ErrEntry):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", err
	}
	sets, err := values.Analyze(ctx, f, e.fixed)
	if err != nil {
		return nil, "", err
	}
	x := &flow{f: f, sets: sets}
	if len(observe) == 0 {
		e.kept.put(keptFlow{i, x, ""})
	}
	return x, "", nil
}

func (e *Engine) lower() *lower.Program {
	l, ok := lower.New(e.run.done)
	if !ok {
		return nil
	}
	return l
}

// naming is what expressions in function i call things.
func (e *Engine) naming(p *program.Program, l *lower.Program) *values.Names {
	return &values.Names{
		SP: l.Convention.SP,
		Address: func(a uint64) string {
			if e.im.SegmentAt(a) == nil || a < 0x100 {
				return ""
			}
			return e.describe(p, a)
		},
		Callee: func(site uint64) string { return e.calleeName(p, l, site) },
	}
}

func (e *Engine) calleeName(p *program.Program, l *lower.Program, site uint64) string {
	c := l.CalleeAt(site)
	switch {
	case c.Import != "":
		return c.Import
	case c.Function >= 0:
		name, _ := e.label(p, c.Function)
		return name
	}
	return ""
}
