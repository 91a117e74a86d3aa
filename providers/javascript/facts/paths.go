package facts

import (
	"path"
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/symbol"
)

// located is a fact that names a file. Paths that are joined to the folder of
// the program are given relative to it, beginning with "./" or "../"; others are
// looked for from the root of the application, too. Where the path is a parameter
// of a function, there is a fact for each caller that gives it.
func (e *extractor) located(kind Kind, r parse.Ref, via string, at parse.Ref, details ...Value) *Fact {
	text, ok := e.Path(r)
	if !ok && len(e.given) == 0 {
		callers := e.callersOf(r)
		for _, c := range callers {
			e.given = c.given
			if text, ok := e.Path(r); ok {
				e.fact(kind, text, via, c.call, details...)
			} else {
				e.fact(kind, "", via, c.call, details...).Dynamic = true
			}
			e.given = nil
		}
		if len(callers) > 0 {
			return &e.out.Facts[len(e.out.Facts)-1]
		}
	}
	fact := e.fact(kind, text, via, at, details...)
	if fact.Dynamic = !ok; !ok {
		if id, ok := e.chunkOfRuntime(r); ok {
			fact.Pieces = []Piece{{Text: id, Chunk: true}}
			return fact
		}
		e.pend(fact, r)
		if e.f.Kind(r) == parse.Ident && len(e.given) == 0 { // callers in other modules may give it
			_, _, fact.Wrapper = e.chosen(r)
		}
	}
	return fact
}

func (e *extractor) pathOr(r parse.Ref) any {
	if text, ok := e.Path(r); ok {
		return text
	}
	return Unsettled{}
}

// root stands for the folder of the application at the begin of a path.
const root = "\x00"

// Path is the file that an expression names: a constant, path.join(__dirname,
// "a"), new URL("a", import.meta.url) or a template that begins with a folder.
func (e *extractor) Path(r parse.Ref) (string, bool) {
	text, ok := e.filePath(r, 12)
	if inside, is := strings.CutPrefix(strings.TrimPrefix(text, "./"), root); is {
		text = strings.TrimLeft(inside, "/")
	}
	return text, ok
}

func (e *extractor) filePath(r parse.Ref, hops int) (string, bool) {
	f := e.f
	if r = e.value(r); r == 0 || hops == 0 {
		return "", false
	}
	if text, ok := e.Names.Constant(r); ok {
		return text, true
	}
	switch f.Kind(r) {
	case parse.Ident:
		if f.NameOf(r) == "__dirname" && e.Scopes.Of[r] == 0 {
			return ".", true
		}
		if value, ok := e.Names.Origin(e.Scopes.Of[r]); ok {
			return e.filePath(value, hops-1)
		}
	case parse.New, parse.Call:
		return e.joinedPath(r, hops)
	case parse.Template, parse.Binary:
		var b strings.Builder
		for k := f.First(r); k != 0; k = f.Next(k) {
			switch {
			case f.Kind(k) == parse.Chunk:
				b.WriteString(f.ChunkValue(k))
			default:
				part, ok := e.filePath(k, hops-1)
				if !ok {
					return "", false
				}
				b.WriteString(part)
			}
		}
		return relative(fileOf(b.String())), true
	case parse.Dot, parse.Index:
		if e.Names.Path(r) == "import.meta.dirname" {
			return ".", true
		}
		if e.publicPath(r) {
			return "", true
		}
		switch name, _ := f.PropertyOf(r); name {
		case "href", "pathname": // of new URL("a", import.meta.url), and of pathToFileURL(a)
			if k := f.Kind(f.First(r)); k == parse.New || k == parse.Call {
				return e.filePath(f.First(r), hops-1)
			}
		}
		if name, ok := f.PropertyOf(r); ok {
			if value := e.Names.Property(f.First(r), name); value != 0 {
				return e.filePath(value, hops-1)
			}
		}
	}
	return "", false
}

// fileOf is the path in an address of a file.
func fileOf(text string) string {
	if rest, ok := strings.CutPrefix(text, "file:"); ok {
		return strings.TrimLeft(rest, "/")
	}
	return text
}

func (e *extractor) joinedPath(r parse.Ref, hops int) (string, bool) {
	f := e.f
	callee := f.First(r)
	p := e.Names.Path(callee)
	arg := f.Next(callee)
	if f.Kind(r) == parse.New {
		if p != "URL" && !symbol.Ends(p, "url.URL") {
			return "", false
		}
		if f.Next(arg) == 0 { // new URL("file://" + a)
			text, ok := e.filePath(arg, hops-1)
			return text, ok && e.f.Kind(arg) != parse.String
		}
		text, ok := e.filePath(arg, hops-1)
		return relative(text), ok
	}
	switch {
	case symbol.Ends(p, "path.join"), symbol.Ends(p, "path.resolve"), strings.HasSuffix(p, ".join") && p != symbol.Unknown+".join", p == "?.join" && f.Kids(r) > 2, p == "?.resolve" && f.Kids(r) > 2:
		var parts []string
		for k := arg; k != 0; k = f.Next(k) {
			part, ok := e.filePath(k, hops-1)
			if !ok {
				return "", false
			}
			parts = append(parts, part)
		}
		return relative(path.Join(parts...)), len(parts) > 0
	case symbol.Ends(p, "fileURLToPath"), symbol.Ends(p, "pathToFileURL"):
		return e.filePath(arg, hops-1)
	case symbol.Ends(p, "app.getAppPath"):
		return root, true
	case p == "?.format", symbol.Ends(p, "url.format"):
		if object := e.Names.Literal(arg); object != 0 {
			return e.filePath(e.Names.Member(object, "pathname"), hops-1)
		}
		return e.filePath(arg, hops-1)
	case symbol.Ends(p, "path.dirname"):
		if inner := e.Names.Path(arg); inner == "__filename" || inner == "import.meta.filename" {
			return ".", true
		}
		if f.Kind(arg) == parse.Call && symbol.Ends(e.Names.Path(f.First(arg)), "fileURLToPath") && e.Names.Path(f.Kid(arg, 1)) == "import.meta.url" {
			return ".", true
		}
	case strings.HasSuffix(p, ".u"):
		return e.chunk(r)
	case strings.HasSuffix(p, ".toString"):
		return e.filePath(f.First(callee), hops-1)
	case f.Kind(callee) == parse.Dot && f.NameOf(f.Kid(callee, 1)) == "resolve" && e.Names.IsRequire(f.First(callee)):
		return e.filePath(arg, hops-1)
	}
	return "", false
}

// relative begins paths with "./" that are neither whole nor from the root.
func relative(p string) string {
	if p == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "./") || strings.HasPrefix(p, root) || strings.Contains(p, "://") {
		return p
	}
	return "./" + p
}
