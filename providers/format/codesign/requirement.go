package codesign

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Requirement is one condition on code, in the language one writes them in.
type Requirement struct {
	Kind string // "designated", "host", …
	Text string
}

var requirementKinds = map[uint32]string{1: "host", 2: "guest", 3: "designated", 4: "library", 5: "plugin"}

// Requirements reads the set that the signature holds.
func (s *Signature) Requirements() ([]Requirement, error) {
	b := s.slot(slotRequirements, magicRequirements)
	if b == nil {
		return nil, nil
	}
	be, d := binary.BigEndian, b.Data
	if len(d) < 12 {
		return nil, errors.New("the requirements are cut off")
	}
	n := min(uint64(be.Uint32(d[8:])), uint64(len(d)-12)/8, 64)
	var out []Requirement
	for i := range n {
		kind, off := be.Uint32(d[12+8*i:]), uint64(be.Uint32(d[16+8*i:]))
		if off+12 > uint64(len(d)) {
			return out, errors.New("a requirement lies outside of its set")
		}
		size := uint64(be.Uint32(d[off+4:]))
		if size < 12 || size > uint64(len(d))-off {
			return out, errors.New("a requirement is cut off")
		}
		text, err := requirement(d[off : off+size])
		if err != nil {
			return out, err
		}
		name := requirementKinds[kind]
		if name == "" {
			name = "type " + strconv.Itoa(int(kind))
		}
		out = append(out, Requirement{name, text})
	}
	return out, nil
}

// requirement writes one blob as text.
func requirement(b []byte) (string, error) {
	be := binary.BigEndian
	if be.Uint32(b) != magicRequirement || be.Uint32(b[8:]) != 1 {
		return "", errors.New("a requirement of an unknown kind")
	}
	r := &expression{rest: b[12:]}
	text := r.read(0, 0)
	if r.failed {
		return "", errors.New("a requirement is damaged")
	}
	return text, nil
}

type expression struct {
	rest   []byte
	failed bool
	size   int
}

func (r *expression) word() uint32 {
	if len(r.rest) < 4 {
		r.failed = true
		return 0
	}
	v := binary.BigEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return v
}

// data is bytes with their length, padded to a multiple of four.
func (r *expression) data() []byte {
	n := uint64(r.word())
	padded := (n + 3) &^ 3
	if r.failed || padded > uint64(len(r.rest)) {
		r.failed = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[padded:]
	return b
}

func (r *expression) text() string { return word(string(r.data()), false) }

// key is the name of a field, in which dots need no quotes.
func (r *expression) key() string { return word(string(r.data()), true) }

// word quotes what is no plain word.
func word(s string, dots bool) string {
	plain := s != ""
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c != '.' || !dots) && (c < '0' || c > '9')) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return strconv.Quote(strings.ToValidUTF8(s, "\ufffd"))
}

// certificate names a certificate of the chain.
func (r *expression) certificate() string {
	switch n := int32(r.word()); n {
	case 0:
		return "leaf"
	case -1:
		return "root"
	default:
		return strconv.Itoa(int(n))
	}
}

func oid(b []byte) string {
	if len(b) == 0 {
		return "?"
	}
	var out []string
	var v uint64
	for _, c := range b {
		if v > 1<<56 {
			return hex.EncodeToString(b)
		}
		v = v<<7 | uint64(c&0x7f)
		if c&0x80 != 0 {
			continue
		}
		if len(out) == 0 {
			first := min(v/40, 2)
			out = append(out, strconv.FormatUint(first, 10))
			v -= first * 40
		}
		out = append(out, strconv.FormatUint(v, 10))
		v = 0
	}
	return strings.Join(out, ".")
}

// Precedence of the operators, so that only what needs them gets parentheses.
const (
	orLevel = iota
	andLevel
	primary
)

func (r *expression) read(level, depth int) string {
	if depth > 200 || r.failed || r.size > 64<<10 {
		r.failed = true
		return ""
	}
	op := r.word()
	var out string
	switch op & 0xffffff {
	case 0:
		out = "never"
	case 1:
		out = "always"
	case 2:
		out = "identifier " + r.text()
	case 3:
		out = "anchor apple"
	case 4:
		at := r.certificate()
		out = fmt.Sprintf("certificate %s = H\"%s\"", at, hex.EncodeToString(r.data()))
	case 5:
		key := r.key()
		out = "info[" + key + "] = " + r.text()
	case 6, 7:
		own, name := andLevel, " and "
		if op&0xffffff == 7 {
			own, name = orLevel, " or "
		}
		out = r.read(own, depth+1) + name + r.read(own, depth+1)
		if own < level {
			out = "(" + out + ")"
		}
	case 8:
		out = "cdhash H\"" + hex.EncodeToString(r.data()) + "\""
	case 9:
		out = "! " + r.read(primary, depth+1)
	case 10:
		out = "info[" + r.key() + "]" + r.match()
	case 11:
		at := r.certificate()
		out = "certificate " + at + "[" + r.key() + "]" + r.match()
	case 12:
		out = "certificate " + r.certificate() + " trusted"
	case 13:
		out = "anchor trusted"
	case 14:
		at := r.certificate()
		out = "certificate " + at + "[field." + oid(r.data()) + "]" + r.match()
	case 15:
		out = "anchor apple generic"
	case 16:
		out = "entitlement[" + r.key() + "]" + r.match()
	case 17:
		at := r.certificate()
		out = "certificate " + at + "[policy." + oid(r.data()) + "]" + r.match()
	case 18:
		out = "anchor apple " + r.text()
	case 19:
		out = "(" + r.text() + ")"
	case 20:
		out = "platform = " + strconv.Itoa(int(int32(r.word())))
	case 21:
		out = "notarized"
	case 22:
		at := r.certificate()
		out = "certificate " + at + "[timestamp." + oid(r.data()) + "]" + r.match()
	case 23:
		out = "legacy"
	default:
		r.failed = true
	}
	r.size += len(out)
	return out
}

// match reads how a value is compared.
func (r *expression) match() string {
	switch op := r.word(); op {
	case 0:
		return " /* exists */"
	case 1:
		return " = " + r.text()
	case 2:
		return " ~ " + r.text()
	case 3:
		return " = " + r.text() + "*"
	case 4:
		return " = *" + r.text()
	case 5:
		return " < " + r.text()
	case 6:
		return " > " + r.text()
	case 7:
		return " <= " + r.text()
	case 8:
		return " >= " + r.text()
	case 9, 10, 11, 12, 13:
		sign := map[uint32]string{9: " = ", 10: " < ", 11: " > ", 12: " <= ", 13: " >= "}[op]
		seconds := int64(r.word())<<32 | int64(r.word())
		return sign + "timestamp \"" + time.Unix(978307200+seconds%(1<<40), 0).UTC().Format("20060102150405Z") + "\""
	case 14:
		return " absent"
	}
	r.failed = true
	return ""
}
