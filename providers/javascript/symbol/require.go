package symbol

import (
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// mostAsking bounds how often the question whether something is require may raise
// itself: const {createRequire} = require("module") raises it twice, and code that
// makes a variable of itself would raise it for ever.
const mostAsking = 2

// IsRequire reports whether an expression is CommonJS's require: the global, a
// parameter of that name, which module wrappers have, or one that was made with
// createRequire or is a method of a module.
func (n *Namer) IsRequire(r parse.Ref) bool {
	if n.asking == mostAsking {
		return false
	}
	n.asking++
	defer func() { n.asking-- }()
	f := n.f
	switch f.Kind(r) {
	case parse.Ident:
		b := n.t.Binding(r)
		switch f.NameOf(r) {
		case "__require":
			return true
		case "require":
			if b == nil || b.How == scope.Parameter {
				return true
			}
		}
		if b == nil {
			return false
		}
		value, ok := n.Origin(n.t.Of[r])
		return ok && n.makesRequire(value)
	case parse.Call:
		return n.makesRequire(r)
	case parse.Dot:
		switch f.NameOf(f.Kid(r, 1)) {
		case "require":
			object := f.First(r)
			switch f.Kind(object) {
			case parse.Ident:
				return f.NameOf(object) == "module" && n.t.Of[object] == 0
			case parse.Dot:
				p := n.Path(object)
				return p == "process.mainModule" || p == "require.main"
			}
		case "getBuiltinModule":
			return n.Path(r) == "process.getBuiltinModule"
		case "_load":
			return n.Path(r) == "module._load"
		}
	}
	return false
}

// makesRequire reports whether a call is one of createRequire.
func (n *Namer) makesRequire(call parse.Ref) bool {
	f := n.f
	if f.Kind(call) != parse.Call {
		return false
	}
	callee := f.First(call)
	for f.Kind(callee) == parse.Sequence { // (0, module.createRequire)(…)
		callee = f.Last(callee)
	}
	if k := f.Kind(callee); k != parse.Ident && k != parse.Dot {
		return false
	}
	switch n.Path(callee) {
	case "module.createRequire", "module.createRequireFromPath":
		return true
	}
	return false
}
