package cms

import (
	"bytes"
	"encoding/asn1"
	"math/big"
	"time"
)

// Timestamp is a statement of an authority that a signature existed at a time.
type Timestamp struct {
	Kind   string // "rfc3161" or "countersignature"
	Time   time.Time
	Digest asn1.ObjectIdentifier
	Check  Outcome // of the statement and of what it is about
	Chain  []Link
}

type tstInfo struct {
	Version int
	Policy  asn1.ObjectIdentifier
	Imprint struct {
		Algorithm algorithm
		Digest    []byte
	}
	Serial *big.Int
	Time   time.Time `asn1:"generalized"`
}

// Timestamps are those that came with a signer's signature.
func (s *SignedData) Timestamps(signer *Signer) []Timestamp {
	var out []Timestamp
	for _, a := range signer.Unsigned {
		for _, v := range a.Values {
			if len(out) == maxSigners {
				return out
			}
			switch {
			case a.Type.Equal(oidTimestampToken), a.Type.Equal(oidMicrosoftToken):
				out = append(out, token(signer, v))
			case a.Type.Equal(oidCountersignature):
				out = append(out, s.countersignature(signer, v))
			}
		}
	}
	return out
}

// token reads a time stamp of RFC 3161: signed data about the signature.
func token(signer *Signer, v []byte) Timestamp {
	t := Timestamp{Kind: "rfc3161"}
	inner, err := Parse(v)
	if err != nil {
		t.Check = invalid("the time stamp can't be read: %v", err)
		return t
	}
	var info tstInfo
	if _, err := asn1.Unmarshal(inner.Content, &info); err != nil || !inner.ContentType.Equal(oidTSTInfo) {
		t.Check = invalid("the time stamp states no time")
		return t
	}
	t.Time, t.Digest = info.Time.UTC(), info.Imprint.Algorithm.Algorithm
	if len(inner.Signers) != 1 {
		t.Check = invalid("the time stamp has %d signers, not one", len(inner.Signers))
		return t
	}
	t.Chain = inner.Chain(inner.Signers[0])
	h := Hash(info.Imprint.Algorithm.Algorithm)
	if h == 0 || !h.Available() {
		t.Check = notChecked("digest algorithm %v is not known", info.Imprint.Algorithm.Algorithm)
		return t
	}
	sum := h.New()
	sum.Write(signer.Signature)
	if !bytes.Equal(sum.Sum(nil), info.Imprint.Digest) {
		t.Check = invalid("the time stamp is about another signature")
		return t
	}
	t.Check = inner.Verify(inner.Signers[0], inner.Content)
	return t
}

// countersignature is the older form: a signer whose content is the signature.
func (s *SignedData) countersignature(signer *Signer, v []byte) Timestamp {
	t := Timestamp{Kind: "countersignature"}
	var info signerInfo
	if _, err := asn1.Unmarshal(v, &info); err != nil {
		t.Check = invalid("the countersignature can't be read: %v", err)
		return t
	}
	counter, err := readSigner(&info)
	if err != nil {
		t.Check = invalid("the countersignature can't be read: %v", err)
		return t
	}
	t.Time, t.Digest, t.Chain = counter.SigningTime(), counter.Digest, s.Chain(counter)
	t.Check = s.Verify(counter, signer.Signature)
	return t
}
