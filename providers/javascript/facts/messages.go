package facts

import (
	"strings"

	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
)

// Directions of a message.
const (
	toMain     = "renderer-to-main"
	toRenderer = "main-to-renderer"
	toHost     = "renderer-to-host" // the page that shows a web view
)

// An operation is what a call does with a channel.
type operation struct {
	what, direction, side string
	channel               int // argument
}

// message reads operations on IPC channels.
func message(e *extractor, c *call) {
	receiver := strings.TrimSuffix(c.path, "."+c.name)
	switch {
	case c.name == "handle" && symbol.Ends(receiver, "protocol"):
		protocols(e, c)
		return
	case symbol.Ends(receiver, "electron.app") && (c.name == "on" || c.name == "once"):
		if c.n > 0 {
			deepLink(e, c)
		}
		return
	}
	o := e.operation(c, receiver)
	if c.name == "on" && o.what == "" && c.n > 2 { // hono.on("PURGE", "/a", …)
		if method, ok := e.Names.Constant(c.args[0]); ok && method != "" && strings.ToUpper(method) == method {
			e.route(c.args[1], strings.ToLower(method), c.r, e.routerOf(e.f.First(e.f.First(c.r))))
		}
		return
	}
	if o.what == "" || c.n <= o.channel {
		return
	}
	e.operate(c, o)
}

// operation is what a method of a receiver does.
func (e *extractor) operation(c *call, receiver string) operation {
	switch {
	case symbol.Ends(receiver, "ipcMain"), symbol.Ends(receiver, "webContents.ipc"), symbol.Ends(receiver, "mainFrame.ipc"), symbol.Ends(receiver, "senderFrame.ipc"), symbol.Ends(receiver, "sender.ipc"):
		return listens(c.name, toMain)
	case symbol.Ends(receiver, "ipcRenderer"):
		switch c.name {
		case "invoke":
			return operation{"invoke", toMain, "sender", 0}
		case "send", "sendSync", "postMessage":
			return operation{"send", toMain, "sender", 0}
		case "sendToHost":
			return operation{"send", toHost, "sender", 0}
		case "sendTo":
			return operation{"send", toRenderer, "sender", 1}
		case "handle", "handleOnce":
			return operation{}
		}
		return listens(c.name, toRenderer)
	case e.contents(c, receiver):
		switch c.name {
		case "send", "postMessage":
			return operation{"send", toRenderer, "sender", 0}
		case "sendToFrame":
			return operation{"send", toRenderer, "sender", 1}
		}
	case c.name == "reply" && e.event(e.f.First(c.r)):
		return operation{"send", toRenderer, "sender", 0}
	case e.wraps(c, "IpcListener"):
		return listens(c.name, toMain)
	case e.wraps(c, "IpcEmitter"):
		switch c.name {
		case "invoke":
			return operation{"invoke", toMain, "sender", 0}
		case "send":
			return operation{"send", toMain, "sender", 0}
		}
	}
	return operation{}
}

func listens(method, direction string) operation {
	switch method {
	case "handle", "handleOnce":
		return operation{"handle", direction, "handler", 0}
	case "on", "once", "addListener", "prependListener":
		return operation{"listen", direction, "handler", 0}
	case "removeHandler", "removeListener", "removeAllListeners", "off":
		return operation{"remove", direction, "handler", 0}
	}
	return operation{}
}

// contents reports whether a receiver is the contents of a window, or a frame.
func (e *extractor) contents(c *call, receiver string) bool {
	for _, end := range []string{"webContents", "mainFrame", "sender", "senderFrame", "opener"} {
		if symbol.Ends(receiver, end) && receiver != end {
			return true
		}
	}
	object := e.made(e.f.First(e.f.First(c.r)))
	if e.f.Kind(object) == parse.Call { // webContents.fromId(1).send(…)
		switch p := e.Names.Path(e.f.First(object)); p[strings.LastIndexByte(p, '.')+1:] {
		case "fromId", "fromFrame", "getFocusedWebContents", "fromDevToolsTargetId":
			return strings.Contains(p, "ebContents.") || strings.Contains(p, "ebFrameMain.")
		}
	}
	return e.each(object, "getAllWebContents")
}

// made is the expression that gives a variable its value, or the expression itself.
func (e *extractor) made(r parse.Ref) parse.Ref {
	if e.f.Kind(r) == parse.Ident && e.Scopes.Of[r] != 0 {
		if value, ok := e.Names.Origin(e.Scopes.Of[r]); ok {
			return value
		}
	}
	return r
}

// each reports whether a variable stands for each element of what a function gives.
func (e *extractor) each(r parse.Ref, function string) bool {
	f := e.f
	b := e.Scopes.Binding(r)
	if f.Kind(r) != parse.Ident || b == nil || b.Decl == 0 {
		return false
	}
	list := parse.Ref(0)
	switch up := e.parents[b.Decl]; f.Kind(up) {
	case parse.Params: // a.forEach((x) => …)
		if outer := e.parents[e.parents[up]]; f.Kind(outer) == parse.Call && f.Kind(f.First(outer)) == parse.Dot {
			list = f.First(f.First(outer))
		}
	case parse.Declarator: // for (const x of a)
		if loop := e.parents[e.parents[up]]; f.Kind(loop) == parse.ForOf {
			list = f.Kid(loop, 1)
		}
	}
	list = e.made(list)
	return f.Kind(list) == parse.Call && strings.HasSuffix(e.Names.Path(f.First(list)), "."+function)
}

// event reports whether a callee is a member of the event that a handler of
// messages is called with.
func (e *extractor) event(callee parse.Ref) bool {
	f := e.f
	object := f.First(callee)
	b := e.Scopes.Binding(object)
	if f.Kind(callee) != parse.Dot || f.Kind(object) != parse.Ident || b == nil || b.Decl == 0 || f.Kind(e.parents[b.Decl]) != parse.Params || f.First(e.parents[b.Decl]) != b.Decl {
		return false
	}
	fn := e.parents[e.parents[b.Decl]]
	outer := e.parents[fn]
	if f.Kind(outer) != parse.Call {
		return true // a named handler: nothing else of its first parameter has a reply
	}
	return strings.Contains(e.Names.Path(f.First(outer)), "ipcMain.") || strings.Contains(e.Names.Path(f.First(outer)), ".ipc.")
}

// wraps reports whether the receiver of a call was made by a class for typed
// messages.
func (e *extractor) wraps(c *call, class string) bool {
	f := e.f
	if f.Kind(f.First(c.r)) != parse.Dot {
		return false
	}
	object := e.made(f.First(f.First(c.r)))
	return f.Kind(object) == parse.New && strings.HasSuffix(e.Names.Path(f.First(object)), "."+class)
}

// operate notes an operation. Where the channel is a parameter of a function, or
// each element of a list, it is one for each that is named.
func (e *extractor) operate(c *call, o operation) {
	details := []Value{{"operation", o.what}, {"direction", o.direction}, {"side", o.side}, {"method", c.name}}
	channel := c.args[o.channel]
	if _, ok := e.Names.Constant(channel); !ok && e.f.Kind(channel) == parse.Ident {
		named, open, w := e.chosen(channel)
		for _, n := range named {
			e.named(Message, n.name, c.path, n.at, details...)
		}
		if len(named) > 0 && !open {
			return
		}
		if w != nil {
			e.named(Message, channel, c.path, c.r, details...).Wrapper = w
			return
		}
	}
	fact := e.named(Message, channel, c.path, c.r, details...)
	if fact.Dynamic {
		fact.Wrapper = e.wrapperOf(e.pieces(channel))
	}
}

// A name that a variable stands for, and the place that says so.
type chosen struct{ name, at parse.Ref }

// maxChosen bounds the names that one variable stands for.
const maxChosen = 500

// chosen are the names that a variable stands for: of what its function is called
// with, or of the list that is gone over. It is open when there may be more.
func (e *extractor) chosen(r parse.Ref) (names []chosen, open bool, w *Wrapper) {
	f := e.f
	b := e.Scopes.Binding(r)
	if b == nil || b.Decl == 0 {
		return nil, true, nil
	}
	up := e.parents[b.Decl]
	if f.Kind(up) == parse.Declarator {
		if loop := e.parents[e.parents[up]]; f.Kind(loop) == parse.ForOf && f.First(loop) == e.parents[up] {
			return e.elements(f.Kid(loop, 1))
		}
		return nil, true, nil
	}
	if f.Kind(up) != parse.Params || b.Writes > 0 {
		return nil, true, nil
	}
	index := 0
	for k := f.First(up); k != b.Decl; k = f.Next(k) {
		index++
	}
	function := e.parents[up]
	outer := e.parents[function]
	if f.Kind(outer) == parse.Call && f.First(outer) != function && index == 0 && f.Kind(f.First(outer)) == parse.Dot {
		switch f.NameOf(f.Kid(f.First(outer), 1)) {
		case "forEach", "map":
			return e.elements(f.First(f.First(outer)))
		}
	}
	w = e.wrapperOf([]Piece{{Unknown: true, Parameter: index + 1, function: function}})
	name := parse.Ref(0)
	switch {
	case f.Kind(function) == parse.FuncDecl:
		name = f.First(function)
	case f.Kind(outer) == parse.Declarator && f.Kind(f.First(outer)) == parse.Ident:
		name = f.First(outer)
	}
	if name == 0 {
		return nil, true, w
	}
	open = false
	for _, use := range e.usesOf(e.Scopes.Of[name]) {
		call := e.parents[use]
		if f.Kind(call) != parse.Call || f.First(call) != use || len(names) == maxChosen {
			open = true
			continue
		}
		arg := f.Kid(call, 1+index)
		if _, ok := e.Names.Constant(arg); ok || settled(e.pieces(arg)) {
			names = append(names, chosen{arg, call})
		} else {
			open = true
		}
	}
	return names, open, w
}

// elements are the names that a list has.
func (e *extractor) elements(list parse.Ref) (names []chosen, open bool, w *Wrapper) {
	f := e.f
	list = e.made(list)
	if f.Kind(list) == parse.Call && f.Kind(f.First(list)) == parse.Dot {
		switch e.Names.Path(f.First(list)) {
		case "Object.values":
			e.Names.Properties(f.Kid(list, 1), func(_ string, value parse.Ref) {
				if _, ok := e.Names.Constant(value); ok && len(names) < maxChosen {
					names = append(names, chosen{value, value})
				} else {
					open = true
				}
			})
			return names, open || len(names) == 0, nil
		case "Object.freeze":
			list = e.made(f.Kid(list, 1))
		}
	}
	if f.Kind(list) != parse.Array {
		return nil, true, nil
	}
	for k := f.First(list); k != 0; k = f.Next(k) {
		if _, ok := e.Names.Constant(k); len(names) < maxChosen && (ok || settled(e.pieces(k))) {
			names = append(names, chosen{k, k})
		} else {
			open = true
		}
	}
	return names, open, nil
}

// memberPath is the path to a function in the outermost object literal around it,
// and that object.
func (e *extractor) memberPath(function parse.Ref) (member string, object parse.Span) {
	f := e.f
	for r := function; ; {
		property := e.parents[r]
		if f.Kind(property) != parse.Property || f.Kid(property, 1) != r {
			return member, object
		}
		key, ok := f.KeyOf(f.First(property), f.At(property).Flags&parse.Computed != 0)
		if !ok {
			return "", parse.Span{}
		}
		if member == "" {
			member = key
		} else {
			member = key + "." + member
		}
		r = e.parents[property]
		object = e.span(r)
	}
}

// usesOf are the places that read a variable, but for its declaration.
func (e *extractor) usesOf(b scope.BindingID) []parse.Ref {
	if e.uses == nil {
		e.uses = map[scope.BindingID][]parse.Ref{}
		for i := range e.Scopes.References {
			if r := &e.Scopes.References[i]; r.Binding != 0 && r.Use()&scope.Read != 0 {
				e.uses[r.Binding] = append(e.uses[r.Binding], r.Node)
			}
		}
	}
	return e.uses[b]
}
