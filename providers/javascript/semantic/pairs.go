package semantic

import "strings"

// Pairs relates what sends to what listens where both are ends of one thing that the
// code has: an emitter, the two ports of a channel, a broadcast of one name, a worker
// and its program. It needs the calls that start programs.
func (j *Join) Pairs() {
	j.settle()
	p := &pairing{Join: j, owner: j.owners(), named: map[int32]int32{}, ends: map[end][]int32{}, programs: map[*UnitRange]*ports{}}
	g := j.Graph
	for i := range g.Edges {
		e := &g.Edges[i]
		if (e.Kind == Argument || e.Kind == Uses) && Kind(g.Kinds[e.From]) == Literal {
			if first, there := p.named[e.To]; !there || g.Starts[e.From] < g.Starts[first] {
				p.named[e.To] = e.From
			}
		}
		if e.Kind == Starts {
			p.started = append(p.started, *e)
		}
	}
	var senders []int32
	for n := range g.Kinds {
		switch Kind(g.Kinds[n]) {
		case Listener, Signal:
			p.listener(int32(n))
		case Event:
			senders = append(senders, int32(n))
		}
	}
	for _, n := range senders {
		p.sender(n)
	}
	for _, e := range p.started {
		p.worker(e)
	}
}

type pairing struct {
	*Join
	owner    []int32
	named    map[int32]int32 // first text that a call is given
	ends     map[end][]int32 // listeners
	programs map[*UnitRange]*ports
	workers  []held
	started  []Edge
}

// An end of a thing that carries messages.
type end struct {
	thing int32  // what was made, or none where a name is enough
	name  string // of the event or broadcast
	port  int32  // which of the two ports it is, none for other things
}

// ports of a program are what it sends and hears without an object of its own.
type ports struct{ send, listen []int32 }

// held is what sends to, or hears from, what is held in a variable.
type held struct {
	call   int32
	thing  int32
	listen bool
}

// object is what a method is called of, and what that was made by.
func (p *pairing) object(call int32) (object, thing int32) {
	g := p.Graph
	for _, from := range p.in.of(call) {
		switch Kind(g.Kinds[from]) {
		case Variable, Parameter, Slot, Call, Resource:
			if object == 0 || g.Ends[from]-g.Starts[from] < g.Ends[object]-g.Starts[object] {
				object = from
			}
		}
	}
	if object == 0 {
		return none, none
	}
	thing = object
	for range maxOrigins {
		switch Kind(g.Kinds[thing]) {
		case Call, Resource, ChildProcess: // what made it; what it is made with does not matter
			return object, thing
		}
		in := p.in.of(thing)
		if len(in) != 1 {
			if len(in) == 0 && Kind(g.Kinds[thing]) == Slot && p.owner[thing] != none && isPort(lastStep(g.Label(thing))) {
				thing = p.owner[thing]
				continue
			}
			break
		}
		thing = in[0]
	}
	return object, thing
}

func isPort(name string) bool { return name == "port1" || name == "port2" }

// name is the text that a call is given first.
func (p *pairing) name(call int32) string {
	if l, ok := p.named[call]; ok {
		return p.Graph.Label(l)
	}
	return ""
}

// hears reports whether a listener waits for messages.
func (p *pairing) hears(n int32) bool {
	return lastStep(p.Graph.Label(n)) == "onmessage" || p.name(n) == "message"
}

func (p *pairing) made(thing int32) string {
	if thing == none {
		return ""
	}
	switch Kind(p.Graph.Kinds[thing]) {
	case Call, Resource, ChildProcess:
		return lastStep(p.Graph.Label(thing))
	}
	return ""
}

// key is the end of a thing at which a call listens or, for a sender, to which it
// sends; false where that is not known.
func (p *pairing) key(call, object, thing int32, sends bool) (end, bool) {
	method := lastStep(p.Graph.Label(call))
	switch p.made(thing) {
	case "MessageChannel", "MessageChannelMain":
		return end{thing, "", object}, sends && method == "postMessage" || !sends && p.hears(call)
	case "BroadcastChannel":
		name := p.name(thing)
		return end{none, name, none}, name != "" && (sends && method == "postMessage" || !sends && p.hears(call))
	}
	switch method {
	case "emit", "on", "once", "addListener", "prependListener":
		name := p.name(call)
		return end{thing, name, none}, name != "" && thing != none
	}
	return end{}, false
}

func (p *pairing) listener(n int32) {
	object, thing := p.object(n)
	if k, ok := p.key(n, object, thing, false); ok {
		p.ends[k] = append(p.ends[k], n)
		if k.port != none { // both ports are found by what made them
			k.port = none
			p.ends[k] = append(p.ends[k], n)
		}
	}
	switch {
	case !p.hears(n):
	case p.made(thing) != "":
		p.workers = append(p.workers, held{n, thing, true})
	case isEnd(p.Graph.Label(n)):
		ports := p.program(n)
		ports.listen = append(ports.listen, n)
	}
}

func (p *pairing) program(n int32) *ports {
	u := p.Graph.UnitOf(n)
	if p.programs[u] == nil {
		p.programs[u] = &ports{}
	}
	return p.programs[u]
}

// isEnd reports whether a path is the end that a worker or child has of what started
// it.
func isEnd(label string) bool {
	label = strings.TrimPrefix(strings.TrimPrefix(label, "self."), "globalThis.")
	switch label {
	case "onmessage", "addEventListener", "postMessage", "process.on", "process.once", "process.send":
		return true
	}
	rest, ok := strings.CutSuffix(label[:max(0, strings.LastIndexByte(label, '.'))], "parentPort")
	return ok && (rest == "" || strings.HasSuffix(rest, "."))
}

func (p *pairing) sender(n int32) {
	object, thing := p.object(n)
	if k, ok := p.key(n, object, thing, true); ok {
		own := k.port
		k.port = none
		for _, l := range p.ends[k] {
			if from, _ := p.object(l); own != none && from == own || k.thing == none && p.same(l, thing) {
				continue
			}
			p.Add(Delivers, n, l)
		}
	}
	switch {
	case p.made(thing) != "":
		p.workers = append(p.workers, held{n, thing, false})
	case isEnd(p.Graph.Label(n)):
		ports := p.program(n)
		ports.send = append(ports.send, n)
	}
}

// same reports whether a listener hears of a thing itself.
func (p *pairing) same(listener, thing int32) bool {
	_, other := p.object(listener)
	return other == thing
}

// worker relates what is sent to a program that was started, and what it sends.
func (p *pairing) worker(start Edge) {
	ports := p.programs[p.Graph.UnitOf(start.To)]
	if ports == nil {
		return
	}
	g := p.Graph
	for _, h := range p.workers {
		if g.UnitOf(h.thing) != g.UnitOf(start.From) || g.Starts[h.thing] > g.Starts[start.From] || g.Ends[h.thing] < g.Ends[start.From] {
			continue
		}
		if h.listen {
			for _, s := range ports.send {
				p.Add(Delivers, s, h.call)
			}
			continue
		}
		for _, l := range ports.listen {
			p.Add(Delivers, h.call, l)
		}
	}
}
