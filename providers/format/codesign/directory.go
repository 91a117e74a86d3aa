package codesign

import (
	"bytes"
	"crypto"
	_ "crypto/sha1" // digests of pages
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
)

// Directory is a code directory.
type Directory struct {
	Slot         uint32
	Version      uint32
	Flags        uint32
	HashType     uint8
	HashSize     int
	PageSize     uint64 // 0: the code is one page
	CodeLimit    uint64
	CodeSlots    uint64
	SpecialSlots uint64
	Platform     uint8
	Identifier   string
	Team         string
	Scatter      bool
	ExecBase     uint64
	ExecLimit    uint64
	ExecFlags    uint64
	Runtime      string // version of the hardened runtime, or ""

	raw     []byte
	special []byte // digests of special slots, the last slot first
	code    []byte
}

// Raw is the directory's blob: what the message signs. It must not be changed.
func (d *Directory) Raw() []byte { return d.raw }

var flagNames = []struct {
	bit  uint32
	name string
}{
	{0x1, "host"}, {0x2, "adhoc"}, {0x4, "forced_level"}, {0x8, "installer"}, {0x10, "forced_library_validation"},
	{0x20, "invalid_allowed"}, {0x100, "hard"}, {0x200, "kill"}, {0x400, "expires"}, {0x800, "restrict"}, {0x1000, "enforcement"},
	{0x2000, "library_validation"}, {0x4000, "entitlements_validated"}, {0x8000, "nvram_unrestricted"}, {0x10000, "runtime"},
	{0x20000, "linker_signed"},
}

// FlagNames are the words for the flags that are set.
func (d *Directory) FlagNames() []string {
	var out []string
	rest := d.Flags
	for _, f := range flagNames {
		if d.Flags&f.bit != 0 {
			out = append(out, f.name)
			rest &^= f.bit
		}
	}
	if rest != 0 {
		out = append(out, fmt.Sprintf("%#x", rest))
	}
	return out
}

// AdHoc tells that the signer named nobody.
func (d *Directory) AdHoc() bool { return d.Flags&0x2 != 0 }

// HardenedRuntime tells that the process asks for the runtime's protections.
func (d *Directory) HardenedRuntime() bool { return d.Flags&0x10000 != 0 }

var hashes = map[uint8]struct {
	name string
	hash crypto.Hash
	size int
}{
	1: {"sha1", crypto.SHA1, 20}, 2: {"sha256", crypto.SHA256, 32}, 3: {"sha256-truncated", crypto.SHA256, 20}, 4: {"sha384", crypto.SHA384, 48},
}

// HashName names the digest.
func (d *Directory) HashName() string {
	if h, ok := hashes[d.HashType]; ok {
		return h.name
	}
	return fmt.Sprintf("type %d", d.HashType)
}

func parseDirectory(b *Blob) (*Directory, error) {
	be, raw := binary.BigEndian, b.Data
	if b.Magic != magicDirectory || len(raw) < 44 {
		return nil, errors.New("no code directory")
	}
	d := &Directory{
		Slot: b.Slot, Version: be.Uint32(raw[8:]), Flags: be.Uint32(raw[12:]), SpecialSlots: uint64(be.Uint32(raw[24:])),
		CodeSlots: uint64(be.Uint32(raw[28:])), CodeLimit: uint64(be.Uint32(raw[32:])), HashSize: int(raw[36]), HashType: raw[37],
		Platform: raw[38], raw: raw,
	}
	if raw[39] >= 64 {
		return nil, fmt.Errorf("a page size of 2^%d", raw[39])
	}
	if raw[39] > 0 {
		d.PageSize = 1 << raw[39]
	}
	if h, ok := hashes[d.HashType]; ok && h.size != d.HashSize || d.HashSize == 0 {
		return nil, fmt.Errorf("%s digests of %d bytes", d.HashName(), d.HashSize)
	}
	d.Identifier = cString(raw, be.Uint32(raw[20:]))
	d.later(raw)
	size := uint64(d.HashSize)
	at := uint64(be.Uint32(raw[16:]))
	if at > uint64(len(raw)) || d.CodeSlots > (uint64(len(raw))-at)/size || d.SpecialSlots > at/size {
		return nil, errors.New("its digests lie outside of it")
	}
	d.code = raw[at : at+d.CodeSlots*size]
	d.special = raw[at-d.SpecialSlots*size : at]
	return d, nil
}

// later reads the fields that newer versions added.
func (d *Directory) later(raw []byte) {
	be := binary.BigEndian
	if d.Version >= 0x20100 && len(raw) >= 48 {
		d.Scatter = be.Uint32(raw[44:]) != 0
	}
	if d.Version >= 0x20200 && len(raw) >= 52 {
		d.Team = cString(raw, be.Uint32(raw[48:]))
	}
	if d.Version >= 0x20300 && len(raw) >= 64 {
		if limit := be.Uint64(raw[56:]); limit != 0 {
			d.CodeLimit = limit
		}
	}
	if d.Version >= 0x20400 && len(raw) >= 88 {
		d.ExecBase, d.ExecLimit, d.ExecFlags = be.Uint64(raw[64:]), be.Uint64(raw[72:]), be.Uint64(raw[80:])
	}
	if d.Version >= 0x20500 && len(raw) >= 96 {
		if v := be.Uint32(raw[88:]); v != 0 {
			d.Runtime = fmt.Sprintf("%d.%d.%d", v>>16, v>>8&0xff, v&0xff)
		}
	}
}

func cString(b []byte, off uint32) string {
	if off == 0 || uint64(off) >= uint64(len(b)) {
		return ""
	}
	s := b[off:]
	if n := bytes.IndexByte(s, 0); n >= 0 && n <= 4096 {
		return string(s[:n])
	}
	return ""
}

func (d *Directory) digest() (func() hash.Hash, bool) {
	h, ok := hashes[d.HashType]
	if !ok {
		return nil, false
	}
	return h.hash.New, true
}

// CDHash is the digest of the directory, which names the code; systems use its
// first 20 bytes.
func (d *Directory) CDHash() string {
	h, ok := d.digest()
	if !ok {
		return ""
	}
	sum := h()
	sum.Write(d.raw)
	return hex.EncodeToString(sum.Sum(nil)[:20])
}

// FullHash is the whole digest.
func (d *Directory) FullHash() string {
	h, ok := d.digest()
	if !ok {
		return ""
	}
	sum := h()
	sum.Write(d.raw)
	return hex.EncodeToString(sum.Sum(nil)[:d.HashSize])
}

// Pages is what came of comparing the pages of the file with their digests.
type Pages struct {
	Total, Matching uint64
	// Bad are the first pages that differ.
	Bad []uint64
	// Reason is why pages could not be compared, "" when all were.
	Reason string
}

// CheckPages compares the code, the file's bytes up to the signature.
func (d *Directory) CheckPages(file []byte, stop func() bool) Pages {
	p := Pages{Total: d.CodeSlots}
	h, ok := d.digest()
	switch {
	case !ok:
		p.Reason = "digests of an unknown type"
	case d.Scatter:
		p.Reason = "the directory scatters its pages"
	case d.CodeLimit > uint64(len(file)):
		p.Reason = fmt.Sprintf("the code of %d bytes is longer than the file", d.CodeLimit)
	case d.pages() != d.CodeSlots:
		p.Reason = fmt.Sprintf("%d digests for %d pages", d.CodeSlots, d.pages())
	}
	if p.Reason != "" {
		return p
	}
	size := d.PageSize
	if size == 0 {
		size = max(d.CodeLimit, 1)
	}
	sum := h()
	for i := range d.CodeSlots {
		if i%1024 == 0 && stop() {
			p.Reason = "it was stopped"
			return p
		}
		sum.Reset()
		start := i * size
		sum.Write(file[start:min(start+size, d.CodeLimit)])
		if bytes.Equal(sum.Sum(nil)[:d.HashSize], d.code[i*uint64(d.HashSize):][:d.HashSize]) {
			p.Matching++
		} else if len(p.Bad) < 16 {
			p.Bad = append(p.Bad, i)
		}
	}
	return p
}

func (d *Directory) pages() uint64 {
	if d.PageSize == 0 {
		return 1
	}
	n := d.CodeLimit / d.PageSize
	if d.CodeLimit%d.PageSize != 0 {
		n++
	}
	return n
}

// Special is one digest of something beside the code.
type Special struct {
	Slot   uint32
	Digest []byte
	// Present is false when the directory says there is nothing in the slot.
	Present bool
}

// Specials are the directory's digests of other parts, by slot.
func (d *Directory) Specials() []Special {
	var out []Special
	for i := range min(d.SpecialSlots, 64) {
		slot := i + 1
		b := d.special[uint64(len(d.special))-slot*uint64(d.HashSize):][:d.HashSize]
		out = append(out, Special{Slot: uint32(slot), Digest: b, Present: bytes.Trim(b, "\x00") != nil && len(bytes.Trim(b, "\x00")) > 0})
	}
	return out
}

// Matches tells whether data has a digest of the directory's type.
func (d *Directory) Matches(digest, data []byte) bool {
	h, ok := d.digest()
	if !ok {
		return false
	}
	sum := h()
	sum.Write(data)
	return bytes.Equal(sum.Sum(nil)[:d.HashSize], digest)
}

// Part is what the signature itself holds for a slot, nil when the part lies
// elsewhere.
func (s *Signature) Part(slot uint32) []byte {
	for i := range s.Blobs {
		if s.Blobs[i].Slot == slot {
			return s.Blobs[i].Data
		}
	}
	return nil
}

// Slots whose parts lie outside of the signature.
const (
	SlotInfo      = slotInfo
	SlotResources = slotResources
)
