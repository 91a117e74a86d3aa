package catalog

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"rea/generated/catalog"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string
)

// pageData is what the template sees.
type pageData struct {
	Doc                   *catalog.Document
	Revision              string
	Families              []pageFamily
	Commands              []catalog.Command // that are not a tool under another name
	Style                 template.CSS
	Script                template.JS
	StyleHash, ScriptHash string
}

type pageFamily struct {
	Name  string
	Tools []pageTool
}

type pageTool struct {
	catalog.Tool
	Usage         string
	Marks         []mark
	Input, Output []Row
	Search        string
}

// mark is one fact about a tool worth seeing at once.
type mark struct{ Text, Class, Why string }

// Page writes the document as one page that needs nothing else.
func Page(w io.Writer, doc *catalog.Document) error {
	data := pageData{
		Doc:        doc,
		Revision:   describe(doc.Revision),
		Style:      template.CSS(pageCSS),
		Script:     template.JS(pageJS),
		StyleHash:  sourceHash(pageCSS),
		ScriptHash: sourceHash(pageJS),
	}
	usage := map[string]string{}
	for _, c := range doc.Commands {
		if c.Tool == nil {
			data.Commands = append(data.Commands, c)
			continue
		}
		usage[*c.Tool] = c.Usage
	}
	byName := map[string]catalog.Tool{}
	for _, t := range doc.Tools {
		byName[t.Name] = t
	}
	for _, f := range doc.Families {
		family := pageFamily{Name: f.Name}
		for _, name := range f.Tools {
			t, err := toolOnPage(byName[name], usage[name])
			if err != nil {
				return err
			}
			family.Tools = append(family.Tools, t)
		}
		data.Families = append(data.Families, family)
	}
	page, err := template.New("page").Funcs(pageFuncs).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("parsing the page template: %w", err)
	}
	if err := page.Execute(w, data); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func toolOnPage(t catalog.Tool, usage string) (pageTool, error) {
	p := pageTool{Tool: t, Usage: usage, Marks: marks(t)}
	var err error
	if p.Input, err = rows(t.InputSchema); err != nil {
		return p, fmt.Errorf("input of %s: %w", t.Name, err)
	}
	// Of an evidence record only the finding differs from tool to tool.
	var finding []string
	if t.Evidence != nil {
		finding = []string{"normalized_result"}
	}
	if p.Output, err = rows(t.OutputSchema, finding...); err != nil {
		return p, fmt.Errorf("output of %s: %w", t.Name, err)
	}
	words := []string{t.Name, strings.ReplaceAll(t.Name, "_", " "), t.Title, t.Description, t.Family}
	for _, r := range p.Input {
		words = append(words, r.Name, r.Description)
	}
	for _, m := range p.Marks {
		words = append(words, m.Text)
	}
	words = append(words, t.Errors...)
	p.Search = lower(words...)
	return p, nil
}

func marks(t catalog.Tool) []mark {
	var out []mark
	add := func(when bool, text, class, why string) {
		if when {
			out = append(out, mark{text, class, why})
		}
	}
	add(t.Annotations.ReadOnlyHint, "read only", "good", "changes nothing, not even the session")
	add(t.Effects.DiscardsData, "discards data", "warn", "something of the session is lost")
	add(t.Effects.ExecutesForeignCode, "runs foreign code", "warn", "executes code that is not ours")
	add(t.Effects.MutatesDevice, "changes a device", "warn", "")
	add(t.Effects.UsesNetwork, "uses the network", "warn", "")
	add(t.Effects.WritesFiles, "writes files", "warn", "")
	add(t.Effects.StartsProcesses, "starts processes", "warn", "")
	add(t.Effects.ChangesSession, "changes the session", "", "")
	add(t.Effects.RecordsEvidence, "records evidence", "", "the result is sealed as an evidence record")
	add(t.Effects.Idempotent, "idempotent", "", "calling it again changes nothing more")
	add(t.Requires.Target, "needs an open target", "", "open_binary first")
	for _, c := range t.Requires.Engine {
		add(true, "engine: "+c, "", "the bound engine must supply this kind of fact")
	}
	for _, h := range t.Requires.Host {
		add(true, h+" only", "", "")
	}
	for _, c := range t.Requires.ClientRequired {
		add(true, "client: "+c, "", "the client must have negotiated this")
	}
	return out
}

// describe says the revision in words.
func describe(r catalog.Revision) string {
	if r.Commit == nil {
		if r.Reason != nil {
			return "unknown (" + *r.Reason + ")"
		}
		return "unknown"
	}
	s := *r.Commit
	if r.Time != nil {
		s += " of " + *r.Time
	}
	if r.Modified == nil {
		return s
	}
	if *r.Modified {
		s += ", with local changes"
	}
	return s
}

// ResultHead says whether the result comes inside an evidence record.
func (t pageTool) ResultHead() string {
	if t.Evidence != nil {
		return "Result, sealed as evidence"
	}
	return "Result"
}

var pageFuncs = template.FuncMap{
	"count":  count,
	"lower":  lower,
	"join":   func(words []string) string { return strings.Join(words, " | ") },
	"indent": func(depth int) int { return min(depth, 4) },
	"short": func(digest string) string {
		if len(digest) > 16 {
			return digest[:16] + "…"
		}
		return digest
	},
	"args": func(head string, rows []Row, open bool) any {
		return struct {
			Head string
			Rows []Row
			Open bool
		}{head, rows, open}
	},
	"json": func(raw json.RawMessage) (string, error) {
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return "", err
		}
		return b.String(), nil
	},
}

func lower(words ...string) string { return strings.ToLower(strings.Join(slices.Compact(words), " ")) }

// sourceHash lets the page's policy allow exactly this style or script.
func sourceHash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
