package bridged

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// index finds procedures by address and by name.
type index struct {
	procedures []facts.Procedure // by entry
	byEntry    map[uint64]int
	ranges     []span // by start
	reach      []uint64
	byName     map[string][]int
	byReadable map[string][]int
	raw        []string // raw names, by procedure
}

type span struct {
	start, end uint64
	procedure  int
}

func (e *Engine) procedureIndex(ctx context.Context) (*index, error) {
	return keep(ctx, e, &e.index, func(ctx context.Context) (*index, error) {
		list, err := list[facts.Procedure](ctx, e, facts.Procedures)
		if err != nil {
			return nil, err
		}
		names, err := e.nameTable(ctx)
		if err != nil {
			return nil, err
		}
		if err := e.markStubs(list); err != nil {
			return nil, err
		}
		return newIndex(list, names), nil
	})
}

// markStubs marks the linker's stubs of imports, which not every engine tells
// from functions.
func (e *Engine) markStubs(list []facts.Procedure) error {
	im, err := image(e.config.Target)
	if err != nil {
		return err
	}
	stubs := make(map[uint64]bool, len(im.Stubs))
	for _, s := range im.Stubs {
		stubs[s.Addr] = s.Name != ""
	}
	for i := range list {
		list[i].ThunkExternal = list[i].ThunkExternal || stubs[list[i].Entry]
	}
	return nil
}

func newIndex(list []facts.Procedure, names *nameIndex) *index {
	slices.SortStableFunc(list, func(a, b facts.Procedure) int { return cmp.Compare(a.Entry, b.Entry) })
	list = slices.CompactFunc(list, func(a, b facts.Procedure) bool { return a.Entry == b.Entry })
	x := &index{procedures: list, byEntry: make(map[uint64]int, len(list)), byName: map[string][]int{}, byReadable: map[string][]int{}, raw: make([]string, len(list))}
	for i := range list {
		p := &list[i]
		x.byEntry[p.Entry] = i
		for k := 0; k+1 < len(p.Ranges); k += 2 {
			if p.Ranges[k] < p.Ranges[k+1] {
				x.ranges = append(x.ranges, span{p.Ranges[k], p.Ranges[k+1], i})
			}
		}
		x.raw[i] = names.rawName(p)
		x.enter(i, x.raw[i], x.byName)
		if p.Name != x.raw[i] {
			x.enter(i, p.Name, x.byName)
		}
		if full := readable(p); full != "" {
			x.enter(i, full, x.byReadable)
			if k := strings.IndexByte(full, '('); k > 0 {
				x.enter(i, full[:k], x.byReadable)
			}
		}
		for _, s := range names.at(p.Entry) {
			if s.Name != x.raw[i] && s.Name != p.Name {
				x.enter(i, s.Name, x.byName)
			}
		}
	}
	slices.SortStableFunc(x.ranges, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	x.reach = make([]uint64, len(x.ranges))
	far := uint64(0)
	for i, r := range x.ranges {
		far = max(far, r.end)
		x.reach[i] = far
	}
	return x
}

func (x *index) enter(i int, name string, into map[string][]int) {
	if found := into[name]; len(found) == 0 || found[len(found)-1] != i {
		into[name] = append(found, i)
	}
}

// containing is the procedure whose ranges hold addr.
func (x *index) containing(addr uint64) (int, bool) {
	i := sort.Search(len(x.ranges), func(i int) bool { return x.ranges[i].start > addr }) - 1
	for ; i >= 0 && x.reach[i] > addr; i-- {
		if x.ranges[i].end > addr {
			return x.ranges[i].procedure, true
		}
	}
	return 0, false
}

// readable is the full name of a procedure where it differs from the plain one.
func readable(p *facts.Procedure) string {
	switch {
	case p.Demangled != "":
		return p.Demangled
	case p.Namespace != "":
		return p.Namespace + "::" + p.Name
	}
	return ""
}

// madeUp reports whether the name was made from the address.
func madeUp(p *facts.Procedure) bool { return p.Source == facts.SourceDefault }

func (e *Engine) procedure(x *index, i int) model.Procedure {
	p := &x.procedures[i]
	row := model.Procedure{
		Address: model.Address(p.Entry), Name: x.raw[i], Named: !madeUp(p), Kind: model.ProcedureKindFunction,
		Source: startSource(p.Source), Returns: !p.NoReturn,
	}
	for k := 0; k+1 < len(p.Ranges); k += 2 {
		row.Size += int64(p.Ranges[k+1] - p.Ranges[k])
	}
	switch {
	case p.External:
		row.Kind = model.ProcedureKindExternal
	case p.Thunk != nil || p.ThunkExternal:
		row.Kind = model.ProcedureKindThunk
		if p.ThunkExternal {
			row.Kind = model.ProcedureKindImportStub
		}
	}
	if full := readable(p); full != "" && full != row.Name {
		row.Demangled = &full
	}
	if madeUp(p) {
		row.Name = "sub_" + strconv.FormatUint(p.Entry, 16)
	}
	if name, ok := e.config.Names.NameAt(row.Address); ok {
		row.Name, row.Named = name, true
	}
	return row
}

func startSource(source string) model.StartSource {
	switch source {
	case facts.SourceImported:
		return model.StartSourceSymbol
	case facts.SourceUser:
		return model.StartSourceAnalyst
	}
	return model.StartSourceEngine
}

func (e *Engine) ref(x *index, i int) model.SymbolRef {
	name := e.procedure(x, i).Name
	return model.SymbolRef{Address: model.Address(x.procedures[i].Entry), Name: &name}
}

// Procedures yields all functions by address.
func (e *Engine) Procedures(ctx context.Context) iter.Seq2[model.Procedure, error] {
	return func(yield func(model.Procedure, error) bool) {
		x, err := e.procedureIndex(ctx)
		if err != nil {
			yield(model.Procedure{}, err)
			return
		}
		for i := range x.procedures {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(model.Procedure{}, ctx.Err())
				return
			}
			if !yield(e.procedure(x, i), nil) {
				return
			}
		}
	}
}

// Containing returns the procedure that holds addr, or nil.
func (e *Engine) Containing(ctx context.Context, addr model.Address) (*model.Procedure, error) {
	x, err := e.procedureIndex(ctx)
	if err != nil {
		return nil, err
	}
	i, ok := x.containing(uint64(addr))
	if !ok {
		return nil, nil
	}
	row := e.procedure(x, i)
	return &row, nil
}

// Resolve finds the procedure a selector means. An analyst's name wins, then a
// raw name, a readable one, a made name, and an address inside a procedure.
func (e *Engine) Resolve(ctx context.Context, selector string) (model.Procedure, error) {
	x, err := e.procedureIndex(ctx)
	if err != nil {
		return model.Procedure{}, err
	}
	found := e.find(x, selector)
	switch {
	case len(found) == 1:
		return e.procedure(x, found[0]), nil
	case len(found) > 1:
		return model.Procedure{}, e.ambiguous(x, selector, found)
	}
	if engine.LooksLikeAddress(selector) {
		addr, err := engine.ParseAddress(selector)
		if err == nil {
			if i, ok := x.containing(uint64(addr)); ok {
				return e.procedure(x, i), nil
			}
		}
		return model.Procedure{}, e.notFound(x, selector, uint64(addr), err)
	}
	nearest := query.NewNearest(selector, 5)
	for i := range x.procedures {
		if i%4096 == 0 && ctx.Err() != nil {
			return model.Procedure{}, ctx.Err()
		}
		nearest.Offer(x.raw[i], i)
	}
	d := fault.ProcedureNotFoundDetails{Selector: selector, Nearest: []model.SymbolRef{}}
	for _, i := range nearest.Keys() {
		d.Nearest = append(d.Nearest, e.ref(x, i))
	}
	return model.Procedure{}, fault.ProcedureNotFound(d, nil)
}

func (e *Engine) find(x *index, selector string) []int {
	if addr, ok := e.config.Names.AddressOf(selector); ok {
		if i, ok := x.byEntry[uint64(addr)]; ok {
			return []int{i}
		}
	}
	if found := x.byName[selector]; len(found) > 0 {
		// A stub and the function it leads to share a name: the function is meant.
		bodies := slices.DeleteFunc(slices.Clone(found), func(i int) bool {
			p := &x.procedures[i]
			return p.Thunk != nil || p.ThunkExternal || p.External
		})
		if len(bodies) == 1 {
			return bodies
		}
		return found
	}
	if found := x.byReadable[selector]; len(found) > 0 {
		return found
	}
	if e.config.Target.Format == model.TargetFormatMachO {
		if found := x.byName["_"+selector]; len(found) > 0 {
			return found
		}
	}
	if hex, ok := strings.CutPrefix(selector, "sub_"); ok {
		if addr, err := strconv.ParseUint(hex, 16, 64); err == nil {
			if i, ok := x.byEntry[addr]; ok {
				return []int{i}
			}
		}
	}
	return nil
}

const mostCandidates = 20

func (e *Engine) ambiguous(x *index, selector string, found []int) error {
	d := fault.AmbiguousProcedureDetails{Selector: selector, Count: int64(len(found))}
	for _, i := range found[:min(len(found), mostCandidates)] {
		d.Candidates = append(d.Candidates, e.ref(x, i))
	}
	return fault.AmbiguousProcedure(d, nil)
}

// notFound names the procedures before and after an address.
func (e *Engine) notFound(x *index, selector string, addr uint64, cause error) error {
	d := fault.ProcedureNotFoundDetails{Selector: selector, Nearest: []model.SymbolRef{}}
	i := sort.Search(len(x.procedures), func(i int) bool { return x.procedures[i].Entry >= addr })
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(x.procedures) {
			d.Nearest = append(d.Nearest, e.ref(x, k))
		}
	}
	return fault.ProcedureNotFound(d, cause)
}

// at finds the procedure that starts at entry.
func (e *Engine) at(x *index, entry model.Address) (int, error) {
	i, ok := x.byEntry[uint64(entry)]
	if !ok {
		return 0, e.notFound(x, fmt.Sprint(entry), uint64(entry), nil)
	}
	return i, nil
}
