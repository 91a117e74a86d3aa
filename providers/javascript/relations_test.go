package javascript_test

import (
	"fmt"
	"testing"
)

// A related case is a program in which one place leads to another, or does not.
// Places are "kind value", as selectors name them.
type related struct {
	name, code string
	direction  string
	from, to   string
	want       bool
}

var relations = []related{
	// Routes and requests.
	{"route_callback", `const app = require("express")(); app.get("/users/:id", (req, res) => { audit(req.params.id); }); function audit(a) { console.log(a); }`, "callees", "route /users/:id", "call console.log", true},
	{"route_named_callback", `const app = require("express")(); app.post("/pay", pay); function pay(req) { fetch("https://a.example", {body: req.body}); }`, "callees", "route /pay", "call fetch", true},
	{"route_middleware", `const app = require("express")(); app.post("/x", check, (req, res) => res.end()); function check(req, res, next) { verify(req.token); } function verify(t) { console.log(t); }`, "callees", "route /x", "call console.log", true},
	{"route_router", `const router = require("express").Router(); router.get("/list", async (req, res) => { const q = req.query.q; query(q); }); function query(q) { console.log(q); }`, "forward", "route /list", "call console.log", true},
	{"route_not_the_other", `const app = require("express")(); app.get("/a", () => one()); app.get("/b", () => two()); function one() { console.log(1); } function two() { fetch("/z"); }`, "callees", "route /a", "call fetch", false},
	{"request_body", `function send(secret) { return fetch("/save", {method: "POST", body: secret}); }`, "forward", "binding secret", "call fetch", true},
	{"request_answer", `async function load() { const r = await fetch("/a"); const data = await r.json(); show(data); } function show(d) { document.title = d; }`, "forward", "call fetch", "binding d", true},
	{"request_axios", `const axios = require("axios"); function up(v) { axios.post("/up", v); }`, "forward", "binding v", "call axios.post", true},
	{"request_xhr", `function up(v) { const x = new XMLHttpRequest(); x.open("POST", "/a"); x.send(v); }`, "forward", "binding v", "call send", true},
	// Events and timers.
	{"event_listener", `const {EventEmitter} = require("events"); const bus = new EventEmitter(); bus.on("saved", (note) => store(note)); function store(n) { console.log(n); }`, "callees", "call on", "call console.log", true},
	{"event_payload", `const {EventEmitter} = require("events"); const bus = new EventEmitter(); bus.on("saved", (note) => console.log(note)); function done(x) { bus.emit("saved", x); }`, "forward", "binding x", "call console.log", true},
	{"event_of_another_name", `const {EventEmitter} = require("events"); const bus = new EventEmitter(); bus.on("saved", (note) => console.log(note)); function done(x) { bus.emit("lost", x); }`, "forward", "binding x", "call console.log", false},
	{"event_of_another_emitter", `const {EventEmitter} = require("events"); const a = new EventEmitter(), b = new EventEmitter(); a.on("saved", (note) => console.log(note)); function done(x) { b.emit("saved", x); }`, "forward", "binding x", "call console.log", false},
	{"event_of_another_of_its_kind", `const events = require("events"); const a = new events.EventEmitter(), b = new events.EventEmitter(); a.on("saved", (note) => console.log(note)); function done(x) { b.emit("saved", x); }`, "forward", "binding x", "call console.log", false},
	{"event_across_a_class", `const events = require("events"); class Desk { constructor() { this.bus = new events.EventEmitter(); this.bus.on("saved", (note) => console.log(note)); } done(x) { this.bus.emit("saved", x); } }`, "forward", "binding x", "call console.log", true},
	{"event_click", `document.querySelector("#a").addEventListener("click", press); function press(e) { fetch("/clicked"); }`, "callers", "call fetch", "call addEventListener", true},
	{"event_property", `const s = new WebSocket("wss://a"); s.onmessage = (e) => parse(e.data); function parse(d) { JSON.parse(d); }`, "callers", "call JSON.parse", "call onmessage", true},
	{"timer_runs", `function tick() { fetch("/beat"); } setInterval(tick, 1000);`, "callers", "call fetch", "call setInterval", true},
	{"timer_held", `const t = setTimeout(() => {}, 5);`, "ownership", "call setTimeout", "binding t", true},
	{"timer_not_run_by_another", `function tick() { fetch("/beat"); } function other() {} setInterval(other, 1000);`, "callers", "call fetch", "call setInterval", false},
	// Promises.
	{"promise_then", `fetch("/a").then((r) => r.text()).then((t) => show(t)); function show(v) { console.log(v); }`, "forward", "call fetch", "call console.log", true},
	{"promise_then_value", `fetch("/a").then((r) => r.text()).then((text) => console.log(text));`, "forward", "call fetch", "binding text", true},
	{"promise_await_chain", `async function a() { return secret(); } async function b() { const v = await a(); console.log(v); } function secret() { return process.env.K; }`, "forward", "environment K", "call console.log", true},
	{"promise_all", `async function go() { const [one, two] = await Promise.all([fetch("/1"), fetch("/2")]); console.log(two); }`, "forward", "call fetch", "call console.log", true},
	{"promise_executor", `function wait(v) { return new Promise((resolve) => { resolve(v); }).then((got) => console.log(got)); }`, "forward", "binding v", "binding got", true},
	{"promise_catch", `run().catch((err) => report(err)); function run() { return fetch("/"); } function report(e) { console.error(e); }`, "callees", "call catch", "call console.error", true},
	{"async_iteration", `async function f(stream) { for await (const chunk of stream) console.log(chunk); }`, "forward", "binding stream", "binding chunk", true},
	// Child processes.
	{"child_command", `const {exec} = require("child_process"); function run(name) { exec("ls " + name); }`, "forward", "binding name", "call child_process.exec", true},
	{"child_arguments", `const cp = require("child_process"); function run(name) { const args = ["-l", name]; cp.spawn("ls", args); }`, "forward", "binding name", "call child_process.spawn", true},
	{"child_output", `const cp = require("child_process"); const c = cp.spawn("ls"); c.stdout.on("data", (d) => keep(d)); function keep(x) { console.log(x); }`, "forward", "call child_process.spawn", "call console.log", true},
	{"child_callback", `require("child_process").exec("ls", (err, out) => { show(out); }); function show(o) { console.log(o); }`, "forward", "call child_process.exec", "binding o", true},
	// Workers and ports.
	{"worker_payload", `const w = new Worker(new URL("./w1.js", import.meta.url)); function go(x) { w.postMessage({job: x}); }`, "forward", "binding x", "binding event", true},
	{"worker_answer", `const w = new Worker("./w2.js"); w.onmessage = (e) => console.log(e.data);`, "backward", "call console.log", "environment W", true},
	{"worker_not_another", `const w = new Worker("./w1.js"); w.onmessage = (e) => console.log(e.data);`, "backward", "call console.log", "environment W", false},
	{"worker_thread", `const {Worker} = require("worker_threads"); const w = new Worker(__dirname + "/w3.js"); function go(x) { w.postMessage(x); } w.on("message", (answer) => console.log(answer));`, "forward", "binding x", "binding answer", true},
	{"utility_process", `const {utilityProcess} = require("electron"); const child = utilityProcess.fork(__dirname + "/w4.js"); function go(x) { child.postMessage({x}); }`, "forward", "binding x", "binding task", true},
	{"port_pair", `const {port1, port2} = new MessageChannel(); port2.onmessage = (got) => console.log(got.data); function go(x) { port1.postMessage(x); }`, "forward", "binding x", "binding got", true},
	{"port_not_itself", `const {port1, port2} = new MessageChannel(); port1.onmessage = (got) => console.log(got.data); function go(x) { port1.postMessage(x); }`, "forward", "binding x", "binding got", false},
	{"port_named", `const channel = new MessageChannel(); channel.port1.onmessage = (got) => console.log(got); function go(x) { channel.port2.postMessage(x); }`, "forward", "binding x", "binding got", true},
	{"broadcast", `const c = new BroadcastChannel("news"); c.onmessage = (got) => console.log(got); const d = new BroadcastChannel("news"); function go(x) { d.postMessage(x); }`, "forward", "binding x", "binding got", true},
	// Properties.
	{"slot_object", `function f(v) { const o = {a: {b: v}}; console.log(o.a.b); }`, "forward", "binding v", "call console.log", true},
	{"slot_assigned", `const state = {}; function set(v) { state.user = v; } function get() { console.log(state.user); }`, "forward", "binding v", "call console.log", true},
	{"slot_other", `const state = {}; function set(v) { state.user = v; } function get() { console.log(state.other); }`, "forward", "binding v", "call console.log", false},
	{"slot_this", `class Box { put(v) { this.v = v; } get() { console.log(this.v); } }`, "forward", "binding v", "call console.log", true},
	{"slot_instance", `class Box { put(v) { console.log(v); } } const box = new Box(); function f(x) { box.put(x); }`, "forward", "binding x", "call console.log", true},
	{"slot_factory", `class Box { put(v) { console.log(v); } } function make() { return new Box(); } const box = make(); function f(x) { box.put(x); }`, "forward", "binding x", "call console.log", true},
	{"slot_field", `class Box { put(v) { console.log(v); } } class Desk { constructor() { this.box = new Box(); } work(x) { this.box.put(x); } }`, "forward", "binding x", "call console.log", true},
	{"slot_inherited", `class Base { put(v) { console.log(v); } } class Box extends Base {} const box = new Box(); function f(x) { box.put(x); }`, "forward", "binding x", "call console.log", true},
	{"slot_prototype", `function Box() {} Box.prototype.put = function (v) { console.log(v); }; const box = new Box(); function f(x) { box.put(x); }`, "forward", "binding x", "call console.log", true},
	{"slot_other_class", `class A { put(v) { console.log(v); } } class B { put(v) {} } const b = new B(); function f(x) { b.put(x); }`, "forward", "binding x", "call console.log", false},
	{"slot_static", `class Box { static put(v) { console.log(v); } } function f(x) { Box.put(x); }`, "forward", "binding x", "call console.log", true},
	{"constructor_argument", `class Box { constructor(v) { this.v = v; } go() { console.log(this.v); } } function f(x) { const box = new Box(x); box.go(); }`, "forward", "binding x", "call console.log", true},
	{"constructor_which_argument", `class Box { constructor(a, b) { console.log(b); } } function f(x) { new Box(x, 1); }`, "forward", "binding x", "call console.log", false},
	{"constructor_inherited", `class Base { constructor(v) { console.log(v); } } class Box extends Base { go() {} } function f(x) { new Box(x); }`, "forward", "binding x", "call console.log", true},
	{"constructor_super", `class Base { constructor(v) { console.log(v); } } class Box extends Base { constructor(v) { super(v); } } function f(x) { new Box(x); }`, "forward", "binding x", "call console.log", true},
	{"constructor_super_method", `class Base { put(v) { console.log(v); } } class Box extends Base { put(v) { super.put(v); } } function f(x) { new Box().put(x); }`, "forward", "binding x", "call console.log", true},
	{"constructor_of_another", `class A { constructor(v) { console.log(v); } } class B { constructor(v) {} } function f(x) { new B(x); new A(1); }`, "forward", "binding x", "call console.log", false},
	{"slot_private", `class Box { #put(v) { console.log(v); } go(v) { this.#put(v); } } function f(x) { new Box().go(x); }`, "forward", "binding x", "call console.log", true},
	{"slot_static_or_not", `class Box { static put(v) { console.log(v); } put(v) {} } function f(x) { new Box().put(x); Box.put(1); }`, "forward", "binding x", "call console.log", false},
	{"slot_static_this", `class Box { static put(v) { this.log(v); } static log(v) { console.log(v); } log(v) {} } function f(x) { Box.put(x); }`, "forward", "binding x", "call console.log", true},
	{"arguments_by_number", `function log() { console.log(arguments[1]); } function f(x) { log(1, x); }`, "forward", "binding x", "call console.log", true},
	{"arguments_of_a_callback", `const {EventEmitter} = require("events"); const bus = new EventEmitter(); bus.on("saved", function () { console.log(arguments[0]); }); function done(x) { bus.emit("saved", x); }`, "forward", "binding x", "call console.log", true},
	{"argument_text", `function run(a, b) { console.log(b); } run(1, "text");`, "backward", "call console.log", "literal text", true},
	{"slot_destructured", `function f({user: {name}}) { console.log(name); } f({user: {name: process.env.N}});`, "forward", "environment N", "call console.log", true},
	{"slot_spread", `function f(v) { const a = {v}; const b = {...a}; console.log(b); }`, "forward", "binding v", "call console.log", true},
	// Closures and calls.
	{"callback_parameter", `function f(v, cb) { cb(v); } function g(x) { f(x, (got) => console.log(got)); }`, "forward", "binding x", "call console.log", true},
	{"callback_in_a_timer", `function f(v, cb) { process.nextTick(cb, null, v); } function g(x) { f(x, (err, got) => console.log(got)); }`, "forward", "binding x", "call console.log", true},
	{"closure_kept", `function outer(v) { return () => console.log(v); }`, "forward", "binding v", "call console.log", true},
	{"closure_owner", `function outer() { let n = 0; return () => n++; }`, "ownership", "binding n", "function outer", true},
	{"closure_not_shadowed", `function outer(v) { return (v) => console.log(v); }`, "backward", "call console.log", "function outer", false},
	{"call_default", `function f(v = process.env.D) { console.log(v); }`, "forward", "environment D", "call console.log", true},
	{"call_rest", `function f(...all) { console.log(all); } function g(x) { f(1, x); }`, "forward", "binding x", "call console.log", true},
	{"call_position", `function f(a, b) { console.log(b); } function g(x) { f(x, 1); }`, "forward", "binding x", "call console.log", false},
	{"call_bind", `function f(a, b) { console.log(b); } function g(x) { const h = f.bind(null, 1); h(x); }`, "forward", "binding x", "call console.log", true},
	{"call_apply", `function f(a) { console.log(a); } function g(x) { f.call(null, x); }`, "forward", "binding x", "call console.log", true},
	{"call_callback", `function each(list, f) { for (const one of list) f(one); } function g(xs) { each(xs, (item) => console.log(item)); }`, "callers", "call console.log", "function g", true},
	{"call_map", `function g(xs) { return xs.map((item) => console.log(item)); }`, "forward", "binding xs", "call console.log", true},
	{"call_conditional", `function f(a) { const v = a ? a.x : null; console.log(v ?? 1); }`, "forward", "binding a", "call console.log", true},
	{"call_template", "function f(a) { console.log(`x${a}`); }", "forward", "binding a", "call console.log", true},
	{"call_generator", `function* gen(v) { yield v; } function f(x) { for (const y of gen(x)) console.log(y); }`, "forward", "binding x", "call console.log", true},
	{"call_tagged", "function tag(s, v) { console.log(v); } function f(x) { return tag`a${x}`; }", "forward", "binding x", "call console.log", true},
	{"call_optional", `function f(x) { console?.log?.(x); }`, "forward", "binding x", "call console.log", true},
	// The outside.
	{"parse_checked", `function f(text) { const v = JSON.parse(text); schema.parse(v); }`, "forward", "binding text", "call schema.parse", true},
	{"resource_file", `const fs = require("fs"); function f(name) { fs.readFile(name, (err, data) => console.log(data)); }`, "forward", "binding name", "call fs.readFile", true},
	{"resource_data", `const fs = require("fs"); fs.readFile("a", (err, data) => console.log(data));`, "forward", "call fs.readFile", "call console.log", true},
	{"storage_value", `const t = localStorage.getItem("token"); fetch("/a", {headers: {authorization: t}});`, "forward", "storage token", "call fetch", true},
	{"storage_other", `const t = localStorage.getItem("token"); const u = localStorage.getItem("user"); fetch("/a", {body: u});`, "forward", "storage token", "call fetch", false},
	{"environment_alias", `const env = process.env; const {KEY} = env; console.log(KEY);`, "forward", "environment KEY", "call console.log", true},
	{"signal", `process.on("SIGTERM", () => stop()); function stop() { console.log("bye"); }`, "callers", "call console.log", "call process.on", true},
}

// Programs of a few lines in which every person sees whether one place leads to
// another.
func TestRelations(t *testing.T) {
	d := tools(t)
	files := map[string]string{
		"w1.js": `self.onmessage = (event) => console.log(event.data.job);`,
		"w2.js": `self.postMessage({found: process.env.W});`,
		"w3.js": `const {parentPort} = require("worker_threads"); parentPort.on("message", (m) => parentPort.postMessage(m + 1));`,
		"w4.js": `process.parentPort.on("message", (task) => { console.log(task.data); });`,
	}
	for _, r := range relations {
		files[r.name+".js"] = r.code
	}
	id, _, _ := call(t, d, "analyze_javascript_application", object{"path": folder(t, files)})
	yes, lost, wrong := 0, 0, 0
	for _, r := range relations {
		place := func(s string) object {
			var kind, value string
			fmt.Sscan(s, &kind, &value)
			return object{"kind": kind, "value": value, "match": "exact"}
		}
		seed := place(r.from)
		seed["module"] = r.name + ".js"
		_, _, out := call(t, d, "trace_javascript_semantics", object{"application": retained(id), "seed": seed, "goal": place(r.to), "direction": r.direction, "limits": object{"max_depth": 24}})
		if len(items(out["seed_matches"])) == 0 {
			t.Errorf("%s: there is no %s", r.name, r.from)
			continue
		}
		switch got := len(items(out["goals"])) > 0; {
		case got == r.want && got:
			yes++
		case got && !r.want:
			wrong++
			t.Errorf("%s: %s leads to %s: %v", r.name, r.from, r.to, way(items(out["goals"])[0]))
		case !got && r.want:
			lost++
			t.Errorf("%s: %s does not lead to %s", r.name, r.from, r.to)
		}
	}
	t.Logf("%d found, %d missed, %d wrong", yes, lost, wrong)
}
