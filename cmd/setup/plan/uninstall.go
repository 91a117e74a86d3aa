package plan

import (
	"slices"

	"rea/cmd/setup/change"
	"rea/cmd/setup/client"
)

// Uninstall plans to take out what is ours: entries that start this program
// under its name, and skills that were written by it.
func Uninstall(o Options) (*Plan, error) {
	d, err := begin(o)
	if err != nil {
		return nil, err
	}
	done := map[string]bool{} // by subject and target
	for _, c := range o.Clients {
		for _, scope := range d.scopes() {
			if l, ok := c.Location(d.Host, scope); ok {
				d.unregister(c, l, done)
			}
		}
		for _, w := range d.recorded(c.ID) {
			if l, ok := c.Location(d.Host, client.Scope(w.Scope)); ok {
				l.File = w.Path
				d.unregister(c, l, done)
			}
		}
	}
	if o.Skill != "" {
		d.removeSkills(done)
	}
	return d.finish("Clients that run now keep the server until they are started again. The program itself stays."), nil
}

func (d *draft) scopes() []client.Scope {
	if d.Scope != "" {
		return []client.Scope{d.Scope}
	}
	return []client.Scope{client.User, client.Project}
}

// recorded lists the files of a subject that are recorded, in whatever project.
func (d *draft) recorded(subject string) []change.Written {
	var out []change.Written
	for _, w := range d.plan.record.Files {
		if w.Subject == subject && d.Scope == "" {
			out = append(out, w)
		}
	}
	return out
}

func (d *draft) unregister(c client.Client, l client.Location, done map[string]bool) {
	i := Item{Subject: c.ID, Name: c.Name, Scope: string(l.Scope), Action: Refuse, Path: l.File}
	f, err := d.load(l.File)
	if err != nil {
		i.Reason = oneLine(err)
		if !slices.ContainsFunc(d.plan.record.Files, func(w change.Written) bool { return w.Path == l.File }) {
			i.Action = Keep // nothing says that anything of ours is there
		}
		d.item(i, nil)
		return
	}
	if done[c.ID+f.Target] {
		return
	}
	done[c.ID+f.Target] = true
	written, known := d.plan.record.Find(f.Target, c.ID)
	defer func() {
		if i.Action != Refuse {
			d.plan.record = d.plan.record.Without(f.Target, c.ID)
		}
	}()
	if f.Delete { // there is no file
		i.Action = Keep
		return
	}
	r := c.Examine(f.After, l, d.Server)
	switch {
	case r.Malformed && !known:
		// Nothing says that anything in it is ours.
		i.Action, i.Reason = Keep, r.Reason
	case r.Malformed:
		i.Reason = r.Reason
	case r.State == client.Missing:
		i.Action = Keep
		return
	case !r.Ours && !known:
		i.Action, i.Reason = Keep, "the server named "+client.EntryName+" is not this program: "+r.Reason
	default:
		d.takeOut(&i, c, f, r, written, known)
	}
	d.item(i, f)
}

// takeOut restores the file from before where nothing else changed since, and
// removes the entry otherwise.
func (d *draft) takeOut(i *Item, c client.Client, f *change.File, r client.Registration, w change.Written, known bool) {
	if err := f.Writable(); err != nil {
		i.Reason = oneLine(err)
		return
	}
	if known {
		d.plan.empty = append(d.plan.empty, w.Folders...)
	}
	if known && change.Digest(f.After) == w.Digest && (w.Original != "" || !w.Existed) {
		i.Action = Restore
		if !w.Existed {
			i.Action, i.Reason, f.Delete = Remove, "the file was made by rea and holds nothing else", true
			return
		}
		// An entry from before that starts this program goes, too: nothing is to
		// start it any more.
		if before, err := d.State.Backup(w.Original); err == nil && !c.Examine(before, r.Location, d.Server).Ours {
			f.After = before
			return
		}
	}
	if known && w.Original != "" {
		if before, err := d.State.Backup(w.Original); err == nil && c.Examine(before, r.Location, d.Server).State != client.Missing {
			i.Reason = "the entry from before is kept in " + d.State.BackupFile(w.Original)
		}
	}
	file, l, err := c.Open(f.After, r.Location)
	if err != nil {
		i.Reason = oneLine(err)
		return
	}
	after, err := file.Remove(w.Made)
	if err != nil {
		i.Reason = oneLine(err)
		return
	}
	i.Action, f.After = Remove, after
	if known && !w.Existed && string(after) == leftover(c, l, d.Server, w.Made) {
		i.Reason, f.Delete = "the file was made by rea and holds nothing else", true
	}
}

// leftover is what is left of a file that was made for the entry, without it.
func leftover(c client.Client, l client.Location, s client.Server, made int) string {
	f, l, err := c.Open([]byte(l.Seed), l)
	if err != nil {
		return l.Seed
	}
	with, err := f.Put(c.Entry(s))
	if err != nil {
		return l.Seed
	}
	if f, _, err = c.Open(with, l); err != nil {
		return l.Seed
	}
	without, err := f.Remove(made)
	if err != nil {
		return l.Seed
	}
	return string(without)
}

// skills lists the skills that nobody needs any more: a folder that several
// clients share keeps its skill as long as one of them is registered.
func (d *draft) skills() []string {
	var paths []string
	for _, scope := range d.scopes() {
		for _, c := range d.Clients {
			p := SkillFile(d.Host, c, scope)
			if p == "" || slices.ContainsFunc(d.plan.record.Files, func(w change.Written) bool {
				other, ok := client.ByID(w.Subject)
				return ok && w.Scope == string(scope) && SkillFile(d.Host, other, scope) == p
			}) {
				continue
			}
			paths = append(paths, p)
		}
	}
	if len(d.Clients) == len(client.All()) {
		for _, w := range d.recorded(skillSubject) {
			paths = append(paths, w.Path)
		}
	}
	return paths
}

func (d *draft) removeSkills(done map[string]bool) {
	paths := d.skills()
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		i := Item{Subject: skillSubject, Name: "Skill", Action: Refuse, Path: path}
		f, err := d.load(path)
		if err != nil {
			i.Reason = oneLine(err)
			d.item(i, nil)
			continue
		}
		if done[skillSubject+f.Target] || !f.Exists {
			continue
		}
		done[skillSubject+f.Target] = true
		w, known := d.plan.record.Find(f.Target, skillSubject)
		i.Scope = w.Scope
		switch {
		case string(f.Before) != d.Skill && (!known || w.Digest != change.Digest(f.Before)):
			i.Action, i.Reason = Keep, "it was not written by rea, or was changed since"
		case f.Writable() != nil:
			i.Reason = oneLine(f.Writable())
		default:
			i.Action, f.Delete = Remove, true
			d.plan.empty = append(d.plan.empty, w.Folders...)
		}
		if i.Action != Refuse {
			d.plan.record = d.plan.record.Without(f.Target, skillSubject)
		}
		d.item(i, f)
	}
}
