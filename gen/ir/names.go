package ir

import (
	"go/token"
	"strings"
	"unicode"
)

// initialisms are words that Go writes in one case.
var initialisms = map[string]string{
	"abi": "ABI", "api": "API", "cli": "CLI", "cpu": "CPU", "html": "HTML", "http": "HTTP", "id": "ID", "ids": "IDs",
	"json": "JSON", "mcp": "MCP", "objc": "ObjC", "os": "OS", "pid": "PID", "sdk": "SDK", "sha256": "SHA256",
	"uri": "URI", "url": "URL", "utf8": "UTF8", "utf16le": "UTF16LE",
}

// exported is the exported Go name of a contract name, in any of its spellings:
// snake_case, kebab-case, words.
func exported(name string) string {
	var b strings.Builder
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		text, ok := initialisms[strings.ToLower(w)]
		if !ok {
			text = strings.ToUpper(w[:1]) + w[1:]
		}
		if s := b.String(); s != "" && unicode.IsDigit(rune(s[len(s)-1])) && unicode.IsDigit(rune(text[0])) {
			b.WriteByte('_')
		}
		b.WriteString(text)
	}
	if b.Len() == 0 {
		return "Empty"
	}
	return b.String()
}

// singular names one item of a list called name.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "IDs"):
		return strings.TrimSuffix(name, "s")
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "sses"), strings.HasSuffix(name, "xes"), strings.HasSuffix(name, "ches"):
		return strings.TrimSuffix(name, "es")
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") && !strings.HasSuffix(name, "us"):
		return strings.TrimSuffix(name, "s")
	}
	return name + "Item"
}

// goName reports whether a contract may choose the name.
func goName(name string) bool { return token.IsIdentifier(name) && token.IsExported(name) }
