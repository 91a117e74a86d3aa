package embedded

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/providers/format/object"
)

// longestText bounds the text of one string in a list, in bytes of UTF-8.
const longestText = 2048

// Procedures yields all functions by address.
func (e *Engine) Procedures(ctx context.Context) iter.Seq2[model.Procedure, error] {
	return func(yield func(model.Procedure, error) bool) {
		rows, _, err := e.ProceduresFrom(ctx, 0)
		if err != nil {
			yield(model.Procedure{}, err)
			return
		}
		rows(yield)
	}
}

// ProceduresFrom implements query.RowIndex.
func (e *Engine) ProceduresFrom(ctx context.Context, skip int) (iter.Seq2[model.Procedure, error], int, error) {
	p, err := e.program(ctx)
	if err != nil {
		return nil, 0, err
	}
	return func(yield func(model.Procedure, error) bool) {
		for i := skip; i < len(p.Functions); i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(model.Procedure{}, ctx.Err())
				return
			}
			if !yield(e.procedure(p, i), nil) {
				return
			}
		}
	}, len(p.Functions), nil
}

// Names yields what the file's own tables call its addresses, and its named sections.
func (e *Engine) Names(ctx context.Context) iter.Seq2[model.NameItem, error] {
	return func(yield func(model.NameItem, error) bool) {
		p, err := e.program(ctx)
		if err != nil {
			yield(model.NameItem{}, err)
			return
		}
		libraries := e.libraries()
		extra := slices.Sorted(maps.Keys(e.startup()))
		for i := range p.Names {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(model.NameItem{}, ctx.Err())
				return
			}
			for len(extra) > 0 && extra[0] <= p.Names[i].Addr {
				if !yield(startupItem(extra[0], e.startup()[extra[0]]), nil) {
					return
				}
				extra = extra[1:]
			}
			if !yield(nameItem(&p.Names[i], libraries), nil) {
				return
			}
		}
		for _, addr := range extra {
			if !yield(startupItem(addr, e.startup()[addr]), nil) {
				return
			}
		}
	}
}

func nameItem(n *program.Name, libraries map[string]string) model.NameItem {
	item := model.NameItem{Address: model.Address(n.Addr), Name: n.Name, Kind: model.NameKindLabel, Source: model.StartSourceSymbol}
	if r := readable(n.Name); r != "" {
		item.Demangled = &r
	}
	switch n.Source {
	case program.NameDWARF:
		item.Source = model.StartSourceDebugInfo
	case program.NameGoTable:
		item.Source = model.StartSourceRuntimeTable
	case program.NameExport:
		item.Kind, item.Source = model.NameKindExport, model.StartSourceExport
	case program.NameImport, program.NameSlot:
		item.Kind, item.Source = model.NameKindImport, model.StartSourceImport
		if lib, ok := libraries[n.Name]; ok && lib != "" {
			item.Library = &lib
		}
	case program.NameHint:
		item.Source = model.StartSourceFunctionTable
	}
	if item.Kind == model.NameKindLabel {
		if n.Func {
			item.Kind = model.NameKindFunction
		} else {
			item.Kind = model.NameKindObject
		}
	}
	return item
}

func (e *Engine) libraries() map[string]string {
	m := make(map[string]string, len(e.im.Imports))
	for i := range e.im.Imports {
		m[e.im.Imports[i].Name] = e.im.Imports[i].Library
	}
	return m
}

// Strings yields strings of at least minBytes bytes, each with its number of references.
func (e *Engine) Strings(ctx context.Context, minBytes int) iter.Seq2[model.StringItem, error] {
	return e.StringsFrom(ctx, minBytes, 0)
}

// StringsFrom implements query.RowIndex.
func (e *Engine) StringsFrom(ctx context.Context, minBytes, skip int) iter.Seq2[model.StringItem, error] {
	return func(yield func(model.StringItem, error) bool) {
		p, err := e.program(ctx)
		if err != nil {
			yield(model.StringItem{}, err)
			return
		}
		skipped := 0
		refs := p.CountRefs()
		for i := range p.Strings {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(model.StringItem{}, ctx.Err())
				return
			}
			if int64(p.Strings[i].Len) < int64(minBytes) {
				continue
			}
			if skipped < skip {
				skipped++
				continue
			}
			if !yield(e.stringItem(p, &p.Strings[i], refs), nil) {
				return
			}
		}
	}
}

var encodings = [...]model.StringEncoding{
	program.ASCII: model.StringEncodingAscii, program.UTF8: model.StringEncodingUTF8, program.UTF16: model.StringEncodingUTF16LE,
}

// stringItem is the row of s; count is as [program.Program.CountRefsTo].
func (e *Engine) stringItem(p *program.Program, s *program.String, count func(lo, hi uint64) int) model.StringItem {
	item := model.StringItem{Address: model.Address(s.Addr), ByteLength: int64(s.Len), Encoding: encodings[s.Encoding]}
	item.Value, item.ValueTruncated = shorten(p, *s, longestText)
	if s.Section >= 0 && int(s.Section) < len(e.im.Sections) {
		item.Section = &e.im.Sections[s.Section].Name
	}
	item.Uses = int64(count(s.Addr, s.Addr+max(1, uint64(s.Len))))
	return item
}

// shorten gives the text of a string, cut before the rune that passes limit bytes.
func shorten(p *program.Program, s program.String, limit int) (text string, cut bool) {
	if most := uint32(2 * limit); s.Len > most {
		s.Len, cut = most, true
	}
	if text = p.Text(s); s.Encoding != program.ASCII {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if len(text) > limit {
		text, cut = strings.ToValidUTF8(text[:limit], ""), true
	}
	return text, cut
}

// sectionFact is a section and its entropy.
type sectionFact struct {
	*object.Section
	entropy *float64
}

func (e *Engine) measureSections() []sectionFact {
	out := make([]sectionFact, len(e.im.Sections))
	entropies, _ := e.im.SectionEntropies()
	for i := range e.im.Sections {
		out[i].Section = &e.im.Sections[i]
		if h := entropies[i]; h != object.NoEntropy {
			out[i].entropy = &h
		}
	}
	return out
}

// exact is a length or offset of the file, cut to the largest number that JSON
// carries exactly; only damaged files claim more.
func exact(n uint64) int64 { return int64(min(n, 1<<53-1)) }

// Segments are the mapped segments with their sections, and the sections outside of all.
func (e *Engine) Segments(context.Context) ([]model.Segment, []model.Section, error) {
	segments := make([]model.Segment, len(e.im.Segments))
	for i := range e.im.Segments {
		s := &e.im.Segments[i]
		segments[i] = model.Segment{
			Name: s.Name, Start: model.Address(s.Addr), End: model.Address(s.Addr + s.Size), FileSize: exact(s.FileSize),
			Readable: s.Perm.Read, Writable: s.Perm.Write, Executable: s.Perm.Execute,
			Provenance: provenance[e.im.Format], Sections: []model.Section{},
		}
		if s.FileSize > 0 {
			off := exact(e.im.FileStart + s.Offset)
			segments[i].FileOffset = &off
		}
	}
	unmapped := []model.Section{}
	for _, s := range e.sections() {
		row := sectionRow(s, e.im.FileStart)
		i, found := slices.BinarySearchFunc(e.im.Segments, s.Addr, func(g object.Segment, a uint64) int {
			switch {
			case a < g.Addr:
				return 1
			case a-g.Addr >= g.Size:
				return -1
			}
			return 0
		})
		if s.Mapped && found {
			segments[i].Sections = append(segments[i].Sections, row)
		} else {
			unmapped = append(unmapped, row)
		}
	}
	return segments, unmapped, nil
}

var provenance = map[object.Format]string{
	object.ELF: "program headers", object.PE: "section table", object.MachO: "load commands",
}

func sectionRow(s sectionFact, fileStart uint64) model.Section {
	row := model.Section{
		Name: s.Name, Type: s.Type, Start: model.Address(s.Addr), End: model.Address(s.Addr + s.Size), FileSize: exact(s.FileSize),
		Readable: s.Perm.Read, Writable: s.Perm.Write, Executable: s.Perm.Execute, Mapped: s.Mapped, Entropy: s.entropy,
	}
	if s.FileSize > 0 {
		off := exact(fileStart + s.Offset)
		row.FileOffset = &off
	}
	return row
}
