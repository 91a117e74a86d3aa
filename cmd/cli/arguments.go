package cli

import (
	"flag"
	"strings"
)

// permute moves flags before positional arguments, because flag stops at the
// first positional and people write them in any order. It refuses unknown flags
// with the nearest known one.
func permute(command string, fs *flag.FlagSet, args []string) ([]string, error) {
	var flags, positional []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			positional = append(positional, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			positional = append(positional, arg)
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		name, _, valued := strings.Cut(name, "=")
		if name == "h" || name == "help" {
			return nil, flag.ErrHelp
		}
		f := fs.Lookup(name)
		if f == nil {
			return nil, unknownFlag(command, fs, arg)
		}
		flags = append(flags, arg)
		if valued {
			continue
		}
		if isBool(f) {
			// A flag that may be true, false or not given takes its value
			// after a space too.
			if i+1 < len(args) && (args[i+1] == "true" || args[i+1] == "false") {
				i++
				flags[len(flags)-1] += "=" + args[i]
			}
			continue
		}
		if i++; i == len(args) {
			return nil, usagef("", "flag --%s needs a value", name)
		}
		flags = append(flags, args[i])
	}
	return append(append(flags, "--"), positional...), nil
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func unknownFlag(command string, fs *flag.FlagSet, arg string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	hint := "rea help " + command + " lists its flags"
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		hint = "what comes after -- are arguments, even if it begins with a dash"
	} else if near := nearest(name, known); near != "" {
		hint = "did you mean --" + near + "?"
	}
	return usagef(hint, "%s has no flag --%s", command, name)
}

// nearest is the known word that most resembles word, or "" when none does.
func nearest(word string, known []string) string {
	best, bestDistance := "", len(word)/3+2
	for _, k := range known {
		d := distance(word, k)
		if strings.HasPrefix(k, word) && len(word) > 2 {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts insertions, deletions, substitutions and swaps of neighbours
// (Damerau, optimal string alignment).
func distance(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, older
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
