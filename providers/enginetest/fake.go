package enginetest

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/runtime/engine"
)

// Fake is an engine that knows what it was told. Lists are given in address
// order; what follows from them (containing procedures, references by
// direction, bytes) is worked out. It has the optional parts whose lists are
// set, and no pseudocode unless a body has some.
type Fake struct {
	ID           string
	Abilities    []model.EngineCapability // nil: all but pseudocode
	DocumentList []string
	SegmentList  []model.Segment
	Unmapped     []model.Section
	Bodies       []engine.Body // Procedure and the facets
	Gaps         map[engine.Facet]engine.Gap
	NameList     []model.NameItem
	StringList   []model.StringItem
	Uses         []model.Reference
	Memory       map[model.Address][]byte // by the start of a segment
	ItemList     []engine.Item
	Details      map[model.Address]engine.InstructionDetail
	Figures      engine.Summary
	Types        []model.DataType
	Flow         engine.Values
	Classes      []model.ObjCClass
	Protocols    []model.ObjCProtocol
	SwiftList    []model.SwiftType
	CppList      []model.CppClass

	// BodyReads counts calls of Body, for tests of cost.
	BodyReads atomic.Int64

	names engine.Names
}

// Profile of the fake.
func (f *Fake) Profile() model.AnalysisProfile {
	return engine.NewProfile(model.Provider{ID: f.ID, Name: f.ID}, nil)
}

// Capabilities that the fake states.
func (f *Fake) Capabilities() []model.EngineCapability {
	if f.Abilities != nil {
		return f.Abilities
	}
	return []model.EngineCapability{
		model.EngineCapabilityFunctions, model.EngineCapabilityBody, model.EngineCapabilityReferences, model.EngineCapabilityStrings,
		model.EngineCapabilityNames, model.EngineCapabilitySegments, model.EngineCapabilityBytes, model.EngineCapabilityFileOffsets,
		model.EngineCapabilityCursor, model.EngineCapabilityAnnotations, model.EngineCapabilityDataTypes, model.EngineCapabilityValueFlow,
		model.EngineCapabilityObjectiveC, model.EngineCapabilitySwift, model.EngineCapabilityCallTargets, model.EngineCapabilityCppClasses,
	}
}

// Activity is always idle.
func (f *Fake) Activity() engine.Activity { return engine.Activity{Status: "idle"} }

// Documents that were told.
func (f *Fake) Documents(context.Context) ([]string, error) { return slices.Clone(f.DocumentList), nil }

// Summary that was told.
func (f *Fake) Summary(context.Context) (*engine.Summary, error) {
	s := f.Figures
	return &s, nil
}

// Segments that were told.
func (f *Fake) Segments(context.Context) ([]model.Segment, []model.Section, error) {
	return slices.Clone(f.SegmentList), slices.Clone(f.Unmapped), nil
}

func stream[T any](ctx context.Context, rows []T, keep func(*T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for i := range rows {
			if err := ctx.Err(); err != nil {
				var zero T
				yield(zero, err)
				return
			}
			if keep(&rows[i]) && !yield(rows[i], nil) {
				return
			}
		}
	}
}

// Procedures of the bodies, under the analyst's names.
func (f *Fake) Procedures(ctx context.Context) iter.Seq2[model.Procedure, error] {
	rows := make([]model.Procedure, len(f.Bodies))
	for i := range f.Bodies {
		rows[i] = f.procedure(i)
	}
	return stream(ctx, rows, func(*model.Procedure) bool { return true })
}

func (f *Fake) procedure(i int) model.Procedure {
	p := f.Bodies[i].Procedure
	if f.names != nil {
		if name, ok := f.names.NameAt(p.Address); ok {
			p.Name, p.Demangled, p.Named = name, nil, true
		}
	}
	return p
}

// Resolve looks for names and addresses, as the interface asks.
func (f *Fake) Resolve(_ context.Context, selector string) (model.Procedure, error) {
	if engine.LooksLikeAddress(selector) {
		if addr, err := engine.ParseAddress(selector); err == nil {
			if i := f.containing(addr); i >= 0 {
				return f.procedure(i), nil
			}
		}
		return model.Procedure{}, notFound(selector)
	}
	var found []model.Procedure
	for i := range f.Bodies {
		p := f.procedure(i)
		if p.Name == selector || p.Demangled != nil && *p.Demangled == selector {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return model.Procedure{}, notFound(selector)
	case 1:
		return found[0], nil
	}
	d := fault.AmbiguousProcedureDetails{Selector: selector, Count: int64(len(found)), Candidates: []model.SymbolRef{}}
	for _, p := range found {
		d.Candidates = append(d.Candidates, model.SymbolRef{Address: p.Address, Name: &p.Name})
	}
	return model.Procedure{}, fault.AmbiguousProcedure(d, nil)
}

func notFound(selector string) error {
	return fault.ProcedureNotFound(fault.ProcedureNotFoundDetails{Selector: selector, Nearest: []model.SymbolRef{}}, nil)
}

func (f *Fake) containing(addr model.Address) int {
	return slices.IndexFunc(f.Bodies, func(b engine.Body) bool {
		return slices.ContainsFunc(b.Ranges, func(r model.AddressRange) bool { return r.Start <= addr && addr < r.End })
	})
}

// Containing looks through the ranges of the bodies.
func (f *Fake) Containing(_ context.Context, addr model.Address) (*model.Procedure, error) {
	i := f.containing(addr)
	if i < 0 {
		return nil, nil
	}
	p := f.procedure(i)
	return &p, nil
}

// Body gives the wanted facets that were told.
func (f *Fake) Body(ctx context.Context, entry model.Address, want engine.Facet) (*engine.Body, error) {
	f.BodyReads.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(f.Bodies, func(b engine.Body) bool { return b.Procedure.Address == entry })
	if i < 0 {
		return nil, notFound(entry.String())
	}
	b := f.Bodies[i]
	b.Procedure = f.procedure(i)
	b.Missing = map[engine.Facet]engine.Gap{}
	for facet, clear := range map[engine.Facet]func(){
		engine.Ranges:       func() { b.Ranges = nil },
		engine.Blocks:       func() { b.Blocks = nil },
		engine.Instructions: func() { b.Instructions = nil },
		engine.Callees:      func() { b.Callees = nil },
		engine.Callers:      func() { b.Callers = nil },
		engine.Outgoing:     func() { b.Outgoing = nil },
		engine.Incoming:     func() { b.Incoming = nil },
		engine.UsedStrings:  func() { b.Strings = nil },
		engine.UsedNames:    func() { b.Names = nil },
		engine.Targets:      func() { b.Targets = nil },
		engine.Locals:       func() { b.Locals, b.Signature, b.SourcePath, b.SourceLine = nil, nil, "", 0 },
		engine.Pseudocode:   func() { b.Pseudocode = nil },
		engine.API:          func() { b.API = nil },
	} {
		gap, missing := f.Gaps[facet]
		if want&facet == 0 || missing {
			clear()
		}
		if want&facet != 0 && missing {
			b.Missing[facet] = gap
		}
	}
	return &b, nil
}

// Names that were told.
func (f *Fake) Names(ctx context.Context) iter.Seq2[model.NameItem, error] {
	return stream(ctx, f.NameList, func(*model.NameItem) bool { return true })
}

// Strings that were told and are long enough.
func (f *Fake) Strings(ctx context.Context, minBytes int) iter.Seq2[model.StringItem, error] {
	return stream(ctx, f.StringList, func(s *model.StringItem) bool { return s.ByteLength >= int64(minBytes) })
}

// References among those that were told.
func (f *Fake) References(_ context.Context, addr model.Address, dir engine.Direction) ([]model.Reference, error) {
	var out []model.Reference
	for _, r := range f.Uses {
		if dir == engine.To && r.To == addr || dir == engine.From && r.From == addr {
			out = append(out, r)
		}
	}
	return out, nil
}

// Instruction that was told.
func (f *Fake) Instruction(_ context.Context, addr model.Address) (*engine.InstructionDetail, error) {
	d, ok := f.Details[addr]
	if !ok {
		d = engine.InstructionDetail{Instruction: model.Instruction{Address: addr, Bytes: "06", Mnemonic: "(bad)", Flow: model.FlowInvalid}, Size: 1}
	}
	return &d, nil
}

// Item after or before addr.
func (f *Fake) Item(_ context.Context, addr model.Address, step int) (*engine.Item, error) {
	i, exact := slices.BinarySearchFunc(f.ItemList, addr, func(it engine.Item, a model.Address) int { return cmp.Compare(it.Address, a) })
	if step > 0 && exact {
		i++
	}
	if step < 0 {
		i--
	}
	if i < 0 || i >= len(f.ItemList) {
		return nil, nil
	}
	it := f.ItemList[i]
	return &it, nil
}

// Bytes of the memory that was told.
func (f *Fake) Bytes(_ context.Context, addr model.Address, n int) ([]byte, error) {
	for start, data := range f.Memory {
		if addr >= start && addr-start < model.Address(len(data)) {
			have := data[addr-start:]
			return slices.Clone(have[:min(n, len(have))]), nil
		}
	}
	return nil, nil
}

// Locate looks through the segments.
func (f *Fake) Locate(_ context.Context, addr model.Address) (engine.Location, error) {
	for _, s := range f.SegmentList {
		if addr < s.Start || addr >= s.End {
			continue
		}
		at := engine.Location{Segment: s.Name, Reason: "the loader fills it with zeros"}
		for _, sec := range s.Sections {
			if sec.Start <= addr && addr < sec.End {
				at.Section = sec.Name
			}
		}
		if n := int64(addr - s.Start); s.FileOffset != nil && n < s.FileSize {
			off := *s.FileOffset + n
			at.FileOffset, at.Reason = &off, ""
		}
		return at, nil
	}
	return engine.Location{}, fault.AddressNotMapped(fault.AddressNotMappedDetails{Address: addr, Nearest: []model.AddressRange{}}, nil)
}

// Close does nothing.
func (f *Fake) Close() error { return nil }

// DataType that was told.
func (f *Fake) DataType(_ context.Context, name string) (*model.DataType, error) {
	for _, t := range f.Types {
		if t.Name == name {
			return &t, nil
		}
	}
	return nil, fault.DataTypeNotFound(fault.DataTypeNotFoundDetails{Name: name, Nearest: []string{}}, nil)
}

// DataTypeNames that contain pattern.
func (f *Fake) DataTypeNames(_ context.Context, pattern string) ([]string, error) {
	var out []string
	for _, t := range f.Types {
		if strings.Contains(t.Name, pattern) {
			out = append(out, t.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Values that were told, of one register or all.
func (f *Fake) Values(_ context.Context, _ model.Address, register string) (*engine.Values, error) {
	v := f.Flow
	v.Values = slices.DeleteFunc(slices.Clone(v.Values), func(t model.TracedValue) bool { return register != "" && t.Register != register })
	return &v, nil
}

// ObjCClasses that were told.
func (f *Fake) ObjCClasses(context.Context) ([]model.ObjCClass, error) {
	return slices.Clone(f.Classes), nil
}

// CppClasses that were told.
func (f *Fake) CppClasses(context.Context) ([]model.CppClass, error) {
	out := slices.Clone(f.CppList)
	for i := range out {
		out[i].Vtables = slices.Clone(out[i].Vtables)
	}
	return out, nil
}

// ObjCProtocols that were told.
func (f *Fake) ObjCProtocols(context.Context) ([]model.ObjCProtocol, error) {
	return slices.Clone(f.Protocols), nil
}

// SwiftTypes that were told.
func (f *Fake) SwiftTypes(context.Context) ([]model.SwiftType, error) {
	return slices.Clone(f.SwiftList), nil
}
