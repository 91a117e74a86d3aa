package macho

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Code directory flags.
const (
	signAdHoc         = 0x2
	signHard          = 0x100
	signKill          = 0x200
	signRestrict      = 0x800
	signLibraryCheck  = 0x2000
	signRuntime       = 0x10000
	signLinker        = 0x20000
	magicSuperBlob    = 0xfade0cc0
	magicDirectory    = 0xfade0c02
	slotDirectory     = 0
	slotEntitlements  = 5
	slotEntitlements2 = 7
	slotCMS           = 0x10000
)

// signature is what the embedded signature says of itself; nothing of it is
// verified here.
type signature struct {
	present, directory, entitlements, cms bool
	flags                                 uint32
	identifier, team                      string
}

func (l *loader) codeSignature() {
	b := l.linkEdit("code signature", cmdCodeSignature)
	if b == nil {
		return
	}
	s := &l.sign
	s.present = true
	be := binary.BigEndian
	if len(b) < 12 || be.Uint32(b) != magicSuperBlob {
		l.im.Note("code signature without a super blob")
		return
	}
	n := min(int64(be.Uint32(b[8:])), int64(len(b)-12)/8)
	for i := range int(n) {
		slot, off := be.Uint32(b[12+8*i:]), uint64(be.Uint32(b[16+8*i:]))
		if off+8 > uint64(len(b)) {
			l.im.Note("a part of the code signature lies outside it")
			continue
		}
		blob := b[off:]
		if size := uint64(be.Uint32(blob[4:])); size >= 8 && size < uint64(len(blob)) {
			blob = blob[:size]
		}
		switch slot {
		case slotDirectory:
			l.codeDirectory(blob)
		case slotEntitlements, slotEntitlements2:
			s.entitlements = true
		case slotCMS:
			s.cms = len(blob) > 8
		}
	}
	if s.identifier != "" {
		l.property("signing_identifier", "%s", s.identifier)
	}
	if s.team != "" {
		l.property("team_identifier", "%s", s.team)
	}
}

func (l *loader) codeDirectory(b []byte) {
	be := binary.BigEndian
	if len(b) < 44 || be.Uint32(b) != magicDirectory {
		l.im.Note("code signature without a code directory")
		return
	}
	s := &l.sign
	s.directory, s.flags = true, be.Uint32(b[12:])
	text := func(off uint32) string {
		if off == 0 || uint64(off) >= uint64(len(b)) {
			return ""
		}
		t := b[off:]
		if i := bytes.IndexByte(t, 0); i >= 0 && i < 1024 {
			return string(t[:i])
		}
		return ""
	}
	s.identifier = text(be.Uint32(b[20:]))
	if be.Uint32(b[8:]) >= 0x20200 && len(b) >= 52 {
		s.team = text(be.Uint32(b[48:]))
	}
}

// signatureKind words what kind of signature there is.
func (s *signature) kind() string {
	switch {
	case !s.directory:
		return "present, without a readable code directory"
	case s.flags&signLinker != 0:
		return "ad hoc, by the linker"
	case s.flags&signAdHoc != 0 || !s.cms:
		return "ad hoc"
	}
	return fmt.Sprintf("with a certificate chain (not verified here), flags %#x", s.flags)
}
