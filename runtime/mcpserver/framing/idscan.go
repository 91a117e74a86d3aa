package framing

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// idScanner finds the ids of top-level messages in bytes that need not be JSON
// and need not be complete: the value of a member named "id" of an object that
// is at the top of the line, or directly inside an array at the top.
//
// It is a pushdown automaton without a stack: depth alone tells where it is.
type idScanner struct {
	depth   int
	array   bool // the outermost bracket is an array
	quoted  bool
	escaped bool
	state   scanState
	token   []byte
	ids     [][]byte
}

type scanState uint8

const (
	outside  scanState = iota // not in a message, or deeper than its members
	wantName                  // before a member name
	inName
	wantColon
	wantValue
	inString // of an id
	inNumber // of an id
	skipping // to the end of the member
)

// feed advances over the next bytes of the line.
func (s *idScanner) feed(part []byte) {
	for i := 0; i < len(part) && len(s.ids) < maxReplies; i++ {
		s.step(part[i])
	}
}

func (s *idScanner) memberDepth() int {
	if s.array {
		return 2
	}
	return 1
}

func (s *idScanner) step(c byte) {
	if s.quoted {
		s.inside(c)
		return
	}
	if s.state == inNumber {
		if c == '-' || c >= '0' && c <= '9' {
			s.collect(c)
			return
		}
		s.finish(c == ',' || c == '}' || c == ' ' || c == '\t' || c == '\r')
	}
	switch c {
	case '"':
		s.quoted = true
		s.token = s.token[:0]
		switch s.state {
		case wantName:
			s.state = inName
		case wantValue:
			s.state = inString
			s.collect(c)
		}
	case '{', '[':
		if s.depth == 0 {
			s.array = c == '['
		}
		s.depth++
		if c == '{' && s.depth == s.memberDepth() {
			s.state = wantName
		} else if s.state != outside && s.depth > s.memberDepth() {
			s.state = skipping
		}
	case '}', ']':
		if s.depth > 0 {
			s.depth--
		}
		if s.depth < s.memberDepth() {
			s.state = outside
		}
	case ',':
		if s.depth == s.memberDepth() && s.state != outside {
			s.state = wantName
		}
	case ':':
		if s.state == wantColon {
			s.state = wantValue
		}
	default:
		if s.state == wantValue && c != ' ' && c != '\t' {
			s.state = skipping
			if c == '-' || c >= '0' && c <= '9' {
				s.state = inNumber
				s.token = s.token[:0]
				s.collect(c)
			}
		}
	}
}

// inside handles one byte of a string.
func (s *idScanner) inside(c byte) {
	if s.state == inName || s.state == inString {
		s.collect(c)
	}
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.quoted = false
		switch s.state {
		case inName:
			s.state = skipping
			if bytes.Equal(s.token, []byte(`id"`)) && s.depth == s.memberDepth() {
				s.state = wantColon
			}
		case inString:
			s.finish(true)
		}
	}
}

func (s *idScanner) collect(c byte) {
	if len(s.token) <= maxIDBytes {
		s.token = append(s.token, c)
	}
}

// finish ends the value of an id.
func (s *idScanner) finish(ok bool) {
	s.state = skipping
	if ok && validRawID(s.token) && jsontext.Value(s.token).IsValid() {
		s.ids = append(s.ids, bytes.Clone(s.token))
	}
}

// found is what the line's replies carry.
func (s *idScanner) found() [][]byte {
	if s.state == inNumber {
		s.finish(false)
	}
	if len(s.ids) == 0 {
		return [][]byte{nil}
	}
	return s.ids
}
