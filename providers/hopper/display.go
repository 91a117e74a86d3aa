package hopper

import (
	"crypto/rand"
	"encoding/binary"

	"rea/runtime/bridge"
	"rea/runtime/child"
)

// authority is the file with the cookie of the private display.
const authority = "xauthority"

// display says how the private display is started: it chooses its number and
// writes it, listens on no network, and lets only those in who know the cookie.
func (l *launch) display(p *bridge.Place) (child.Command, error) {
	cookie := make([]byte, 16)
	rand.Read(cookie)
	if err := p.Write(authority, authorityEntry(cookie)); err != nil {
		return child.Command{}, err
	}
	return child.Command{
		Path: l.installation.Xvfb,
		Args: []string{"-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-auth", p.Path(authority)},
		Dir:  p.Root,
		Env:  []string{"PATH=/usr/bin:/bin", "TMPDIR=/tmp", "LANG=C.UTF-8"},
	}, nil
}

// authorityEntry is one entry of an Xauthority file that is for any host and
// display: family, address, number, protocol and data, each text with its
// length in two bytes, big-endian.
func authorityEntry(cookie []byte) []byte {
	const anyFamily = 0xffff
	b := binary.BigEndian.AppendUint16(nil, anyFamily)
	for _, field := range [][]byte{nil, nil, []byte("MIT-MAGIC-COOKIE-1"), cookie} {
		b = binary.BigEndian.AppendUint16(b, uint16(len(field)))
		b = append(b, field...)
	}
	return b
}
