package evidence

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDifferences bounds the pointers that are listed for one pair.
const maxDifferences = 50

// differ lists JSON pointers at which two canonical values differ, in document
// order, as deep as both sides have the same shape.
func differ(left, right jsontext.Value) (pointers []string, more bool, err error) {
	d := &differences{pointers: []string{}}
	err = d.compare("", left, right)
	return d.pointers, d.more, err
}

type differences struct {
	pointers []string
	more     bool
}

func (d *differences) add(pointer string) {
	if len(d.pointers) == maxDifferences {
		d.more = true
		return
	}
	d.pointers = append(d.pointers, pointer)
}

func (d *differences) compare(at string, left, right jsontext.Value) error {
	if d.more || bytes.Equal(left, right) {
		return nil
	}
	switch kind := left.Kind(); {
	case kind != right.Kind():
		d.add(at)
	case kind == '{':
		return d.objects(at, left, right)
	case kind == '[':
		return d.arrays(at, left, right)
	default:
		d.add(at)
	}
	return nil
}

func (d *differences) objects(at string, left, right jsontext.Value) error {
	l, err := object(left)
	if err != nil {
		return err
	}
	r, err := object(right)
	if err != nil {
		return err
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(l)), maps.Keys(r))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		pointer := at + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
		a, inLeft := l[name]
		b, inRight := r[name]
		if !inLeft || !inRight {
			d.add(pointer)
			continue
		}
		if err := d.compare(pointer, a, b); err != nil {
			return err
		}
	}
	return nil
}

func (d *differences) arrays(at string, left, right jsontext.Value) error {
	l, err := rows(left)
	if err != nil {
		return err
	}
	r, err := rows(right)
	if err != nil {
		return err
	}
	for i := range min(len(l), len(r)) {
		if err := d.compare(at+"/"+strconv.Itoa(i), l[i], r[i]); err != nil {
			return err
		}
	}
	if len(l) != len(r) {
		d.add(at + "/" + strconv.Itoa(min(len(l), len(r))))
	}
	return nil
}
