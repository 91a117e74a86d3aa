package application_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/javascript/application"
	"rea/providers/javascript/semantic"
	"rea/providers/javascript/tree"
)

// TestLong analyses programs of one kind of thing over and over. Each takes well under
// a second, and minutes if anything were looked for in all of the others.
func TestLong(t *testing.T) {
	const many = 60_000
	each := func(format string) string {
		var b strings.Builder
		for i := range many {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, src := range map[string]string{
		"address of many parts":    `fetch("/a"` + strings.Repeat(`+b+"/c"`, many) + `)`,
		"methods of a literal":     "var x={" + each("a%d:f,") + "};" + each("x.a%d();"),
		"methods of a class":       "class A{" + each("a%d(){}") + "};const x=new A;" + each("x.a%d();"),
		"instances of a class":     "class A{" + each("a%d(){}") + "};" + each("new A().a%d();"),
		"callbacks of many names":  "function f(" + each("p%d,") + "q){};" + strings.Repeat(`x.on("a",f);`, many),
		"senders to one channel":   `const {ipcMain:m,ipcRenderer:r}=require("electron");` + strings.Repeat(`m.on("c",f);r.send("c");`, many/10),
		"apis that are exposed":    `const {contextBridge:b}=require("electron");` + each(`b.exposeInMainWorld("a%[1]d",{m(){}});window.a%[1]d.m();`),
		"names far inside":         strings.Repeat("function f(){", 2500) + each("x%[1]d;var y%[1]d;") + strings.Repeat("}", 2500),
		"operators of two kinds":   "x=a" + strings.Repeat("+a*b-c", many),
		"constants from constants": `const k="a";` + each(`const k%[1]d=k+"b";fetch(k%[1]d);`),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.js")
			if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := tree.Read(t.Context(), path, bounds)
			if err != nil {
				t.Fatal(err)
			}
			out, err := application.Analyze(t.Context(), files)
			if err != nil {
				t.Fatal(err)
			}
			if out.Application.JavascriptFiles != 1 {
				t.Error("the program was not read")
			}
		})
	}
}

// TestLong_circles has modules that hand on all that others have, in circles, and one
// name that only one of them has. It takes minutes if each name of each were looked for
// through all of them.
func TestLong_circles(t *testing.T) {
	const many = 3000
	dir := t.TempDir()
	for i := range many {
		src := fmt.Sprintf(`import {a as b, c} from "./m%d.mjs"; export * from "./m%[2]d.mjs"; export {a} from "./m%[3]d.mjs"; b(c)`, (i+1)%many, (i+7)%many, (i+3)%many)
		if i == 70 {
			src += "; export const c = () => 1"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("m%d.mjs", i)), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := tree.Read(t.Context(), dir, bounds)
	if err != nil {
		t.Fatal(err)
	}
	out, err := application.Analyze(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	imports := out.Statistics["edges.imports"]
	if out.Application.JavascriptFiles != many || imports < 2*many {
		t.Errorf("%d files with %d imports", out.Application.JavascriptFiles, imports)
	}
	// What is looked for from the module before is found: c is that of module 70.
	if n := strings.Count(out.Semantics.RelationKinds, string(rune(semantic.Crosses))); n < 100 {
		t.Errorf("%d values go from one module to another", n)
	}
}
