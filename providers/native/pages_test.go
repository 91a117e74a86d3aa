package native_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/enginetest"
	"rea/providers/native"
	"rea/runtime/engine"
	"rea/runtime/query"
	"rea/runtime/session"
)

// indexed is a fake whose lists begin at any row; it counts the rows it makes.
type indexed struct {
	*enginetest.Fake
	made int
}

var _ query.RowIndex = (*indexed)(nil)

func (x *indexed) ProceduresFrom(ctx context.Context, skip int) (iter.Seq2[model.Procedure, error], int, error) {
	return from(x, x.Fake.Procedures(ctx), skip), len(x.Bodies), nil
}

func (x *indexed) Strings(ctx context.Context, least int) iter.Seq2[model.StringItem, error] {
	return x.StringsFrom(ctx, least, 0)
}

func (x *indexed) StringsFrom(ctx context.Context, least, skip int) iter.Seq2[model.StringItem, error] {
	return from(x, x.Fake.Strings(ctx, least), skip)
}

func from[T any](x *indexed, rows iter.Seq2[T, error], skip int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for row, err := range rows {
			if n++; n <= skip {
				continue
			}
			x.made++
			if !yield(row, err) {
				return
			}
		}
	}
}

// provider opens an indexed fake.
type provider struct {
	enginetest.Provider
	opened *indexed
}

func (p provider) Open(ctx context.Context, t *engine.Target, names engine.Names) (engine.Engine, error) {
	if _, err := p.Provider.Open(ctx, t, names); err != nil {
		return nil, err
	}
	p.opened.Fake = p.Fake
	return p.opened, nil
}

// manyStrings is the sample with n strings, of which two in three say "yes".
func manyStrings(n int) *enginetest.Fake {
	f := enginetest.Sample()
	f.StringList = nil
	for i := range n {
		value := fmt.Sprintf("yes %04d", i)
		if i%3 == 0 {
			value = fmt.Sprintf("no  %04d", i)
		}
		f.StringList = append(f.StringList, model.StringItem{Address: model.Address(0x404000 + 16*i), Value: value, ValueTruncated: i%50 == 0, Encoding: model.StringEncodingAscii, ByteLength: 8})
	}
	return f
}

// TestPagesOfIndexedEngines holds the pages of an engine that can begin its lists
// anywhere to those of one that can't, in whatever order they are asked for, and
// to making few rows more than it shows.
func TestPagesOfIndexedEngines(t *testing.T) {
	const n = 1000
	x := &indexed{}
	plain := harness(t, manyStrings(n))
	recognize := func(string, []byte, string) (session.Recognition, error) {
		return session.Recognition{Kind: model.TargetKindExecutable, Format: model.TargetFormatElf, Architecture: model.ArchitectureX86_64}, nil
	}
	h := enginetest.Open(t, provider{enginetest.Provider{Fake: manyStrings(n)}, x}, recognize, "", tool.Families{Native: native.New(session.Source)})
	same := func(name, input string) bool {
		t.Helper()
		want, got := plain.Call(t, name, input), h.Call(t, name, input)
		if got.Err != nil || got.Output != want.Output || strings.Join(got.Limitations, "\n") != strings.Join(want.Limitations, "\n") {
			t.Errorf("%s %s:\n got %s %q %v\nwant %s %q", name, input, got.Output, got.Limitations, got.Err, want.Output, want.Limitations)
		}
		return !strings.Contains(want.Output, `"next_offset":null`)
	}
	for offset := 0; same("list_procedures", fmt.Sprintf(`{"offset":%d,"limit":2}`, offset)); offset += 2 {
	}
	same("list_procedures", `{"offset":1000000,"limit":2}`)
	same("list_procedures", `{"offset":1,"limit":2,"named":true}`)
	x.made = 0
	for offset := 0; same("search_strings", fmt.Sprintf(`{"pattern":"YES","offset":%d,"limit":20}`, offset)); offset += 20 {
	}
	if x.made > 2*n {
		t.Errorf("%d strings were made for the pages of a search of %d", x.made, n)
	}
	for _, input := range []string{
		`{"pattern":"yes","offset":0,"limit":20}`, `{"pattern":"no","offset":20,"limit":20}`, `{"pattern":"yes","offset":20,"limit":7}`,
		`{"pattern":"yes","offset":27,"limit":20,"mode":"regex"}`, `{"pattern":"YES","offset":47,"limit":20,"case_sensitive":true}`,
		`{"pattern":"yes","offset":60,"limit":20}`, `{"pattern":"yes","offset":80,"limit":500}`, `{"pattern":"yes","offset":580,"limit":500}`, `{"pattern":"yes","offset":580,"limit":500}`,
	} {
		same("search_strings", input)
	}
}
