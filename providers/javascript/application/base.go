package application

import (
	"path"
	"strings"
)

// asker is the path against which specifiers in a file are resolved: those of
// inline modules are relative to the base of their document, required ones are not.
func (a *analysis) asker(file int, required bool) string {
	at := a.tree.Files[file].Path
	d := a.documents[file]
	if d == nil || required || d.Base == "" || strings.Contains(d.Base, ":") || strings.HasPrefix(d.Base, "/") {
		return at
	}
	return path.Join(path.Dir(at), path.Dir(d.Base), path.Base(at))
}
