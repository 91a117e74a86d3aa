// Package cms reads the signatures that code is signed with: PKCS #7 and its
// successor, the Cryptographic Message Syntax (RFC 5652), with time stamps
// (RFC 3161).
//
// What can be verified from the bytes alone is: digests, signatures, and which
// certificate signed which. Whether a certificate is to be trusted is not asked:
// there is no list of roots here and no look at revocation or at the clock.
package cms

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// Object identifiers of content and attributes.
var (
	oidSignedData       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidMessageDigest    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningTime      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 5}
	oidCountersignature = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 6}
	oidTimestampToken   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 14}
	oidTSTInfo          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidMicrosoftToken   = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 3, 3, 1}
)

// Limits of what one signature holds.
const (
	maxCertificates = 256
	maxSigners      = 64
	maxAttributes   = 256
)

// SignedData is one signature with all that comes along.
type SignedData struct {
	ContentType asn1.ObjectIdentifier
	// Content is what is signed, without its own tag and length; nil when it lies elsewhere.
	Content []byte
	// Element is the content with its tag and length.
	Element      []byte
	Certificates []*x509.Certificate
	Signers      []*Signer
	Notes        []string // what could not be read
}

// Signer is one who signed.
type Signer struct {
	Issuer    []byte // DER of the issuer's name, nil with a key identifier
	Serial    *big.Int
	KeyID     []byte
	Digest    asn1.ObjectIdentifier
	Algorithm asn1.ObjectIdentifier
	Signature []byte
	Signed    []Attribute
	Unsigned  []Attribute

	parameters []byte // of the signature algorithm
	signedRaw  []byte // what the signature is over when there are attributes
}

// Attribute is a named value; Values are the DER of its members.
type Attribute struct {
	Type   asn1.ObjectIdentifier
	Values [][]byte
}

// Find is the first value of an attribute, or nil.
func Find(list []Attribute, oid asn1.ObjectIdentifier) []byte {
	for _, a := range list {
		if a.Type.Equal(oid) && len(a.Values) > 0 {
			return a.Values[0]
		}
	}
	return nil
}

type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content asn1.RawValue `asn1:"explicit,optional,tag:0"`
}

type algorithm struct {
	Algorithm  asn1.ObjectIdentifier
	Parameters asn1.RawValue `asn1:"optional"`
}

type signerInfo struct {
	Version   int
	SID       asn1.RawValue
	Digest    algorithm
	Signed    asn1.RawValue `asn1:"optional,tag:0"`
	Algorithm algorithm
	Signature []byte
	Unsigned  asn1.RawValue `asn1:"optional,tag:1"`
}

type attribute struct {
	Type   asn1.ObjectIdentifier
	Values asn1.RawValue `asn1:"set"`
}

// Parse reads a signature.
func Parse(data []byte) (*SignedData, error) {
	der, err := definite(data)
	if err != nil {
		return nil, err
	}
	var outer contentInfo
	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return nil, fmt.Errorf("no signature message: %w", err)
	}
	if !outer.Type.Equal(oidSignedData) {
		return nil, fmt.Errorf("content of type %v, not signed data", outer.Type)
	}
	return parseSigned(outer.Content.Bytes)
}

func parseSigned(b []byte) (*SignedData, error) {
	var seq asn1.RawValue
	if _, err := asn1.Unmarshal(b, &seq); err != nil || seq.Tag != asn1.TagSequence {
		return nil, errors.New("no signed data")
	}
	rest := seq.Bytes
	var version int
	var algorithms asn1.RawValue
	var inner contentInfo
	for _, field := range []any{&version, &algorithms, &inner} {
		var err error
		if rest, err = asn1.Unmarshal(rest, field); err != nil {
			return nil, fmt.Errorf("signed data is damaged: %w", err)
		}
	}
	s := &SignedData{ContentType: inner.Type}
	if len(inner.Content.Bytes) > 0 {
		var value asn1.RawValue
		if _, err := asn1.Unmarshal(inner.Content.Bytes, &value); err == nil {
			s.Content, s.Element = value.Bytes, value.FullBytes
			if s.Content == nil {
				s.Content = []byte{}
			}
		}
	}
	for len(rest) > 0 {
		var part asn1.RawValue
		var err error
		if rest, err = asn1.Unmarshal(rest, &part); err != nil {
			return nil, fmt.Errorf("signed data is damaged: %w", err)
		}
		switch {
		case part.Class == asn1.ClassContextSpecific && part.Tag == 0:
			s.certificates(part.Bytes)
		case part.Class == asn1.ClassUniversal && part.Tag == asn1.TagSet:
			if err := s.signers(part.Bytes); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *SignedData) certificates(b []byte) {
	for len(b) > 0 {
		var raw asn1.RawValue
		rest, err := asn1.Unmarshal(b, &raw)
		if err != nil {
			s.Notes = append(s.Notes, "the list of certificates is damaged")
			return
		}
		b = rest
		if raw.Class != asn1.ClassUniversal || raw.Tag != asn1.TagSequence {
			continue // attribute certificates and the like
		}
		if len(s.Certificates) == maxCertificates {
			s.Notes = append(s.Notes, fmt.Sprintf("more than %d certificates; the others are left out", maxCertificates))
			return
		}
		c, err := x509.ParseCertificate(raw.FullBytes)
		if err != nil {
			s.Notes = append(s.Notes, "a certificate can't be read: "+err.Error())
			continue
		}
		s.Certificates = append(s.Certificates, c)
	}
}

func (s *SignedData) signers(b []byte) error {
	for len(b) > 0 {
		if len(s.Signers) == maxSigners {
			s.Notes = append(s.Notes, fmt.Sprintf("more than %d signers; the others are left out", maxSigners))
			return nil
		}
		var info signerInfo
		rest, err := asn1.Unmarshal(b, &info)
		if err != nil {
			return fmt.Errorf("a signer is damaged: %w", err)
		}
		b = rest
		signer, err := readSigner(&info)
		if err != nil {
			return err
		}
		s.Signers = append(s.Signers, signer)
	}
	return nil
}

func readSigner(info *signerInfo) (*Signer, error) {
	out := &Signer{
		Digest: info.Digest.Algorithm, Algorithm: info.Algorithm.Algorithm, Signature: info.Signature,
		parameters: info.Algorithm.Parameters.FullBytes,
	}
	if info.SID.Class == asn1.ClassContextSpecific {
		out.KeyID = info.SID.Bytes
	} else {
		var id struct {
			Issuer asn1.RawValue
			Serial *big.Int
		}
		if _, err := asn1.Unmarshal(info.SID.FullBytes, &id); err != nil {
			return nil, fmt.Errorf("a signer has no name: %w", err)
		}
		out.Issuer, out.Serial = id.Issuer.FullBytes, id.Serial
	}
	var err error
	if len(info.Signed.FullBytes) > 0 {
		// The signature is over the set as such, not over its place here.
		out.signedRaw = append([]byte{0x31}, info.Signed.FullBytes[1:]...)
		if out.Signed, err = attributes(info.Signed.Bytes); err != nil {
			return nil, err
		}
	}
	if out.Unsigned, err = attributes(info.Unsigned.Bytes); err != nil {
		return nil, err
	}
	return out, nil
}

func attributes(b []byte) ([]Attribute, error) {
	var out []Attribute
	for len(b) > 0 {
		var a attribute
		rest, err := asn1.Unmarshal(b, &a)
		if err != nil {
			return nil, fmt.Errorf("an attribute is damaged: %w", err)
		}
		if len(out) == maxAttributes {
			return nil, errors.New("more attributes than a signer has")
		}
		b = rest
		one := Attribute{Type: a.Type}
		for v := a.Values.Bytes; len(v) > 0; {
			var raw asn1.RawValue
			if v, err = asn1.Unmarshal(v, &raw); err != nil {
				return nil, fmt.Errorf("an attribute is damaged: %w", err)
			}
			one.Values = append(one.Values, raw.FullBytes)
		}
		out = append(out, one)
	}
	return out, nil
}

// Certificate is the signer's, nil when it is not among those that came along.
func (s *SignedData) Certificate(signer *Signer) *x509.Certificate {
	for _, c := range s.Certificates {
		switch {
		case signer.KeyID != nil:
			if bytes.Equal(c.SubjectKeyId, signer.KeyID) {
				return c
			}
		case signer.Serial != nil && c.SerialNumber.Cmp(signer.Serial) == 0 && bytes.Equal(c.RawIssuer, signer.Issuer):
			return c
		}
	}
	return nil
}

// SigningTime is when the signer says it signed; zero when it does not say.
func (signer *Signer) SigningTime() time.Time {
	var t time.Time
	if v := Find(signer.Signed, oidSigningTime); v != nil {
		if _, err := asn1.Unmarshal(v, &t); err != nil {
			return time.Time{}
		}
	}
	return t.UTC()
}

// MessageDigest is what the signer says the content's digest is.
func (signer *Signer) MessageDigest() []byte {
	var d []byte
	if v := Find(signer.Signed, oidMessageDigest); v != nil {
		if _, err := asn1.Unmarshal(v, &d); err != nil {
			return nil
		}
	}
	return d
}
