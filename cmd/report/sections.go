package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"rea/cmd/terminal"
)

// identity says what the file is.
func (w *writer) identity(t *target, b *binding, l *layout, o *overview) {
	w.line(w.screen.Paint(terminal.Bold, terminal.Escape(t.Path)))
	w.fact("sha256", t.SHA256)
	w.fact("size", number(t.Size)+" bytes")
	kind := strings.ReplaceAll(t.Kind, "_", " ")
	format := []string{formatName(t.Format)}
	if l != nil {
		format = append(format, fmt.Sprintf("%d-bit %s-endian", l.Target.Bits, l.Target.Endian), kind+" ("+l.Target.FileType+")")
	} else {
		format = append(format, kind)
	}
	w.fact("format", strings.Join(format, ", "))
	architecture := t.Architecture
	if l != nil && l.Target.Subtype != nil {
		architecture += " (" + *l.Target.Subtype + ")"
	}
	if len(t.Slices) > 1 {
		architecture += ", slice " + deref(t.Slice) + " of " + strings.Join(t.Slices, ", ")
	}
	w.fact("architecture", architecture)
	if l != nil {
		w.origin(l, o)
	}
	engine := b.Provider.Name
	if b.Provider.Version != nil {
		engine += " " + *b.Provider.Version
	}
	if engine == "" {
		engine = "none"
	}
	w.fact("engine", engine)
}

// origin says how the file was made and how it starts.
func (w *writer) origin(l *layout, o *overview) {
	system := deref(l.Target.OS)
	if l.Target.Interpreter != nil {
		system = strings.TrimPrefix(system+", loaded by "+*l.Target.Interpreter, ", ")
	}
	w.fact("system", system)
	w.fact("soname", deref(l.Target.Soname))
	made := slices.Clone(l.Target.Compiler)
	if l.Target.GoVersion != nil && !slices.Contains(made, *l.Target.GoVersion) {
		made = append(made, *l.Target.GoVersion)
	}
	w.fact("compiler", strings.Join(made, "; "))
	w.fact("build id", deref(l.Target.BuildID))
	symbols := "present"
	if l.Target.Stripped {
		symbols = "stripped"
	}
	if len(l.Target.Debug) > 0 {
		symbols += ", debug information: " + strings.Join(l.Target.Debug, ", ")
	} else {
		symbols += ", no debug information"
	}
	w.fact("symbols", symbols)
	entry := deref(l.Target.Entry)
	if o != nil && o.Target.Entry != nil {
		entry = strings.TrimSpace(o.Target.Entry.Address + " " + deref(o.Target.Entry.Name))
	}
	if entry == "" {
		entry = "none"
	}
	w.fact("entry", entry)
}

// layout shows protections and sections.
func (w *writer) layout(l *layout) {
	w.head("Protections", "")
	var rows [][]string
	for _, m := range l.Mitigations {
		rows = append(rows, []string{state(m.State), terminal.Escape(m.Name), terminal.Escape(m.Detail)})
	}
	w.columns([]bool{false, false, false}, rows, terminal.Wrap, func(state string) terminal.Style {
		if state == "on" {
			return terminal.Green
		}
		return terminal.Yellow
	})
	if len(rows) == 0 {
		w.faint("none known for this format")
	}

	w.head("Sections", number(int64(l.Sections.Total)))
	rows = nil
	for _, s := range l.Sections.Items {
		entropy := ""
		if s.Entropy != nil {
			entropy = fmt.Sprintf("%.2f", *s.Entropy)
		}
		rows = append(rows, []string{
			terminal.Escape(s.Name), s.Start, number(s.FileSize), permissions(s.Readable, s.Writable, s.Executable), entropy, terminal.Escape(s.Type),
		})
	}
	// Loaders may name thousands of sections; sixty are more than one reads.
	shown := len(rows)
	if w.rows > 0 {
		shown = min(shown, 60)
	}
	if shown > 0 {
		head := []string{"name", "address", "bytes", "perm", "entropy", "type"}
		w.grid([]bool{false, false, true, false, true, false}, append([][]string{head}, rows[:shown]...))
	}
	w.more(shown, l.Sections.Total, "rea inspect-binary-layout FILE")
}

// state is a protection's state in short.
func state(s string) string {
	switch s {
	case "enabled":
		return "on"
	case "disabled":
		return "off"
	}
	return terminal.Escape(s)
}

func permissions(r, w, x bool) string {
	s := []byte("---")
	if r {
		s[0] = 'r'
	}
	if w {
		s[1] = 'w'
	}
	if x {
		s[2] = 'x'
	}
	return string(s)
}

// linkage shows libraries, imports and exports.
func (w *writer) linkage(l *layout, o *overview) {
	w.head("Libraries", number(int64(len(l.Libraries))))
	var names []string
	for _, lib := range l.Libraries {
		name := lib.Name
		if lib.Weak {
			name += " (weak)"
		}
		if lib.DelayLoaded {
			name += " (delayed)"
		}
		names = append(names, name)
	}
	w.words(names, len(names), "statically linked or none recorded")
	if len(l.RPaths) > 0 {
		w.fact("search path", strings.Join(l.RPaths, ", "))
	}

	w.head("Imports", number(int64(l.Imports.Total)))
	names = nil
	for _, i := range l.Imports.Items {
		names = append(names, i.Name)
	}
	shown := len(names)
	if w.rows > 0 {
		shown = min(shown, 10*w.rows)
	}
	w.words(names[:shown], l.Imports.Total, "none")
	w.more(shown, l.Imports.Total, "rea inspect-binary-layout FILE --import-limit N")
	if o != nil {
		var used []string
		for _, i := range o.Imports {
			if i.Uses > 0 {
				used = append(used, fmt.Sprintf("%s %d", i.Name, i.Uses))
			}
		}
		used = used[:min(len(used), 12)]
		w.fact("most used", strings.Join(used, ", "))
	}

	w.head("Exports", number(int64(l.Exports.Total)))
	var rows [][]string
	for _, e := range l.Exports.Items {
		kind := "code"
		if e.Data {
			kind = "data"
		}
		rows = append(rows, []string{e.Address, kind, terminal.Escape(e.Name)})
	}
	shown = w.bound(len(rows))
	w.grid([]bool{false, false, false}, rows[:shown])
	if l.Exports.Total == 0 {
		w.faint("none")
	}
	w.more(shown, l.Exports.Total, "rea list-names FILE --kind export")
}

// words writes short names as running text.
func (w *writer) words(names []string, total int, none string) {
	if total == 0 {
		w.faint(none)
		return
	}
	for _, l := range terminal.Wrap(terminal.Escape(strings.Join(names, ", ")), w.width-2) {
		w.line("  " + l)
	}
}

// functions shows all of them, or the largest and the most called.
func (w *writer) functions(r *Report, o *overview) error {
	c := o.Counts
	w.head("Functions", fmt.Sprintf("%s, %s named, %s in %s executable bytes", number(int64(c.Procedures)),
		number(int64(c.NamedProcedures)), count(c.BasicBlocks, "basic block", "basic blocks"), number(c.CodeBytes)))
	list := o.Largest
	if r.Procedures != nil {
		list = make([]procedure, len(r.Procedures.Items))
		for i, raw := range r.Procedures.Items {
			if err := json.Unmarshal(raw, &list[i]); err != nil {
				return fmt.Errorf("reading a function of the report: %w", err)
			}
		}
	} else {
		w.line("  largest")
	}
	var rows [][]string
	for _, p := range list[:w.bound(len(list))] {
		name := readable(p.Name)
		if name == p.Name && p.Demangled != nil {
			name = *p.Demangled
		}
		if p.Kind != "function" {
			name += " (" + strings.ReplaceAll(p.Kind, "_", " ") + ")"
		}
		rows = append(rows, []string{p.Address, number(p.Size), terminal.Escape(name)})
	}
	w.grid([]bool{false, true, false}, rows)
	w.more(len(rows), c.Procedures, "rea list-procedures FILE, or --rows 0")
	if len(o.MostCalled) == 0 {
		return nil
	}
	w.line("  most called")
	rows = nil
	for _, m := range o.MostCalled[:w.bound(len(o.MostCalled))] {
		rows = append(rows, []string{m.Procedure.Address, count(m.Callers, "caller", "callers"), terminal.Escape(readable(deref(m.Procedure.Name)))})
	}
	w.grid([]bool{false, true, false}, rows)
	return nil
}

// strings shows text that code refers to, with that code: all of it, or what
// the overview finds telling.
func (w *writer) strings(r *Report, o *overview) error {
	var rows [][]string
	add := func(address string, by []symbol, value string) {
		if len(by) > 0 {
			rows = append(rows, []string{address, users(by), terminal.Escape(value)})
		}
	}
	figures, complete := "", false
	if o != nil {
		figures = number(int64(o.Counts.Strings)) + " in all"
	}
	switch {
	case r.Strings != nil:
		complete = r.Strings.Complete
		for _, raw := range r.Strings.Items {
			var s usedString
			if err := json.Unmarshal(raw, &s); err != nil {
				return fmt.Errorf("reading a string of the report: %w", err)
			}
			add(s.String.Address, s.Users, s.String.Value)
		}
	case o != nil:
		for _, s := range o.Strings {
			add(s.Address, s.Users, s.Value)
		}
	default:
		return nil
	}
	w.head("Strings and the code that uses them", figures)
	shown := w.bound(len(rows))
	w.grid([]bool{false, false, false}, rows[:shown])
	switch {
	case shown == 0:
		w.faint("no string is referred to by code that was found")
	case !complete || shown < len(rows):
		w.faint("more: rea search-strings FILE PATTERN, or --rows 0")
	}
	return nil
}

func users(list []symbol) string {
	if len(list) == 0 {
		return ""
	}
	s := readable(deref(list[0].Name))
	if s == "" {
		s = list[0].Address
	}
	s = terminal.Truncate(terminal.Escape(s), 28)
	if len(list) > 1 {
		s += fmt.Sprintf(" +%d", len(list)-1)
	}
	return s
}

// readable is a mangled name in the language it came from, without template
// arguments: in a row they would leave no room for the name itself.
func readable(name string) string {
	if len(name) > 2000 { // nobody's name, and costly to read
		return name
	}
	return demangle.Filter(name, demangle.NoTemplateParams, demangle.NoEnclosingParams)
}

func (w *writer) callGraph(o *overview) {
	c := o.Counts
	w.head("Call graph", "")
	w.fact("functions", number(int64(c.Procedures)))
	w.fact("call edges", number(int64(c.CallEdges)))
	w.fact("unresolved", count(c.UnresolvedTransfers, "computed transfer", "computed transfers")+" without a known target")
	w.fact("instructions", number(int64(c.Instructions)))
	w.fact("references", number(int64(c.References)))
}

// asked tells limits that the report set itself by asking for a part of a list.
func asked(limitation string) bool {
	list, _, _ := strings.Cut(limitation, ":")
	return slices.Contains([]string{"symbols", "relocations", "imports", "exports", "sections"}, list)
}

// unseen names what the report does not cover.
func (w *writer) unseen(r *Report, o *overview) {
	var remarks []string
	for _, m := range r.Missing {
		s := "no " + strings.ReplaceAll(m.Part, "_", " ") + ": " + m.Message
		if m.Action != "" {
			s += ". " + m.Action
		}
		remarks = append(remarks, s)
	}
	if o != nil {
		remarks = append(remarks, o.Notes...)
	}
	for _, l := range r.Limitations {
		if !slices.Contains(remarks, l) && !asked(l) {
			remarks = append(remarks, l)
		}
	}
	w.head("Not seen", "")
	for _, s := range remarks {
		w.remark(s)
	}
	if len(remarks) == 0 {
		w.faint("nothing that the engine knows of")
	}
}

// formatName is how people write the name of a container format.
func formatName(format string) string {
	if format == "mach-o" {
		return "Mach-O"
	}
	return strings.ToUpper(format)
}
