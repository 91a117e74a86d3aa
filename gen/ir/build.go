package ir

import (
	"slices"
	"strings"

	"rea/gen/load"
)

// Build makes the model of the contracts.
func Build(set *load.Set) (*API, error) {
	var faults load.Faults
	b := &builder{set: set, faults: &faults, byNode: map[*load.Node]*Type{}, taken: map[string]*load.Node{},
		patterns: map[*load.Node]*Pattern{}}
	api := &API{}
	for _, doc := range set.Models {
		b.build(doc.Root, scope{pkg: "model", file: doc.Name, name: exported(doc.Name), shared: true})
	}
	codes := map[string]bool{}
	for _, doc := range set.Errors {
		codes[doc.Name] = true
		api.Faults = append(api.Faults, b.fault(doc))
	}
	for _, code := range slices.Concat(ImpliedErrors, EngineErrors) {
		if !codes[code] {
			faults = append(faults, &load.Fault{Pos: load.Pos{File: "contracts/errors/" + code + ".json", Line: 1},
				Message: "every call, or every call that needs an engine, can raise this error: its contract is missing"})
		}
	}
	for _, doc := range set.Tools {
		api.Tools = append(api.Tools, b.tool(doc, codes))
	}
	api.Types, api.Patterns = b.types, b.order
	b.finite()
	api.Families = families(api.Tools)
	return api, faults.Err()
}

func families(tools []*Tool) []*Family {
	var out []*Family
	for _, t := range tools {
		i := slices.IndexFunc(out, func(f *Family) bool { return f.Name == t.Family })
		if i < 0 {
			i = len(out)
			out = append(out, &Family{Name: t.Family, Go: exported(t.Family)})
		}
		out[i].Tools = append(out[i].Tools, t)
	}
	slices.SortFunc(out, func(a, b *Family) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (b *builder) tool(doc *load.Doc, codes map[string]bool) *Tool {
	x := doc.Root.Get("x-tool")
	t := &Tool{
		Name: doc.Name, Go: exported(doc.Name), Family: doc.Family, Node: doc.Root,
		Title: doc.Root.Str("title"), Description: doc.Root.Str("description"),
		NeedsTarget:    x.Get("requires").True("target"),
		Engine:         x.At("requires", "engine").Strings(),
		Host:           x.At("requires", "host").Strings(),
		ClientRequired: x.At("requires", "client", "required").Strings(),
		ClientOptional: x.At("requires", "client", "optional").Strings(),
		Effects:        map[string]bool{},
		Retained:       x.Get("retained").Strings(),
		Positional:     x.At("cli", "positional").Strings(),
		Hidden:         x.Get("cli").True("hidden"),
		Summarized:     x.True("summarized"),
	}
	if own := doc.Root.Str("x-go-name"); own != "" {
		t.Go = own
	}
	if family := x.Get("family"); family.Text != doc.Family {
		b.fail(family, "family %q lies in folder %q: they are the same", family.Text, doc.Family)
	}
	for _, name := range Effects {
		t.Effects[name] = x.Get("effects").True(name)
	}
	if e := x.Get("evidence"); e.Kind == load.Object {
		t.Evidence = &Evidence{e.Str("predicate_type"), e.Str("confidence"), e.Str("authority")}
	}
	if t.Effects["records_evidence"] != (t.Evidence != nil) {
		b.fail(x.Get("evidence"), "evidence is described exactly when effects.records_evidence is true")
	}
	for _, item := range x.At("requires", "engine").List() {
		b.valueOf(item, "EngineCapability")
	}
	for _, item := range x.At("requires", "host").List() {
		if !slices.Contains(Hosts, item.Text) {
			b.fail(item, "host %q: it is one of %s", item.Text, strings.Join(Hosts, ", "))
		}
	}
	t.Errors = slices.Clone(ImpliedErrors)
	if len(t.Engine) > 0 {
		t.Errors = append(t.Errors, EngineErrors...)
	}
	for _, item := range x.Get("errors").List() {
		if !codes[item.Text] {
			b.fail(item, "there is no contracts/errors/%s.json", item.Text)
		}
		switch {
		case slices.Contains(ImpliedErrors, item.Text):
			b.fail(item, "every call can raise %s: leave it out", item.Text)
		case slices.Contains(t.Errors, item.Text):
			b.fail(item, "every call that needs an engine can raise %s: leave it out", item.Text)
		}
		t.Errors = append(t.Errors, item.Text)
	}
	slices.Sort(t.Errors)
	for _, e := range x.Get("examples").List() {
		t.Examples = append(t.Examples, Example{e.Str("title"), e.Get("input")})
	}
	for _, r := range x.Get("rejects").List() {
		t.Rejects = append(t.Rejects, Reject{r.Str("title"), r.Get("input"), r.Str("at")})
	}
	at := scope{pkg: "tool", file: doc.Name}
	t.Input = b.build(doc.Root.At("$defs", "input"), at.named(t.Go+"Input"))
	t.Output = b.build(doc.Root.At("$defs", "output"), at.named(t.Go+"Output"))
	for name, root := range map[string]*Type{"input": t.Input, "output": t.Output} {
		if root.Kind != Struct && (root.Kind != Union || root.Union == ByType) {
			b.fail(doc.Root.At("$defs", name), "%s is an object or a oneOf of objects", name)
		}
	}
	b.inputs(t, x)
	return t
}

// Hosts are the operating systems that a tool can be bound to, as GOOS spells
// them.
var Hosts = []string{"darwin", "linux", "windows"}

// valueOf refuses a name that is no value of a model's enum.
func (b *builder) valueOf(item *load.Node, enum string) {
	for _, t := range b.types {
		if t.Pkg != "model" || t.Name != enum {
			continue
		}
		if !slices.ContainsFunc(t.Values, func(v Value) bool { return v.JSON == item.Text }) {
			b.fail(item, "%q is no value of %s", item.Text, t.Node.Pos.File)
		}
		return
	}
	b.fail(item, "there is no model %s to take %q from", enum, item.Text)
}

// inputs checks what x-tool says about single inputs, and finds the paths.
func (b *builder) inputs(t *Tool, x *load.Node) {
	top := t.TopFields()
	for _, item := range x.At("cli", "positional").List() {
		if !slices.ContainsFunc(top, func(f *Field) bool { return f.JSON == item.Text }) {
			b.fail(item, "no input property %q", item.Text)
		}
	}
	for _, item := range x.Get("retained").List() {
		if at := follow(t.Input, strings.Split(item.Text, "/")[1:]); at == nil || at.Name != "EvidenceInput" {
			b.fail(item, "%s is no input of type evidence_input.json", item.Text)
		}
	}
	walk(t.Input, "", nil, func(pointer string, at *Type) {
		switch {
		case at.Path && !slices.Contains(t.Paths, pointer):
			t.Paths = append(t.Paths, pointer)
		case at.Name == "EvidenceInput" && at.Pkg == "model" && !slices.Contains(t.Retained, pointer):
			b.fail(x, "input %s takes Evidence: list it under retained", pointer)
		}
	})
}

// TopFields are the properties of the input, of all its variants when it is a
// union, each once.
func (t *Tool) TopFields() []*Field {
	structs := []*Type{t.Input}
	if t.Input.Kind == Union {
		structs = nil
		for _, v := range t.Input.Variants {
			structs = append(structs, v.Type)
		}
	}
	var out []*Field
	for _, s := range structs {
		for _, f := range s.Fields {
			if !slices.ContainsFunc(out, func(o *Field) bool { return o.JSON == f.JSON }) {
				out = append(out, f)
			}
		}
	}
	return out
}

// follow goes down a pointer in which * is every item.
func follow(t *Type, tokens []string) *Type {
	for _, token := range tokens {
		for t.Kind == Nullable {
			t = t.Elem
		}
		switch {
		case (t.Kind == Array || t.Kind == Map) && token == "*":
			t = t.Elem
			continue
		case t.Kind == Union:
			var in *Type
			for _, v := range t.Variants {
				if in = follow(v.Type, []string{token}); in != nil {
					break
				}
			}
			t = in
		default:
			i := slices.IndexFunc(t.Fields, func(f *Field) bool { return f.JSON == token })
			if i < 0 {
				return nil
			}
			t = t.Fields[i].Type
		}
		if t == nil {
			return nil
		}
	}
	return t
}

// walk visits the values inside an input with their pointers. Types that hold
// themselves are visited once: below, the pointers would have no end.
func walk(t *Type, at string, around []*Type, visit func(pointer string, t *Type)) {
	if slices.Contains(around, t) {
		return
	}
	around = append(around, t)
	visit(at, t)
	switch t.Kind {
	case Nullable:
		walk(t.Elem, at, around, visit)
	case Array, Map:
		walk(t.Elem, at+"/*", around, visit)
	case Struct:
		for _, f := range t.Fields {
			walk(f.Type, at+"/"+f.JSON, around, visit)
		}
	case Union:
		for _, v := range t.Variants {
			walk(v.Type, at, around, visit)
		}
	}
}

// finite refuses structs that hold themselves by value.
func (b *builder) finite() {
	const walking, done = 1, 2
	state := map[*Type]int{}
	var walk func(t *Type)
	walk = func(t *Type) {
		if t.Kind != Struct || state[t] == done {
			return
		}
		if state[t] == walking {
			b.fail(t.Node, "%s holds itself: make a property on the way optional, nullable or a list", t.Name)
			return
		}
		state[t] = walking
		for _, f := range t.Fields {
			if !f.Pointer() {
				walk(f.Type)
			}
		}
		state[t] = done
	}
	for _, t := range b.types {
		walk(t)
	}
}

func (b *builder) fault(doc *load.Doc) *Fault {
	x := doc.Root.Get("x-error")
	f := &Fault{Code: doc.Name, Go: exported(doc.Name), Node: doc.Root,
		Title: doc.Root.Str("title"), Doc: doc.Root.Str("description"), Category: x.Str("category"),
		Retryable: x.True("retryable"), Restart: x.Get("remediation").True("restart_required")}
	if x == nil {
		b.fail(doc.Root, "an error has x-error {code, category, retryable, message, remediation}")
		return f
	}
	if x.Str("code") != doc.Name {
		b.fail(x, "code %q in file %s.json: they are the same", x.Str("code"), doc.Name)
	}
	if !slices.Contains(Categories, f.Category) {
		b.fail(x, "category %q: it is one of %s", f.Category, strings.Join(Categories, ", "))
	}
	if x.At("remediation").Str("action") == "" || f.Doc == "" || x.Str("message") == "" {
		b.fail(x, "an error has a description, a message and a remediation with an action")
	}
	details := doc.Root.At("$defs", "details")
	if details == nil {
		b.fail(doc.Root, `an error has $defs.details; without details it is {"type": "object", "additionalProperties": false, "properties": {}}`)
		return f
	}
	f.Details = b.build(details, scope{pkg: "fault", file: doc.Name, name: f.Go + "Details"})
	if f.Details.Kind != Struct || f.Details.Pkg != "fault" {
		b.fail(details, "details is an object, written here")
		return f
	}
	f.Message = b.sentence(x, "message", f.Details)
	f.Action = b.sentence(x.At("remediation"), "action", f.Details)
	return f
}

// Categories of errors.
var Categories = []string{"cancelled", "execution_failure", "integrity_mismatch", "invalid_input", "timeout",
	"truncated", "unavailable", "unsupported_provider"}

// sentence splits "cannot open {path}: {reason}" at its properties. Strings are
// quoted, except our own words: explanations, which follow a colon, and what is
// marked as {operation:plain}.
func (b *builder) sentence(x *load.Node, key string, details *Type) []Part {
	var parts []Part
	rest := x.Str(key)
	for rest != "" {
		text, after, ok := strings.Cut(rest, "{")
		if text != "" {
			parts = append(parts, Part{Text: text})
		}
		if !ok {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		name, plain := strings.CutSuffix(name, ":plain")
		i := slices.IndexFunc(details.Fields, func(f *Field) bool { return f.JSON == name })
		if !closed || i < 0 {
			b.fail(x.Get(key), "%s: {%s} is no property of the details", key, name)
			break
		}
		f := details.Fields[i]
		kind := f.Type.Kind
		if kind == Nullable {
			kind = f.Type.Elem.Kind
		}
		switch kind {
		case String, Enum, Integer, Unsigned, Number, Boolean, Address, Array:
		default:
			b.fail(x.Get(key), "%s: {%s} is no text, number or list of texts", key, name)
		}
		explains := strings.HasSuffix(text, ": ")
		parts = append(parts, Part{Field: f, Plain: plain || explains})
		rest = tail
	}
	return parts
}
