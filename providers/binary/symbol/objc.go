package symbol

import "strings"

// Symbols that compilers make for Objective-C's metadata, without the
// underscore that C names begin with on Mach-O.
var objcPrefixes = []struct{ prefix, what string }{
	{"OBJC_CLASS_$_", "class "},
	{"OBJC_METACLASS_$_", "metaclass "},
	{"OBJC_EHTYPE_$_", "exception type of class "},
	{"OBJC_PROTOCOL_$_", "protocol "},
	{"OBJC_LABEL_PROTOCOL_$_", "label of protocol "},
	{"OBJC_PROTOCOL_REFERENCE_$_", "reference to protocol "},
	{"OBJC_CLASSLIST_REFERENCES_$_", "reference to class "},
	{"OBJC_CLASS_RO_$_", "read-only data of class "},
	{"OBJC_METACLASS_RO_$_", "read-only data of metaclass "},
	{"OBJC_$_INSTANCE_METHODS_", "instance methods of "},
	{"OBJC_$_CLASS_METHODS_", "class methods of "},
	{"OBJC_$_INSTANCE_VARIABLES_", "instance variables of "},
	{"OBJC_$_PROP_LIST_", "properties of "},
	{"OBJC_$_CLASS_PROP_LIST_", "class properties of "},
	{"OBJC_CLASS_PROTOCOLS_$_", "protocols of class "},
	{"OBJC_$_PROTOCOL_INSTANCE_METHODS_OPT_", "optional instance methods of protocol "},
	{"OBJC_$_PROTOCOL_CLASS_METHODS_OPT_", "optional class methods of protocol "},
	{"OBJC_$_PROTOCOL_INSTANCE_METHODS_", "instance methods of protocol "},
	{"OBJC_$_PROTOCOL_CLASS_METHODS_", "class methods of protocol "},
	{"OBJC_$_PROTOCOL_METHOD_TYPES_", "method types of protocol "},
	{"OBJC_$_PROTOCOL_REFS_", "protocols adopted by protocol "},
	{"OBJC_$_CATEGORY_INSTANCE_METHODS_", "instance methods of category "},
	{"OBJC_$_CATEGORY_CLASS_METHODS_", "class methods of category "},
	{"OBJC_$_CATEGORY_", "category "},
	{"OBJC_CATEGORY_PROTOCOLS_$_", "protocols of category "},
	{"OBJC_IVAR_$_", "offset of instance variable "},
	{"objc_msgSend$", "stub that sends "},
	{"objc_cls_ref_", "reference to class "},
}

// objectiveC reads method names, which are readable already, the blocks inside
// of methods, and the names of metadata.
func objectiveC(s string) Name {
	if isMethod(s) {
		return Name{ObjectiveC, s, s}
	}
	plain := strings.TrimLeft(s, "_")
	if at := strings.Index(s, "_block_invoke"); at >= 0 {
		return block(plain)
	}
	for _, p := range objcPrefixes {
		name, ok := strings.CutPrefix(plain, p.prefix)
		if !ok || name == "" {
			continue
		}
		if p.prefix == "OBJC_$_CATEGORY_" || strings.Contains(p.what, "category") {
			if class, category, ok := strings.Cut(name, "_$_"); ok {
				name = class + "(" + category + ")"
			}
		}
		if strings.HasPrefix(name, "_Tt") {
			if n := swift(name); n.Readable != "" {
				name = n.Readable
			}
		}
		return Name{ObjectiveC, p.what + name, name}
	}
	return Name{}
}

// isMethod recognizes -[Class method:] and +[Class(Category) method:].
func isMethod(s string) bool {
	if len(s) < 6 || s[0] != '-' && s[0] != '+' || s[1] != '[' || s[len(s)-1] != ']' {
		return false
	}
	class, selector, ok := strings.Cut(s[2:len(s)-1], " ")
	return ok && class != "" && selector != "" && !strings.ContainsAny(selector, " []")
}

// block reads 24-[Class method:]_block_invoke_2, in which the number is of no
// use, and the same for functions.
func block(s string) Name {
	owner, tail, _ := strings.Cut(s, "_block_invoke")
	trimmed := strings.TrimLeft(owner, "0123456789")
	if trimmed == "" || tail != "" && tail[0] != '_' && tail[0] != '.' {
		return Name{}
	}
	number := strings.TrimPrefix(tail, "_")
	if trimmed == owner && !isMethod(trimmed) {
		if n := itanium("_" + owner); n.Readable != "" {
			trimmed = n.Readable
		}
	}
	out := "block in " + trimmed
	if number != "" && number != tail {
		out = "block " + number + " in " + trimmed
	}
	return Name{ObjectiveC, out, trimmed}
}
