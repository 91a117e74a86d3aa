package application

import (
	"maps"
	"slices"

	"rea/generated/model"
	"rea/providers/javascript/address"
	"rea/providers/javascript/facts"
	"rea/providers/javascript/graph"
)

// An operation is one place that sends on a channel or handles what comes.
type operation struct {
	name, direction string
	kind            string // send, invoke, listen or handle
	from            int64  // node of the module
	handler         int64  // node of the handler, for those
	at              *int64
	via             string
	dynamic         bool
	inferred        string // why its channel is known, "" where it stands at the place
	order           int
}

// A delivery is a message that may come from one operation to another.
type delivery struct{ from, to *operation }

func (o *operation) handles() bool { return o.kind == "listen" || o.kind == "handle" }

// A side is the operations of a channel that do the same.
type side struct{ direction, kind string }

func (o *operation) side() side { return side{o.direction, o.kind} }

// others are those that an operation sends to, or hears from.
func (s side) others() side {
	kinds := map[string]string{"invoke": "handle", "handle": "invoke", "send": "listen", "listen": "send"}
	return side{s.direction, kinds[s.kind]}
}

// maxDeliveries bounds the pairs of senders and handlers of a channel that are related
// one by one.
const maxDeliveries = 10_000

func (a *analysis) collectMessage(file int, from int64, f *facts.Fact) {
	o := operation{name: f.Exact, from: from, at: a.location(file, f.At), via: f.Via, dynamic: f.Dynamic, inferred: f.Inferred, order: len(a.operations)}
	for _, d := range f.Details {
		switch d.Name {
		case "operation":
			o.kind, _ = d.Value.(string)
		case "direction":
			o.direction, _ = d.Value.(string)
		}
	}
	if o.kind == removes {
		a.collectRemoval(file, f, &o)
		return
	}
	if o.handles() {
		source := nameSource(f.Dynamic, f.Inferred, "its channel is only known when the program runs")
		o.handler = a.b.Node(model.ApplicationNodeKindIpcHandler, graph.Local(a.tree.Files[file].Path+"@"+itoa(int(f.At.Start))), f.Name, a.b.From(source), o.at,
			graph.Properties{"operation": o.kind, "direction": o.direction, "via": f.Via})
		a.b.Edge(from, o.handler, model.ApplicationRelationContains, a.b.From(fromSyntax), o.at, nil)
	}
	a.operations = append(a.operations, o)
}

// removes is what takes handlers off.
const removes = "remove"

// maxRemovals bounds the places that are kept of one channel.
const maxRemovals = 20

// collectRemoval notes where handlers of a channel, or of those that are not known, are
// taken off.
func (a *analysis) collectRemoval(file int, f *facts.Fact, o *operation) {
	of := side{o.direction, "listen"}
	for _, d := range f.Details {
		if d.Name == "method" && d.Value == "removeHandler" {
			of.kind = "handle"
		}
	}
	if a.removals == nil {
		a.removals = map[side]map[string][]string{}
	}
	if a.removals[of] == nil {
		a.removals[of] = map[string][]string{}
	}
	if list := a.removals[of][o.name]; !o.dynamic && len(list) < maxRemovals {
		place := a.tree.Files[file].Path
		if !a.lowered[file] {
			place += ":" + itoa(a.units[file].lines.of(f.At.Start))
		}
		a.removals[of][o.name] = append(list, place)
	}
}

// unreachable is why what is sent reaches nobody, or "": the renderer's side of messages
// is not there in the main process.
func (a *analysis) unreachable(o *operation) string {
	if o.direction == "renderer-to-main" && !o.handles() && int(o.from) < len(a.reached) && slices.Equal(a.reached[o.from], []string{"main"}) {
		return "ipcRenderer is not there in the main process"
	}
	return ""
}

// Pairings of operations with the other side of their channel.
const (
	paired    = "paired"    // one handler answers, and its channel is literal
	ambiguous = "ambiguous" // several handlers could
	unpaired  = "unpaired"  // no handler of that literal channel was found
	dynamic   = "dynamic"   // the channel is only known when the program runs
)

type channelKey struct{ direction, name string }

// drawMessages draws channels, and pairs what is sent with what handles it. Only
// a literal channel with one possible handler is a pair.
func (a *analysis) drawMessages() {
	channels := map[channelKey][]*operation{}
	dynamicHandlers := map[string]int{}
	for i := range a.operations {
		o := &a.operations[i]
		if o.dynamic {
			a.drawDynamic(o)
			if o.handles() {
				dynamicHandlers[o.direction]++
			}
			continue
		}
		key := channelKey{o.direction, o.name}
		channels[key] = append(channels[key], o)
	}
	drawn := map[string]int{}
	keys := slices.SortedFunc(maps.Keys(channels), func(x, y channelKey) int {
		return channels[x][0].order - channels[y][0].order
	})
	for _, key := range keys {
		shown := address.Text(key.name)
		id := key.direction + " " + shown
		if drawn[id]++; drawn[id] > 1 { // names that differ in what is not kept
			id += " " + itoa(drawn[id])
		}
		a.drawChannel(id, shown, key.direction, channels[key], dynamicHandlers[key.direction])
	}
}

func (a *analysis) drawDynamic(o *operation) {
	source := unknown(fromSyntax, "the channel is only known when the program runs")
	node := a.b.Node(model.ApplicationNodeKindIpcChannel, graph.Local("dynamic "+itoa(o.order)+" "+a.b.Nodes[o.from].ID), "", a.b.From(source), o.at, graph.Properties{"direction": o.direction, "pairing": dynamic})
	a.joinChannel(o, node, source, dynamic)
}

func (a *analysis) joinChannel(o *operation, channel int64, source graph.Source, pairing string) {
	p := graph.Properties{"via": o.via, "pairing": pairing}
	switch o.kind {
	case "send":
		a.b.Edge(o.from, channel, model.ApplicationRelationSends, a.b.From(source), o.at, p)
	case "invoke":
		a.b.Edge(o.from, channel, model.ApplicationRelationInvokes, a.b.From(source), o.at, p)
	default:
		a.b.Edge(o.handler, channel, model.ApplicationRelationHandles, a.b.From(source), o.at, p)
	}
}

func (a *analysis) drawChannel(id, name, direction string, operations []*operation, dynamicHandlers int) {
	senders, handlers := int64(0), int64(0)
	for _, o := range operations {
		if o.handles() {
			handlers++
		} else {
			senders++
		}
	}
	why := operations[0].inferred
	if slices.ContainsFunc(operations, func(o *operation) bool { return o.inferred == "" }) {
		why = ""
	}
	how := nameSource(false, why, "")
	node := a.b.Node(model.ApplicationNodeKindIpcChannel, graph.Local(id), name, a.b.From(how), nil,
		graph.Properties{"direction": direction, "senders": senders, "handlers": handlers})
	sides := map[side][]*operation{}
	for _, o := range operations {
		if a.unreachable(o) != "" {
			continue
		}
		sides[o.side()] = append(sides[o.side()], o)
	}
	overall, missing := "", 0
	for _, o := range operations {
		if why := a.unreachable(o); why != "" {
			a.joinChannel(o, node, inferred(fromSyntax, model.ApplicationProvenanceConfidenceHigh, why), unpaired)
			if overall == "" {
				overall = unpaired
			}
			continue
		}
		if places := a.removals[o.side()][name]; o.handles() && len(places) > 0 {
			a.b.Set(o.handler, "removed", true)
			a.b.Set(o.handler, "removed_at", places)
		}
		others := sides[o.side().others()]
		if pairs := len(sides[o.side()]) * len(others); !o.handles() && pairs > maxDeliveries {
			missing += len(others)
		} else if !o.handles() {
			for _, other := range others {
				a.deliveries = append(a.deliveries, delivery{o, other})
			}
		}
		pairing := unpaired
		switch {
		case o.handles() && len(others) > 0:
			pairing = paired
			if len(sides[o.side()]) > 1 {
				pairing = ambiguous
			}
		case len(others) == 1:
			pairing = paired
			a.b.Edge(o.from, others[0].handler, model.ApplicationRelationCalls, a.b.From(inferred(correlated, model.ApplicationProvenanceConfidenceHigh, "the only handler of a literal channel")), o.at, graph.Properties{"channel": name})
		case len(others) > 1:
			pairing = ambiguous
		}
		if overall == "" || rank(pairing) > rank(overall) {
			overall = pairing
		}
		a.joinChannel(o, node, nameSource(false, o.inferred, ""), pairing)
	}
	a.b.Set(node, "pairing", overall)
	if missing > 0 {
		a.b.Gap("deliveries on the channel "+name, int64(missing), "it has too many senders and handlers to relate each with each")
	}
	if overall == unpaired && dynamicHandlers > 0 {
		a.b.Set(node, "dynamic_handlers", dynamicHandlers)
	}
}

// rank orders pairings by how much they say.
func rank(pairing string) int {
	switch pairing {
	case ambiguous:
		return 3
	case paired:
		return 2
	case unpaired:
		return 1
	}
	return 0
}
