package application_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// Servers with routers in routers, clients of every kind, pages with routes, and a package with conditions.
var requests = map[string]string{
	"bin.js":  `1`,
	"br.js":   `1`,
	"br2.js":  `1`,
	"cjs.cjs": `1`,
	"client.js": `import {createBrowserRouter,Route} from 'react-router-dom'; import axios from 'axios'; import got from 'got'; import ky from 'ky'; import {request} from 'undici';
fetch(new URL('/v1/a', 'https://h.example/base/')); fetch(new URL('rel', BASE)); const u=new URL('c?x=1','https://h.example/d/'); fetch(u); fetch(new Request('/rq',{method:'PUT'})); fetch('  /lead');
const x=new XMLHttpRequest(); x.open('POST','/xhr'); axios.get('/ax'); axios({url:'/ax2',method:'post'}); const inst=axios.create({baseURL:'https://api.example/v2'}); inst.get('/me'); inst.post(` + "`" + `/u/${id}` + "`" + `);
got('https://got.example/'); got.post('https://got.example/p'); ky('k'); ky.get('https://ky.example/'); request('https://un.example/'); navigator.sendBeacon('/beacon',d); new EventSource('/ev'); new WebSocket('wss://ws.example/s');
const k2=ky.extend({prefixUrl:'https://kyx.example'}); k2.get('thing'); const g2=got.extend({prefixUrl:'https://gx.example/'}); g2('z');
$.ajax({url:'/jq',type:'POST'}); $.getJSON('/jqj'); fetch(u.href); fetch(String(u)); fetch(u.toString()); window.fetch('/w'); globalThis.fetch('/gt');
createBrowserRouter([{path:'/home',element:E,children:[{path:'about',element:A},{index:true,element:I}]}]); jsx(Route,{path:'/jr',element:E}); React.createElement(Route,{path:'/ce',component:C});
new VueRouter({routes:[{path:'/v/:id',component:V,name:'v'}]}); createRouter({history:createWebHistory(),routes:[{path:'/v2',component:()=>import('./x')}]});`,
	"esm.mjs": `1`,
	"fast.js": `const fastify=require('fastify')(); fastify.get('/f1', h); fastify.route({method:'POST',url:'/f2',handler:h}); fastify.register(plug,{prefix:'/p'}); function plug(f,o,d){ f.get('/in', h) }
const Router=require('@koa/router'); const kr=new Router({prefix:'/k'}); kr.get('/k1', h); kr.get('name','/k2', h); kr.del('/k3', h);
const {Hono}=require('hono'); const hono=new Hono(); hono.get('/h1',h); hono.on('PURGE','/h2',h); const sub=new Hono().basePath('/bp'); sub.get('/h3',h); hono.route('/sub', sub);`,
	"feat.js":      `1`,
	"index.html":   `<script type=module src=client.js></script>`,
	"node.js":      `1`,
	"package.json": `{"name":"t5","exports":{".":{"import":"./esm.mjs","require":"./cjs.cjs","browser":"./br.js"},"./sub/*":"./lib/*.js","./feat":"./feat.js"},"browser":{"./node.js":"./br2.js"},"bin":{"t5":"./bin.js"},"main":"cjs.cjs","module":"esm.mjs","types":"x.d.ts","worker":"w.js"}`,
	"server.js": `const express=require('express'); const app=express(); const router=express.Router(); const users=require('./api/users'); const admin=express.Router();
app.use('/static', express.static('public')); app.use(express.json()); app.all('*', h); app.all('/all/:id', h); app.get('/a', h); app.post('/b', mw, (q,r)=>1); app['delete']('/c', h);
router.route('/r').get(h).post(h); router.get('/g', h); app.use('/api', router); app.use('/users', users); router.use('/admin', admin); admin.get('/x', h);
app.get(['/m1','/m2'], h); app.get(/regex/, h); app.options('/opt', h); app.param('id', h); app.use('/inline', require('./api/inline')); app.use('/v1', auth, users);`,
	"w.js":          `1`,
	"api/inline.js": `import {Router} from 'express'; const r=Router(); r.get('/deep', h); export default r;`,
	"api/users.js":  `const r=require('express').Router(); r.get('/', h); r.post('/new', h); module.exports=r;`,
	"lib/a.js":      `1`,
	"lib/b.js":      `1`,
}

// named are the nodes of a kind by what they are known by: as they stand, or inferred.
func named(a *model.ApplicationAnalysis, kind model.ApplicationNodeKind) (list []string) {
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		if n.Kind != kind {
			continue
		}
		row := label(n)
		if a.Provenance[n.Provenance].State != model.ApplicationProvenanceStateObserved {
			row += " " + string(a.Provenance[n.Provenance].State)
		}
		list = append(list, row)
	}
	slices.Sort(list)
	return list
}

func TestRoutesAndEndpoints(t *testing.T) {
	a := analyze(t, write(t, requests))
	routes := strings.Split("*|/a|/all/:id|/api|/b|/c|/ce|/f1|/f2|/h1|/h2|/home|/home/about|/inline|/jr|/m1|/m2|/opt|/static|/sub|/v/:id|/v2|"+
		"/users inferred|/v1 inferred|/users/new inferred|/v1/new inferred|/inline/deep inferred|/api/r inferred|/api/g inferred|/api/admin inferred|/api/admin/x inferred|"+
		"/p/in inferred|/k/k1 inferred|/k/k2 inferred|/k/k3 inferred|/sub/bp/h3 inferred", "|")
	slices.Sort(routes)
	if diff := cmp.Diff(routes, named(a, model.ApplicationNodeKindRoute)); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	endpoints := strings.Fields("/ax /ax2 /beacon /ev /gt /jq /jqj /lead /rq /w /xhr {}/rel k https://api.example/v2 https://api.example/v2/me https://api.example/v2/u/{} " +
		"https://got.example/ https://got.example/p https://gx.example/ https://gx.example/z https://h.example/base/ https://h.example/d/ https://h.example/d/c?x= " +
		"https://h.example/v1/a https://ky.example/ https://kyx.example https://kyx.example/thing https://un.example/ wss://ws.example/s")
	slices.Sort(endpoints)
	if diff := cmp.Diff(endpoints, named(a, model.ApplicationNodeKindEndpoint)); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	methods := map[string]string{}
	for i := range a.Graph.Edges {
		if e := &a.Graph.Edges[i]; e.Properties["method"] != nil {
			name := label(&a.Graph.Nodes[e.To])
			methods[name] = strings.Trim(methods[name]+" "+strings.Trim(string(e.Properties["method"]), `"`), " ")
		}
	}
	for name, want := range map[string]string{"/api/r": "get post", "/h2": "purge", "/rq": "PUT", "/jqj": "GET", "/jq": "POST", "https://api.example/v2/me": "GET", "/xhr": "POST", "/k/k3": "del"} {
		if methods[name] != want {
			t.Errorf("methods of %s are %q, not %q", name, methods[name], want)
		}
	}
	if p := processesOf(a); p["index.html"] != `["page"]` || p["client.js"] != `["page"]` || p["bin.js"] != `["node"]` || p["server.js"] != "" {
		t.Errorf("processes = %v", p)
	}
}

func TestEntriesOfPackages(t *testing.T) {
	a := analyze(t, write(t, requests))
	var got []string
	for i := range a.Graph.Edges {
		if e := &a.Graph.Edges[i]; e.Properties["entry"] != nil {
			got = append(got, strings.TrimSpace(fmt.Sprint(label(&a.Graph.Nodes[e.To]), " ", string(e.Properties["entry"]), " ", string(e.Properties["subpath"]), " ", string(e.Properties["conditions"]))))
		}
	}
	slices.Sort(got)
	want := []string{
		`bin.js "bin"`, `br.js "exports" "." ["browser"]`, `br2.js "browser" "./node.js"`, `cjs.cjs "exports" "." ["require"]`, `cjs.cjs "main"`, `esm.mjs "exports" "." ["import"]`,
		`esm.mjs "module"`, `feat.js "exports" "./feat"`, `lib/a.js "exports" "./sub/*"`, `lib/b.js "exports" "./sub/*"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
