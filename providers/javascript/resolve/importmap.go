package resolve

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An ImportMap is what a page says that its modules mean by specifiers, as HTML has it
// (section 8.1.6.2, Import maps). Keys that are addresses and scopes are paths of the
// application with "/" before them.
type ImportMap struct {
	imports []mapping // the longest key first
	scopes  []scope
}

// A mapping is what a specifier means; Address is "" for one that means nothing.
type mapping struct{ key, address string }

type scope struct {
	prefix  string
	imports []mapping
}

// maxMappings bounds what is read of one map.
const maxMappings = 100_000

// Add reads a map of the page that is at from, behind those that were read before: what
// they say holds.
func (m *ImportMap) Add(from string, text []byte) bool {
	var d struct {
		Imports map[string]jsontext.Value            `json:"imports"`
		Scopes  map[string]map[string]jsontext.Value `json:"scopes"`
	}
	if json.Unmarshal(text, &d, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return false
	}
	left := maxMappings
	m.imports = add(m.imports, from, d.Imports, &left)
	names := make([]string, 0, len(d.Scopes))
	for name := range d.Scopes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, prefix := range keys(from, name) {
			i := slices.IndexFunc(m.scopes, func(s scope) bool { return s.prefix == prefix })
			if i < 0 {
				i = len(m.scopes)
				m.scopes = append(m.scopes, scope{prefix: prefix})
			}
			m.scopes[i].imports = add(m.scopes[i].imports, from, d.Scopes[name], &left)
		}
	}
	slices.SortStableFunc(m.scopes, func(a, b scope) int { return longest(a.prefix, b.prefix) })
	return true
}

func longest(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }

func add(list []mapping, from string, imports map[string]jsontext.Value, left *int) []mapping {
	known := map[string]bool{}
	for _, e := range list {
		known[e.key] = true
	}
	names := make([]string, 0, len(imports))
	for name := range imports {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if *left--; *left < 0 || name == "" {
			continue
		}
		address := ""
		if v := imports[name]; v.Kind() != '"' || json.Unmarshal(v, &address) != nil || !written(address) || strings.HasSuffix(name, "/") && !strings.HasSuffix(address, "/") {
			address = ""
		}
		for _, key := range keys(from, name) {
			if !known[key] {
				known[key] = true
				list = append(list, mapping{key, address})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b mapping) int { return longest(a.key, b.key) })
	return list
}

// written reports whether a specifier is an address.
func written(s string) bool {
	return strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "/") || strings.Contains(s, "://") || strings.HasPrefix(s, "data:") || strings.HasPrefix(s, "blob:")
}

// keys are what specifiers are compared with: a name, or the path that an address means.
// The root of a site is one of the folders above its page.
func keys(from, name string) []string {
	end := ""
	if strings.HasSuffix(name, "/") {
		end = "/"
	}
	switch {
	case strings.Contains(name, "://"), !written(name):
		return []string{name}
	case !strings.HasPrefix(name, "/"):
		return []string{folder(path.Join(path.Dir(from), name), end)}
	}
	var list []string
	for d := path.Dir(from); ; d = path.Dir(d) {
		list = append(list, folder(path.Join(d, name), end))
		if d == "." || d == "/" {
			return list
		}
	}
}

func folder(p, end string) string {
	if p == "." {
		return "/"
	}
	return "/" + p + end
}

// Resolve is the address that the map gives for a specifier in the file at from; known
// is false when it says nothing of it. The address is "" for what the map forbids, and
// otherwise relative to the page.
func (m *ImportMap) Resolve(from, specifier string) (address string, known bool) {
	key := specifier
	switch {
	case strings.HasPrefix(specifier, "./"), strings.HasPrefix(specifier, "../"):
		key = "/" + path.Join(path.Dir(from), specifier)
	}
	at := "/" + path.Clean(from)
	for i := range m.scopes {
		s := &m.scopes[i]
		if s.prefix != at && (!strings.HasSuffix(s.prefix, "/") || !strings.HasPrefix(at, s.prefix)) {
			continue
		}
		if address, known = found(s.imports, key); known {
			return address, true
		}
	}
	return found(m.imports, key)
}

func found(list []mapping, key string) (string, bool) {
	i, ok := slices.BinarySearchFunc(list, key, func(e mapping, key string) int { return longest(e.key, key) })
	if ok {
		return list[i].address, true
	}
	for ; i < len(list); i++ { // from the longest on that it may begin with
		e := &list[i]
		if strings.HasSuffix(e.key, "/") && strings.HasPrefix(key, e.key) {
			if e.address == "" {
				return "", true
			}
			return e.address + key[len(e.key):], true
		}
	}
	return "", false
}
