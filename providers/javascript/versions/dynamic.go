package versions

import "rea/generated/model"

// runtimeNamed reports whether code does something whose name it makes only when
// it runs: the name may be any of that kind.
func (s *side) runtimeNamed(i int) bool {
	switch s.node(i).Kind {
	case model.ApplicationNodeKindBrowserWindow, model.ApplicationNodeKindPackage, model.ApplicationNodeKindLibrary:
		return false
	}
	return s.isFact(i) && s.label(i) == ""
}

// veil notes the kinds of which a node may stand for one that it doesn't name.
func (s *side) veil(i int) {
	n := s.node(i)
	switch {
	case n.Kind == model.ApplicationNodeKindUnknown && s.text(i, "what") != "":
		s.open = append(s.open, i)
	case n.Kind == model.ApplicationNodeKindUnknown:
		s.open = append(s.open, i)
		s.veiled[model.ApplicationNodeKindExternalModule] = true
	case n.Kind == model.ApplicationNodeKindBrowserWindow && !s.flag(i, "options_known"):
		s.veiled[model.ApplicationNodeKindElectronPreload] = true
	case s.runtimeNamed(i):
		s.veiled[n.Kind] = true
		if n.Kind == model.ApplicationNodeKindIpcHandler {
			s.veiled[model.ApplicationNodeKindIpcChannel] = true
		}
	}
}

// mayBe is why a fact without a match may be on the other side too, or "": a name
// there is made when the program runs, or the fact has such a name itself and the
// other side has names of its kind that went nowhere.
func (j *judge) mayBe(i int, own, other *side) string {
	kind := own.node(i).Kind
	if !own.isFact(i) || own.isFile(i) || own.text(i, "what") != "" {
		return ""
	}
	if reason := other.opens(kind); reason != "" {
		return reason
	}
	if other.veiled[kind] {
		return "has others of its kind whose names are only known when the program runs"
	}
	if j.patterns(i, own, other).some() {
		return "has an address of which parts are only known when the program runs, or this is one: they may be the same"
	}
	if kind == model.ApplicationNodeKindUnknown {
		kind = model.ApplicationNodeKindExternalModule
	}
	if own.runtimeNamed(i) && j.alone[other][kind] {
		return "has others of its kind, and it may be one of them: its name is only known when the program runs"
	}
	return ""
}

// opens is why code of a side may do anything of a kind, or "". What is on both sides
// does the same on both: it hides nothing that only one of them shows.
func (s *side) opens(kind model.ApplicationNodeKind) string {
	switch kind {
	case model.ApplicationNodeKindPackage, model.ApplicationNodeKindLibrary, model.ApplicationNodeKindNativeAddon, model.ApplicationNodeKindUnknown:
		return ""
	}
	for _, i := range s.open {
		switch {
		case s.pair[i] >= 0:
		case s.text(i, "what") == "compiled-code":
			return "has code that is only compiled when the program runs"
		case s.text(i, "what") == "":
			if kind == model.ApplicationNodeKindChildProcess || kind == model.ApplicationNodeKindIpcChannel || kind == model.ApplicationNodeKindIpcHandler || kind == model.ApplicationNodeKindBrowserWindow {
				return "loads modules that are only known when the program runs"
			}
		case kind == model.ApplicationNodeKindStorage, kind == model.ApplicationNodeKindEndpoint, kind == model.ApplicationNodeKindWorker, kind == model.ApplicationNodeKindServiceWorker:
			return "has globals that are only chosen when the program runs"
		}
	}
	return ""
}

// openLists are lists and objects of a node that may have more than is seen, by
// the property that says whether all is there.
var openLists = map[string]string{"members": "members_complete", "options": "options_known", "channels": "members_complete"}

// wholeness are the properties that say how much of a node was seen, which is
// nothing that the application does.
var wholeness = map[string]bool{"members_complete": true, "options_known": true}

// more reports of each of two nodes whether it may have more of a property than it
// shows: code of it was not read, or is only known when the program runs.
func (j *judge) more(name string, l, r int) (open [2]bool) {
	for n, i := range []int{l, r} {
		s := []*side{j.m.l, j.m.r}[n]
		flag, ok := openLists[name]
		open[n] = s.incomplete(i) || ok && string(s.node(i).Properties[flag]) == "false"
	}
	return open
}
