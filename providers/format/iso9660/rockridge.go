package iso9660

import (
	"strings"

	"rea/providers/format/container"
)

// rockRidge is what system use fields say of an entry.
type rockRidge struct {
	name      string
	hasMode   bool
	mode      uint32
	link      string
	child     int64 // block of a directory that was moved up
	relocated bool
	zisofs    bool
	notes     []string
}

// maxContinuations bounds how often fields go on elsewhere.
const maxContinuations = 32

func (r *Reader) systemUse(b []byte) rockRidge {
	var rr rockRidge
	var link links
	for range maxContinuations {
		var next []byte
		for len(b) >= 4 {
			n := int(b[2])
			if n < 4 || n > len(b) {
				break
			}
			field := b[4:n]
			switch string(b[:2]) {
			case "NM":
				if len(field) >= 1 && field[0]&6 == 0 {
					rr.name += string(field[1:])
				}
			case "PX":
				if len(field) >= 4 {
					rr.mode, rr.hasMode = le.Uint32(field), true
				}
			case "SL":
				if len(field) >= 1 {
					link.add(field[1:])
				}
			case "CL":
				if len(field) >= 4 {
					rr.child = int64(le.Uint32(field))
				}
			case "RE":
				rr.relocated = true
			case "ZF":
				rr.zisofs = true
			case "CE":
				if len(field) >= 24 {
					at := int64(le.Uint32(field))*r.block + int64(le.Uint32(field[8:]))
					next, _ = container.ReadAt(r.src, "iso9660", at, int64(min(le.Uint32(field[16:]), sector*4)))
				}
			case "ST":
				n = len(b)
			}
			b = b[n:]
		}
		if next == nil {
			break
		}
		b = next
	}
	rr.link = link.String()
	return rr
}

// links puts the target of a symbolic link together from its components.
type links struct {
	text      strings.Builder
	begun     bool
	continued bool
}

func (l *links) add(b []byte) {
	for len(b) >= 2 {
		flags, n := b[0], int(b[1])
		if n > len(b)-2 {
			return
		}
		if l.begun && !l.continued && !strings.HasSuffix(l.text.String(), "/") {
			l.text.WriteByte('/')
		}
		switch {
		case flags&8 != 0:
			l.text.WriteByte('/')
		case flags&2 != 0:
			l.text.WriteByte('.')
		case flags&4 != 0:
			l.text.WriteString("..")
		default:
			l.text.Write(b[2 : 2+n])
		}
		l.begun, l.continued = true, flags&1 != 0
		b = b[2+n:]
	}
}

func (l *links) String() string { return l.text.String() }
