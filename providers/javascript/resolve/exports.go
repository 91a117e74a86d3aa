package resolve

import (
	"path"
	"slices"
	"strings"
)

// An Exported is a file that a package gives under a subpath, and the conditions on
// which it does.
type Exported struct {
	Subpath    string // "." for the package itself; may have a "*"
	Conditions []string
	Path       string // may have a "*"
}

// maxExported bounds what is listed of one package.
const maxExported = 1000

// Exported lists what the member exports of a package names, in its order.
func (m *Manifest) Exported() []Exported {
	var list []Exported
	if m.Exports != nil {
		exported(m.Exports, ".", nil, 0, &list)
	}
	return list
}

func exported(t *Target, subpath string, conditions []string, depth int, list *[]Exported) {
	if t == nil || t.Null || depth > maxTargetDepth || len(*list) >= maxExported {
		return
	}
	if t.Path != "" {
		*list = append(*list, Exported{subpath, slices.Clone(conditions), t.Path})
		return
	}
	for _, inner := range t.List {
		exported(inner, subpath, conditions, depth+1, list)
	}
	for _, e := range t.Entries {
		if strings.HasPrefix(e.Key, ".") && depth == 0 {
			exported(e.Value, e.Key, conditions, depth+1, list)
		} else {
			exported(e.Value, subpath, append(slices.Clone(conditions), e.Key), depth+1, list)
		}
	}
}

// Matches reports whether a path in a package is one that a pattern with a "*" means.
func Matches(pattern, p string) bool {
	before, after, ok := strings.Cut(path.Clean(pattern), "*")
	if !ok {
		return path.Clean(pattern) == p
	}
	after = strings.ReplaceAll(after, "*", "") // a second one stands for the same
	return len(p) >= len(before)+len(after) && strings.HasPrefix(p, before) && strings.HasSuffix(p, after)
}
