package artifacts

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/providers/artifacts/extract"
	"rea/providers/artifacts/inventory"
	"rea/providers/format/container"
)

// maxRounds bounds how often an artifact is read again for the contents that
// hard links lead to: once for each link in a row that leads to a link which was
// not selected.
const maxRounds = 4

// linking writes the contents of hard links. What a link leads to may not be
// selected itself, so the artifact is read again for it.
type linking struct {
	dir      *extract.Directory
	path     string
	options  inventory.Options
	selected map[string]bool // what is read again
	bytes    int64           // of links that were written
	limited  map[*inventory.Item]bool
	targets  map[*inventory.Item]*inventory.Item // as far as they are known
	// contradictions of contents that were read again.
	contradictions []model.ArtifactContradiction
}

// link is a hard link in a container, and the one that is to be written, which
// was found in an earlier reading.
type link struct {
	*inventory.Item
	in   *inventory.Node
	goal *inventory.Item
}

// writeLinks writes every hard link of the inventory that is selected.
func (l *linking) writeLinks(ctx context.Context, res *inventory.Result, wanted func(string) bool) error {
	l.limited, l.selected, l.targets = map[*inventory.Item]bool{}, map[string]bool{}, map[*inventory.Item]*inventory.Item{}
	links := slices.DeleteFunc(hardLinks(res.Root.Inside), func(x link) bool { return !wanted(x.Path) })
	left, err := l.from(ctx, l.dir, res, links)
	for range maxRounds {
		if err != nil || len(left) == 0 {
			return err
		}
		left, err = l.again(ctx, left)
	}
	return err
}

// again reads what links lead to into a directory of its own, and gives the
// links that are still without content.
func (l *linking) again(ctx context.Context, links []link) (left []link, err error) {
	for _, x := range links {
		l.selected[x.Path] = true
		l.follow(x)
	}
	paths := slices.Sorted(maps.Keys(l.selected))
	staged, err := extract.New(paths)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := staged.Discard(); err == nil {
			err = e
		}
	}()
	opt := l.options
	opt.Select, opt.Sink, opt.Shallow = paths, staged, true
	res, err := inventory.Walk(ctx, l.path, opt)
	if err != nil {
		return nil, err
	}
	seen := map[string][]link{}
	for _, x := range hardLinks(res.Root.Inside) {
		seen[x.Path] = append(seen[x.Path], x)
		l.follow(x)
	}
	var found []link
	for _, x := range links {
		if same := seen[x.Path]; len(same) > 0 { // entries of one name come in one order
			found = append(found, link{same[0].Item, same[0].in, x.goal})
			seen[x.Path] = same[1:]
		}
	}
	l.contradictions = append(l.contradictions, newGraph(res, true).contradictions...)
	return l.from(ctx, staged, res, found)
}

// follow selects what a link leads to, under every name that it may have.
func (l *linking) follow(x link) {
	raw := container.Unescape(x.Link)
	plain := strings.TrimPrefix(clean(raw), "/")
	for _, name := range []string{raw, plain, "./" + plain, "/" + plain} {
		if name != "" {
			l.selected[container.Join(x.Container, name)] = true
		}
	}
}

// from writes the links whose content a directory has, and gives the others.
func (l *linking) from(ctx context.Context, dir *extract.Directory, res *inventory.Result, links []link) (left []link, err error) {
	resolved := map[*inventory.Item]*inventory.Item{}
	for _, x := range links {
		resolve(x.in, resolved)
		to := resolved[x.Item]
		if to != nil {
			l.targets[x.goal] = to
		}
		f, ok := dir.Written(to)
		switch {
		case !ok:
			left = append(left, x)
		case res.Bytes+l.bytes+f.Item.Size > l.options.Bounds.TotalBytes:
			l.limited[x.goal] = true
		default:
			l.bytes += f.Item.Size
			if err := dir.CopyTo(ctx, f, l.dir, x.goal); err != nil {
				return nil, err
			}
		}
	}
	return left, nil
}

// refusal says why a link was not written.
func (l *linking) refusal(it *inventory.Item) (model.ArtifactRefusedKind, string) {
	to := l.targets[it]
	switch {
	case l.limited[it]:
		return model.ArtifactRefusedKindLimit, "the limit of " + inventory.LimitTotalBytes + " was reached"
	case to == nil:
		return model.ArtifactRefusedKindNotRegular, "it is a hard link to " + it.Link + ", and its container has no content of that name"
	case to.Limit != "":
		return model.ArtifactRefusedKindLimit, "it is a hard link to " + it.Link + ", where the limit of " + to.Limit + " was reached"
	case to.Status == inventory.Unreadable:
		return kindOf(to.Why), "it is a hard link to " + it.Link + ": " + last(to.Notes)
	}
	return model.ArtifactRefusedKindUnsafeName, "it is a hard link to " + it.Link + ", which is not written"
}

// resolve finds what the hard links of a container lead to in the end: the last
// entry of that name before the link, else one behind it.
func resolve(n *inventory.Node, into map[*inventory.Item]*inventory.Item) {
	if n == nil || len(n.Items) == 0 {
		return
	}
	if _, done := into[n.Items[0]]; done {
		return
	}
	into[n.Items[0]] = nil
	last := map[string]*inventory.Item{}
	for _, it := range n.Items {
		switch it.Type {
		case container.File:
			last[clean(it.Raw)] = it
		case container.Hardlink:
			into[it] = last[clean(container.Unescape(it.Link))]
			if into[it] != nil {
				last[clean(it.Raw)] = into[it]
			}
		}
	}
	for _, it := range n.Items {
		if it.Type == container.Hardlink && into[it] == nil {
			into[it] = last[clean(container.Unescape(it.Link))]
		}
	}
}

// clean makes names of one entry equal, for looking up only.
func clean(raw string) string { return path.Clean("/" + raw) }

func hardLinks(n *inventory.Node) (out []link) {
	if n == nil {
		return nil
	}
	for _, it := range n.Items {
		if it.Type == container.Hardlink {
			out = append(out, link{it, n, it})
		}
		out = append(out, hardLinks(it.Inside)...)
	}
	return out
}
