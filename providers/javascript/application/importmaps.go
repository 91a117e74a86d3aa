package application

import (
	"net/url"
	"path"
	"strings"

	"rea/providers/javascript/address"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/html"
	"rea/providers/javascript/resolve"
	"rea/providers/javascript/tree"
)

// A pageMap is the import map of a page.
type pageMap struct {
	page int // file
	resolve.ImportMap
}

// maxMapped bounds the modules of all pages that have import maps.
const maxMapped = 1_000_000

// readImportMaps finds the modules of pages that have import maps: they hold for all that
// a page loads, wherever it lies.
func (a *analysis) readImportMaps() error {
	left := maxMapped
	for i, d := range a.documents {
		if d == nil {
			continue
		}
		m := &pageMap{page: i}
		has := false
		for k := range d.Scripts {
			s := &d.Scripts[k]
			if s.Type != html.ImportMap {
				continue
			}
			if !s.Inline {
				a.tree.Gaps = append(a.tree.Gaps, tree.Gap{What: "import map of " + a.tree.Files[i].Path, Omitted: -1, Reason: "it is in another file, which browsers do not read"})
				continue
			}
			if !m.Add(a.asker(i, false), []byte(text(a.tree.Files[i].Data)[s.Start:s.End])) {
				a.tree.Gaps = append(a.tree.Gaps, tree.Gap{What: "import map of " + a.tree.Files[i].Path, Omitted: -1, Reason: "it is no object of JSON with imports and scopes, so what its modules import is not known"})
				continue
			}
			has = true
		}
		if !has {
			continue
		}
		if err := a.ctx.Err(); err != nil {
			return err
		}
		if !a.mapModules(m, d, &left) {
			a.tree.Gaps = append(a.tree.Gaps, tree.Gap{What: "modules that import maps hold for", Omitted: -1, Reason: "they are very many"})
			break
		}
	}
	return nil
}

// mapModules notes the files that are loaded into a page that has an import map.
func (a *analysis) mapModules(m *pageMap, d *html.Document, left *int) bool {
	if a.importMaps == nil {
		a.importMaps = make([][]*pageMap, len(a.tree.Files))
	}
	queue, seen := []int{m.page}, map[int]bool{m.page: true}
	add := func(p string) {
		if i, ok := a.byPath[p]; ok && p != "" && !seen[i] {
			seen[i] = true
			queue = append(queue, i)
		}
	}
	for k := range d.Scripts {
		if s := &d.Scripts[k]; s.Src != "" && s.Runs() {
			add(a.scriptOf(m.page, d.Base, s.Src))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		if *left--; *left < 0 {
			return false
		}
		a.importMaps[i] = append(a.importMaps[i], m)
		if a.units[i] == nil {
			continue
		}
		for part := range a.units[i].parts {
			list := a.units[i].parts[part].imports
			for k := range list {
				if v := &list[k]; !v.Unknown && v.Kind != facts.Require && v.Kind != facts.Resolve {
					found, ok := a.mapped(m, i, v.Specifier)
					if !ok {
						found = a.resolver.Resolve(a.asker(i, false), v.Specifier, resolve.How{})
					}
					add(found.Path)
				}
			}
		}
	}
	return true
}

// resolve finds what a file means by a specifier.
func (a *analysis) resolve(file int, specifier string, required bool) resolve.Result {
	if !required && a.importMaps != nil && len(a.importMaps[file]) > 0 {
		var first resolve.Result
		said := 0
		for _, m := range a.importMaps[file] {
			r, ok := a.mapped(m, file, specifier)
			if !ok {
				continue
			}
			if said++; said == 1 {
				first = r
			} else if r.Path != first.Path || r.URL != first.URL {
				return resolve.Result{Reason: "the import maps of pages that load it say different things"}
			}
		}
		if said > 0 {
			return first
		}
	}
	return a.resolver.Resolve(a.asker(file, required), specifier, resolve.How{Require: required})
}

// mapped is what the import map of a page says of a specifier.
func (a *analysis) mapped(m *pageMap, file int, specifier string) (resolve.Result, bool) {
	to, ok := m.Resolve(a.asker(file, false), specifier)
	if !ok {
		return resolve.Result{}, false
	}
	page := a.tree.Files[m.page].Path
	switch {
	case to == "":
		return resolve.Result{Reason: "the import map of " + page + " gives it nothing"}, true
	case elsewhere(to):
		return resolve.Result{URL: true, Address: to}, true
	}
	if p := a.scriptOf(m.page, a.documents[m.page].Base, to); p != "" {
		return resolve.Result{Path: p}, true
	}
	return resolve.Result{Reason: "the import map of " + page + " gives it " + address.Clean(to) + ", which is not there"}, true
}

// elsewhere reports whether an address is that of another place than the application.
func elsewhere(src string) bool {
	return strings.Contains(src, "://") || strings.HasPrefix(src, "//") || strings.HasPrefix(src, "data:") || strings.HasPrefix(src, "blob:")
}

// scriptOf is the file that an address in a document means, or "".
func (a *analysis) scriptOf(i int, base, src string) string {
	src, _, _ = strings.Cut(src, "#")
	src, _, _ = strings.Cut(src, "?")
	if src == "" || elsewhere(src) {
		return ""
	}
	if decoded, err := url.PathUnescape(src); err == nil {
		src = decoded
	}
	src = strings.ReplaceAll(src, `\`, "/")
	dir := path.Dir(a.tree.Files[i].Path)
	if base != "" && !strings.Contains(base, ":") {
		dir = path.Join(dir, path.Dir(base))
	}
	if strings.HasPrefix(src, "/") {
		for d := dir; ; d = path.Dir(d) { // the root of the site is one of the folders above
			if p := path.Join(d, src); a.Has(p) {
				return p
			}
			if d == "." || d == "/" {
				return ""
			}
		}
	}
	if p := path.Join(dir, src); a.Has(p) {
		return p
	}
	return ""
}

// drawUnread tells what of a document is code and was not read.
func (a *analysis) drawUnread(i int, d *html.Document) {
	for _, g := range []struct {
		what   string
		count  int
		reason string
	}{
		{"handlers of events in ", d.Handlers, "code in attributes is not read"},
		{"javascript: addresses in ", d.Addresses, "code in attributes is not read"},
		{"srcdoc documents in ", d.Documents, "documents in attributes are not read"},
		{"scripts in templates of ", d.Templates, "they only run where a program puts them into the page, and are not read"},
	} {
		if g.count > 0 {
			a.b.Gap(g.what+a.tree.Files[i].Path, int64(g.count), g.reason)
		}
	}
}
