package project

import (
	"fmt"
	"slices"
	"strings"

	"rea/gen/load"
)

// mergeRoot makes one object of a union of objects at the root. Properties are
// merged, what all alternatives require stays required, a property that only one
// alternative has brings the others that this alternative requires, and the
// description tells the alternatives. It accepts more than the union does; the
// server holds calls to the union itself.
func mergeRoot(root *load.Node) *load.Node {
	alternatives := root.Get("oneOf").List()
	if alternatives == nil {
		if !root.Has("properties") {
			root = with(root, "properties", object())
		}
		return root
	}
	defs := root.Get("$defs")
	var groups []*load.Node
	for _, a := range alternatives {
		groups = append(groups, target(a, defs))
	}
	var names []string
	for _, g := range groups {
		for _, m := range g.Get("properties").Members {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	properties, required := object(), list()
	dependent := object()
	for _, name := range names {
		var forms []*load.Node
		always, owners := true, 0
		var owner *load.Node
		for _, g := range groups {
			always = always && slices.Contains(g.Get("required").Strings(), name)
			if p := g.At("properties", name); p != nil {
				forms = append(forms, p)
				owners++
				owner = g
			}
		}
		properties.Members = append(properties.Members, load.Member{Name: name, Value: mergeForms(forms)})
		if always {
			required.Items = append(required.Items, text(name))
		}
		if owners == 1 {
			if needs := companions(owner, groups, name); len(needs) > 0 {
				dependent.Members = append(dependent.Members, load.Member{Name: name, Value: texts(needs...)})
			}
		}
	}
	out := object(load.Member{Name: "type", Value: text("object")},
		load.Member{Name: "description", Value: text(describeGroups(root.Str("description"), groups))},
		load.Member{Name: "properties", Value: properties})
	if len(required.Items) > 0 {
		out = with(out, "required", required)
	}
	if len(dependent.Members) > 0 {
		out = with(out, "dependentRequired", dependent)
	}
	out = with(out, "additionalProperties", &load.Node{Kind: load.Bool, Text: "false"})
	if defs != nil {
		out = with(out, "$defs", defs)
	}
	return out
}

// target follows a reference to a definition.
func target(n, defs *load.Node) *load.Node {
	for range 32 {
		ref := n.Str("$ref")
		if ref == "" {
			return n
		}
		n = defs.Get(strings.TrimPrefix(ref, local))
	}
	return n
}

// companions are what the group of a property requires beyond what all groups
// require.
func companions(owner *load.Node, groups []*load.Node, name string) []string {
	var needs []string
	for _, other := range owner.Get("required").Strings() {
		shared := true
		for _, g := range groups {
			shared = shared && slices.Contains(g.Get("required").Strings(), other)
		}
		if other != name && !shared {
			needs = append(needs, other)
		}
	}
	return needs
}

// mergeForms is one schema for what a property is in several groups: the one form
// there is, the values of constants, or the alternatives.
func mergeForms(forms []*load.Node) *load.Node {
	var distinct []*load.Node
	for _, f := range forms {
		if !slices.ContainsFunc(distinct, func(d *load.Node) bool {
			return without(d, "description").JSON() == without(f, "description").JSON()
		}) {
			distinct = append(distinct, f)
		}
	}
	if len(distinct) == 1 {
		return distinct[0]
	}
	var values []string
	description := ""
	for _, f := range distinct {
		switch {
		case f.Str("type") != "string":
			values = append(values, "")
		case f.Has("const"):
			values = append(values, f.Str("const"))
		case f.Has("enum"):
			values = append(values, f.Get("enum").Strings()...)
		default:
			values = append(values, "")
		}
		if description == "" {
			description = f.Str("description")
		}
	}
	out := object()
	if slices.Contains(values, "") {
		for i, f := range distinct {
			distinct[i] = without(f, "description", "default")
		}
		out = with(out, "anyOf", list(distinct...))
	} else {
		out = with(with(out, "type", text("string")), "enum", texts(unique(values)...))
	}
	if description != "" {
		out = with(out, "description", text(description))
	}
	return out
}

func unique(values []string) []string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// describeGroups tells which properties go together: `Give mode="all", or
// mode="one" with name and optionally limit.`
func describeGroups(description string, groups []*load.Node) string {
	var parts []string
	for _, g := range groups {
		required := g.Get("required").Strings()
		var tags, needs, may []string
		for _, m := range g.Get("properties").Members {
			switch c := m.Value.Get("const"); {
			case c != nil && slices.Contains(required, m.Name):
				tags = append(tags, fmt.Sprintf("%s=%s", m.Name, c.JSON()))
			case slices.Contains(required, m.Name):
				needs = append(needs, m.Name)
			default:
				may = append(may, m.Name)
			}
		}
		part := strings.Join(append(tags, needs...), " and ")
		if len(may) > 0 {
			part = strings.TrimSpace(part + " (optional: " + strings.Join(may, ", ") + ")")
		}
		parts = append(parts, part)
	}
	given := "Accepted groups: " + strings.Join(parts, "; or ") + "."
	return strings.TrimSpace(description + " " + given)
}
