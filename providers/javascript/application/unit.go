package application

import (
	"context"
	"sort"
	"strings"

	"rea/providers/javascript/facts"
	"rea/providers/javascript/parse"
	"rea/providers/javascript/scope"
	"rea/providers/javascript/symbol"
	"rea/providers/javascript/tree"
)

// A unit is what was read from one program. It keeps no syntax tree.
type unit struct {
	module bool
	errors []parse.Error
	failed int
	lines  lines
	found  *facts.Found
}

// lines are the offsets at which lines begin.
type lines []uint32

func newLines(src string) lines {
	out := lines{0}
	for at := 0; ; {
		i := strings.IndexByte(src[at:], '\n')
		if i < 0 {
			return out
		}
		at += i + 1
		out = append(out, uint32(at))
	}
}

// of is the line of an offset, from 1.
func (l lines) of(at uint32) int {
	return sort.Search(len(l), func(i int) bool { return l[i] > at })
}

func readUnit(ctx context.Context, f *tree.File, isModule bool) (*unit, error) {
	src := string(f.Data)
	file, err := parse.Parse(ctx, src, parse.Options{Module: isModule})
	if err != nil {
		return nil, err
	}
	table := scope.Resolve(file)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u := &unit{module: file.Module, errors: file.Errors, failed: file.Failed, lines: newLines(src)}
	u.found = facts.Extract(&facts.Program{File: file, Scopes: table, Names: symbol.New(file, table)})
	return u, nil
}
