package shape

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Status is what became of a part of a shape.
type Status string

// Statuses.
const (
	Added   Status = "added"
	Removed Status = "removed"
	Changed Status = "changed"
	Unknown Status = "unknown"
)

// A Discriminant is the member by which variants were told apart.
type Discriminant struct{ Path, Value string }

// A Change is a part of a shape that differs.
type Change struct {
	Path         string
	Status       Status
	Left, Right  jsontext.Value
	Discriminant *Discriminant
	Reason       string
}

// A Difference is all that differs between two shapes.
type Difference struct {
	Changes  []Change
	Unpaired int // variants of results without a counterpart
}

// maxChanges bounds those of two shapes.
const maxChanges = 2000

// Compare compares two shapes.
func Compare(left, right jsontext.Value) *Difference {
	d := &Difference{}
	d.value("", left, right, nil, 0)
	return d
}

func (d *Difference) add(path string, s Status, left, right jsontext.Value, by *Discriminant, reason string) {
	if len(d.Changes) < maxChanges {
		d.Changes = append(d.Changes, Change{path, s, left, right, by, reason})
	}
}

type fields map[string]jsontext.Value

func read(v jsontext.Value) fields {
	var f fields
	if v.Kind() != '{' || json.Unmarshal(v, &f) != nil {
		return nil
	}
	return f
}

func items(v jsontext.Value) []jsontext.Value {
	var out []jsontext.Value
	if v.Kind() != '[' || json.Unmarshal(v, &out) != nil {
		return nil
	}
	return out
}

func word(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	out, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(out)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// value compares two shapes at a place.
func (d *Difference) value(path string, left, right jsontext.Value, by *Discriminant, depth int) {
	if bytes.Equal(left, right) {
		return
	}
	a, b := read(left), read(right)
	if a == nil || b == nil || depth > 4*maxDepth {
		d.add(path, Changed, left, right, by, "")
		return
	}
	kind, other := word(a["kind"]), word(b["kind"])
	switch {
	case kind == "unknown" || other == "unknown" || kind == "import" || other == "import":
		d.add(path, Unknown, left, right, by, "one side is made where it is not seen")
		return
	case kind != other:
		d.add(path, Changed, left, right, by, "")
		return
	}
	names := slices.Sorted(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	open := [2]bool{hidden(a), hidden(b)}
	for _, name := range names {
		x, y := a[name], b[name]
		switch at := join(path, name); {
		case bytes.Equal(x, y), name == "kind", name == "open", name == "returns_open", name == "params_open", name == "length" && kind == "array":
		case name == "members" || name == "static":
			d.members(at, read(x), read(y), open, by, depth)
		case name == "returns" || name == "variants":
			d.variants(at, items(x), items(y), [2]bool{len(a["returns_open"]) > 0, len(b["returns_open"]) > 0}, depth)
		case name == "params" || name == "constructor":
			d.ordered(at, items(x), items(y), [2]bool{len(a["params_open"]) > 0, len(b["params_open"]) > 0}, by, depth)
		case name == "elements":
			d.ordered(at, items(x), items(y), open, by, depth)
		default:
			d.add(at, status(x, y), orNull(x), orNull(y), by, "")
		}
	}
}

func status(x, y jsontext.Value) Status {
	switch {
	case len(x) == 0:
		return Added
	case len(y) == 0:
		return Removed
	}
	return Changed
}

func orNull(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("null")
	}
	return v
}

// hidden reports whether a shape may have members that are not seen: it is open, or
// a class has those of the class that it extends.
func hidden(f fields) bool { return len(f["open"]) > 0 || len(f["extends"]) > 0 }

// members compares named parts. Where a side may have others than are seen, what it
// lacks is unknown.
func (d *Difference) members(path string, a, b fields, open [2]bool, by *Discriminant, depth int) {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x, y := a[name], b[name]
		at := join(path, name)
		switch s := status(x, y); {
		case s == Changed:
			d.value(at, x, y, by, depth+1)
		case s == Added && open[0], s == Removed && open[1]:
			d.add(at, Unknown, orNull(x), orNull(y), by, "there may be members that are not seen")
		default:
			d.add(at, s, orNull(x), orNull(y), by, "")
		}
	}
}

// ordered compares parts that are told apart by their place.
func (d *Difference) ordered(path string, a, b []jsontext.Value, open [2]bool, by *Discriminant, depth int) {
	for i := range max(len(a), len(b)) {
		at := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= len(a) && open[0], i >= len(b) && open[1]:
			d.add(at, Unknown, orNull(nth(a, i)), orNull(nth(b, i)), by, "there may be elements that are not seen")
		case i >= len(a):
			d.add(at, Added, orNull(nil), b[i], by, "")
		case i >= len(b):
			d.add(at, Removed, a[i], orNull(nil), by, "")
		case read(a[i])["pattern"] != nil && read(b[i])["pattern"] != nil:
			d.parameter(at, read(a[i]), read(b[i]), by)
		default:
			d.value(at, a[i], b[i], by, depth+1)
		}
	}
}

// nth is an element of a list, nil behind its end.
func nth(list []jsontext.Value, i int) jsontext.Value {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func (d *Difference) parameter(path string, a, b fields, by *Discriminant) {
	for _, name := range []string{"default", "keys", "pattern"} {
		if x, y := a[name], b[name]; !bytes.Equal(x, y) {
			d.add(join(path, name), status(x, y), orNull(x), orNull(y), by, "")
		}
	}
}

const notSeen = "the other side may give what is not seen"

// variants compares what may come out of one place. Objects are told apart by a
// member that is another constant in each; others by their kind; what is left by
// being the only one left.
// What has no counterpart is unknown where the other side may give more than is
// seen.
func (d *Difference) variants(path string, a, b []jsontext.Value, open [2]bool, depth int) {
	pairs := make([]int, len(a))
	taken := make([]bool, len(b))
	names := make([]*Discriminant, len(a))
	for i := range a {
		pairs[i] = -1
		for j := range b {
			if !taken[j] && bytes.Equal(a[i], b[j]) {
				pairs[i], taken[j] = j, true
				break
			}
		}
	}
	name := discriminant(a, b)
	match := func(key func(jsontext.Value) string, by bool) {
		for i := range a {
			k := key(a[i])
			if pairs[i] >= 0 || k == "" || count(a, pairs, key, k) != 1 {
				continue
			}
			found := -1
			for j := range b {
				if !taken[j] && key(b[j]) == k {
					if found >= 0 {
						found = -1
						break
					}
					found = j
				}
			}
			if found >= 0 {
				pairs[i], taken[found] = found, true
				if by {
					names[i] = &Discriminant{name, k}
				}
			}
		}
	}
	if name != "" {
		match(func(v jsontext.Value) string { return constant(v, name) }, true)
	}
	match(func(v jsontext.Value) string { return word(read(v)["kind"]) }, false)
	for i := range a {
		at := path + "[" + strconv.Itoa(i) + "]"
		if names[i] != nil {
			at = path + "[" + names[i].Path + "=" + strconv.Quote(names[i].Value) + "]"
		}
		if pairs[i] < 0 {
			d.Unpaired++
			if open[1] {
				d.add(at, Unknown, a[i], orNull(nil), names[i], notSeen)
			} else {
				d.add(at, Removed, a[i], orNull(nil), names[i], "")
			}
			continue
		}
		d.value(at, a[i], b[pairs[i]], names[i], depth+1)
	}
	for j := range b {
		if !taken[j] {
			d.Unpaired++
			if at := path + "[" + strconv.Itoa(j) + "]"; open[0] {
				d.add(at, Unknown, orNull(nil), b[j], nil, notSeen)
			} else {
				d.add(at, Added, orNull(nil), b[j], nil, "")
			}
		}
	}
}

// count counts the unmatched variants of a key.
func count(list []jsontext.Value, pairs []int, key func(jsontext.Value) string, k string) int {
	n := 0
	for i := range list {
		if pairs[i] < 0 && key(list[i]) == k {
			n++
		}
	}
	return n
}

// constant is the constant that a member of an object has, or "".
func constant(v jsontext.Value, name string) string {
	member := read(read(read(v)["members"])[name])
	switch word(member["kind"]) {
	case "string", "number", "boolean":
		return word(member["value"])
	}
	return ""
}

// discriminant is the first member, by name, that is another constant in each of
// the objects on either side.
func discriminant(a, b []jsontext.Value) string {
	var names []string
	for i, v := range a {
		own := slices.Sorted(maps.Keys(read(read(v)["members"])))
		own = slices.DeleteFunc(own, func(n string) bool { return constant(v, n) == "" })
		if i == 0 {
			names = own
		} else {
			names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(own, n) })
		}
	}
	for _, n := range names {
		if distinct(a, n) && distinct(b, n) {
			return n
		}
	}
	return ""
}

func distinct(list []jsontext.Value, name string) bool {
	seen := map[string]bool{}
	for _, v := range list {
		c := constant(v, name)
		if c == "" || seen[c] {
			return false
		}
		seen[c] = true
	}
	return true
}
