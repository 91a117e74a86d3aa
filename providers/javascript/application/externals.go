package application

import (
	"rea/providers/javascript/bundle"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
)

// externals are the modules of a program's bundles that only hand on a module
// from outside: module.exports = require("electron").
type externals struct {
	p     *bundle.File
	roles map[scope.BindingID]bundle.Role
	u     *unit
	named []map[string]string // by bundle: specifiers by id
}

// newExternals looks for them.
func newExternals(p *bundle.File, roles map[scope.BindingID]bundle.Role, u *unit) *externals {
	x := &externals{p: p, roles: roles, u: u, named: make([]map[string]string, len(u.bundles))}
	for i := range u.bundles {
		for j := range u.bundles[i].Modules {
			m := &u.bundles[i].Modules[j]
			if specifier, ok := x.handedOn(m); ok {
				if x.named[i] == nil {
					x.named[i] = map[string]string{}
				}
				x.named[i][m.ID] = specifier
			}
		}
	}
	return x
}

// handedOn is the module from outside that a module is.
func (x *externals) handedOn(m *bundle.Module) (string, bool) {
	if m.Func == 0 || m.Kind != bundle.Wrapped {
		return "", false
	}
	r := x.p.Kid(m.Func, 2)
	if x.p.Kind(r) == parse.Block {
		r = x.p.First(r)
		for x.p.Kind(r) == parse.ExprStmt && x.p.Kind(x.p.First(r)) == parse.String { // "use strict"
			r = x.p.Next(r)
		}
		if x.p.Next(r) != 0 {
			return "", false
		}
	}
	if x.p.Kind(r) == parse.ExprStmt {
		r = x.p.First(r)
	}
	target := x.p.First(r)
	if x.p.Kind(r) != parse.Assign || x.p.Kind(target) != parse.Dot || x.p.NameOf(x.p.Kid(target, 1)) != "exports" {
		return "", false
	}
	if object := x.p.First(target); x.p.Kind(object) != parse.Ident || x.roles[x.p.Scopes.Of[object]] != bundle.ModuleRole {
		return "", false
	}
	return x.p.Names.Required(x.p.Next(target))
}

// External is the specifier of the outside module that a call gives.
func (x *externals) External(call parse.Ref) (string, bool) {
	if x.p.Kind(call) != parse.Call || !x.loads(x.p.First(call)) {
		return "", false
	}
	part := x.u.nest.Innermost(x.p.At(call).Start)
	if part < 0 {
		return "", false
	}
	named := x.named[x.u.parts[1+part].bundle]
	if len(named) == 0 {
		return "", false
	}
	arg := x.p.Next(x.p.First(call))
	id, ok := x.p.Constant(arg)
	if x.p.Kind(arg) == parse.Number {
		id, ok = x.p.NumberKey(arg)
	}
	if !ok {
		return "", false
	}
	specifier, ok := named[id]
	return specifier, ok
}

// Default is the module in require.n(module).
func (x *externals) Default(call parse.Ref) parse.Ref {
	callee := x.p.First(call)
	if x.p.Kind(call) != parse.Call || x.p.Kind(callee) != parse.Dot || x.p.NameOf(x.p.Kid(callee, 1)) != "n" || !x.loads(x.p.First(callee)) {
		return 0
	}
	return x.p.Next(callee)
}

// loads reports whether a callee is the function with which a bundle loads.
func (x *externals) loads(callee parse.Ref) bool {
	return x.p.Kind(callee) == parse.Ident && x.roles[x.p.Scopes.Of[callee]] == bundle.RequireRole && x.p.Scopes.Of[callee] != 0
}
