package embedded

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/providers/format/msvcname"
	"rea/providers/format/object"
	"rea/providers/format/swiftname"
	"rea/runtime/engine"
	"rea/runtime/query"
)

// longestMangled bounds what is handed to the demangler, whose output can be
// far longer than its input.
const longestMangled = 4096

// readable is the readable form of a mangled name, "" when it is none.
func readable(raw string) string {
	s := raw
	if strings.HasPrefix(s, "__Z") || strings.HasPrefix(s, "__R") { // Mach-O and 32-bit PE prepend an underscore
		s = s[1:]
	}
	switch {
	case msvcname.Is(raw):
		n, _ := msvcname.Demangle(raw)
		return n.Full
	case swiftname.Is(raw):
		out, _ := swiftname.Demangle(raw)
		return out
	}
	if len(s) > longestMangled || !strings.HasPrefix(s, "_Z") && !strings.HasPrefix(s, "_R") {
		return ""
	}
	out, err := demangle.ToString(s, demangle.MaxLength(13))
	if err != nil || out == s {
		return ""
	}
	return out
}

// label is the name shown for an address: the analyst's, the file's, or one
// made from the address of a function; named is false for the last.
func (e *Engine) label(p *program.Program, i int) (name string, named bool) {
	if n := e.nameOf(p, i); n != "" {
		return n, true
	}
	return fmt.Sprintf("sub_%x", p.Functions[i].Entry), false
}

// nameOf is the name of function i, or empty.
func (e *Engine) nameOf(p *program.Program, i int) string {
	f := &p.Functions[i]
	if n, ok := e.names.NameAt(model.Address(f.Entry)); ok {
		return n
	}
	if f.Name != "" {
		return f.Name
	}
	return e.startup()[f.Entry]
}

func (e *Engine) procedureRef(p *program.Program, i int) model.SymbolRef {
	name, _ := e.label(p, i)
	return model.SymbolRef{Address: model.Address(p.Functions[i].Entry), Name: &name}
}

// nameAt is the name of any address: of a function, of data, or none.
func (e *Engine) nameAt(p *program.Program, addr uint64) string {
	if n, ok := e.names.NameAt(model.Address(addr)); ok {
		return n
	}
	if i, ok := p.FunctionAt(addr); ok {
		name, _ := e.label(p, i)
		return name
	}
	if ns := p.NamesAt(addr); len(ns) > 0 {
		return ns[0].Name
	}
	return ""
}

func (e *Engine) symbolRef(p *program.Program, addr uint64) model.SymbolRef {
	ref := model.SymbolRef{Address: model.Address(addr)}
	if n := e.nameAt(p, addr); n != "" {
		ref.Name = &n
	}
	return ref
}

// sources translates the evidence for a start.
var sources = [...]model.StartSource{
	program.ByStub: model.StartSourceImport, program.ByUnwind: model.StartSourceUnwind,
	program.ByGoTable: model.StartSourceRuntimeTable, program.BySymbol: model.StartSourceSymbol,
	program.ByFunctionStarts: model.StartSourceFunctionTable, program.ByDWARF: model.StartSourceDebugInfo,
	program.ByExport: model.StartSourceExport, program.ByEntry: model.StartSourceEntryPoint,
	program.ByInit: model.StartSourceInitializer, program.ByCall: model.StartSourceCallTarget,
	program.ByPointer: model.StartSourcePointer, program.ByAddress: model.StartSourcePointer,
	program.ByJump: model.StartSourceTailCallTarget, program.ByGap: model.StartSourceScan,
}

func sourceOf(ev program.Evidence) model.StartSource {
	if int(ev) < len(sources) {
		return sources[ev]
	}
	return model.StartSourceScan
}

var kinds = [...]model.ProcedureKind{
	program.KindFunction: model.ProcedureKindFunction, program.KindThunk: model.ProcedureKindThunk,
	program.KindImportStub: model.ProcedureKindImportStub, program.KindPart: model.ProcedureKindFunction,
}

func (e *Engine) procedure(p *program.Program, i int) model.Procedure {
	f := &p.Functions[i]
	name, named := e.label(p, i)
	row := model.Procedure{
		Address: model.Address(f.Entry), Name: name, Named: named, Size: int64(f.Size),
		Kind: kinds[f.Kind], Source: sourceOf(f.Evidence), Returns: !f.NoReturn,
	}
	if r := readable(f.Name); r != "" {
		row.Demangled = &r
	}
	return row
}

// external is the row of an import that has no stub.
func external(im *object.Import) model.Procedure {
	row := model.Procedure{
		Address: model.Address(cmp.Or(im.Stub, im.Slot)), Name: im.Name, Named: true,
		Kind: model.ProcedureKindExternal, Source: model.StartSourceImport, Returns: true,
	}
	if r := readable(im.Name); r != "" {
		row.Demangled = &r
	}
	return row
}

// readableIndex finds functions by readable name.
type readableIndex struct {
	full  map[string][]int // with parameters
	short map[string][]int // without
}

func (e *Engine) indexReadable() *readableIndex {
	x := &readableIndex{full: map[string][]int{}, short: map[string][]int{}}
	p := e.run.done
	for i := range p.Functions {
		r := readable(p.Functions[i].Name)
		if r == "" {
			continue
		}
		x.full[r] = append(x.full[r], i)
		short, _, called := strings.Cut(r, "(")
		if n, ok := msvcname.Demangle(p.Functions[i].Name); ok { // its readable form begins with types
			short, called = n.Qualified, true
		}
		if called && short != "" {
			x.short[short] = append(x.short[short], i)
		}
	}
	return x
}

// Resolve finds the procedure a selector means: what is written as an address
// is one where a procedure holds it, else a name. Names are looked for among
// the analyst's and the file's own, then the readable ones, those written in
// the source of a Mach-O file (without their underscore) and made ones.
func (e *Engine) Resolve(ctx context.Context, selector string) (model.Procedure, error) {
	p, err := e.program(ctx)
	if err != nil {
		return model.Procedure{}, err
	}
	var written error
	if engine.LooksLikeAddress(selector) {
		addr, err := engine.ParseAddress(selector)
		if err == nil {
			if i, ok := p.FunctionContaining(uint64(addr)); ok {
				return e.procedure(p, i), nil
			}
		}
		written = err
	}
	if found := e.find(p, selector); len(found) == 1 {
		return e.procedure(p, found[0]), nil
	} else if len(found) > 1 {
		return model.Procedure{}, e.ambiguous(p, selector, found)
	}
	if engine.LooksLikeAddress(selector) {
		addr, _ := engine.ParseAddress(selector)
		return model.Procedure{}, fault.ProcedureNotFound(fault.ProcedureNotFoundDetails{
			Selector: selector, Nearest: e.neighbours(p, uint64(addr))}, written)
	}
	nearest, err := e.similar(ctx, p, selector)
	if err != nil {
		return model.Procedure{}, err
	}
	return model.Procedure{}, fault.ProcedureNotFound(fault.ProcedureNotFoundDetails{Selector: selector, Nearest: nearest}, nil)
}

func (e *Engine) find(p *program.Program, selector string) []int {
	found := named(p, selector)
	for addr, name := range e.startup() { // names are distinct
		if i, ok := p.FunctionAt(addr); ok && name == selector && len(found) == 0 {
			found = append(found, i)
		}
	}
	if addr, ok := e.names.AddressOf(selector); ok {
		if i, ok := p.FunctionAt(uint64(addr)); ok && !slices.Contains(found, i) {
			found = append(found, i)
		}
	}
	if len(found) > 0 {
		return found
	}
	x := e.readable()
	if found := x.full[selector]; len(found) > 0 {
		return found
	}
	if found := x.short[selector]; len(found) > 0 {
		return found
	}
	if e.im.Format == object.MachO {
		if found := named(p, "_"+selector); len(found) > 0 {
			return found
		}
	}
	if hex, ok := strings.CutPrefix(selector, "sub_"); ok {
		if addr, err := strconv.ParseUint(hex, 16, 64); err == nil {
			if i, ok := p.FunctionAt(addr); ok {
				return []int{i}
			}
		}
	}
	return nil
}

func named(p *program.Program, name string) []int {
	var found []int
	for n := range p.Named(name) {
		if i, ok := p.FunctionOf(n); ok && !slices.Contains(found, i) {
			found = append(found, i)
		}
		if len(found) == mostCandidates+1 {
			break
		}
	}
	if len(found) < 2 {
		return found
	}
	// A stub and the function it leads to share a name: the function is meant.
	bodies := slices.DeleteFunc(slices.Clone(found), func(i int) bool { return p.Functions[i].Kind != program.KindFunction })
	if len(bodies) == 1 {
		return bodies
	}
	return found
}

const mostCandidates = 20

func (e *Engine) ambiguous(p *program.Program, selector string, found []int) error {
	d := fault.AmbiguousProcedureDetails{Selector: selector, Count: int64(len(found))}
	for _, i := range found[:min(len(found), mostCandidates)] {
		d.Candidates = append(d.Candidates, e.procedureRef(p, i))
	}
	return fault.AmbiguousProcedure(d, nil)
}

// neighbours are the procedures before and after an address.
func (e *Engine) neighbours(p *program.Program, addr uint64) []model.SymbolRef {
	out := []model.SymbolRef{}
	i, _ := p.FunctionAt(addr)
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(p.Functions) {
			out = append(out, e.procedureRef(p, k))
		}
	}
	return out
}

// similar lists up to five procedures whose names resemble the selector.
func (e *Engine) similar(ctx context.Context, p *program.Program, selector string) ([]model.SymbolRef, error) {
	nearest := query.NewNearest(selector, 5)
	for i := range p.Functions {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		nearest.Offer(p.Functions[i].Name, i)
	}
	out := []model.SymbolRef{}
	for _, i := range nearest.Keys() {
		out = append(out, e.procedureRef(p, i))
	}
	return out, nil
}

// Containing returns the procedure that holds addr, or nil.
func (e *Engine) Containing(ctx context.Context, addr model.Address) (*model.Procedure, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	i, ok := p.FunctionContaining(uint64(addr))
	if !ok {
		return nil, nil
	}
	row := e.procedure(p, i)
	return &row, nil
}

// NamesAt lists what the file's tables call addr.
func (e *Engine) NamesAt(ctx context.Context, addr model.Address) ([]model.NameItem, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	libraries := e.libraries()
	var out []model.NameItem
	if n := e.startup()[uint64(addr)]; n != "" {
		out = append(out, startupItem(uint64(addr), n))
	}
	for _, n := range p.NamesAt(uint64(addr)) {
		out = append(out, nameItem(&n, libraries))
	}
	return out, nil
}

// CallerCount counts the procedures that call the one at entry.
func (e *Engine) CallerCount(ctx context.Context, entry model.Address) (int, error) {
	p, err := e.program(ctx)
	if err != nil {
		return 0, err
	}
	n, _ := countCallers(p, uint64(entry), nil)
	return n, nil
}

// countCallers counts the functions that call the one at entry; scratch, which
// it returns, is room to do so.
func countCallers(p *program.Program, entry uint64, scratch []int) (int, []int) {
	scratch = scratch[:0]
	for c := range p.CallsTo(entry) {
		if i, ok := p.FunctionContaining(c.From); ok {
			scratch = append(scratch, i)
		}
	}
	slices.Sort(scratch)
	return len(slices.Compact(scratch)), scratch
}

// Measures implements query.MeasureIndex.
func (e *Engine) Measures(ctx context.Context) ([]query.Measure, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]query.Measure, len(p.Functions))
	workers := runtime.GOMAXPROCS(0)
	scratch := make([][]int, workers)
	err = p.EachFunction(ctx, workers, func(w, i int) {
		f := &p.Functions[i]
		out[i].Kind, out[i].Size = kinds[f.Kind], int64(f.Size)
		out[i].Callers, scratch[w] = countCallers(p, f.Entry, scratch[w])
	})
	return out, err
}

func startupItem(addr uint64, name string) model.NameItem {
	return model.NameItem{Address: model.Address(addr), Name: name, Kind: model.NameKindFunction, Source: model.StartSourceEntryPoint}
}
