package bridged

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"rea/generated/model"
	"rea/runtime/bridge/facts"
)

// nameIndex are the engine's symbols by address, then name.
type nameIndex struct{ symbols []facts.Symbol }

func (e *Engine) nameTable(ctx context.Context) (*nameIndex, error) {
	return keep(ctx, e, &e.names, func(ctx context.Context) (*nameIndex, error) {
		list, err := list[facts.Symbol](ctx, e, facts.Symbols)
		slices.SortStableFunc(list, func(a, b facts.Symbol) int {
			return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Name, b.Name))
		})
		return &nameIndex{list}, err
	})
}

// at are the symbols of one address.
func (x *nameIndex) at(addr uint64) []facts.Symbol {
	i := sort.Search(len(x.symbols), func(i int) bool { return x.symbols[i].Address >= addr })
	j := i
	for j < len(x.symbols) && x.symbols[j].Address == addr {
		j++
	}
	return x.symbols[i:j]
}

// rawName is the linker's name of a procedure: the mangled one, where its
// engine shows a readable one.
func (x *nameIndex) rawName(p *facts.Procedure) string {
	for _, s := range x.at(p.Entry) {
		if s.Source == facts.SourceImported && mangled(s.Name) {
			return s.Name
		}
	}
	return p.Name
}

func mangled(name string) bool {
	for _, prefix := range []string{"_Z", "__Z", "_R", "__R", "?", "$s", "_$s", "$S", "_$S"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// best is the best symbol at addr: a function's, data, then any.
func (x *nameIndex) best(addr uint64) string {
	rank := func(s *facts.Symbol) int {
		r := slices.Index([]string{facts.SymbolFunction, facts.SymbolData, facts.SymbolLabel}, s.Kind)
		if s.Source == facts.SourceDefault {
			r += 10
		}
		return r
	}
	found := x.at(addr)
	if len(found) == 0 {
		return ""
	}
	best := &found[0]
	for i := range found[1:] {
		if s := &found[i+1]; rank(s) < rank(best) {
			best = s
		}
	}
	if best.Source == facts.SourceDefault {
		return ""
	}
	return best.Name
}

// Names yields the engine's symbols.
func (e *Engine) Names(ctx context.Context) iter.Seq2[model.NameItem, error] {
	return func(yield func(model.NameItem, error) bool) {
		x, err := e.nameTable(ctx)
		if err != nil {
			yield(model.NameItem{}, err)
			return
		}
		for i := range x.symbols {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(model.NameItem{}, ctx.Err())
				return
			}
			for _, item := range items(&x.symbols[i]) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// NamesAt lists the engine's symbols at addr.
func (e *Engine) NamesAt(ctx context.Context, addr model.Address) ([]model.NameItem, error) {
	x, err := e.nameTable(ctx)
	if err != nil {
		return nil, err
	}
	var out []model.NameItem
	for _, s := range x.at(uint64(addr)) {
		out = append(out, items(&s)...)
	}
	return out, nil
}

// items are the rows of one symbol: an export is listed as what it is as well.
func items(s *facts.Symbol) []model.NameItem {
	if s.Source == facts.SourceDefault && !s.Import {
		return nil // made from the address
	}
	item := model.NameItem{Address: model.Address(s.Address), Name: s.Name, Source: startSource(s.Source)}
	if s.Demangled != "" && s.Demangled != s.Name {
		item.Demangled = &s.Demangled
	}
	switch {
	case s.Import:
		item.Kind, item.Source = model.NameKindImport, model.StartSourceImport
		if s.Library != "" {
			item.Library = &s.Library
		}
		return []model.NameItem{item}
	case s.Kind == facts.SymbolFunction:
		item.Kind = model.NameKindFunction
	case s.Kind == facts.SymbolData:
		item.Kind = model.NameKindObject
	default:
		item.Kind = model.NameKindLabel
	}
	if !s.Export {
		return []model.NameItem{item}
	}
	export := item
	export.Kind, export.Source = model.NameKindExport, model.StartSourceExport
	return []model.NameItem{item, export}
}

// textIndex are the engine's strings by address.
type textIndex struct{ texts []facts.Text }

func (e *Engine) textTable(ctx context.Context) (*textIndex, error) {
	return keep(ctx, e, &e.texts, func(ctx context.Context) (*textIndex, error) {
		list, err := list[facts.Text](ctx, e, facts.Texts)
		list = slices.DeleteFunc(list, func(t facts.Text) bool { return t.Length <= 0 })
		slices.SortStableFunc(list, func(a, b facts.Text) int { return cmp.Compare(a.Address, b.Address) })
		return &textIndex{list}, err
	})
}

// containing is the string that holds addr.
func (x *textIndex) containing(addr uint64) *facts.Text {
	i := sort.Search(len(x.texts), func(i int) bool { return x.texts[i].Address > addr }) - 1
	if i < 0 || addr-x.texts[i].Address >= uint64(x.texts[i].Length) {
		return nil
	}
	return &x.texts[i]
}

// longestText bounds the text of one string in a list, in bytes of UTF-8.
const longestText = 2048

// text reads the characters of a string, up to limit bytes of UTF-8.
func (e *Engine) text(ctx context.Context, t *facts.Text, limit int) (value string, cut bool) {
	n := t.Length
	if n > 2*limit {
		n, cut = 2*limit, true
	}
	data, err := e.config.File.Bytes(ctx, model.Address(t.Address), n)
	if err != nil {
		return "", true
	}
	if t.Encoding == string(model.StringEncodingUTF16LE) {
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
		}
		value = string(utf16.Decode(units))
	} else {
		value = strings.ToValidUTF8(string(data), "\uFFFD")
	}
	if len(value) > limit {
		end := limit
		for !utf8.RuneStart(value[end]) {
			end--
		}
		value, cut = value[:end], true
	}
	return value, cut
}

// Strings yields strings of at least minBytes bytes.
func (e *Engine) Strings(ctx context.Context, minBytes int) iter.Seq2[model.StringItem, error] {
	return func(yield func(model.StringItem, error) bool) {
		x, err := e.textTable(ctx)
		if err != nil {
			yield(model.StringItem{}, err)
			return
		}
		sections, err := e.mappedSections(ctx)
		if err != nil {
			yield(model.StringItem{}, err)
			return
		}
		for i := range x.texts {
			if i%256 == 0 && ctx.Err() != nil {
				yield(model.StringItem{}, ctx.Err())
				return
			}
			t := &x.texts[i]
			if t.Length < minBytes {
				continue
			}
			item := model.StringItem{Address: model.Address(t.Address), ByteLength: int64(t.Length), Encoding: encodingWord(t.Encoding), Uses: count(t.Uses)}
			item.Value, item.ValueTruncated = e.text(ctx, t, longestText)
			item.Section = sectionAt(sections, item.Address)
			if !yield(item, nil) {
				return
			}
		}
	}
}

// mappedSections are the mapped sections of the file by address.
func (e *Engine) mappedSections(ctx context.Context) ([]model.Section, error) {
	segments, _, err := e.config.File.Segments(ctx)
	var out []model.Section
	for _, s := range segments {
		out = append(out, s.Sections...)
	}
	slices.SortStableFunc(out, func(a, b model.Section) int { return cmp.Compare(a.Start, b.Start) })
	return out, err
}

func sectionAt(sections []model.Section, addr model.Address) *string {
	i := sort.Search(len(sections), func(i int) bool { return sections[i].Start > addr }) - 1
	if i < 0 || addr >= sections[i].End {
		return nil
	}
	return &sections[i].Name
}

// longestShown bounds a string shown in place of a name, in bytes.
const longestShown = 200

// tables are what a row is described with.
type tables struct {
	procedures *index
	names      *nameIndex
	texts      *textIndex
}

func (e *Engine) tables(ctx context.Context) (t tables, err error) {
	if t.procedures, err = e.procedureIndex(ctx); err != nil {
		return t, err
	}
	if t.names, err = e.nameTable(ctx); err != nil {
		return t, err
	}
	t.texts, err = e.textTable(ctx)
	return t, err
}

// nameOf is the analyst's name of addr, a symbol, or the name of the procedure there.
func (e *Engine) nameOf(t *tables, addr uint64) string {
	if name, ok := e.config.Names.NameAt(model.Address(addr)); ok {
		return name
	}
	if i, ok := t.procedures.byEntry[addr]; ok {
		return e.procedure(t.procedures, i).Name
	}
	return t.names.best(addr)
}

// describe is the name at addr, or the text of the string there in quotes.
func (e *Engine) describe(ctx context.Context, t *tables, addr uint64) *string {
	if name := e.nameOf(t, addr); name != "" {
		return &name
	}
	if s := t.texts.containing(addr); s != nil {
		text, cut := e.text(ctx, s, longestShown)
		if cut {
			text += "…"
		}
		text = `"` + text + `"`
		return &text
	}
	return nil
}

func (e *Engine) symbolRef(ctx context.Context, t *tables, addr uint64) model.SymbolRef {
	return model.SymbolRef{Address: model.Address(addr), Name: e.describe(ctx, t, addr)}
}
