package application_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rea/generated/model"
)

// Every way to send and to listen, and functions, lists and APIs of the program
// that hand on the channel.
var messages = map[string]string{
	"main.js": `import {ipcMain, BrowserWindow, webContents} from 'electron';
import {IpcListener} from '@electron-toolkit/typed-ipc/main';
const win=new BrowserWindow();
win.webContents.ipc.handle('wc:h',f); win.webContents.ipc.on('wc:on',f); win.webContents.mainFrame.ipc.handle('mf:h',f);
const {ipc}=win.webContents; ipc.handleOnce('wc:once',f);
const l=new IpcListener(); l.handle('typed:h',f);
function register(ch,fn){ipcMain.handle(ch,async(e,...a)=>fn(...a))} register('reg:a',x); register('reg:b',x);
const on=(fn,ch)=>ipcMain.on(ch,fn); on(f,'on:1'); 
['l1','l2'].forEach(c=>ipcMain.on(c,f)); const LIST=['l3']; for(const c of LIST) ipcMain.on(c,f);
const E={A:'e:a',B:'e:b'}; Object.values(E).forEach(c=>ipcMain.on(c,f));
ipcMain.on('ask',(event)=>{event.reply('answer',1); event.sender.send('answer2'); event.senderFrame.postMessage('pm',1)});
webContents.fromId(1).send('wcid'); webContents.getAllWebContents().forEach(w=>w.send('all')); const fw=webContents.getFocusedWebContents(); fw.send('focused');
BrowserWindow.getAllWindows().forEach(w=>w.webContents.send('allw')); win.webContents.sendToFrame(3,'frame');
ipcMain.removeHandler('gone'); ipcMain.handleOnce('once',f);
for(const w of webContents.getAllWebContents()) w.send('allof');
class S{ init(){ipcMain.handle('cls',this.h.bind(this))} }
socket.on('x'); res.send('y'); port.postMessage('z');`,
	"preload.js": `const {ipcRenderer,contextBridge}=require('electron');
const {IpcEmitter}=require('@electron-toolkit/typed-ipc/renderer'); const em=new IpcEmitter(); em.invoke('typed:h');
ipcRenderer.sendToHost('host'); ipcRenderer.sendTo(3,'to'); ipcRenderer.postMessage('pm2',null,[p]);
contextBridge.exposeInMainWorld('api',{send:(channel,data)=>{ if(['toMain'].includes(channel)) ipcRenderer.send(channel,data)}, invoke:(c,...a)=>ipcRenderer.invoke(c,...a), deep:{on(ch,cb){ipcRenderer.on(ch,cb)}}});`,
	"ipcx.mjs": `import {ipcMain} from 'electron'; import {NAME} from './names.mjs';
export function handle(ch,fn){ ipcMain.handle(ch,(e,...a)=>fn(...a)) }
export const listen=(win,ch)=>ipcMain.on(ch,win);
export default {deep:{once(ch){ipcMain.once(ch,()=>0)}}};`,
	"package.json": `{"name":"t2","main":"main.js"}`,
	"page.js":      `window.api.send('toMain',1); api.invoke('reg:a'); window.api.deep.on('answer',()=>1); const {invoke}=window.api; invoke('reg:b')`,
	"index.html":   `<script src=page.js></script>`,
	"names.mjs":    `export const NAME='named:x'`,
	"reex.mjs":     `export * from './ipcx.mjs'; export {default as dd} from './ipcx.mjs'`,
	"use.mjs":      `import {handle,listen,dd} from './reex.mjs'; import {NAME} from './names.mjs'; handle('x:1',f); handle(NAME,f); listen(w,'x:2'); dd.deep.once('x:3'); handle(q,f)`,
}

// operations are the messages of an application: direction, what is done, channel.
func operations(a *model.ApplicationAnalysis) (list []string) {
	for i := range a.Graph.Edges {
		e := &a.Graph.Edges[i]
		to := &a.Graph.Nodes[e.To]
		if to.Kind == model.ApplicationNodeKindIpcChannel {
			list = append(list, fmt.Sprintf("%s %s %s %s", strings.Trim(string(to.Properties["direction"]), `"`), e.Relation, label(to), strings.Trim(string(to.Properties["pairing"]), `"`)))
		}
	}
	slices.Sort(list)
	return list
}

func TestMessagesInEveryWay(t *testing.T) {
	got := operations(analyze(t, write(t, messages)))
	want := strings.Split(strings.TrimSpace(`
main-to-renderer handles - dynamic
main-to-renderer handles answer paired
main-to-renderer sends all unpaired
main-to-renderer sends allof unpaired
main-to-renderer sends allw unpaired
main-to-renderer sends answer paired
main-to-renderer sends answer2 unpaired
main-to-renderer sends focused unpaired
main-to-renderer sends frame unpaired
main-to-renderer sends pm unpaired
main-to-renderer sends to unpaired
main-to-renderer sends wcid unpaired
renderer-to-host sends host unpaired
renderer-to-main handles - dynamic
renderer-to-main handles - dynamic
renderer-to-main handles - dynamic
renderer-to-main handles ask unpaired
renderer-to-main handles cls unpaired
renderer-to-main handles e:a unpaired
renderer-to-main handles e:b unpaired
renderer-to-main handles l1 unpaired
renderer-to-main handles l2 unpaired
renderer-to-main handles l3 unpaired
renderer-to-main handles mf:h unpaired
renderer-to-main handles named:x unpaired
renderer-to-main handles on:1 unpaired
renderer-to-main handles once unpaired
renderer-to-main handles reg:a paired
renderer-to-main handles reg:b paired
renderer-to-main handles typed:h paired
renderer-to-main handles wc:h unpaired
renderer-to-main handles wc:on unpaired
renderer-to-main handles wc:once unpaired
renderer-to-main handles x:1 unpaired
renderer-to-main handles x:2 unpaired
renderer-to-main handles x:3 unpaired
renderer-to-main invokes - dynamic
renderer-to-main invokes reg:a paired
renderer-to-main invokes reg:b paired
renderer-to-main invokes typed:h paired
renderer-to-main sends - dynamic
renderer-to-main sends pm2 unpaired
renderer-to-main sends toMain unpaired
`), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}
