package application_test

import (
	"bytes"
	"testing"
)

// What must not be kept of addresses is marked with SECRET, in every place that
// a program, a page or a package has for an address.
var secretive = map[string]string{
	"package.json": `{"name": "demo", "main": "main.js"}`,
	"main.js": `
const {ipcRenderer, ipcMain, shell, BrowserWindow, contextBridge, autoUpdater} = require('electron');
fetch('/events?tok=SECRET'); fetch('api/x?key=SECRET#SECRET'); fetch('?k=SECRET'); fetch('//u:SECRET@h.example/p?x=SECRET');
exports.db = 'postgres://admin:SECRET@db.example/x?sslkey=SECRET'; exports.rel = '/r?t=SECRET';
function f(id) { return fetch(` + "`/t/${id}?apikey=SECRET&y=${id}#SECRET`" + `); }
function g(id) { return fetch('https://h.example/' + id + '?tok=SECRET' + '#SECRET'); }
function h(id) { return fetch('https://' + id + ':SECRET@h.example/'); }
shell.openExternal('https://x.example/?a=SECRET'); new WebSocket('wss://u:SECRET@h.example/s?SECRET');
require('child_process').exec('curl -u "x" https://u:SECRET@x.example/?t=SECRET');
require('child_process').spawn('https://u:SECRET@x.example/?t=SECRET');
import('https://cdn.example/m.js?tok=SECRET'); import('./none.js?tok=SECRET'); require('https://cdn.example/n.js#SECRET');
const routes = [{path: '/r1?x=SECRET', component: A}]; app.get('/ex?tok=SECRET', (q, r) => {});
new Worker('/w.js?tok=SECRET'); navigator.serviceWorker.register('/sw.js?tok=SECRET');
localStorage.setItem('https://u:SECRET@x/?t=SECRET', 1); indexedDB.open('/d?k=SECRET');
ipcRenderer.invoke('x?tok=SECRET'); ipcMain.handle('y?tok=SECRET', f); contextBridge.exposeInMainWorld('api', {a: () => ipcRenderer.send('z?k=SECRET')});
new BrowserWindow({icon: 'https://u:SECRET@h/?x=SECRET', webPreferences: {preload: './p.js?k=SECRET', additionalArguments: '--x=https://u:SECRET@h/'}}).loadURL('https://h.example/?k=SECRET');
fetch('https://h.example/p;jsession=SECRET?x'); fetch('https://h.example/p?SECRET'); fetch(' https://u:SECRET@h/?a=1;b=SECRET');
autoUpdater.setFeedURL({url: 'https://u:SECRET@up.example/?k=SECRET'}); log('at https://u:SECRET@h/?x=SECRET there');
//# sourceMappingURL=maps/a.js.map?tok=SECRET`,
	"c.js": `const cp = require('child_process');
cp.spawn('curl', ['-u', 'user:SECRET', '--user=u:SECRET', '-H', 'Authorization: token SECRET', '--header', 'X-Api-Key: SECRET', 'https://h.io/x']);
cp.exec('curl -u me:SECRET https://h.io/y'); cp.exec('curl -H "Authorization: Bearer SECRET" https://h.io/z'); cp.spawn('x', ['--password=SECRET', '--token', 'SECRET']);
fetch('https://h.io/a'.concat('?key=SECRET')); fetch('https://h.io/b?' + new URLSearchParams({token: 'SECRET'})); new URLSearchParams('user=SECRET');
fetch('https://h.io/c', {headers: {Authorization: 'Basic SECRET'}}); fetch('https://h.io/d', {headers: {'x-api-key': 'SECRET'}});
const late = 'https://h.io/e?'.concat('api_key=SECRET', '&k=SECRET'); fetch(late); send('Bearer SECRETSECRET', 'a=1&access_token=SECRET');`,
	"d.js": `new EventSource('/ev;jsessionid=SECRET'); fetch('wss:SECRET@h.example'); fetch('https://user:' + 'SECRET' + '@h.example/'); fetch('https:' + '//user:SEC' + 'RET@h.example/');
const url = new URL('https://h.example/'), q = new URLSearchParams({k: 'SECRET'}); url.searchParams.set('k', 'SECRET'); q.append(url.k, 'SECRET'); url.password = 'SECRET'; fetch(url + q);
new Headers().set('X-Api-Key', 'SECRET'); xhr.setRequestHeader('Authorization', 'Basic SECRET');
//# sourceMappingURL=d.js.map`,
	"d.js.map": `{"version":3,"sources":["https://u:SECRET@h/x.js?token=SECRET#SECRET","//u:SECRET@h/y.js"],"names":[],"mappings":"AAAA;ACAA"}`,
	"b.js":     "//# sourceMappingURL=https://u:SECRET@h/b.js.map?tok=SECRET#SECRET",
	"i.html":   `<meta http-equiv="Content-Security-Policy" content="report-uri https://u:SECRET@h/?k=SECRET; default-src 'self'"><script src="/l.js?tok=SECRET"></script><script src="//u:SECRET@h.example/a.js?SECRET"></script><script type=module>import 'https://u:SECRET@h/m.js?v=SECRET'</script>`,
}

func TestSecretsOfAddressesAreNotKept(t *testing.T) {
	text := analyze(t, write(t, secretive)).AppendJSON(nil)
	for {
		i := bytes.Index(text, []byte("SECRET"))
		if i < 0 {
			break
		}
		t.Errorf("kept: …%s…", text[max(i-120, 0):min(i+20, len(text))])
		text = text[i+6:]
	}
}

func TestChannelsThatDifferInWhatIsNotKept(t *testing.T) {
	a := analyze(t, write(t, map[string]string{"a.js": `const {ipcMain, ipcRenderer} = require('electron');
ipcMain.handle('x?a=1', f); ipcMain.handle('x?a=2', g); ipcRenderer.invoke('x?a=1'); ipcRenderer.invoke('x?a=3')`}))
	want := []string{`ipc-channel x?a= pairing="paired"`, `ipc-channel x?a= pairing="unpaired"`, `ipc-channel x?a= pairing="unpaired"`}
	if got := rows(a, "ipc-channel"); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("channels = %q", got)
	}
}
