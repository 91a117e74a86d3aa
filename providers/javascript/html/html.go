// Package html finds the scripts of an HTML document. It reads tags as browsers'
// tokenizers do, and nothing else of the document.
package html

import (
	stdhtml "html"
	"strings"
	"unicode/utf8"
)

// A Script is a script element, or a link that loads a module ahead.
type Script struct {
	Src        string // "" for inline code
	Type       string // in lower case; what the attribute language says without one
	Start, End int    // of the tag, or of inline code
	Inline     bool
	Module     bool
	Preload    bool
}

// A Frame is a page in the document: a frame, or a web view of Electron, which has a
// process and a preload script of its own.
type Frame struct {
	Src, Preload string
	Preferences  string // as the attribute has them
	Node         bool   // nodeintegration
	View         bool
	Start, End   int // of the tag
}

// A Document is what was found in a document.
type Document struct {
	Scripts  []Script
	Frames   []Frame
	Policy   string // Content-Security-Policy of a meta element
	Title    string
	Base     string
	Unclosed bool // it ended inside of a tag or script
	// What is code, and is not among the scripts.
	Handlers  int // attributes that are run on an event
	Addresses int // javascript: in the place of an address
	Documents int // documents in the attribute srcdoc
	Templates int // scripts in a template, which run when a program puts them into the page

	svg, template int // elements that are open
}

// ImportMap is the type of a script that tells what specifiers of modules mean.
const ImportMap = "importmap"

const maxScripts = 10_000

// Read reads a document. Its cost is linear, and it always ends.
func Read(src string) *Document {
	d := &Document{}
	for i := 0; i < len(src); {
		open := strings.IndexByte(src[i:], '<')
		if open < 0 {
			break
		}
		i += open
		if strings.HasPrefix(src[i:], "<!--") {
			end := strings.Index(src[i+4:], "-->")
			if end < 0 {
				d.Unclosed = true
				return d
			}
			i += 4 + end + 3
			continue
		}
		if i+2 < len(src) && src[i+1] == '/' && letter(src[i+2]) {
			d.leave(src[i+2:])
			i += 2
			continue
		}
		if i+1 >= len(src) || !letter(src[i+1]) {
			i++
			continue
		}
		t, end, ok := readTag(src, i)
		if !ok {
			d.Unclosed = true
			return d
		}
		i = d.tag(src, t, i, end)
	}
	return d
}

// leave takes an end tag: rest is from its name on.
func (d *Document) leave(rest string) {
	switch {
	case d.svg > 0 && named(rest, "svg"):
		d.svg--
	case d.template > 0 && named(rest, "template"):
		d.template--
	}
}

// named reports whether the name of a tag is name.
func named(rest, name string) bool {
	return len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) &&
		(len(rest) == len(name) || space(rest[len(name)]) || rest[len(name)] == '>' || rest[len(name)] == '/')
}

type tag struct {
	name       string
	attributes []attribute
	closed     bool // it ends with "/>", which means something in SVG
}

type attribute struct{ name, value string }

func (t *tag) get(name string) (string, bool) {
	for _, a := range t.attributes {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// readTag reads the start tag at i; end is behind its ">".
func readTag(src string, i int) (t tag, end int, ok bool) {
	start := i + 1
	for i = start; i < len(src) && !space(src[i]) && src[i] != '>' && src[i] != '/'; i++ {
	}
	t.name = strings.ToLower(src[start:i])
	for i < len(src) {
		switch c := src[i]; {
		case c == '>':
			t.closed = src[i-1] == '/'
			return t, i + 1, true
		case space(c) || c == '/':
			i++
		default:
			begin := i
			for i++; i < len(src) && !space(src[i]) && src[i] != '>' && src[i] != '/' && src[i] != '='; i++ {
			}
			a := attribute{name: strings.ToLower(src[begin:i])}
			for i < len(src) && space(src[i]) {
				i++
			}
			if i < len(src) && src[i] == '=' {
				for i++; i < len(src) && space(src[i]); i++ {
				}
				a.value, i = readValue(src, i)
			}
			if len(t.attributes) < 1000 {
				t.attributes = append(t.attributes, a)
			}
		}
	}
	return t, i, false
}

func readValue(src string, i int) (string, int) {
	if i < len(src) && (src[i] == '"' || src[i] == '\'') {
		end := strings.IndexByte(src[i+1:], src[i])
		if end < 0 {
			return src[i+1:], len(src)
		}
		return unescape(src[i+1 : i+1+end]), i + end + 2
	}
	start := i
	for i < len(src) && !space(src[i]) && src[i] != '>' {
		i++
	}
	return unescape(src[start:i]), i
}

// unescape is the value of an attribute. A named reference without a semicolon is none
// where "=" or a letter follows, as in an address with several parameters.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	var out strings.Builder
	for {
		at := strings.IndexByte(s, '&')
		if at < 0 {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:at])
		s = s[at:]
		end := 1
		if end < len(s) && s[end] == '#' {
			end++
		}
		for end < len(s) && (letter(s[end]) || s[end] >= '0' && s[end] <= '9') {
			end++
		}
		switch {
		case end < len(s) && s[end] == ';':
			end++
			out.WriteString(stdhtml.UnescapeString(s[:end]))
		case strings.HasPrefix(s, "&#"):
			out.WriteString(stdhtml.UnescapeString(s[:end]))
		default:
			value := stdhtml.UnescapeString(s[:end])
			if end < len(s) && s[end] == '=' || utf8.RuneCountInString(value) != 1 {
				value = s[:end]
			}
			out.WriteString(value)
		}
		s = s[end:]
	}
}

// address is the value of an attribute as readers of addresses take it: without white
// space around it and line ends in it.
func (t *tag) address(name string) (string, bool) {
	value, ok := t.get(name)
	return Address(value), ok
}

var lineEnds = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// Address is what browsers read of the text of an address.
func Address(text string) string {
	return lineEnds.Replace(strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }))
}

// attributes takes code that stands in attributes.
func (d *Document) attributes(t *tag) {
	for _, a := range t.attributes {
		switch a.name {
		case "href", "src", "action", "formaction", "data", "xlink:href":
			if value := Address(a.value); len(value) >= len("javascript:") && strings.EqualFold(value[:len("javascript:")], "javascript:") {
				d.Addresses++
			}
		case "srcdoc":
			if t.name == "iframe" && strings.TrimSpace(a.value) != "" {
				d.Documents++
			}
		default:
			if len(a.name) > 3 && strings.HasPrefix(a.name, "on") && strings.TrimSpace(a.value) != "" && strings.IndexFunc(a.name, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 {
				d.Handlers++
			}
		}
	}
}

// tag takes what a tag says, and gives where reading goes on.
func (d *Document) tag(src string, t tag, start, end int) int {
	d.attributes(&t)
	switch t.name {
	case "svg":
		if !t.closed {
			d.svg++
		}
	case "template":
		_, old := t.get("shadowroot")
		if _, shadow := t.get("shadowrootmode"); d.template > 0 || !shadow && !old {
			d.template++
		}
	case "script":
		return d.script(src, t, start, end)
	case "style", "textarea", "noscript", "title", "xmp":
		close := closing(src, end, t.name)
		if close < 0 {
			d.Unclosed = true
			return len(src)
		}
		if t.name == "title" && d.Title == "" && d.svg == 0 {
			d.Title = strings.TrimSpace(stdhtml.UnescapeString(src[end:close]))
		}
		return close
	case "link":
		rel, _ := t.get("rel")
		as, _ := t.get("as")
		if href, ok := t.address("href"); ok && d.template == 0 && (rel == "modulepreload" || rel == "preload" && as == "script") && len(d.Scripts) < maxScripts {
			d.Scripts = append(d.Scripts, Script{Src: href, Start: start, End: end, Module: rel == "modulepreload", Preload: true})
		}
	case "iframe", "webview", "frame", "embed", "object":
		address, ok := t.address("src")
		if t.name == "object" {
			address, ok = t.address("data")
		}
		preload, loads := t.address("preload")
		if (ok || loads) && d.template == 0 && len(d.Frames) < maxScripts {
			f := Frame{Src: address, Preload: preload, View: t.name == "webview", Start: start, End: end}
			f.Preferences, _ = t.get("webpreferences")
			_, f.Node = t.get("nodeintegration")
			d.Frames = append(d.Frames, f)
		}
	case "meta":
		if equiv, _ := t.get("http-equiv"); strings.EqualFold(equiv, "Content-Security-Policy") && d.Policy == "" {
			d.Policy, _ = t.get("content")
		}
	case "base":
		if href, ok := t.address("href"); ok && d.Base == "" {
			d.Base = href
		}
	}
	return end
}

func (d *Document) script(src string, t tag, start, end int) int {
	close := end
	if d.svg == 0 || !t.closed {
		if close = closing(src, end, "script"); close < 0 {
			d.Unclosed = true
			close = len(src)
		}
	}
	if len(d.Scripts) >= maxScripts {
		return close
	}
	s := Script{Start: start, End: end}
	kind, has := t.get("type")
	if language, _ := t.get("language"); !has && language != "" {
		kind = "text/" + language
	}
	s.Type = strings.ToLower(strings.TrimSpace(kind))
	s.Module = s.Type == "module"
	s.Src, has = t.address("src")
	if d.svg > 0 {
		if s.Src, has = t.address("href"); !has {
			s.Src, has = t.address("xlink:href")
		}
	}
	if !has {
		s.Inline, s.Start, s.End = true, end, close
	}
	if d.template > 0 {
		if s.Runs() {
			d.Templates++
		}
		return close
	}
	d.Scripts = append(d.Scripts, s)
	return close
}

// Runs reports whether a script is code, not data.
func (s *Script) Runs() bool {
	switch s.Type {
	case "", "module", "text/babel", "text/jsx",
		"text/javascript", "application/javascript", "application/x-javascript", "text/x-javascript",
		"text/ecmascript", "application/ecmascript", "application/x-ecmascript", "text/x-ecmascript", "text/jscript", "text/livescript":
		return true
	}
	return strings.HasPrefix(s.Type, "text/javascript1.")
}

// closing is where the end tag of an element begins that holds no markup, or -1.
func closing(src string, from int, name string) int {
	for i := from; ; {
		at := strings.Index(src[i:], "</")
		if at < 0 {
			return -1
		}
		i += at
		if named(src[i+2:], name) {
			return i
		}
		i += 2
	}
}

// Code is the document with everything but its inline code blanked, so that the
// code has the places it has in the document. ok is false when there is none.
func (d *Document) Code(src string) (code string, module, ok bool) {
	out := make([]byte, len(src))
	for i := range out {
		out[i] = ' '
		if c := src[i]; c == '\n' || c == '\r' {
			out[i] = c
		}
	}
	for i := range d.Scripts {
		s := &d.Scripts[i]
		if !s.Inline || !s.Runs() || strings.TrimSpace(src[s.Start:s.End]) == "" {
			continue
		}
		copy(out[s.Start:], src[s.Start:s.End])
		if s.End < len(out) {
			out[s.End] = ';'
		}
		ok = true
		module = module || s.Module
	}
	return string(out), module, ok
}
