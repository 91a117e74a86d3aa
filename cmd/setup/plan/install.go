package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"rea/cmd/setup/change"
	"rea/cmd/setup/client"
)

// Install plans to register the server with clients and to give them the skill.
func Install(o Options) (*Plan, error) {
	d, err := begin(o)
	if err != nil {
		return nil, err
	}
	for _, c := range o.Clients {
		d.register(c)
	}
	if o.Skill != "" {
		d.installSkills()
	}
	return d.finish(d.after()...), nil
}

func (d *draft) register(c client.Client) {
	i := Item{Subject: c.ID, Name: c.Name, Scope: string(d.Scope), Action: Refuse}
	l, ok := c.Location(d.Host, d.Scope)
	if !ok {
		i.Reason = "it has no settings of a " + string(d.Scope)
		d.item(i, nil)
		return
	}
	i.Path = l.File
	f, err := d.load(l.File)
	if err != nil {
		i.Reason = oneLine(err)
		d.item(i, nil)
		return
	}
	src := f.After
	if f.Delete {
		src = []byte(l.Seed)
	}
	r := c.Examine(src, l, d.Server)
	_, made := len(r.Vector) > 0 || r.State == client.Invalid, 0
	switch {
	case r.Malformed:
		i.Reason = r.Reason
	case r.State != client.Missing && !r.Ours && !d.Replace:
		i.Reason = "it has another server named " + client.EntryName + " (" + r.Reason + "); --replace takes its place"
	default:
		var after []byte
		if after, made, err = d.write(&c, src, r); err != nil {
			i.Reason = oneLine(err)
			break
		}
		if !f.Delete && change.Digest(after) == change.Digest(f.After) {
			i.Action = Keep
			i.Reason = r.Reason
			break
		}
		if err := f.Writable(); err != nil {
			i.Reason = oneLine(err)
			break
		}
		i.Action = Add
		if r.State != client.Missing {
			i.Action, i.Reason = Update, r.Reason
			if r.State == client.Aligned {
				i.Reason = "starts this program already; other settings of it change"
				if names := d.variables(&c, r); len(names) > 0 {
					i.Reason = "starts this program already; changes " + strings.Join(names, ", ")
				}
			}
		}
		if f.Delete && d.Scope == client.Project {
			f.Shared = true
		}
		f.After, f.Delete = after, false
		d.subjects = append(d.subjects, d.remember(f, i, r, made))
	}
	d.item(i, f)
}

// write puts the entry into the settings of a client.
func (d *draft) write(c *client.Client, src []byte, r client.Registration) (after []byte, made int, err error) {
	s := d.Server
	if r.Ours && len(r.Vector) > 1 && r.Vector[1] == "mcp" {
		s.Args = r.Vector[1:] // a person may have added some
	}
	if r.State == client.Aligned {
		s.Command = r.Vector[0] // another name of the same file
	}
	f, l, err := c.Open(src, r.Location)
	if err != nil {
		return nil, 0, err
	}
	if r.State != client.Missing && !r.Ours {
		if src, err = f.Remove(0); err != nil {
			return nil, 0, err
		}
		if f, _, err = c.Open(src, l); err != nil {
			return nil, 0, err
		}
	}
	made = f.Missing()
	after, err = f.Put(c.Entry(s))
	return after, made, err
}

// variables are those that an entry doesn't have as they shall be.
func (d *draft) variables(c *client.Client, r client.Registration) []string {
	var names []string
	for _, v := range c.Env(c.Entry(d.Server)) {
		if !slices.Contains(r.Env, v) {
			names = append(names, v.Name)
		}
	}
	return names
}

// remember makes the record of a file, from which it can be restored: the first
// bytes that were there before setup wrote to it.
func (d *draft) remember(f *change.File, i Item, r client.Registration, made int) change.Written {
	w := change.Written{
		Path: i.Path, Target: f.Target, Subject: i.Subject, Scope: i.Scope,
		Existed: f.Exists, Made: made, Folders: missingFolders(f.Target),
	}
	old, known := d.plan.record.Find(f.Target, i.Subject)
	switch {
	case known && f.Exists && old.Digest == change.Digest(f.Before):
		w.Existed, w.Original, w.Made, w.Folders = old.Existed, old.Original, old.Made, old.Folders
	case known && r.Ours:
		// Others changed the file behind our entry; there is no state to go back to.
		w.Existed, w.Made, w.Folders = old.Existed, old.Made, old.Folders
	case f.Exists:
		w.Original = change.Digest(f.Before)
	}
	return w
}

// SkillFile is where the skill of a client lies, "" for none.
func SkillFile(h client.Host, c client.Client, scope client.Scope) string {
	if folder := c.SkillFolder(h, scope); folder != "" {
		return filepath.Join(folder, client.EntryName, "SKILL.md")
	}
	return ""
}

// installSkills plans the skill once for each folder that the clients look in.
func (d *draft) installSkills() {
	var paths []string
	for _, c := range d.Clients {
		if p := SkillFile(d.Host, c, d.Scope); p != "" && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	for _, path := range paths {
		i := Item{Subject: skillSubject, Name: "Skill", Scope: string(d.Scope), Action: Refuse, Path: path}
		f, err := d.load(path)
		if err != nil {
			i.Reason = oneLine(err)
			d.item(i, nil)
			continue
		}
		old, known := d.plan.record.Find(f.Target, skillSubject)
		switch {
		case f.Exists && string(f.Before) == d.Skill:
			i.Action = Keep
		case f.Exists && (!known || old.Digest != change.Digest(f.Before)) && !d.Replace:
			i.Reason = "it was not written by rea, or was changed since; --replace takes its place, --no-skill leaves it alone"
		case f.Writable() != nil:
			i.Reason = oneLine(f.Writable())
		default:
			i.Action = Add
			if f.Exists {
				i.Action = Update
			}
			f.After, f.Delete, f.Shared = []byte(d.Skill), false, true
			w := change.Written{Path: path, Target: f.Target, Subject: skillSubject, Scope: i.Scope, Folders: missingFolders(f.Target)}
			if known {
				w.Folders = old.Folders
			}
			d.subjects = append(d.subjects, w)
		}
		d.item(i, f)
	}
}
