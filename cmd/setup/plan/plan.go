// Package plan plans what registering and unregistering the server changes: it
// turns clients into changes of files, which [Plan.Apply] makes all together or
// not at all.
//
// A plan is made without changing anything and can be shown as it is.
package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rea/cmd/setup/change"
	"rea/cmd/setup/client"
)

// Action is what a plan does with one file.
type Action string

const (
	Add     Action = "add"     // an entry, or a file
	Update  Action = "update"  // what is there already
	Keep    Action = "keep"    // nothing to do
	Remove  Action = "remove"  // the entry, or a file that rea made
	Restore Action = "restore" // the bytes from before
	Refuse  Action = "refuse"  // it can't be done; Reason tells why
)

// skillSubject stands for the packaged skill, which is no client.
const skillSubject = "skill"

// An Item is one step of a plan.
type Item struct {
	Subject string `json:"subject"` // id of a client, or skill
	Name    string `json:"name"`
	Scope   string `json:"scope"`
	Action  Action `json:"action"`
	Path    string `json:"path"`
	// Target is the file behind symbolic links, when it is another one.
	Target string `json:"target,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// A FileDiff is what changes in one file.
type FileDiff struct {
	Path string `json:"path"`
	Diff string `json:"diff"`
}

// A Plan is a set of changes.
type Plan struct {
	Items   []Item
	Effects []string
	files   []*change.File
	record  change.Record
	state   change.State
	// empty are folders to remove if nothing is in them when all is done.
	empty []string
}

// Changes tells whether the plan changes anything.
func (p *Plan) Changes() bool { return len(p.files) > 0 }

// Refused lists what can't be done.
func (p *Plan) Refused() []Item {
	var out []Item
	for _, i := range p.Items {
		if i.Action == Refuse {
			out = append(out, i)
		}
	}
	return out
}

// Diffs shows the changes, file by file.
func (p *Plan) Diffs() []FileDiff {
	out := []FileDiff{}
	for _, f := range p.files {
		var before, after []byte
		if f.Exists {
			before = append([]byte{}, f.Before...)
		}
		if !f.Delete {
			after = append([]byte{}, f.After...)
		}
		out = append(out, FileDiff{f.Path, change.Diff(f.Path, before, after)})
	}
	return out
}

// Apply makes the changes.
func (p *Plan) Apply(ctx context.Context) error {
	if r := p.Refused(); len(r) > 0 {
		return fmt.Errorf("%s: %s", r[0].Name, r[0].Reason)
	}
	if !p.Changes() {
		return nil
	}
	if err := p.state.Apply(ctx, p.files, p.record); err != nil {
		return err
	}
	for _, dir := range p.empty {
		_ = os.Remove(dir) // fails when it holds something
	}
	return nil
}

// JSON is the plan as a document.
func (p *Plan) JSON(applied bool) ([]byte, error) {
	items := p.Items
	if items == nil {
		items = []Item{}
	}
	return json.Marshal(struct {
		Items   []Item     `json:"items"`
		Files   []FileDiff `json:"files"`
		Effects []string   `json:"effects"`
		Changes bool       `json:"changes"`
		Applied bool       `json:"applied"`
	}{items, p.Diffs(), p.Effects, p.Changes(), applied})
}

// Options are what a plan is made for.
type Options struct {
	Host   client.Host
	Server client.Server
	State  change.State
	// Clients to register with, or to unregister from.
	Clients []client.Client
	// Scope of what is registered. Uninstall without one covers all scopes and
	// every file that is recorded.
	Scope client.Scope
	// Skill is the text of the packaged skill; "" leaves skills alone.
	Skill string
	// Replace takes over entries and skills that are not ours.
	Replace bool
}

// A draft is a plan that is being made. Several clients may lead to one file
// through symbolic links, so that each change begins where the last one ended.
type draft struct {
	Options
	plan  Plan
	files map[string]*change.File
	order []string
	// subjects are what is recorded about files that change.
	subjects []change.Written
}

func begin(o Options) (*draft, error) {
	if in := o.State.Blocked(); in != "" {
		return nil, fmt.Errorf("what setup changes is recorded in %s, and the file %s is in the way; move it elsewhere", o.State.Dir, in)
	}
	record, err := o.State.Record()
	if err != nil {
		return nil, err
	}
	d := &draft{Options: o, files: map[string]*change.File{}}
	d.plan.record, d.plan.state = record, o.State
	return d, nil
}

// load gives the file of a path with After set to what it holds by now.
func (d *draft) load(path string) (*change.File, error) {
	f, err := change.Load(path, client.Read)
	if err != nil {
		return nil, err
	}
	if known, ok := d.files[f.Target]; ok {
		return known, nil
	}
	f.After, f.Delete = f.Before, !f.Exists
	d.files[f.Target] = f
	d.order = append(d.order, f.Target)
	return f, nil
}

func (d *draft) item(i Item, f *change.File) {
	if f != nil && f.Target != i.Path {
		i.Target = f.Target
	}
	d.plan.Items = append(d.plan.Items, i)
}

// finish collects the files that change, and what is recorded of them.
func (d *draft) finish(effects ...string) *Plan {
	p := &d.plan
	for _, target := range d.order {
		if f := d.files[target]; !f.Unchanged() {
			p.files = append(p.files, f)
		}
	}
	for _, w := range d.subjects {
		f := d.files[w.Target]
		if f.Delete {
			continue
		}
		w.Digest = change.Digest(f.After)
		p.record = p.record.With(w)
	}
	p.Effects = []string{}
	if p.Changes() {
		p.Effects = append(p.Effects, effects...)
	}
	if slices.ContainsFunc(p.files, func(f *change.File) bool { return f.Exists }) {
		p.Effects = append(p.Effects, "Copies of the files from before are kept in "+filepath.Join(d.State.Dir, "backups")+".")
	}
	p.Effects = append(p.Effects, "Nothing is downloaded or installed, and no program is started.")
	return p
}

// after collects what people have to do, once for each client that changes.
func (d *draft) after() []string {
	var out []string
	for _, c := range d.Clients {
		changed := slices.ContainsFunc(d.plan.Items, func(i Item) bool {
			return i.Subject == c.ID && i.Action != Keep && i.Action != Refuse
		})
		if changed && c.After != "" {
			out = append(out, c.Name+": "+c.After)
		}
	}
	return out
}

// missingFolders lists folders on the way to a file that don't exist.
func missingFolders(file string) []string {
	var out []string
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return out
		}
		out = append(out, dir)
	}
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
