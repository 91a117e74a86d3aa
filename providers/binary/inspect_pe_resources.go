package binary

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/providers/format/peresources"
)

// maxMessages bounds the texts that are read of one message table, maxManifest
// the text of a manifest that is given.
const (
	maxMessages = 100000
	maxManifest = 256 << 10
)

// resources gathers one answer about resources.
type resources struct {
	ctx    context.Context
	tree   *peresources.Tree
	out    tool.InspectPeResourcesOutput
	notes  []string
	budget uint64 // bytes that digests may still be made of
}

// InspectPeResources reads the tree and what the standard types mean.
func (h *Handlers) InspectPeResources(ctx context.Context, in *tool.InspectPeResourcesInput) (*tool.Finding[tool.InspectPeResourcesOutput], error) {
	s, err := h.source(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if native.Detect(s.Data) != object.PE {
		return nil, s.unsupported(peFile, s.instead())
	}
	tree, err := peresources.Read(s.Data)
	if err != nil && err != peresources.ErrNotPE { // an object file has no tree
		return nil, s.unsupported(peFile, err)
	}
	f := &tool.Finding[tool.InspectPeResourcesOutput]{Subject: s.subject, Locations: s.whole()}
	if tree == nil {
		f.Limitations = []string{"the file has no resources"}
		return f, nil
	}
	r := &resources{ctx: ctx, tree: tree, notes: slices.Clone(tree.Notes), budget: 2*uint64(len(s.Data)) + 1<<20}
	r.types()
	if err := r.page(in); err != nil {
		return nil, err
	}
	r.versions()
	r.icons()
	r.manifests()
	r.strings(in)
	f.Result, f.Limitations = r.out, r.notes
	return f, nil
}

func (r *resources) note(format string, args ...any) {
	if len(r.notes) < 64 {
		r.notes = append(r.notes, clean(fmt.Sprintf(format, args...)))
	}
}

// types sums the resources up by type, in the order of the tree.
func (r *resources) types() {
	at := map[string]int{}
	for i := range r.tree.Resources {
		res := &r.tree.Resources[i]
		name := clean(peresources.TypeName(res.Type))
		n, ok := at[name]
		if !ok {
			n = len(r.out.Types)
			at[name] = n
			r.out.Types = append(r.out.Types, tool.InspectPeResourcesOutputType{Type: name})
		}
		r.out.Types[n].Count++
		r.out.Types[n].Bytes += int64(res.Size)
	}
}

// page lists the resources of one type, or of all.
func (r *resources) page(in *tool.InspectPeResourcesInput) error {
	var list []*peresources.Resource
	for i := range r.tree.Resources {
		res := &r.tree.Resources[i]
		if in.Type == nil || strings.EqualFold(*in.Type, clean(peresources.TypeName(res.Type))) {
			list = append(list, res)
		}
	}
	p := page(list, in.ResourceOffset, in.ResourceLimit)
	out := tool.InspectPeResourcesOutputResources{Total: p.Total, Offset: in.ResourceOffset, NextOffset: p.Next}
	for _, res := range p.Items {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		row := tool.InspectPeResourcesOutputResourcesItem{
			Type: clean(peresources.TypeName(res.Type)), Name: clean(res.Name.String()), Language: int64(res.Language), LanguageTag: languageTag(res.Language),
			Codepage: int64(res.Codepage), Rva: model.Address(res.RVA), Size: int64(res.Size), SHA256: r.digest(res.Data), Content: beginsLike(res.Data),
		}
		if res.Offset >= 0 {
			off := int64(res.Offset)
			row.FileOffset = &off
		}
		out.Items = append(out.Items, row)
	}
	r.out.Resources = out
	return nil
}

// digest is nil for data that is missing, and when resources that overlap would
// make more work than the file is worth.
func (r *resources) digest(b []byte) *string {
	if b == nil {
		return nil
	}
	if uint64(len(b)) > r.budget {
		r.note("some digests were not made: the resources together are more than twice the file")
		return nil
	}
	r.budget -= uint64(len(b))
	sum := sha256.Sum256(b)
	s := hex.EncodeToString(sum[:])
	return &s
}

var beginnings = []struct{ prefix, what string }{
	{"\x89PNG\r\n\x1a\n", "png"}, {"MZ", "pe"}, {"PK\x03\x04", "zip"}, {"MSCF", "cab"}, {"7z\xbc\xaf\x27\x1c", "7z"}, {"\x1f\x8b", "gzip"},
	{"%PDF", "pdf"}, {"<?xml", "xml"}, {"\xef\xbb\xbf<?xml", "xml"}, {"RIFF", "riff"}, {"GIF8", "gif"}, {"\xff\xd8\xff", "jpeg"}, {"BM", "bmp"},
	{"\x7fELF", "elf"}, {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"}, {"TPF0", "delphi form"}, {"\xca\xfe\xba\xbe", "java class"}, {"\x28\x00\x00\x00", "dib"},
	{"SQLite format 3\x00", "sqlite"}, {"OggS", "ogg"}, {"ID3", "mp3"}, {"{\\rtf", "rtf"},
}

// beginsLike names the format that data begins like, or what its bytes are.
func beginsLike(b []byte) string {
	for _, k := range beginnings {
		if bytes.HasPrefix(b, []byte(k.prefix)) {
			return k.what
		}
	}
	switch {
	case len(b) == 0:
		return "empty"
	case isText(b[:min(len(b), 512)]):
		return "text"
	}
	return "data"
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return true
}

// of gives the resources of a standard type.
func (r *resources) of(kinds ...uint32) []*peresources.Resource {
	var out []*peresources.Resource
	for i := range r.tree.Resources {
		res := &r.tree.Resources[i]
		if res.Type.Name == "" && slices.Contains(kinds, res.Type.Number) && res.Data != nil {
			out = append(out, res)
		}
	}
	return out
}

var (
	versionOS    = map[uint32]string{0x4: "windows32", 0x40004: "windows_nt", 0x10001: "windows16", 0x10004: "dos_windows32", 0x40000: "nt", 0x10000: "dos"}
	versionTypes = map[uint32]string{1: "application", 2: "dll", 3: "driver", 4: "font", 5: "virtual_device", 7: "static_library"}
)

func (r *resources) versions() {
	const most = 64
	for _, res := range r.of(peresources.Version) {
		if len(r.out.Versions) == most {
			r.note("versions: the first %d are given", most)
			return
		}
		v, err := peresources.ParseVersion(res.Data)
		if err != nil {
			r.note("version information %s: %v", res.Name, err)
		}
		if v == nil {
			continue
		}
		row := tool.InspectPeResourcesOutputVersion{
			Language: int64(res.Language), FileVersion: optional(v.FileVersion), ProductVersion: optional(v.ProductVersion), Flags: v.Flags,
			OS: optional(versionOS[v.OS]), Kind: optional(versionTypes[v.Type]),
		}
		for _, t := range v.Strings {
			table := tool.InspectPeResourcesOutputVersionString{Language: clean(t.Language)}
			for _, s := range t.Strings {
				table.Values = append(table.Values, tool.InspectPeResourcesOutputVersionStringValue{Name: clean(s.Name), Value: clean(s.Value)})
			}
			row.Strings = append(row.Strings, table)
		}
		for _, t := range v.Translations {
			row.Translations = append(row.Translations, tool.InspectPeResourcesOutputVersionTranslation{Language: int64(t.Language), Codepage: int64(t.Codepage)})
		}
		r.out.Versions = append(r.out.Versions, row)
	}
}

func (r *resources) icons() {
	const most = 1000
	images := r.tree.Images()
	for _, res := range r.of(peresources.GroupIcon, peresources.GroupCursor) {
		if len(r.out.Icons) == most {
			r.note("icons: the first %d groups are given", most)
			return
		}
		group, err := peresources.ParseGroup(res, images)
		if err != nil {
			r.note("group %s: %v", res.Name, err)
		}
		row := tool.InspectPeResourcesOutputIcon{
			Kind: tool.InspectPeResourcesOutputIconKindIcon, Name: clean(res.Name.String()), Language: int64(res.Language),
		}
		if res.Type.Number == peresources.GroupCursor {
			row.Kind = tool.InspectPeResourcesOutputIconKindCursor
		}
		for _, im := range group {
			one := tool.InspectPeResourcesOutputIconImage{
				Width: int64(im.Width), Height: int64(im.Height), Bits: int64(im.Bits), Size: int64(im.Size), SHA256: r.digest(im.Data),
				Format: tool.InspectPeResourcesOutputIconImageFormatDib,
			}
			switch {
			case im.Data == nil:
				one.Format = tool.InspectPeResourcesOutputIconImageFormatMissing
			case im.PNG:
				one.Format = tool.InspectPeResourcesOutputIconImageFormatPng
			}
			row.Images = append(row.Images, one)
		}
		r.out.Icons = append(r.out.Icons, row)
	}
}

// strings reads both kinds of table, sorted by number and language.
func (r *resources) strings(in *tool.InspectPeResourcesInput) {
	var all []tool.InspectPeResourcesOutputStringsItem
	add := func(source tool.InspectPeResourcesOutputStringsItemSource, res *peresources.Resource, list []peresources.Text, err error) {
		if err != nil {
			r.note("%s %s: %v", peresources.TypeName(res.Type), res.Name, err)
		}
		for _, s := range list {
			all = append(all, tool.InspectPeResourcesOutputStringsItem{Source: source, ID: int64(s.ID), Language: int64(res.Language), Text: clean(s.Text)})
		}
	}
	for _, res := range r.of(peresources.String) {
		list, err := peresources.ParseStrings(res)
		add(tool.InspectPeResourcesOutputStringsItemSourceStringTable, res, list, err)
	}
	left := maxMessages
	for _, res := range r.of(peresources.MessageTable) {
		list, err := peresources.ParseMessages(res.Data, left)
		left -= len(list)
		add(tool.InspectPeResourcesOutputStringsItemSourceMessageTable, res, list, err)
	}
	slices.SortStableFunc(all, func(a, b tool.InspectPeResourcesOutputStringsItem) int {
		return cmp.Or(-cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Language, b.Language))
	})
	p := page(all, in.StringOffset, in.StringLimit)
	r.out.Strings = tool.InspectPeResourcesOutputStrings{Total: p.Total, Offset: in.StringOffset, NextOffset: p.Next, Items: p.Items}
}
