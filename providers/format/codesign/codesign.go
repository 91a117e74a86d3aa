// Package codesign reads the signatures that are embedded in Mach-O files:
// code directories, requirements, entitlements and the message that holds the
// certificates.
//
// A code directory lists the digest of every page of the file up to the
// signature, and of the other parts. The message signs the code directory.
package codesign

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Magic numbers of blobs.
const (
	magicRequirement     = 0xfade0c00
	magicRequirements    = 0xfade0c01
	magicDirectory       = 0xfade0c02
	magicSignature       = 0xfade0cc0
	magicDetached        = 0xfade0cc1
	magicWrapper         = 0xfade0b01
	magicEntitlements    = 0xfade7171
	magicEntitlementsDER = 0xfade7172
	magicConstraint      = 0xfade8181
)

// Slots of a signature.
const (
	slotDirectory       = 0
	slotInfo            = 1
	slotRequirements    = 2
	slotResources       = 3
	slotEntitlements    = 5
	slotEntitlementsDER = 7
	slotLaunchSelf      = 8
	slotLaunchParent    = 9
	slotLaunchProcess   = 10
	slotLibrary         = 11
	slotAlternate       = 0x1000
	slotAlternateEnd    = 0x1005
	slotMessage         = 0x10000
	slotIdentification  = 0x10001
	slotTicket          = 0x10002
)

var slotNames = map[uint32]string{
	slotDirectory: "code directory", slotInfo: "Info.plist", slotRequirements: "requirements", slotResources: "resources",
	4: "application", slotEntitlements: "entitlements", 6: "representation specific", slotEntitlementsDER: "entitlements (DER)",
	slotLaunchSelf: "launch constraint of itself", slotLaunchParent: "launch constraint of its parent",
	slotLaunchProcess: "launch constraint of its responsible process", slotLibrary: "library constraint",
	slotMessage: "signature message", slotIdentification: "identification", slotTicket: "ticket",
}

// SlotName is what lies in a slot.
func SlotName(slot uint32) string {
	if slot >= slotAlternate && slot <= slotAlternateEnd {
		return fmt.Sprintf("alternate code directory %d", slot-slotAlternate+1)
	}
	if name, ok := slotNames[slot]; ok {
		return name
	}
	return fmt.Sprintf("slot %#x", slot)
}

// Blob is one part of a signature.
type Blob struct {
	Slot   uint32
	Magic  uint32
	Offset int // from the start of the signature
	Data   []byte
}

// body is a blob without its magic and length.
func (b *Blob) body() []byte { return b.Data[8:] }

// Signature is an embedded signature.
type Signature struct {
	Blobs       []Blob
	Directories []*Directory // the primary one first
	Notes       []string
}

const maxBlobs = 256

// Parse reads the bytes that LC_CODE_SIGNATURE names.
func Parse(b []byte) (*Signature, error) {
	be := binary.BigEndian
	if len(b) < 12 {
		return nil, errors.New("the signature is cut off")
	}
	if m := be.Uint32(b); m != magicSignature && m != magicDetached {
		return nil, fmt.Errorf("the signature begins with %#x, not with a super blob", m)
	}
	s := &Signature{}
	end := uint64(be.Uint32(b[4:]))
	if end > uint64(len(b)) {
		s.note("the signature claims %d bytes, there are %d", end, len(b))
		end = uint64(len(b))
	}
	b = b[:max(end, 12)]
	count := uint64(be.Uint32(b[8:]))
	if have := uint64(len(b)-12) / 8; count > have || count > maxBlobs {
		s.note("the signature claims %d parts", count)
		count = min(have, maxBlobs)
	}
	for i := range count {
		slot, off := be.Uint32(b[12+8*i:]), uint64(be.Uint32(b[16+8*i:]))
		if off+8 > uint64(len(b)) {
			s.note("%s lies outside the signature", SlotName(slot))
			continue
		}
		size := uint64(be.Uint32(b[off+4:]))
		if size < 8 || size > uint64(len(b))-off {
			s.note("%s claims %d bytes", SlotName(slot), size)
			continue
		}
		s.Blobs = append(s.Blobs, Blob{Slot: slot, Magic: be.Uint32(b[off:]), Offset: int(off), Data: b[off : off+size : off+size]})
	}
	for i := range s.Blobs {
		if b := &s.Blobs[i]; b.Slot == slotDirectory || b.Slot >= slotAlternate && b.Slot <= slotAlternateEnd {
			d, err := parseDirectory(b)
			if err != nil {
				s.note("%s: %v", SlotName(b.Slot), err)
				continue
			}
			s.Directories = append(s.Directories, d)
		}
	}
	return s, nil
}

func (s *Signature) note(format string, args ...any) {
	if len(s.Notes) < 64 {
		s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
	}
}

// slot is the blob in a slot, or nil.
func (s *Signature) slot(slot, magic uint32) *Blob {
	for i := range s.Blobs {
		if s.Blobs[i].Slot == slot && s.Blobs[i].Magic == magic {
			return &s.Blobs[i]
		}
	}
	return nil
}

// Message is the CMS message, nil in signatures without certificates.
func (s *Signature) Message() []byte {
	if b := s.slot(slotMessage, magicWrapper); b != nil && len(b.body()) > 0 {
		return b.body()
	}
	return nil
}

// Entitlements is the property list in XML, nil when there is none.
func (s *Signature) Entitlements() []byte {
	if b := s.slot(slotEntitlements, magicEntitlements); b != nil {
		return b.body()
	}
	return nil
}

// EntitlementsDER is the same in DER, for newer systems.
func (s *Signature) EntitlementsDER() []byte {
	if b := s.slot(slotEntitlementsDER, magicEntitlementsDER); b != nil {
		return b.body()
	}
	return nil
}

// Constraints are the launch and library constraints in DER, by slot.
func (s *Signature) Constraints() []Blob {
	var out []Blob
	for _, b := range s.Blobs {
		if b.Magic == magicConstraint {
			out = append(out, b)
		}
	}
	return out
}

// Constraint is the DER of a constraint blob.
func (b *Blob) Constraint() []byte { return b.body() }
