package render

import (
	"strings"

	"rea/cmd/terminal"
)

// cell writes a value into one line.
func cell(n *node) string {
	switch n.kind {
	case 'n':
		return "-"
	case 't':
		return "yes"
	case 'f':
		return "no"
	case '"':
		if n.text == "" {
			return `""`
		}
		return terminal.Escape(n.text)
	case '0':
		return n.text
	case '[':
		return listCell(n)
	default:
		return objectCell(n)
	}
}

func listCell(n *node) string {
	if len(n.items) == 0 {
		return "-"
	}
	sep := ", "
	if !n.all((*node).scalar) {
		sep = "; "
	}
	parts := make([]string, len(n.items))
	for i, item := range n.items {
		parts[i] = cell(item)
	}
	return strings.Join(parts, sep)
}

// objectCell writes addresses with names as "0x1000 main", ranges as
// "0x1000-0x1080", places in files as "a.js:3 @120" and other objects as "field value, field value".
func objectCell(n *node) string {
	if s, ok := wellKnown(n); ok {
		return s
	}
	var parts []string
	for i, item := range n.items {
		if item.empty() {
			continue
		}
		parts = append(parts, label(n.names[i])+" "+cell(item))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func wellKnown(n *node) (string, bool) {
	only := func(names ...string) bool {
		if len(n.names) != len(names) {
			return false
		}
		for _, name := range names {
			if n.get(name) == nil {
				return false
			}
		}
		return true
	}
	switch {
	case only("address", "name"):
		name := n.get("name")
		if name.kind == 'n' {
			return cell(n.get("address")), true
		}
		return cell(n.get("address")) + " " + cell(name), true
	case only("start", "end"):
		return cell(n.get("start")) + "-" + cell(n.get("end")), true
	case only("path", "start", "end", "line"): // the byte tells where in a file of one line
		return cell(n.get("path")) + ":" + cell(n.get("line")) + " @" + cell(n.get("start")), true
	case only("sha256"):
		return "sha256 " + cell(n.get("sha256")), true
	}
	// A whole procedure in a cell is its address and readable name.
	if n.get("address") != nil && n.get("demangled") != nil && n.get("name") != nil {
		name := n.get("demangled")
		if name.kind == 'n' {
			name = n.get("name")
		}
		return cell(n.get("address")) + " " + cell(name), true
	}
	return "", false
}

func label(name string) string {
	return terminal.Escape(strings.ReplaceAll(name, "_", " "))
}

// permissions replaces three yes or no by one word as ls and readelf write it.
func permissions(n *node) *node {
	flags := []string{"readable", "writable", "executable"}
	word := []byte("---")
	for i, name := range flags {
		m := n.get(name)
		if m == nil || m.kind != 't' && m.kind != 'f' {
			return n
		}
		if m.kind == 't' {
			word[i] = "rwx"[i]
		}
	}
	out := &node{kind: '{'}
	for i, name := range n.names {
		switch name {
		case "readable":
			out.names, out.items = append(out.names, "access"), append(out.items, &node{kind: '"', text: string(word)})
		case "writable", "executable":
		default:
			out.names, out.items = append(out.names, name), append(out.items, n.items[i])
		}
	}
	return out
}
