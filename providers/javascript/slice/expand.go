package slice

import (
	"rea/generated/model"
	"rea/providers/javascript/feature"
	"rea/providers/javascript/semantic"
)

// seed begins at what a seed names.
func (w *walk) seed(m feature.Match, side Side) {
	kind := w.g.Nodes[m.Node].Kind
	switch {
	case m.Site > 0: // a text or a function of the code
		if f := w.p.Around(m.Site); w.p.Kind(m.Site) == semantic.Function {
			w.start(onFunction(side, m.Site))
		} else if !w.isTop(f) {
			w.start(onFunction(side, f))
		} else {
			w.start(onNode(side, single, m.Node))
		}
		return
	case isCode(kind) && m.Field == "exports":
		w.start(onNode(side, leaf, m.Node))
		for _, f := range w.exportedFunctions(m.Node, m.Value) {
			w.start(onFunction(side, f))
		}
		if side == Incoming {
			w.taken(w.at[onNode(side, leaf, m.Node)], m.Node, m.Value)
		}
		return
	case isCode(kind), kind == model.ApplicationNodeKindHTMLDocument:
		w.start(onNode(side, module, m.Node))
		return
	}
	s := onNode(side, single, m.Node)
	switch kind {
	case model.ApplicationNodeKindContextBridgeAPI:
		if m.Field == "members" {
			s.member = m.Value
		}
	case model.ApplicationNodeKindNativeAddon, model.ApplicationNodeKindNativeBinding:
		if m.Field == "names" {
			s.member = m.Value
		}
	}
	w.start(s)
	if kind == model.ApplicationNodeKindSourceModule { // the code that was made of it
		for _, i := range w.entering[m.Node] {
			if e := &w.g.Edges[i]; isCode(w.g.Nodes[e.From].Kind) {
				w.to(w.at[s], w.row(int(i)), onNode(side, module, int(e.From)), 0, none)
			}
		}
	}
}

func (w *walk) row(i int) Edge {
	return Edge{Application: i, From: int(w.g.Edges[i].From), To: int(w.g.Edges[i].To)}
}

// expand goes on from a step.
func (w *walk) expand(i int) {
	s := w.steps[i]
	switch {
	case s.mode == leaf:
	case s.function >= 0 && s.side == Outgoing:
		w.does(i, s.function)
	case s.function >= 0:
		w.runBy(i, s.function)
	case s.side == Outgoing:
		w.leads(i)
	default:
		w.led(i)
	}
}

// leads goes from a node to what it leads to.
func (w *walk) leads(i int) {
	s := w.steps[i]
	switch kind := w.g.Nodes[s.node].Kind; {
	case isCode(kind), kind == model.ApplicationNodeKindHTMLDocument:
		w.module(i)
	case kind == model.ApplicationNodeKindIpcChannel:
		for _, e := range w.entering[s.node] {
			if w.g.Edges[e].Relation == model.ApplicationRelationHandles {
				w.to(i, w.row(int(e)), onNode(Outgoing, single, int(w.g.Edges[e].From)), 0, none)
			}
		}
	case kind == model.ApplicationNodeKindIpcHandler, kind == model.ApplicationNodeKindRoute, kind == model.ApplicationNodeKindEndpoint:
		w.callbacks(i, s.node)
	case kind == model.ApplicationNodeKindContextBridgeAPI:
		for _, m := range w.members[s.node] {
			if s.member == "" || s.member == m.name {
				w.to(i, w.row(w.behind[m.function].edge), onFunction(Outgoing, m.function), semantic.Property, none)
			}
		}
	default:
		w.loads(i)
	}
}

// loads goes from a process, a window or a package to what it has.
func (w *walk) loads(i int) {
	s := w.steps[i]
	for _, row := range w.leaving[s.node] {
		e := &w.g.Edges[row]
		next := onNode(Outgoing, single, int(e.To))
		switch to := w.g.Nodes[e.To].Kind; {
		case e.Relation == model.ApplicationRelationContains:
			next.mode = leaf
		case isCode(to), to == model.ApplicationNodeKindHTMLDocument:
			next.mode = program
		}
		w.to(i, w.row(int(row)), next, 0, none)
	}
}

// callbacks goes to the functions that answer a message or a request.
func (w *walk) callbacks(i, node int) {
	for _, row := range w.entering[node] {
		e := &w.g.Edges[row]
		if e.Location == nil || e.Relation != model.ApplicationRelationHandles && e.Relation != model.ApplicationRelationContains {
			continue
		}
		at, region := w.region(int(row))
		module := int(e.From)
		found := false
		if region >= 0 && at >= 0 {
			w.answers(at, func(f int32) {
				found = true
				w.to(i, w.row(int(row)), onFunction(Outgoing, f), semantic.Listens, at)
			})
		}
		if !found {
			if j := w.to(i, w.row(int(row)), onNode(Outgoing, leaf, module), 0, none); j >= 0 && e.Relation == model.ApplicationRelationContains {
				w.border(j, Unresolved)
			}
		}
	}
}

// answers gives the functions that a call is given.
func (w *walk) answers(call int32, yield func(f int32)) {
	listens := false
	for _, e := range w.p.From(call) {
		if e.Kind == semantic.Listens {
			listens = true
			yield(e.To)
		}
	}
	if listens {
		return
	}
	w.p.Into(call, func(e semantic.Edge) {
		if e.Kind != semantic.Argument && e.Kind != semantic.Uses && e.Kind != semantic.Asks {
			return
		}
		if f := w.p.Origin(e.From); f >= 0 {
			yield(f)
		}
	})
}

// module goes through all that stands in a module.
func (w *walk) module(i int) {
	s := w.steps[i]
	for _, row := range w.bare[s.node] {
		w.fact(i, row, false)
	}
	for _, row := range w.leaving[s.node] {
		e := &w.g.Edges[row]
		switch {
		case e.Location != nil && e.Relation != model.ApplicationRelationImports:
			continue
		case isCode(w.g.Nodes[e.To].Kind) && e.Relation != model.ApplicationRelationMapsTo && s.mode == program:
			w.to(i, w.row(int(row)), onNode(Outgoing, program, int(e.To)), 0, none)
		default:
			w.to(i, w.row(int(row)), onNode(Outgoing, leaf, int(e.To)), 0, none)
		}
	}
	top, ok := w.modules[s.node]
	if !ok {
		return
	}
	w.each(top, func(n int32) {
		switch w.p.Kind(n) {
		case semantic.Module, semantic.Function:
			for _, row := range w.facts[n] {
				w.fact(i, row, true)
			}
			w.calls(i, n)
		}
	})
}

// does goes from a function to what it does.
func (w *walk) does(i int, f int32) {
	for _, row := range w.facts[f] {
		w.fact(i, row, false)
	}
	into := w.calls(i, f)
	for _, row := range w.imports(w.p.Module(f), f) {
		e := &w.g.Edges[row]
		to := int(e.To)
		next := onNode(Outgoing, leaf, to)
		if isNative(w.g.Nodes[to].Kind) {
			next.mode = single
		}
		j := w.to(i, w.row(row), next, 0, none)
		if on := w.forwards(to); j >= 0 && on >= 0 {
			w.to(j, w.row(on), onNode(Outgoing, leaf, int(w.g.Edges[on].To)), 0, none)
		} else if j >= 0 && isCode(w.g.Nodes[to].Kind) && !into[to] && w.isCalled(row, f) {
			w.border(j, Unresolved)
		}
	}
	for _, e := range w.p.From(f) { // a class is made by its constructor
		if e.Kind == semantic.Property && lastStep(w.p.Semantic.Label(e.To)) == "constructor" {
			if c := w.p.Origin(e.To); c >= 0 {
				w.to(i, noEdge, onFunction(Outgoing, c), semantic.Calls, none)
			}
		}
	}
}

func (w *walk) isCalled(edge int, region int32) bool {
	for _, u := range w.uses(edge) {
		if u.callee && u.region == region {
			return true
		}
	}
	return false
}

// fact goes to what stands in a function. all tells that the whole module is meant.
func (w *walk) fact(i, row int, all bool) {
	e := &w.g.Edges[row]
	next := onNode(Outgoing, leaf, int(e.To))
	reason := Reason("")
	switch to := w.g.Nodes[e.To].Kind; {
	case e.Relation == model.ApplicationRelationImports:
		if all {
			return // the module has it
		}
	case isNative(to):
		next.mode = single
	case to == model.ApplicationNodeKindIpcHandler && e.Relation == model.ApplicationRelationContains:
		if all {
			next.mode = single
		} else {
			reason = Shared
		}
	case to == model.ApplicationNodeKindIpcHandler: // the channel stands between
		return
	case to == model.ApplicationNodeKindContextBridgeAPI && e.Relation == model.ApplicationRelationInvokes:
		next.mode, next.member = single, property(e, "member")
	case to == model.ApplicationNodeKindContextBridgeAPI && all, to == model.ApplicationNodeKindIpcChannel,
		to == model.ApplicationNodeKindWorker, to == model.ApplicationNodeKindServiceWorker, to == model.ApplicationNodeKindElectronUtility, to == model.ApplicationNodeKindChildProcess,
		(to == model.ApplicationNodeKindRoute || to == model.ApplicationNodeKindEndpoint) && e.Relation == model.ApplicationRelationHandles && all:
		next.mode = single
	case to == model.ApplicationNodeKindBrowserWindow, to == model.ApplicationNodeKindElectronRenderer, to == model.ApplicationNodeKindElectronPreload:
		reason = Program
	}
	if j := w.to(i, w.row(row), next, 0, none); j >= 0 && reason != "" {
		w.border(j, reason)
	}
}

// calls goes from a function to those that it runs, and tells in which modules they
// are.
func (w *walk) calls(i int, f int32) map[int]bool {
	into := map[int]bool{}
	for _, call := range w.p.Contents(f) {
		if w.sent[call] { // the message, or the API, stands between
			continue
		}
		if len(w.handler[call]) > 0 {
			continue
		}
		run := func(e semantic.Edge, g int32) {
			into[w.p.Module(g)] = true
			w.to(i, w.between(e, f, g), onFunction(Outgoing, g), e.Kind, call)
		}
		known := map[int32]bool{}
		for _, e := range w.p.From(call) {
			switch e.Kind {
			case semantic.Calls, semantic.Listens, semantic.Schedules, semantic.Continues:
				known[e.To] = true
				run(e, e.To)
			case semantic.Delivers: // to a worker, a port, another emitter
				for _, l := range w.p.From(e.To) {
					if l.Kind == semantic.Listens {
						run(e, l.To)
					}
				}
			}
		}
		w.p.Into(call, func(e semantic.Edge) { // what it is given it may run
			if e.Kind == semantic.Argument && w.p.Kind(e.From) == semantic.Function && !known[e.From] {
				run(semantic.Edge{Kind: semantic.Argument, From: e.From, To: call}, e.From)
			}
		})
	}
	return into
}

// between is the edge for a call that goes from one module to another.
func (w *walk) between(e semantic.Edge, from, to int32) Edge {
	a, b := w.p.Module(from), w.p.Module(to)
	if a == b {
		return noEdge
	}
	return Edge{Application: none, From: a, To: b, Call: e}
}

// led goes from a node to what leads to it.
func (w *walk) led(i int) {
	s := w.steps[i]
	kind := w.g.Nodes[s.node].Kind
	if s.mode == module {
		w.taken(i, s.node, "")
	}
	imported := false
	for _, row := range w.entering[s.node] {
		e := &w.g.Edges[row]
		switch from := w.g.Nodes[e.From].Kind; {
		case e.Relation == model.ApplicationRelationContains && kind == model.ApplicationNodeKindIpcHandler:
			w.to(i, w.row(int(row)), onNode(Incoming, single, int(e.From)), 0, none)
		case e.Relation == model.ApplicationRelationContains && isCode(kind):
			w.container(i, int(row))
		case e.Relation == model.ApplicationRelationContains, e.Relation == model.ApplicationRelationMapsTo:
		case from == model.ApplicationNodeKindPackage, from == model.ApplicationNodeKindApplication:
		case kind == model.ApplicationNodeKindIpcHandler: // a sender, which the channel has
		case kind == model.ApplicationNodeKindContextBridgeAPI && e.Relation == model.ApplicationRelationInvokes:
			if s.member == "" || s.member == property(e, "member") {
				w.standsIn(i, int(row), true)
			}
		case kind == model.ApplicationNodeKindIpcChannel && e.Relation == model.ApplicationRelationHandles:
			if s.from == none {
				w.to(i, w.row(int(row)), onNode(Incoming, leaf, int(e.From)), 0, none)
			}
		case e.Relation == model.ApplicationRelationImports && isCode(kind):
			imported = true // taken has gone there if the module is a seed
		case w.isImport(int(row)) && e.Location != nil:
			w.imported(i, int(row), s.member)
		case e.Location != nil && s.from != none && isPage(kind): // what opens the window
			w.border(i, Program)
		case e.Location != nil:
			w.standsIn(i, int(row), e.Relation != model.ApplicationRelationExposes)
		default:
			next := onNode(Incoming, single, int(e.From))
			if isNative(from) {
				next.member = s.member
			}
			w.to(i, w.row(int(row)), next, 0, none)
		}
	}
	if imported && s.mode != module && !w.steps[i].more {
		w.border(i, Importers)
	}
	if kind == model.ApplicationNodeKindIpcHandler {
		for _, row := range w.leaving[s.node] {
			if w.g.Edges[row].Relation == model.ApplicationRelationHandles {
				w.to(i, w.row(int(row)), onNode(Incoming, single, int(w.g.Edges[row].To)), 0, none)
			}
		}
	}
}

// standsIn goes to the function in which a fact stands, and turns there.
func (w *walk) standsIn(i, row int, turn bool) {
	e := &w.g.Edges[row]
	at, region := w.region(row)
	switch {
	case region < 0:
		if j := w.to(i, w.row(row), onNode(Incoming, single, int(e.From)), 0, none); j >= 0 {
			w.border(j, Unresolved)
		}
		return
	case w.isTop(region):
		w.to(i, w.row(row), onNode(Incoming, single, int(e.From)), 0, none)
		if w.both && turn && at >= 0 {
			w.continuations(i, row, at)
		}
		return
	}
	j := w.to(i, w.row(row), onFunction(Incoming, region), 0, at)
	if !w.both || !turn {
		return
	}
	if w.isSetup(region) {
		if j >= 0 {
			w.border(j, Shared)
		}
		w.continuations(i, row, at)
		return
	}
	w.to(i, w.row(row), onFunction(Outgoing, region), 0, at)
}

// continuations goes to the functions that run when what is asked for has come.
func (w *walk) continuations(i, row int, at int32) {
	if at < 0 {
		return
	}
	seen, queue := map[int32]bool{at: true}, []int32{at}
	for k := 0; k < len(queue) && k < 64; k++ {
		for _, e := range w.p.From(queue[k]) {
			switch e.Kind {
			case semantic.Flows:
				if w.p.Kind(e.To) == semantic.Promise && !seen[e.To] {
					seen[e.To] = true
					queue = append(queue, e.To)
				}
			case semantic.Continues:
				w.to(i, w.row(row), onFunction(Outgoing, e.To), e.Kind, queue[k])
			}
		}
	}
}

// imported goes to what imports a module that is not of the application, or a
// native add-on, and to the functions that use it.
func (w *walk) imported(i, row int, name string) {
	e := &w.g.Edges[row]
	native := isNative(w.g.Nodes[e.To].Kind)
	found := false
	for _, u := range w.uses(row) {
		if name != "" && u.name != name {
			continue
		}
		if w.isTop(u.region) {
			continue
		}
		found = true
		w.to(i, w.row(row), onFunction(Incoming, u.region), 0, u.call)
		if native && w.both && !w.isSetup(u.region) {
			w.to(i, w.row(row), onFunction(Outgoing, u.region), 0, u.call)
		}
	}
	if !found {
		w.to(i, w.row(row), onNode(Incoming, single, int(e.From)), 0, none)
	}
}

// taken goes to what imports a module and the functions that use what it gives; name
// is of one export, "" for all.
func (w *walk) taken(i, module int, name string) {
	for _, row := range w.entering[module] {
		e := &w.g.Edges[row]
		if e.Relation != model.ApplicationRelationImports || e.Location == nil {
			continue
		}
		uses := w.uses(int(row))
		found := name == ""
		for _, u := range uses {
			if name != "" && u.name != name && u.name != "" {
				continue
			}
			found = true
			if !w.isTop(u.region) {
				w.to(i, w.row(int(row)), onFunction(Incoming, u.region), 0, u.call)
			}
		}
		if found {
			if j := w.to(i, w.row(int(row)), onNode(Incoming, leaf, int(e.From)), 0, none); j >= 0 && w.isImported(int(e.From)) {
				w.border(j, Importers)
			}
		}
	}
}

// isImported reports whether a module is imported.
func (w *walk) isImported(module int) bool {
	for _, row := range w.entering[module] {
		if w.g.Edges[row].Relation == model.ApplicationRelationImports {
			return true
		}
	}
	return false
}

// container goes from a module to the file that it is packed in, which is what
// pages and processes load.
func (w *walk) container(i, row int) {
	if from := int(w.g.Edges[row].From); isCode(w.g.Nodes[from].Kind) {
		w.to(i, w.row(row), onNode(Incoming, single, from), 0, none)
	}
}

// runBy goes from a function to what runs it.
func (w *walk) runBy(i int, f int32) {
	if a, ok := w.behind[f]; ok {
		next := onNode(Incoming, single, int(w.g.Edges[a.edge].To))
		next.member = a.name
		w.to(i, w.row(a.edge), next, semantic.Property, none)
	}
	found, went := false, false
	from := func(e semantic.Edge, call int32) {
		found = true
		for _, row := range w.handler[call] {
			e := &w.g.Edges[row]
			if e.Relation == model.ApplicationRelationHandles && w.g.Nodes[e.To].Kind == model.ApplicationNodeKindIpcChannel {
				continue
			}
			w.to(i, w.row(row), onNode(Incoming, single, int(e.To)), 0, none)
		}
		region := w.p.Around(call)
		if len(w.handler[call]) > 0 || w.sent[call] {
			return
		}
		if e.Kind == semantic.Listens && w.p.Module(region) == w.p.Module(f) {
			return
		}
		went = true
		if e.Kind == semantic.Listens || w.isTop(region) { // who listens is not part of what happens, but of where
			w.to(i, w.between(e, region, f), onNode(Incoming, single, w.p.Module(region)), 0, none)
			return
		}
		w.to(i, w.between(e, region, f), onFunction(Incoming, region), e.Kind, call)
	}
	w.p.Into(f, func(e semantic.Edge) {
		switch e.Kind {
		case semantic.Calls, semantic.Listens, semantic.Schedules, semantic.Continues:
			from(e, e.From)
		}
	})
	if !found {
		for _, e := range w.p.From(f) {
			if e.Kind == semantic.Argument && w.p.IsCall(e.To) {
				from(e, e.To)
			}
		}
	}
	if !found {
		if _, ok := w.behind[f]; !ok {
			w.border(i, Unresolved)
		}
	}
	if !went {
		w.loadedBy(i, w.p.Module(f))
	}
}

// isPage reports whether nodes of a kind are windows and what runs in them.
func isPage(k model.ApplicationNodeKind) bool {
	switch k {
	case model.ApplicationNodeKindBrowserWindow, model.ApplicationNodeKindElectronRenderer, model.ApplicationNodeKindElectronPreload, model.ApplicationNodeKindHTMLDocument:
		return true
	}
	return false
}

// loadedBy goes from a function to what loads its module.
func (w *walk) loadedBy(i, module int) {
	for _, row := range w.entering[module] {
		e := &w.g.Edges[row]
		switch from := w.g.Nodes[e.From].Kind; {
		case e.Relation == model.ApplicationRelationLoads && from != model.ApplicationNodeKindPackage:
			w.to(i, w.row(int(row)), onNode(Incoming, single, int(e.From)), 0, none)
		case e.Relation == model.ApplicationRelationContains:
			w.container(i, int(row))
		}
	}
}
