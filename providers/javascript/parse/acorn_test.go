package parse_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rea/providers/javascript/jstest"
	"rea/providers/javascript/parse"
)

// nodes prints, for each file that acorn reads, the kinds and ranges of its nodes.
const nodes = `
const fs = require("fs"), acorn = require("acorn"), jsx = require("acorn-jsx");
const parser = acorn.Parser.extend(jsx());
const kinds = {CallExpression: "Call", NewExpression: "New", MemberExpression: "Member", FunctionDeclaration: "Function", FunctionExpression: "Function",
  ArrowFunctionExpression: "Function", ClassDeclaration: "Class", ClassExpression: "Class", ReturnStatement: "Return", IfStatement: "If",
  ConditionalExpression: "Cond", AssignmentExpression: "Assign", TemplateLiteral: "Template", VariableDeclarator: "Declarator", ObjectExpression: "Object",
  ArrayExpression: "Array", ObjectPattern: "ObjectPattern", ArrayPattern: "ArrayPattern", UnaryExpression: "Unary", UpdateExpression: "Update",
  AwaitExpression: "Await", YieldExpression: "Yield", ImportDeclaration: "Import", ForStatement: "For", ForInStatement: "ForIn", ForOfStatement: "ForOf",
  SwitchCase: "Case", TryStatement: "Try", SpreadElement: "Spread", JSXElement: "JSX"};
const out = [];
for (const file of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const src = fs.readFileSync(file, "utf8");
  if (/[^\0-\x7f]/.test(src)) { out.push(null); continue; }
  let tree;
  try { tree = parser.parse(src, {ecmaVersion: "latest", sourceType: "module", allowHashBang: true, allowReturnOutsideFunction: true}); }
  catch { try { tree = parser.parse(src, {ecmaVersion: "latest", sourceType: "script", allowHashBang: true, allowReturnOutsideFunction: true}); } catch { out.push(null); continue; } }
  const list = [];
  (function walk(n) {
    if (!n || typeof n !== "object") return;
    if (Array.isArray(n)) { for (const v of n) walk(v); return; }
    if (typeof n.type === "string") {
      let k = kinds[n.type];
      if (n.type === "Literal") k = n.regex ? "Regex" : typeof n.value === "string" && src[n.start] !== "<" ? "String" : typeof n.value === "number" ? "Number" : null;
      if (n.type === "ExpressionStatement" && n.directive) k = null;
      if (k) list.push(k + " " + n.start + " " + n.end);
      for (const key in n) if (key !== "type" && key !== "start" && key !== "end") walk(n[key]);
    }
  })(tree);
  out.push(list.join("\n"));
}
process.stdout.write(JSON.stringify(out));
`

var kinds = map[parse.Kind]string{
	parse.Call: "Call", parse.New: "New", parse.Dot: "Member", parse.Index: "Member", parse.Func: "Function", parse.FuncDecl: "Function",
	parse.Arrow: "Function", parse.Class: "Class", parse.ClassDecl: "Class", parse.Return: "Return", parse.If: "If", parse.Cond: "Cond",
	parse.Assign: "Assign", parse.Template: "Template", parse.Declarator: "Declarator", parse.Object: "Object", parse.Array: "Array",
	parse.ObjectPattern: "ObjectPattern", parse.ArrayPattern: "ArrayPattern", parse.Unary: "Unary", parse.Update: "Update", parse.Await: "Await",
	parse.Yield: "Yield", parse.Import: "Import", parse.For: "For", parse.ForIn: "ForIn", parse.ForOf: "ForOf", parse.Case: "Case",
	parse.Try: "Try", parse.Spread: "Spread", parse.Regex: "Regex", parse.String: "String", parse.Number: "Number", parse.JSXElement: "JSX",
}

func TestNodesAreThoseOfAcorn(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages")
	}
	dir := jstest.Packages(t, "acorn@8.14.0", "acorn-jsx@5.3.2", "lodash@4.17.21", "react-dom@18.3.1", "jquery@3.7.1", "three@0.170.0", "core-js@3.39.0",
		"rxjs@7.8.1", "d3@7.9.0", "undici@7.2.0", "eslint@9.17.0", "vue@3.5.13", "test262-parser-tests@0.0.5", "@mui/material@6.3.0")
	var files []string
	err := filepath.WalkDir(filepath.Join(dir, "node_modules"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".js") || strings.HasSuffix(path, ".mjs") || strings.HasSuffix(path, ".cjs")) && !strings.Contains(path, "test262") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const most = 4000
	if len(files) > most { // evenly over all packages
		var some []string
		for i := range most {
			some = append(some, files[i*len(files)/most])
		}
		files = some
	}
	input, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	var truth []*string
	if err := json.Unmarshal(jstest.Node(t, dir, nodes, input), &truth); err != nil {
		t.Fatal(err)
	}
	total, wrong := 0, 0
	for i, file := range files {
		if truth[i] == nil {
			continue
		}
		want := map[string]int{}
		for _, line := range strings.Split(*truth[i], "\n") {
			if line != "" {
				want[line]++
				total++
			}
		}
		for line, n := range rowsOf(t, file) {
			if want[line] != n {
				wrong += max(n-want[line], want[line]-n)
				if wrong < 30 {
					t.Logf("%s: ours %d, acorn %d: %s", strings.TrimPrefix(file, dir), n, want[line], line)
				}
			}
			delete(want, line)
		}
		for line, n := range want {
			wrong += n
			if wrong < 30 {
				t.Logf("%s: acorn alone: %s", strings.TrimPrefix(file, dir), line)
			}
		}
	}
	t.Logf("%d nodes, %d differ", total, wrong)
	if total < 1_000_000 || wrong > 0 {
		t.Errorf("%d of %d nodes differ", wrong, total)
	}
}

// rowsOf counts the nodes of a file as acorn would list them.
func rowsOf(t *testing.T, path string) map[string]int {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parse.Parse(t.Context(), string(src), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Failed > 0 {
		t.Errorf("%s: %v", path, f.Errors)
	}
	rows := map[string]int{}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		kind := kinds[n.Kind]
		if kind == "" || n.Kind == parse.Number && strings.HasSuffix(f.Text(parse.Ref(i)), "n") {
			continue
		}
		rows[kind+" "+itoa(n.Start)+" "+itoa(n.End)]++
	}
	return rows
}

func itoa(n uint32) string {
	if n == 0 {
		return "0"
	}
	var b [10]byte
	i := len(b)
	for ; n > 0; n /= 10 {
		i--
		b[i] = byte('0' + n%10)
	}
	return string(b[i:])
}

// TestGrammarByTheSuite reads the programs of a suite that all parsers share.
func TestGrammarByTheSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages")
	}
	dir := jstest.Packages(t, "acorn@8.14.0", "acorn-jsx@5.3.2", "lodash@4.17.21", "react-dom@18.3.1", "jquery@3.7.1", "three@0.170.0", "core-js@3.39.0",
		"rxjs@7.8.1", "d3@7.9.0", "undici@7.2.0", "eslint@9.17.0", "vue@3.5.13", "test262-parser-tests@0.0.5", "@mui/material@6.3.0")
	for _, folder := range []string{"pass", "pass-explicit"} {
		files, err := filepath.Glob(filepath.Join(dir, "node_modules/test262-parser-tests", folder, "*.js"))
		if err != nil || len(files) < 100 {
			t.Skipf("%s: %d files, %v", folder, len(files), err)
		}
		bad := 0
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parse.Parse(t.Context(), string(src), parse.Options{Module: strings.HasSuffix(file, ".module.js")})
			if err != nil {
				t.Fatal(err)
			}
			if f.Failed > 0 {
				bad++
				t.Logf("%s/%s: %v: %q", folder, filepath.Base(file), f.Errors[0], src[:min(len(src), 80)])
			}
		}
		t.Logf("%s: %d of %d programs are refused", folder, bad, len(files))
		if bad*100 > 3*len(files) {
			t.Errorf("%s: %d of %d programs are refused", folder, bad, len(files))
		}
	}
}
