package embedded

import (
	"fmt"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/embedded/ssa"
	"rea/providers/embedded/values"
	"rea/providers/format/objc"
	"rea/providers/format/object"
)

// sends says whether a row is a message send of Objective-C: a call of the
// runtime's function, or of one of the linker's stubs that load a selector.
func (e *Engine) sends(row *model.CallTarget) bool {
	if e.im.Format != object.MachO || len(row.Targets) != 1 {
		return false
	}
	if name := row.Targets[0].Name; name != nil && strings.HasPrefix(strings.TrimLeft(*name, "_"), "objc_msgSend") {
		return true
	}
	_, ok := e.messageStub(uint64(row.Targets[0].Address))
	return ok
}

// messageStub is the selector that the stub at an address sends.
func (e *Engine) messageStub(addr uint64) (string, bool) {
	m, err := e.apple()
	if err != nil {
		return "", false
	}
	i, ok := slices.BinarySearchFunc(m.Stubs, addr, func(s objc.MessageStub, a uint64) int {
		switch {
		case s.Addr < a:
			return -1
		case s.Addr > a:
			return 1
		}
		return 0
	})
	if !ok {
		return "", false
	}
	return m.Stubs[i].Selector, true
}

// receiver is what is known of the object that a message is sent to.
type receiver struct {
	class string // "" when nothing is
	meta  bool   // the class itself, not an instance
	exact bool   // no class that derives from it
	// made: it was made by alloc, init or new, which by convention give an
	// instance of the class they are sent to.
	made bool
}

func (v receiver) String() string {
	what := "an object whose class is not known"
	switch {
	case v.class == "":
	case v.meta:
		what = "the class " + v.class
	default:
		what = "an instance of " + v.class
	}
	if v.class != "" && !v.exact {
		what += " or of a class that derives from it"
		if v.meta {
			what = "the class " + v.class + " or one that derives from it"
		}
	}
	if v.made {
		what += ", as alloc, init and new give"
	}
	return what
}

// message finds the implementations that a message send can reach.
func (r *resolver) message(row *model.CallTarget, v ssa.ID) error {
	m, err := r.e.apple()
	if err != nil {
		return nil // the metadata cannot be read: the row stays as it is
	}
	selector, super := r.sent(row, v)
	row.Method = model.CallTargetMethodMessageSend
	if selector == "" {
		reason := "the selector is not constant"
		row.Reason = &reason
		return nil
	}
	classes := objcClasses{m}
	to := receiver{}
	if list := r.flow.f.List(v); super {
		if to = r.enclosing(); to.class != "" {
			c := classes.named(to.class)
			to = receiver{class: c.Super, meta: to.meta, exact: true}
		}
	} else if len(list) > 0 && list[0] != 0 {
		to = r.receiver(list[0], 0)
	}
	found, complete := classes.implementations(selector, to)
	reason := fmt.Sprintf("sends %s to %s", selector, to)
	if super && to.class != "" {
		reason = fmt.Sprintf("sends %s to the superclass, %s", selector, to.class)
	}
	if len(found) == 0 {
		row.Reason = &reason
		reason += "; no class of this file implements it"
		return nil
	}
	row.State, row.Targets = model.CallTargetStateCandidates, []model.SymbolRef{}
	switch {
	case complete && to.exact && !to.made && len(found) == 1:
		row.State = model.CallTargetStateResolved
	case complete:
	default:
		reason += "; these are the implementations in this file, others may exist"
	}
	row.Reason = &reason
	for _, at := range found[:min(len(found), mostTargets)] {
		row.Targets = append(row.Targets, r.e.symbolRef(r.p, at))
	}
	return nil
}

// sent is the selector of a message, and whether it is for the superclass.
func (r *resolver) sent(row *model.CallTarget, v ssa.ID) (selector string, super bool) {
	if s, ok := r.e.messageStub(uint64(row.Targets[0].Address)); ok {
		return s, false
	}
	name := strings.TrimLeft(*row.Targets[0].Name, "_")
	super = strings.HasPrefix(name, "objc_msgSendSuper")
	if _, s, ok := strings.Cut(name, "$"); ok {
		return s, super
	}
	k := 1
	if strings.HasSuffix(name, "_stret") && r.e.im.Arch != object.ARM64 { // the place of the result comes first
		k = 2
	}
	if list := r.flow.f.List(v); k < len(list) && list[k] != 0 {
		selector = r.selector(list[k])
	}
	return selector, super
}

// enclosing is the object that the function is a method of.
func (r *resolver) enclosing() receiver {
	m, err := r.e.apple()
	if err != nil {
		return receiver{}
	}
	entry := r.flow.f.Blocks[1].Start
	for k := range m.Classes {
		c := &m.Classes[k]
		for i := range c.Methods {
			if c.Methods[i].IMP == entry {
				return receiver{class: c.Name}
			}
		}
		for i := range c.ClassMethods {
			if c.ClassMethods[i].IMP == entry {
				return receiver{class: c.Name, meta: true}
			}
		}
	}
	for k := range m.Categories {
		c := &m.Categories[k]
		for i := range c.Methods {
			if c.Methods[i].IMP == entry {
				return receiver{class: c.Class}
			}
		}
		for i := range c.ClassMethods {
			if c.ClassMethods[i].IMP == entry {
				return receiver{class: c.Class, meta: true}
			}
		}
	}
	return receiver{}
}

// farReceiver bounds how far an object is followed to where it was made.
const farReceiver = 12

// receiver tells the class of an object from where it comes: a class that is
// named, the object whose method this is, one that was just made.
func (r *resolver) receiver(v ssa.ID, depth int) receiver {
	f := r.flow.f
	x := &f.Values[v]
	m, err := r.e.apple()
	if err != nil || depth > farReceiver {
		return receiver{}
	}
	switch x.Kind {
	case ssa.Const:
		for k := range m.Classes {
			if m.Classes[k].Addr == x.N {
				return receiver{class: m.Classes[k].Name, meta: true, exact: true}
			}
		}
	case ssa.Load:
		slot, ok := r.flow.at(x.Args[0], x.Block).One()
		if !ok {
			break
		}
		for k := range m.ClassRefs {
			if m.ClassRefs[k].Addr == slot {
				return receiver{class: m.ClassRefs[k].Name, meta: true, exact: true}
			}
		}
	case ssa.Entry:
		if len(r.l.Convention.Ints) > 0 && int(x.Var) == r.l.Convention.Ints[0] {
			return r.enclosing()
		}
	case ssa.Phi:
		var one receiver
		for k, a := range f.List(v) {
			to := r.receiver(a, depth+4)
			if k > 0 && to != one {
				return receiver{}
			}
			one = to
		}
		return one
	case ssa.After:
		call := &f.Values[x.Args[0]]
		list := f.List(x.Args[0])
		if call.Kind == ssa.Call && int(x.Var) == r.l.Convention.Results[0] && len(list) > 0 && list[0] != 0 {
			return r.given(call, list, depth)
		}
	}
	return receiver{}
}

// given is the object that a call returns.
func (r *resolver) given(call *ssa.Value, list []ssa.ID, depth int) receiver {
	callee := r.l.CalleeAt(call.Addr)
	name := strings.TrimLeft(callee.Import, "_")
	selector := ""
	if name == "" && callee.Function < 0 {
		name = strings.TrimLeft(r.importIn(call.Args[0]), "_")
	}
	if name == "" && callee.Function >= 0 {
		if s, ok := r.e.messageStub(r.p.Functions[callee.Function].Entry); ok {
			selector = s
		} else {
			name = strings.TrimLeft(r.p.Functions[callee.Function].Name, "_")
		}
	}
	if s, ok := strings.CutPrefix(name, "objc_msgSend$"); ok {
		selector = s
	} else if name == "objc_msgSend" && len(list) > 1 && list[1] != 0 {
		selector = r.selector(list[1])
	}
	switch {
	case name == "objc_alloc", name == "objc_allocWithZone":
		selector = "alloc"
	case name == "objc_alloc_init", name == "objc_opt_new":
		selector = "new"
	case strings.HasPrefix(name, "objc_retain") && name != "objc_retainBlock", strings.HasPrefix(name, "objc_autorelease") && !strings.HasPrefix(name, "objc_autoreleasePool"), name == "objc_opt_self",
		strings.HasPrefix(name, "objc_claimAutoreleased"), strings.HasPrefix(name, "objc_unsafeClaimAutoreleased"):
		return r.receiver(list[0], depth+1)
	}
	to := r.receiver(list[0], depth+1)
	switch {
	case to.class == "":
	case to.meta && (selector == "alloc" || selector == "allocWithZone:" || selector == "new"):
		return receiver{class: to.class, exact: to.exact, made: true}
	case !to.meta && (selector == "init" || strings.HasPrefix(selector, "initWith")) && to.made, selector == "self":
		return to
	case to.meta && selector == "class":
		return to
	}
	return receiver{}
}

// importIn is the function that a value, read from an import's slot, points to.
func (r *resolver) importIn(v ssa.ID) string {
	x := &r.flow.f.Values[v]
	if x.Kind != ssa.Load {
		return ""
	}
	slot, ok := r.flow.at(x.Args[0], x.Block).One()
	if !ok {
		return ""
	}
	for i := range r.e.im.Imports {
		if r.e.im.Imports[i].Slot == slot {
			return r.e.im.Imports[i].Name
		}
	}
	return ""
}

// selector is the message name that a value stands for: the name's address, or
// what is read from a selector reference.
func (r *resolver) selector(v ssa.ID) string {
	m, err := r.e.apple()
	if err != nil {
		return ""
	}
	x := &r.flow.f.Values[v]
	if x.Kind == ssa.Load {
		if slot, ok := r.flow.at(x.Args[0], x.Block).One(); ok {
			for k := range m.Selectors {
				if m.Selectors[k].Addr == slot {
					return m.Selectors[k].Name
				}
			}
		}
		return ""
	}
	if leaf, _, ok := values.Affine(r.flow.f, v); ok && r.flow.f.Values[leaf].Kind == ssa.Const || x.Kind == ssa.Const {
		if s, ok := r.p.StringAt(x.N); ok {
			text, _ := shorten(r.p, s, longestText)
			return text
		}
	}
	return ""
}

// objcClasses looks up methods the way the runtime does.
type objcClasses struct{ *objc.Metadata }

func (m objcClasses) named(name string) *objc.Class {
	for k := range m.Classes {
		if m.Classes[k].Name == name {
			return &m.Classes[k]
		}
	}
	return &objc.Class{}
}

// own is the implementation that a class itself, or a category on it, gives:
// a category's replaces the class's own.
func (m objcClasses) own(class, selector string, meta bool) (imp uint64) {
	pick := func(instance, ofClass []objc.Method) {
		list := instance
		if meta {
			list = ofClass
		}
		for i := range list {
			if list[i].Selector == selector && list[i].IMP != 0 {
				imp = list[i].IMP
			}
		}
	}
	c := m.named(class)
	pick(c.Methods, c.ClassMethods)
	for k := range m.Categories {
		if m.Categories[k].Class == class {
			pick(m.Categories[k].Methods, m.Categories[k].ClassMethods)
		}
	}
	return imp
}

// mostSupers bounds the classes above one that are looked at.
const mostSupers = 64

// inherited is what a class answers a message with: the first implementation
// going up. known is false when a class of another image comes first.
func (m objcClasses) inherited(class, selector string, meta bool) (imp uint64, known bool) {
	for range mostSupers {
		if imp := m.own(class, selector, meta); imp != 0 {
			return imp, true
		}
		c := m.named(class)
		switch {
		case c.Name == "":
			return 0, false
		case c.Root && meta: // the root class answers for classes with its instance methods
			imp := m.own(class, selector, false)
			return imp, imp != 0
		case c.Super == "":
			return 0, c.Root
		}
		class = c.Super
	}
	return 0, false
}

func (m objcClasses) derives(c *objc.Class, from string) bool {
	for range mostSupers {
		if c.Super == from {
			return true
		}
		if c = m.named(c.Super); c.Name == "" {
			return false
		}
	}
	return false
}

// implementations are those that a message to a receiver can reach. complete
// says that for the classes of this file there are no others.
func (m objcClasses) implementations(selector string, to receiver) (found []uint64, complete bool) {
	add := func(imp uint64) {
		if imp != 0 && !slices.Contains(found, imp) {
			found = append(found, imp)
		}
	}
	if to.class != "" {
		imp, known := m.inherited(to.class, selector, to.meta)
		if known {
			add(imp)
			complete = imp != 0
		}
		if !to.exact {
			for k := range m.Classes {
				if m.derives(&m.Classes[k], to.class) {
					add(m.own(m.Classes[k].Name, selector, to.meta))
				}
			}
		}
		if complete || to.exact {
			slices.Sort(found)
			return found, complete
		}
	}
	all := func(list []objc.Method) {
		for i := range list {
			if list[i].Selector == selector {
				add(list[i].IMP)
			}
		}
	}
	for k := range m.Classes {
		if !to.meta || to.class == "" {
			all(m.Classes[k].Methods)
		}
		if to.meta || to.class == "" {
			all(m.Classes[k].ClassMethods)
		}
	}
	for k := range m.Categories {
		if !to.meta || to.class == "" {
			all(m.Categories[k].Methods)
		}
		if to.meta || to.class == "" {
			all(m.Categories[k].ClassMethods)
		}
	}
	slices.Sort(found)
	return found, false
}
