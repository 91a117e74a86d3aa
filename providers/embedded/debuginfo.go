package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/embedded/callconv"
	"rea/providers/embedded/program"
	"rea/providers/format/dwarf"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// debugInfo opens the DWARF data of an image once and lists its functions once.
type debugInfo struct {
	open func() (*dwarf.Data, error)

	mu        sync.Mutex
	functions []dwarf.Function // by address; nil until they were read
}

// data is nil when the image has no debug information.
func (x *debugInfo) data() (*dwarf.Data, error) {
	d, err := x.open()
	if errors.Is(err, dwarf.ErrNone) {
		return nil, nil
	}
	return d, err
}

// at finds the subprogram that starts at addr.
func (x *debugInfo) at(ctx context.Context, addr uint64) (*dwarf.Data, *dwarf.Function, error) {
	d, err := x.data()
	if err != nil || d == nil {
		return nil, nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.functions == nil {
		if x.functions, err = d.Functions(ctx); err != nil {
			return nil, nil, err
		}
	}
	i := sort.Search(len(x.functions), func(i int) bool { return x.functions[i].Addr >= addr })
	if i < len(x.functions) && x.functions[i].Addr == addr {
		return d, &x.functions[i], nil
	}
	return d, nil, nil
}

const (
	noDebugInfo = "the file has no debug information for this function"
	wantDWARF   = "open a build with DWARF debug information"
)

// interfaceOf fills in how a function is called and what it declares.
func (e *Engine) interfaceOf(ctx context.Context, p *program.Program, i int, b *engine.Body, want engine.Facet) error {
	b.Locals = []model.LocalVariable{}
	api := &model.NativeAPIAvailable{
		CallingConvention:       convention(e.im),
		CallingConventionSource: "the platform's usual convention; nothing in the function was checked against it",
		SignatureSource:         "none", Parameters: []model.LocalVariable{}, Limitations: []string{},
	}
	d, f, err := e.debug.at(ctx, p.Functions[i].Entry)
	if err != nil {
		return err
	}
	var sig *dwarf.Signature
	if f != nil {
		sig, _ = d.Signature(f.Ref)
		b.SourcePath, b.SourceLine = f.File, f.Line
	}
	if sig == nil {
		b.Missing[engine.Locals] = engine.Gap{Reason: noDebugInfo, Remediation: wantDWARF}
		api.Limitations = append(api.Limitations, noDebugInfo+": what follows was concluded from its code")
		known, err := e.fromCode(ctx, p, i, b, api)
		if err != nil {
			return err
		}
		if known {
			delete(b.Missing, engine.Locals)
		}
	} else {
		e.declare(b, api, sig)
		if err := e.placeParameters(ctx, p, i, b, api, sig); err != nil {
			return err
		}
	}
	if want&engine.API != 0 {
		b.API = api
	}
	return nil
}

func (e *Engine) declare(b *engine.Body, api *model.NativeAPIAvailable, sig *dwarf.Signature) {
	text := sig.String()
	b.Signature, api.Signature, api.SignatureSource = &text, &text, "DWARF"
	if sig.Result != "" {
		result := sig.Result
		api.ReturnType = &result
	}
	for _, v := range sig.Parameters {
		row := e.variable(v, true)
		b.Locals, api.Parameters = append(b.Locals, row), append(api.Parameters, row)
	}
	for _, v := range sig.Locals {
		b.Locals = append(b.Locals, e.variable(v, false))
	}
	if len(sig.Results) > 0 {
		var types []string
		for _, v := range sig.Results {
			types = append(types, v.Type)
		}
		result := "(" + strings.Join(types, ", ") + ")"
		api.ReturnType = &result
	}
	if sig.More {
		api.Limitations = append(api.Limitations, "the function declares more variables than are listed")
	}
}

// placeParameters says in which registers parameters come whose place debug
// information leaves out or follows from instruction to instruction, where the
// function's code shows the parameters that are declared.
func (e *Engine) placeParameters(ctx context.Context, p *program.Program, i int, b *engine.Body, api *model.NativeAPIAvailable, sig *dwarf.Signature) error {
	l := e.lowered()
	if l == nil || !slices.ContainsFunc(sig.Parameters, func(v dwarf.Variable) bool { return v.Location == "" }) {
		return nil
	}
	x, _, err := e.flowOf(ctx, p, i)
	if err != nil || x == nil {
		return err
	}
	code, err := e.signatures().Of(ctx, i, x.f)
	if err != nil {
		return err
	}
	e.describeConvention(p, i, l, code, api)
	carriers := e.carriers(sig)
	var ints, floats int
	for _, r := range carriers {
		if r >= callconv.Vector {
			floats++
		} else {
			ints++
		}
	}
	if l.Convention.Together {
		ints, floats = len(carriers), 0
	}
	if len(carriers) == 0 || len(carriers) < len(sig.Parameters) || code.Ints != ints || code.Floats != floats {
		return nil
	}
	placed := false
	for k, r := range carriers {
		if api.Parameters[k].Location == nil {
			at := "register " + e.registerName(r)
			api.Parameters[k].Location, b.Locals[k].Location, placed = &at, &at, true
		}
	}
	if placed {
		api.Limitations = append(api.Limitations, "debug information gives some parameters no single place: their registers are those that carry them at the function's entry by the platform's convention, as the code shows")
	}
	return nil
}

func (e *Engine) variable(v dwarf.Variable, parameter bool) model.LocalVariable {
	row := model.LocalVariable{Name: v.Name, Parameter: parameter, Source: "DWARF"}
	if v.Type != "" {
		row.Type = &v.Type
	}
	if v.Location != "" {
		at := e.dwarfRegister(v.Location)
		row.Location = &at
	}
	return row
}

// dwarfRegister writes a location with the name of its register instead of the
// number that the platform's supplement to DWARF gives it.
func (e *Engine) dwarfRegister(location string) string {
	rest, ok := strings.CutPrefix(location, "register ")
	if !ok || e.lowered() == nil {
		return location
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	n, err := strconv.Atoi(rest[:digits])
	if err != nil {
		return location
	}
	r := -1
	switch e.im.Arch {
	case object.ARM64:
		if n <= 31 || n >= 64 && n < 96 {
			r = n
		}
	case object.X86_64:
		switch {
		case n < 8:
			r = [...]int{0, 2, 1, 3, 6, 7, 5, 4}[n]
		case n < 16:
			r = n
		case n >= 17 && n < 33:
			r = callconv.Vector + n - 17
		}
	case object.X86:
		if n < 8 {
			r = n
		} else if n >= 21 && n < 29 {
			r = callconv.Vector + n - 21
		}
	}
	if r < 0 {
		return location
	}
	return "register " + e.registerName(r) + rest[digits:]
}

// DataType describes a named type of the debug information.
func (e *Engine) DataType(ctx context.Context, name string) (*model.DataType, error) {
	d, err := e.debug.data()
	if err != nil {
		return nil, err
	}
	var found []dwarf.NamedType
	if d != nil {
		if found, err = d.FindTypes(ctx, name); err != nil {
			return nil, err
		}
	}
	for _, n := range found {
		if t, ok := d.Type(n.Ref); ok {
			return dataType(n, t), nil
		}
	}
	nearest, err := e.DataTypeNames(ctx, name)
	if err != nil {
		return nil, err
	}
	return nil, fault.DataTypeNotFound(fault.DataTypeNotFoundDetails{Name: name, Nearest: nearest[:min(len(nearest), 5)]}, nil)
}

func dataType(n dwarf.NamedType, t *dwarf.Type) *model.DataType {
	out := &model.DataType{Name: n.Name, Kind: dataTypeKind(t.Kind), Members: []model.DataTypeMember{}, Source: "DWARF"}
	if t.Size > 0 {
		size := exact(t.Size)
		out.Size = &size
	}
	if u := t.Underlying; u != "" {
		if t.Kind == dwarf.KindArray && t.HasCount {
			u = fmt.Sprintf("%s[%d]", u, t.Count)
		}
		out.Underlying = &u
	}
	if t.File != "" {
		at := fmt.Sprintf("%s:%d", t.File, t.Line)
		out.DeclaredAt = &at
	}
	for _, f := range t.Fields {
		m := model.DataTypeMember{Name: f.Name, Type: f.Type}
		if f.Base {
			m.Name = "(base class)"
		}
		if f.HasOffset {
			at := exact(f.Offset)
			m.Offset = &at
		}
		if f.BitSize > 0 {
			bits := exact(f.BitSize)
			m.BitSize = &bits
		}
		out.Members = append(out.Members, m)
	}
	for _, x := range t.Enumerators {
		v := x.Value
		out.Members = append(out.Members, model.DataTypeMember{Name: x.Name, Type: "enumerator", Value: &v})
	}
	return out
}

func dataTypeKind(k dwarf.TypeKind) model.DataTypeKind {
	switch kind := model.DataTypeKind(k); kind {
	case model.DataTypeKindBase, model.DataTypeKindStruct, model.DataTypeKindClass, model.DataTypeKindUnion, model.DataTypeKindEnum,
		model.DataTypeKindTypedef, model.DataTypeKindArray, model.DataTypeKindPointer, model.DataTypeKindFunction:
		return kind
	}
	return model.DataTypeKindOther
}

// DataTypeNames lists the names that contain pattern.
func (e *Engine) DataTypeNames(ctx context.Context, pattern string) ([]string, error) {
	out := []string{}
	d, err := e.debug.data()
	if err != nil || d == nil {
		return out, err
	}
	types, _, err := d.Types(ctx)
	if err != nil {
		return nil, err
	}
	for _, word := range []string{"struct ", "union ", "enum ", "class "} {
		pattern = strings.TrimPrefix(pattern, word)
	}
	want := strings.ToLower(pattern)
	for i := range types {
		if strings.Contains(strings.ToLower(types[i].Name), want) {
			out = append(out, types[i].Name)
		}
	}
	return slices.Compact(out), nil
}
