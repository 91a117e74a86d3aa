package pe

import "rea/providers/format/object"

// tls reads the callbacks that run before the entry point.
func (l *loader) tls() {
	d := l.dirs[dirTLS]
	if d.rva == 0 {
		return
	}
	size := l.pointerSize()
	b := l.at(d.rva, 4*size)
	if b == nil {
		l.im.Note("TLS directory at %#x is not in the image", l.base+uint64(d.rva))
		return
	}
	list := l.pointer(b[3*size:])
	rva, ok := l.rvaOf(list)
	if list == 0 || !ok {
		return
	}
	for ; ; rva += uint32(size) {
		b := l.at(rva, size)
		if b == nil {
			l.im.Note("TLS callbacks run out of their section")
			return
		}
		v := l.pointer(b)
		if v == 0 || !l.spend(1) || rva > 0xffffffff-16 {
			return
		}
		l.hint(v, 0, "", object.FromTLSCallback)
	}
}

func (l *loader) pointer(b []byte) uint64 {
	if l.plus {
		return le.Uint64(b)
	}
	return uint64(le.Uint32(b))
}
