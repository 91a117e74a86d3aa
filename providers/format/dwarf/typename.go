package dwarf

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a written type: how deep types nest, how long one may get.
const (
	maxTypeDepth  = 24
	maxTypeLength = 512
)

// typeOf writes the type that an entry's attribute refers to; no attribute is
// void.
func (d *Data) typeOf(u *unit, a attribute) string {
	n := typeNamer{d: d, budget: 256}
	s := n.attr(u, a, 0)
	if len(s) > maxTypeLength {
		return s[:maxTypeLength] + "…"
	}
	return s
}

// typeNamer writes types as C declares them, without names. Its budget bounds
// the entries visited.
type typeNamer struct {
	d      *Data
	budget int
}

func (n *typeNamer) attr(u *unit, a attribute, depth int) string {
	if !a.ok {
		return "void"
	}
	r, ok := n.d.reference(u, a)
	if !ok {
		return "?"
	}
	return n.name(r, depth)
}

func (n *typeNamer) name(r Ref, depth int) string {
	if n.budget--; depth > maxTypeDepth || n.budget < 0 {
		return "…"
	}
	u, e, w, ok := n.d.at(r)
	if !ok {
		return "?"
	}
	name := clip(n.d.str(u, e.get(atName)))
	target := e.get(atType)
	switch e.tag {
	case tagStructureType, tagClassType, tagUnionType, tagEnumerationType, tagTypedef:
		if name != "" {
			name = n.d.scoped(u, r, name)
		}
	}
	switch e.tag {
	case tagPointerType:
		if name != "" && u.language == langGo {
			return name
		}
		return pointer(n.attr(u, target, depth+1), "*")
	case tagReferenceType:
		return pointer(n.attr(u, target, depth+1), "&")
	case tagRvalueReference:
		return pointer(n.attr(u, target, depth+1), "&&")
	case tagConstType:
		return qualified(n.attr(u, target, depth+1), "const")
	case tagVolatileType:
		return qualified(n.attr(u, target, depth+1), "volatile")
	case tagRestrictType:
		return qualified(n.attr(u, target, depth+1), "restrict")
	case tagAtomicType:
		return qualified(n.attr(u, target, depth+1), "_Atomic")
	case tagPtrToMember:
		return pointer(n.attr(u, target, depth+1), "::*")
	case tagStructureType, tagClassType, tagUnionType, tagEnumerationType:
		return tagged(u, e.tag, name)
	case tagArrayType:
		if name != "" {
			return name
		}
		return n.array(u, e, w, depth)
	case tagSubroutineType:
		if name != "" {
			return name
		}
		return n.function(u, e, w, depth)
	}
	if name == "" {
		return fmt.Sprintf("(anonymous %s)", tagWord(e.tag))
	}
	return name
}

func clip(s string) string {
	if len(s) > maxTypeLength {
		return s[:maxTypeLength] + "…"
	}
	return s
}

// pointer adds a declarator; a function type, or a pointer to one, takes it
// inside.
func pointer(target, mark string) string {
	if i := strings.Index(target, " (*"); i >= 0 {
		return target[:i+3] + mark + target[i+3:]
	}
	if i := strings.Index(target, " ("); i >= 0 && strings.HasSuffix(target, ")") && i > 0 {
		return target[:i] + " (" + mark + ")" + target[i+1:]
	}
	if strings.HasSuffix(target, "*") || strings.HasSuffix(target, "&") {
		return target + mark
	}
	return target + " " + mark
}

// qualified puts a qualifier before a plain type and after a pointer.
func qualified(target, word string) string {
	if i := strings.Index(target, " (*"); i >= 0 {
		return target[:i+3] + word + target[i+3:]
	}
	if strings.HasSuffix(target, "*") {
		return target + " " + word
	}
	return word + " " + target
}

func tagWord(tag uint32) string {
	switch tag {
	case tagStructureType:
		return "struct"
	case tagClassType:
		return "class"
	case tagUnionType:
		return "union"
	case tagEnumerationType:
		return "enum"
	case tagArrayType:
		return "array"
	case tagTypedef, tagTemplateAlias:
		return "typedef"
	case tagBaseType:
		return "base"
	case tagSubroutineType:
		return "function"
	case tagUnspecifiedType:
		return "unspecified"
	}
	return "type"
}

func tagged(u *unit, tag uint32, name string) string {
	word := tagWord(tag)
	switch {
	case name == "":
		return "(anonymous " + word + ")"
	case u.plainC():
		return word + " " + name
	}
	return name
}

// array writes "element[n][m]".
func (n *typeNamer) array(u *unit, e *entry, w *walker, depth int) string {
	element, kids := e.get(atType), e.kids
	var dims strings.Builder
	for kids && dims.Len() < 128 {
		k, ok := w.next()
		if n.budget--; !ok || k.depth < 1 || n.budget < 0 {
			break
		}
		if k.depth == 1 && k.tag == tagSubrangeType {
			if count, ok := dimension(u, k); ok {
				dims.WriteString("[" + strconv.FormatUint(count, 10) + "]")
			} else {
				dims.WriteString("[]")
			}
		}
	}
	if dims.Len() == 0 {
		dims.WriteString("[]")
	}
	s := n.attr(u, element, depth+1)
	if i := strings.Index(s, " (*"); i >= 0 { // an array of function pointers
		return s[:i+3] + dims.String() + s[i+3:]
	}
	return s + dims.String()
}

// dimension is the number of elements a subrange gives.
func dimension(u *unit, k *entry) (uint64, bool) {
	if a := k.get(atCount); a.ok && a.b == nil && a.form != formExprloc && !isRef(a.form) {
		return a.u, true
	}
	a := k.get(atUpperBound)
	if !a.ok || a.b != nil || isRef(a.form) {
		return 0, false
	}
	low := uint64(0)
	if l := k.get(atLowerBound); l.ok && l.b == nil {
		low = l.u
	}
	upper := a.u
	if u.version < 5 || a.form != formSdata {
		upper = signedData(a)
	}
	if upper+1 < low {
		return 0, false
	}
	return upper + 1 - low, true
}

// signedData widens a fixed-size value of all ones, which stands for -1: an
// array without elements.
func signedData(a attribute) uint64 {
	switch {
	case a.form == formData4 && a.u == 1<<32-1, a.form == formData2 && a.u == 1<<16-1, a.form == formData1 && a.u == 1<<8-1:
		return ^uint64(0)
	}
	return a.u
}

func isRef(form uint32) bool {
	return form == formRefAddr || form >= formRef1 && form <= formRefUdata || form == formRefSig8
}

// function writes "result (a, b)".
func (n *typeNamer) function(u *unit, e *entry, w *walker, depth int) string {
	kids := e.kids
	result := n.attr(u, e.get(atType), depth+1)
	var params []string
	for kids && len(params) < 64 {
		k, ok := w.next()
		if n.budget--; !ok || k.depth < 1 || n.budget < 0 {
			break
		}
		if k.depth > 1 {
			continue
		}
		switch k.tag {
		case tagFormalParameter:
			params = append(params, n.attr(u, k.get(atType), depth+1))
		case tagUnspecifiedParameters:
			params = append(params, "...")
		}
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	return result + " (" + strings.Join(params, ", ") + ")"
}
