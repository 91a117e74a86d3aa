package apksig

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	_ "crypto/sha512" // digests of contents
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"

	"rea/providers/format/cms"
)

// Scheme is the signers of one scheme.
type Scheme struct {
	Name    string // "v2", "v3", "v3.1"
	Signers []*Signer
}

// Signer is one signer of a block.
type Signer struct {
	Certificates   []*x509.Certificate
	MinSDK, MaxSDK uint32 // 0 in scheme 2
	Signatures     []Check
	Contents       []Check
	Lineage        []*x509.Certificate // of rotated keys, the oldest first
	// Promised are the numbers of the newer schemes that, says the signed part,
	// the file was signed with as well.
	Promised []int
	Notes    []string
}

// Check is a signature or a digest with what came of it.
type Check struct {
	Algorithm string
	cms.Outcome
	// Stated and Computed are digests; nil for signatures.
	Stated, Computed []byte
}

// algorithm is a signature algorithm of the block.
type algorithm struct {
	name   string
	key    string
	hash   crypto.Hash
	pss    bool
	verity bool // the contents' digest is the root of a tree
}

var algorithms = map[uint32]algorithm{
	0x0101: {"rsa-pss-sha256", "rsa", crypto.SHA256, true, false},
	0x0102: {"rsa-pss-sha512", "rsa", crypto.SHA512, true, false},
	0x0103: {"rsa-sha256", "rsa", crypto.SHA256, false, false},
	0x0104: {"rsa-sha512", "rsa", crypto.SHA512, false, false},
	0x0201: {"ecdsa-sha256", "ecdsa", crypto.SHA256, false, false},
	0x0202: {"ecdsa-sha512", "ecdsa", crypto.SHA512, false, false},
	0x0301: {"dsa-sha256", "dsa", crypto.SHA256, false, false},
	0x0421: {"rsa-sha256-verity", "rsa", crypto.SHA256, false, true},
	0x0423: {"ecdsa-sha256-verity", "ecdsa", crypto.SHA256, false, true},
	0x0425: {"dsa-sha256-verity", "dsa", crypto.SHA256, false, true},
}

func algorithmName(id uint32) string {
	if a, ok := algorithms[id]; ok {
		return a.name
	}
	return fmt.Sprintf("%#x", id)
}

// Limits of what a block holds.
const (
	maxSigners = 16
	maxParts   = 64
)

// Schemes reads and verifies the schemes of the signing block. stop is asked
// between pieces of the file.
func (l *Layout) Schemes(stop func() bool) ([]Scheme, []string) {
	var out []Scheme
	var notes []string
	sums := map[algorithm][]byte{}
	for _, s := range []struct {
		name string
		id   uint32
	}{{"v2", idV2}, {"v3", idV3}, {"v3.1", idV31}} {
		data := l.find(s.id)
		if data == nil {
			continue
		}
		signers, err := l.signers(data, s.id != idV2, sums, stop)
		if err != nil {
			notes = append(notes, "scheme "+s.name+": "+err.Error())
		}
		out = append(out, Scheme{s.name, signers})
	}
	return out, notes
}

func (l *Layout) signers(data []byte, v3 bool, sums map[algorithm][]byte, stop func() bool) ([]*Signer, error) {
	r := &reader{b: data}
	list := &reader{b: r.part()}
	var out []*Signer
	for _, part := range list.parts(maxSigners) {
		s, err := l.signer(part, v3, sums, stop)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	if r.failed || list.failed {
		return out, errors.New("the list of signers is damaged")
	}
	return out, nil
}

func (l *Layout) signer(b []byte, v3 bool, sums map[algorithm][]byte, stop func() bool) (*Signer, error) {
	r := &reader{b: b}
	signed := r.part()
	s := &Signer{}
	if v3 {
		s.MinSDK, s.MaxSDK = r.u32(), r.u32()
	}
	signatures := &reader{b: r.part()}
	key := r.part()
	inner := &reader{b: signed}
	digests, certificates := &reader{b: inner.part()}, &reader{b: inner.part()}
	if v3 {
		if low, high := inner.u32(), inner.u32(); low != s.MinSDK || high != s.MaxSDK {
			s.Notes = append(s.Notes, "the signed platform versions are others than the stated ones")
		}
	}
	attributes := &reader{b: inner.part()}
	if r.failed || inner.failed {
		return nil, errors.New("a signer is damaged")
	}
	for _, der := range certificates.parts(maxParts) {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			s.Notes = append(s.Notes, "a certificate can't be read: "+err.Error())
			continue
		}
		s.Certificates = append(s.Certificates, c)
	}
	if len(s.Certificates) > 0 && !bytes.Equal(s.Certificates[0].RawSubjectPublicKeyInfo, key) {
		s.Notes = append(s.Notes, "the public key is another than that of the first certificate")
	}
	s.checkSignatures(signatures.parts(maxParts), key, signed)
	for _, d := range digests.parts(maxParts) {
		one := &reader{b: d}
		id := one.u32()
		stated := one.part()
		if one.failed {
			return nil, errors.New("a digest is damaged")
		}
		s.Contents = append(s.Contents, l.content(id, stated, sums, stop))
	}
	s.attributes(attributes.parts(maxParts))
	if signatures.failed || digests.failed || certificates.failed || attributes.failed {
		return nil, errors.New("a signer is damaged")
	}
	return s, nil
}

func (s *Signer) checkSignatures(list [][]byte, key, signed []byte) {
	public, err := x509.ParsePKIXPublicKey(key)
	for _, b := range list {
		r := &reader{b: b}
		id := r.u32()
		signature := r.part()
		c := Check{Algorithm: algorithmName(id)}
		a, known := algorithms[id]
		switch {
		case r.failed:
			c.Outcome = cms.Outcome{State: cms.Invalid, Reason: "the signature is damaged"}
		case !known:
			c.Outcome = cms.Outcome{State: cms.NotChecked, Reason: "the algorithm is not known"}
		case err != nil:
			c.Outcome = cms.Outcome{State: cms.Invalid, Reason: "the public key can't be read"}
		default:
			c.Outcome = cms.CheckKey(public, a.key, a.hash, a.pss, signed, signature)
		}
		s.Signatures = append(s.Signatures, c)
	}
}

// Attributes of signers.
const (
	attributeRotation  = 0x3ba06f8c
	attributeStripping = 0xbeeff00d
)

func (s *Signer) attributes(list [][]byte) {
	for _, b := range list {
		r := &reader{b: b}
		switch id := r.u32(); id {
		case attributeRotation:
			s.lineage(r.b)
		case attributeStripping:
			s.Promised = append(s.Promised, int(r.u32()))
		}
	}
}

// lineage reads the certificates that the signing key went through.
func (s *Signer) lineage(b []byte) {
	r := &reader{b: b}
	r.u32() // version
	for _, level := range r.parts(maxParts) {
		node := &reader{b: level}
		signed := &reader{b: node.part()}
		c, err := x509.ParseCertificate(signed.part())
		if err != nil {
			s.Notes = append(s.Notes, "a certificate of the rotation can't be read")
			continue
		}
		s.Lineage = append(s.Lineage, c)
	}
}

// content compares the digest of the file with a stated one.
func (l *Layout) content(id uint32, stated []byte, sums map[algorithm][]byte, stop func() bool) Check {
	c := Check{Algorithm: algorithmName(id), Stated: stated}
	a, ok := algorithms[id]
	if !ok {
		c.Outcome = cms.Outcome{State: cms.NotChecked, Reason: "the algorithm is not known"}
		return c
	}
	key := algorithm{hash: a.hash, verity: a.verity}
	sum, done := sums[key]
	if !done {
		if a.verity {
			sum = l.verity(stop)
		} else {
			sum = l.chunked(a.hash, stop)
		}
		sums[key] = sum
	}
	c.Computed = sum
	switch {
	case sum == nil:
		c.Outcome = cms.Outcome{State: cms.NotChecked, Reason: "it was stopped"}
	case bytes.Equal(sum, stated):
		c.State = cms.Valid
	default:
		c.Outcome = cms.Outcome{State: cms.Invalid, Reason: "the contents have another digest"}
	}
	return c
}

// sections are what is signed: the entries, the directory, its end.
func (l *Layout) sections() [][]byte {
	return [][]byte{l.file[:l.Block], l.file[l.Directory:l.End], l.ending()}
}

// chunked is the digest over the digests of pieces of 1 MiB.
func (l *Layout) chunked(h crypto.Hash, stop func() bool) []byte {
	const chunk = 1 << 20
	var list []byte
	count := uint32(0)
	for _, s := range l.sections() {
		for len(s) > 0 {
			if stop() {
				return nil
			}
			piece := s[:min(chunk, len(s))]
			s = s[len(piece):]
			sum := h.New()
			sum.Write(binary.LittleEndian.AppendUint32([]byte{0xa5}, uint32(len(piece))))
			sum.Write(piece)
			list = sum.Sum(list)
			count++
		}
	}
	top := h.New()
	top.Write(binary.LittleEndian.AppendUint32([]byte{0x5a}, count))
	top.Write(list)
	return top.Sum(nil)
}

// verity is the root of the tree of fs-verity with a salt of zeros, and the
// length of what it covers.
func (l *Layout) verity(stop func() bool) []byte {
	const page = 4096
	var all []byte
	for _, s := range l.sections() {
		all = append(all, s...)
	}
	total := uint64(len(all))
	level := all
	salt := make([]byte, 8)
	for {
		var next []byte
		for at := 0; at < len(level); at += page {
			if at%(1<<20) == 0 && stop() {
				return nil
			}
			block := make([]byte, page)
			copy(block, level[at:])
			sum := sha256.New()
			sum.Write(salt)
			sum.Write(block)
			next = sum.Sum(next)
		}
		if len(level) <= page {
			return binary.LittleEndian.AppendUint64(next, total)
		}
		level = next
	}
}
