package change

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Diff is the unified difference of two states of a file, with values that look
// like secrets left out: the difference is shown to people and to agents, and
// lines around a change may hold anything. A file that isn't there is nil.
func Diff(name string, before, after []byte) string {
	a, b := lines(before), lines(after)
	from, to := name, name
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	steps := compare(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunks(steps) {
		writeHunk(&out, h, steps[h.from:h.to])
	}
	return out.String()
}

func lines(data []byte) []string {
	var out []string
	for l := range bytes.Lines(data) {
		out = append(out, string(l))
	}
	return out
}

// A step of a comparison: a line that stays (' '), goes ('-') or comes ('+').
type step struct {
	kind byte
	text string
}

// maxTable bounds the table of the comparison; larger differences are shown as
// a whole block that goes and one that comes.
const maxTable = 4 << 20

// compare finds a longest common subsequence of the lines between the common
// beginning and end.
func compare(a, b []string) []step {
	var head, tail []step
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, step{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, step{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := head
	if (len(a)+1)*(len(b)+1) > maxTable {
		for _, l := range a {
			out = append(out, step{'-', l})
		}
		for _, l := range b {
			out = append(out, step{'+', l})
		}
	} else {
		out = append(out, table(a, b)...)
	}
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

func table(a, b []string) []step {
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	var out []step
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, step{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || longest[(i+1)*width+j] >= longest[i*width+j+1]):
			out = append(out, step{'-', a[i]})
			i++
		default:
			out = append(out, step{'+', b[j]})
			j++
		}
	}
	return out
}

// A hunk is a run of steps with changes, and the lines around them.
type hunk struct {
	from, to         int
	oldLine, newLine int // counted from 1
}

const around = 3

func hunks(steps []step) []hunk {
	var out []hunk
	for i, s := range steps {
		if s.kind == ' ' {
			continue
		}
		from, to := max(0, i-around), min(len(steps), i+1+around)
		if n := len(out); n > 0 && from <= out[n-1].to {
			out[n-1].to = to
			continue
		}
		out = append(out, hunk{from: from, to: to})
	}
	at, oldLine, newLine := 0, 1, 1
	for i := range out {
		for ; at < out[i].from; at++ {
			if steps[at].kind != '+' {
				oldLine++
			}
			if steps[at].kind != '-' {
				newLine++
			}
		}
		out[i].oldLine, out[i].newLine = oldLine, newLine
	}
	return out
}

func writeHunk(out *strings.Builder, h hunk, steps []step) {
	oldCount, newCount := 0, 0
	for _, s := range steps {
		if s.kind != '+' {
			oldCount++
		}
		if s.kind != '-' {
			newCount++
		}
	}
	if oldCount == 0 {
		h.oldLine--
	}
	if newCount == 0 {
		h.newLine--
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", h.oldLine, oldCount, h.newLine, newCount)
	for i, s := range steps {
		other := ""
		switch {
		case s.kind == '-' && i+1 < len(steps) && steps[i+1].kind == '+':
			other = steps[i+1].text
		case s.kind == '+' && i > 0 && steps[i-1].kind == '-':
			other = steps[i-1].text
		}
		text, ended := strings.CutSuffix(s.text, "\n")
		fmt.Fprintf(out, "%c%s\n", s.kind, mask(clip(strings.TrimSuffix(text, "\r"), strings.TrimRight(other, "\r\n"))))
		if !ended {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

const (
	longLine = 240
	margin   = 60
)

// clip cuts a long line down to the part that differs from other.
func clip(line, other string) string {
	if len(line) <= longLine {
		return line
	}
	start, end := 0, len(line)
	for start < len(line) && start < len(other) && line[start] == other[start] {
		start++
	}
	for n := len(other); end > start && n > start && line[end-1] == other[n-1]; n-- {
		end--
	}
	if other == "" {
		start, end = 0, longLine-margin
	}
	start, end = max(0, start-margin), min(len(line), end+margin)
	if end-start > 4*longLine {
		end = start + 4*longLine
	}
	text := line[start:end]
	if start > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return strings.ToValidUTF8(text, "")
}

var (
	secretMember = regexp.MustCompile(`(?i)("?[\w.-]*(?:token|secret|passw|api[-_]?key|apikey|authorization|credential|private[-_]?key|access[-_]?key)[\w.-]*"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}{\[\]"']+)`)
	secretWord   = regexp.MustCompile(`(?i)\b(bearer\s+|(?:sk|ghp|gho|xox[abp]|pat|glpat)[-_])[\w.~+/=-]{6,}`)
	userinfo     = regexp.MustCompile(`(://[^/\s:@"']*:)[^/\s@"']+@`)
)

// mask leaves out values that look like secrets.
func mask(line string) string {
	line = secretMember.ReplaceAllStringFunc(line, func(m string) string {
		parts := secretMember.FindStringSubmatch(m)
		if quote := parts[2][:1]; quote == `"` || quote == "'" {
			return parts[1] + quote + "…" + quote
		}
		return parts[1] + "…"
	})
	line = secretWord.ReplaceAllString(line, "$1…")
	return userinfo.ReplaceAllString(line, "$1…@")
}
