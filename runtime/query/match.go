package query

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"rea/generated/fault"
)

// A Matcher finds a text or an RE2 expression in strings.
type Matcher struct {
	text string // lower case when fold is set
	fold bool
	expr *regexp.Regexp // nil when text is meant literally
}

// Literal matches strings that contain text, whatever characters it has.
func Literal(text string, caseSensitive bool) *Matcher {
	if !caseSensitive {
		text = strings.ToLower(text)
	}
	return &Matcher{text: text, fold: !caseSensitive}
}

// Expression matches strings in which the RE2 expression matches somewhere; one
// that does not compile is an invalid_pattern fault.
func Expression(pattern string, caseSensitive bool) (*Matcher, error) {
	// Compiled as it was written first, so that a fault shows the caller's own text.
	expr, err := regexp.Compile(pattern)
	if err == nil && !caseSensitive {
		expr, err = regexp.Compile("(?i)" + pattern)
	}
	if err != nil {
		return nil, fault.InvalidPattern(fault.InvalidPatternDetails{Pattern: pattern, Reason: compileError(err)}, err)
	}
	return &Matcher{expr: expr}, nil
}

// Pattern reads a search input: mode is "literal" or "regex".
func Pattern[Mode ~string](pattern string, mode Mode, caseSensitive bool) (*Matcher, error) {
	if mode == "regex" {
		return Expression(pattern, caseSensitive)
	}
	return Literal(pattern, caseSensitive), nil
}

func compileError(err error) string {
	var e *syntax.Error
	if errors.As(err, &e) {
		return e.Code.String() + ": " + e.Expr
	}
	return err.Error()
}

// Match reports whether s matches.
func (m *Matcher) Match(s string) bool {
	switch {
	case m.expr != nil:
		return m.expr.MatchString(s)
	case m.fold:
		return strings.Contains(strings.ToLower(s), m.text)
	}
	return strings.Contains(s, m.text)
}

// Either reports whether the raw name or, where there is one, the readable name matches.
func (m *Matcher) Either(raw string, readable *string) bool {
	return m.Match(raw) || readable != nil && m.Match(*readable)
}
