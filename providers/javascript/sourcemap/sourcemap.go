// Package sourcemap reads source maps (ECMA-426), plain and with sections.
//
// What a map says is not trusted: indices are checked, nesting of sections is
// bounded, and a map that contradicts itself gives what can be used of it, with
// notes on the rest.
package sourcemap

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxSections = 10_000
	maxDepth    = 4
	// MaxSources bounds the sources that are kept of one map.
	MaxSources = 50_000
	// MaxSegments bounds the positions that are read of one map.
	MaxSegments = 50_000_000
)

// A Source is one original file.
type Source struct {
	Path    string // as the map names it, joined to its root
	Content string // "" when HasContent is false
	// HasContent tells that the map holds the text.
	HasContent bool
	Ignored    bool // the map says that it is not the developer's own
}

// SHA256 of the content, "" when the map does not hold it.
func (s *Source) SHA256() string {
	if !s.HasContent {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Content))
	return hex.EncodeToString(sum[:])
}

// A Segment says where a part of the generated text comes from. Lines and
// columns count from 0; columns are UTF-16 code units.
type Segment struct {
	Line, Column             int32
	Source                   int32 // index into Sources, -1 when it has none
	SourceLine, SourceColumn int32
	Name                     int32 // index into Names, -1 when it has none
}

// A Map is a source map.
type Map struct {
	File     string
	Sources  []Source
	Names    []string
	Segments []Segment // by place in the generated text
	Notes    []string
}

type document struct {
	Version        jsontext.Value   `json:"version"`
	File           jsontext.Value   `json:"file"`
	SourceRoot     jsontext.Value   `json:"sourceRoot"`
	Sources        []jsontext.Value `json:"sources"`
	SourcesContent []jsontext.Value `json:"sourcesContent"`
	Names          []jsontext.Value `json:"names"`
	Mappings       jsontext.Value   `json:"mappings"`
	IgnoreList     []jsontext.Value `json:"ignoreList"`
	GoogleIgnore   []jsontext.Value `json:"x_google_ignoreList"`
	Sections       []section        `json:"sections"`
}

type section struct {
	Offset struct {
		Line   int64 `json:"line"`
		Column int64 `json:"column"`
	} `json:"offset"`
	Map jsontext.Value `json:"map"`
}

// ErrNotMap is the error of text that is not a source map.
var ErrNotMap = errors.New("it is not a source map")

// Read reads a source map.
func Read(data []byte) (*Map, error) {
	m := &Map{}
	if err := m.read(data, 0, 0, 0); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.Segments, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return m, nil
}

func (m *Map) note(format string, args ...any) {
	if len(m.Notes) < 50 {
		m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
	}
}

func (m *Map) read(data []byte, line, column int64, depth int) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.HasPrefix(data, []byte(")]}'")) { // a guard against inclusion as script
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			data = data[i:]
		}
	}
	var d document
	if err := json.Unmarshal(data, &d, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return fmt.Errorf("%w: %s", ErrNotMap, fault(err))
	}
	if d.Sections != nil {
		if depth >= maxDepth || len(d.Sections) > maxSections {
			m.note("sections in sections were not read")
			return nil
		}
		for i := range d.Sections {
			s := &d.Sections[i]
			if s.Offset.Line < 0 || s.Offset.Column < 0 || s.Offset.Line > 1<<30 || s.Offset.Column > 1<<30 || len(s.Map) == 0 {
				m.note("section %d has no map or an impossible offset", i)
				continue
			}
			c := s.Offset.Column
			if s.Offset.Line == 0 {
				c += column
			}
			if err := m.read(s.Map, line+s.Offset.Line, c, depth+1); err != nil {
				m.note("section %d: %v", i, err)
			}
		}
		return nil
	}
	if d.Sources == nil && len(d.Mappings) == 0 {
		return ErrNotMap
	}
	m.plain(&d, line, column)
	return nil
}

// fault says where a text is no JSON of a map.
func fault(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("it is no JSON from byte %d on", syntax.ByteOffset)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		if at := string(semantic.JSONPointer); at != "" {
			return fmt.Sprintf("%s is not what it should be", at)
		}
		return "it is no object"
	}
	return "it is no JSON of a map"
}

func text(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil && len(s) == 0 {
		return "", false
	}
	return strings.ToValidUTF8(string(s), "\ufffd"), true
}

func (m *Map) plain(d *document, line, column int64) {
	if m.File == "" {
		m.File, _ = text(d.File)
	}
	root, _ := text(d.SourceRoot)
	firstSource, firstName := len(m.Sources), len(m.Names)
	sources := d.Sources
	if len(m.Sources)+len(sources) > MaxSources {
		m.note("%d sources were not kept; at most %d are", len(m.Sources)+len(sources)-MaxSources, MaxSources)
		sources = sources[:max(MaxSources-len(m.Sources), 0)]
	}
	for i, v := range sources {
		name, ok := text(v)
		s := Source{}
		if ok {
			s.Path = Normalize(root, name)
		}
		if i < len(d.SourcesContent) {
			s.Content, s.HasContent = text(d.SourcesContent[i])
		}
		m.Sources = append(m.Sources, s)
	}
	for _, list := range [][]jsontext.Value{d.IgnoreList, d.GoogleIgnore} {
		for _, v := range list {
			if n, ok := integer(v); ok && n >= 0 && n < int64(len(sources)) {
				m.Sources[firstSource+int(n)].Ignored = true
			}
		}
	}
	for _, v := range d.Names {
		name, _ := text(v)
		m.Names = append(m.Names, name)
	}
	mappings, ok := text(d.Mappings)
	if !ok {
		m.note("it has no mappings")
		return
	}
	m.decode(mappings, line, column, firstSource, len(sources), firstName, len(d.Names))
}

func integer(v jsontext.Value) (int64, bool) {
	if v.Kind() != '0' || len(v) > 18 {
		return 0, false
	}
	n := int64(0)
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// decode reads the mappings, a list of differences in base 64.
func (m *Map) decode(s string, line, column int64, firstSource, sources, firstName, names int) {
	var source, sourceLine, sourceColumn, name int64
	generated := column
	bad := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case ';':
			line++
			generated = 0
			i++
			continue
		case ',':
			i++
			continue
		}
		var fields [5]int64
		n := 0
		ok := true
		for i < len(s) && s[i] != ',' && s[i] != ';' {
			v, size, valid := vlq(s[i:])
			if !valid || n == len(fields) {
				ok = false
				for i < len(s) && s[i] != ',' && s[i] != ';' {
					i++
				}
				break
			}
			fields[n] = v
			n++
			i += size
		}
		generated += fields[0]
		if n >= 4 {
			source, sourceLine, sourceColumn = source+fields[1], sourceLine+fields[2], sourceColumn+fields[3]
		}
		if n == 5 {
			name += fields[4]
		}
		if !ok || n == 0 || n == 2 || n == 3 || generated < 0 || generated > 1<<31-1 || line > 1<<31-1 {
			bad++
			continue
		}
		seg := Segment{Line: int32(line), Column: int32(generated), Source: -1, Name: -1}
		if n >= 4 {
			if source < 0 || source >= int64(sources) || sourceLine < 0 || sourceColumn < 0 || sourceLine > 1<<31-1 || sourceColumn > 1<<31-1 {
				bad++
				continue
			}
			seg.Source, seg.SourceLine, seg.SourceColumn = int32(firstSource)+int32(source), int32(sourceLine), int32(sourceColumn)
		}
		if n == 5 && name >= 0 && name < int64(names) {
			seg.Name = int32(firstName) + int32(name)
		}
		if len(m.Segments) >= MaxSegments {
			m.note("only %d positions were read", MaxSegments)
			return
		}
		m.Segments = append(m.Segments, seg)
	}
	if bad > 0 {
		m.note("%d positions contradict the map", bad)
	}
}

// vlq reads one number.
func vlq(s string) (v int64, size int, ok bool) {
	shift := 0
	var u uint64
	for size < len(s) {
		d := digits[s[size]]
		size++
		if d < 0 || shift > 45 {
			return 0, size, false
		}
		u |= uint64(d&31) << shift
		if d&32 == 0 {
			v = int64(u >> 1)
			if u&1 == 1 {
				v = -v
			}
			return v, size, true
		}
		shift += 5
	}
	return 0, size, false
}

var digits = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = int8(i)
	}
	return t
}()

// Normalize joins the name of a source to the root of its map, and takes "." and
// ".." out where they stand between names. Credentials, queries and fragments of
// addresses are left out.
func Normalize(root, name string) string {
	if root != "" && !strings.Contains(name, "://") && !strings.HasPrefix(name, "/") {
		name = strings.TrimSuffix(root, "/") + "/" + name
	}
	scheme := ""
	if i := strings.Index(name, "://"); i >= 0 {
		end := i + 3
		named := !strings.HasPrefix(name, "webpack")         // "webpack://@scope/package/a#b.js" has neither user nor fragment
		if k := strings.IndexByte(name[end:], '/'); k >= 0 { // what stands for a host is no folder
			end += k + 1
		}
		at := strings.LastIndexByte(name[:end], '@')
		if at > i && (named || strings.Contains(name[i+3:at], ":")) {
			name, end = name[:i+3]+name[at+1:], end-(at+1-i-3)
		}
		scheme, name = name[:end], name[end:]
		if strings.HasSuffix(scheme, ":///") { // a path from the root
			scheme, name = strings.TrimSuffix(scheme, "/"), "/"+name
		}
		if named {
			name, _, _ = strings.Cut(name, "#")
		}
	}
	if strings.HasPrefix(name, "//") && scheme == "" {
		host, _, _ := strings.Cut(name[2:], "/")
		if at := strings.LastIndexByte(host, '@'); strings.Contains(host[:max(at, 0)], ":") {
			name = "//" + name[2+at+1:]
		}
	}
	name, _, _ = strings.Cut(name, "?")
	if name == "" {
		return scheme
	}
	rooted := strings.HasPrefix(name, "/")
	name = path.Clean(name)
	if rooted && !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	return scheme + name
}

// Declared is the address in the last comment of a program that names its map.
func Declared(src string) string {
	tail := src[max(0, len(src)-maxTail):]
	at := strings.LastIndex(tail, "sourceMappingURL=")
	if at < 4 {
		// An inline map is longer than the tail.
		at = strings.LastIndex(src, "# sourceMappingURL=data:")
		if at < 2 || src[at-2] != '/' {
			return ""
		}
		line, _, _ := strings.Cut(src[at+len("# sourceMappingURL="):], "\n")
		return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "*/"))
	}
	mark := tail[at-4 : at]
	if !strings.HasSuffix(mark, "# ") && !strings.HasSuffix(mark, "@ ") || mark[1] != '/' && mark[1] != '*' {
		return ""
	}
	line, _, _ := strings.Cut(tail[at+len("sourceMappingURL="):], "\n")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "*/"))
}

const maxTail = 4096

// Inline is the text of a map that an address holds itself.
func Inline(address string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return nil, false
	}
	kind, body, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, false
	}
	if strings.HasSuffix(kind, ";base64") {
		out, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			out, err = base64.RawStdEncoding.DecodeString(body)
		}
		return out, err == nil
	}
	out, err := url.PathUnescape(body)
	return []byte(out), err == nil
}

// A Run is a part of the generated text that comes from one source.
type Run struct {
	Source                          int32
	Line, Column                    int32 // where it begins
	EndLine, EndColumn              int32 // where the next begins; EndLine -1 for the end of the text
	FirstSourceLine, LastSourceLine int32
	Segments                        int32
}

// Runs joins segments of the same source that follow each other.
func (m *Map) Runs() []Run {
	var runs []Run
	for _, s := range m.Segments {
		if s.Source < 0 {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].Source == s.Source {
			r := &runs[n-1]
			r.FirstSourceLine, r.LastSourceLine = min(r.FirstSourceLine, s.SourceLine), max(r.LastSourceLine, s.SourceLine)
			r.Segments++
			continue
		} else if n > 0 {
			runs[n-1].EndLine, runs[n-1].EndColumn = s.Line, s.Column
		}
		runs = append(runs, Run{Source: s.Source, Line: s.Line, Column: s.Column, EndLine: -1, FirstSourceLine: s.SourceLine, LastSourceLine: s.SourceLine, Segments: 1})
	}
	return runs
}
