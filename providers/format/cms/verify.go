package cms

import (
	"bytes"
	"crypto"
	//lint:ignore SA1019 old signatures are verified, none are made
	"crypto/dsa"
	"crypto/ecdsa"
	"crypto/ed25519"
	_ "crypto/md5" // the digests that signatures are made with
	"crypto/rsa"
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
)

// State is what came of a check.
type State string

const (
	Valid      State = "valid"
	Invalid    State = "invalid"
	NotChecked State = "not_checked"
)

// Outcome is the state of a check with its reason.
type Outcome struct {
	State  State
	Reason string // "" when valid
}

func invalid(format string, args ...any) Outcome {
	return Outcome{Invalid, fmt.Sprintf(format, args...)}
}

func notChecked(format string, args ...any) Outcome {
	return Outcome{NotChecked, fmt.Sprintf(format, args...)}
}

var digests = map[string]crypto.Hash{
	"1.2.840.113549.2.5":     crypto.MD5,
	"1.3.14.3.2.26":          crypto.SHA1,
	"2.16.840.1.101.3.4.2.1": crypto.SHA256,
	"2.16.840.1.101.3.4.2.2": crypto.SHA384,
	"2.16.840.1.101.3.4.2.3": crypto.SHA512,
	"2.16.840.1.101.3.4.2.4": crypto.SHA224,
}

var digestNames = map[crypto.Hash]string{
	crypto.MD5: "md5", crypto.SHA1: "sha1", crypto.SHA224: "sha224", crypto.SHA256: "sha256", crypto.SHA384: "sha384", crypto.SHA512: "sha512",
}

// Hash is the function of an identifier, 0 when it is not known.
func Hash(oid asn1.ObjectIdentifier) crypto.Hash { return digests[oid.String()] }

// HashName is a short name, or the identifier.
func HashName(oid asn1.ObjectIdentifier) string {
	if name := digestNames[Hash(oid)]; name != "" {
		return name
	}
	return oid.String()
}

// scheme is how a signature algorithm works; hash 0 takes the digest that the
// signer names.
type scheme struct {
	name string
	key  string
	hash crypto.Hash
	pss  bool
}

var schemes = map[string]scheme{
	"1.2.840.113549.1.1.1":   {"rsa", "rsa", 0, false},
	"1.2.840.113549.1.1.4":   {"rsa-md5", "rsa", crypto.MD5, false},
	"1.2.840.113549.1.1.5":   {"rsa-sha1", "rsa", crypto.SHA1, false},
	"1.2.840.113549.1.1.10":  {"rsa-pss", "rsa", 0, true},
	"1.2.840.113549.1.1.11":  {"rsa-sha256", "rsa", crypto.SHA256, false},
	"1.2.840.113549.1.1.12":  {"rsa-sha384", "rsa", crypto.SHA384, false},
	"1.2.840.113549.1.1.13":  {"rsa-sha512", "rsa", crypto.SHA512, false},
	"1.2.840.113549.1.1.14":  {"rsa-sha224", "rsa", crypto.SHA224, false},
	"1.3.14.3.2.29":          {"rsa-sha1", "rsa", crypto.SHA1, false},
	"1.2.840.10045.2.1":      {"ecdsa", "ecdsa", 0, false},
	"1.2.840.10045.4.1":      {"ecdsa-sha1", "ecdsa", crypto.SHA1, false},
	"1.2.840.10045.4.3.1":    {"ecdsa-sha224", "ecdsa", crypto.SHA224, false},
	"1.2.840.10045.4.3.2":    {"ecdsa-sha256", "ecdsa", crypto.SHA256, false},
	"1.2.840.10045.4.3.3":    {"ecdsa-sha384", "ecdsa", crypto.SHA384, false},
	"1.2.840.10045.4.3.4":    {"ecdsa-sha512", "ecdsa", crypto.SHA512, false},
	"1.2.840.10040.4.1":      {"dsa", "dsa", 0, false},
	"1.2.840.10040.4.3":      {"dsa-sha1", "dsa", crypto.SHA1, false},
	"2.16.840.1.101.3.4.3.1": {"dsa-sha224", "dsa", crypto.SHA224, false},
	"2.16.840.1.101.3.4.3.2": {"dsa-sha256", "dsa", crypto.SHA256, false},
	"1.3.101.112":            {"ed25519", "ed25519", 0, false},
}

// AlgorithmName is a short name of a signature algorithm, or its identifier.
func AlgorithmName(oid asn1.ObjectIdentifier) string {
	if s, ok := schemes[oid.String()]; ok {
		return s.name
	}
	return oid.String()
}

// maxKeyBits bounds keys that would take long to use.
const maxKeyBits = 16384

// check verifies a signature over a message.
func check(key any, oid asn1.ObjectIdentifier, digest crypto.Hash, parameters, message, signature []byte) Outcome {
	s, ok := schemes[oid.String()]
	if !ok {
		return notChecked("signature algorithm %v is not known", oid)
	}
	if s.hash != 0 {
		digest = s.hash
	}
	if s.pss {
		if h := pssHash(parameters); h != 0 {
			digest = h
		}
	}
	return CheckKey(key, s.key, digest, s.pss, message, signature)
}

// CheckKey verifies a signature with a key of a kind: "rsa", "ecdsa", "dsa" or
// "ed25519".
func CheckKey(key any, kind string, digest crypto.Hash, pss bool, message, signature []byte) Outcome {
	var sum []byte
	if kind != "ed25519" {
		if digest == 0 || !digest.Available() {
			return notChecked("the digest algorithm is not known")
		}
		h := digest.New()
		h.Write(message)
		sum = h.Sum(nil)
	}
	verdict := func(good bool) Outcome {
		if good {
			return Outcome{State: Valid}
		}
		return invalid("the signature does not fit the key and the content")
	}
	switch pub := key.(type) {
	case *rsa.PublicKey:
		if kind != "rsa" {
			break
		}
		if n := pub.N.BitLen(); n > maxKeyBits || n < 1024 {
			return notChecked("an RSA key of %d bits", n)
		}
		if pss {
			return verdict(rsa.VerifyPSS(pub, digest, sum, signature, nil) == nil)
		}
		return verdict(rsa.VerifyPKCS1v15(pub, digest, sum, signature) == nil)
	case *ecdsa.PublicKey:
		if kind == "ecdsa" {
			return verdict(ecdsa.VerifyASN1(pub, sum, signature))
		}
	case ed25519.PublicKey:
		if kind == "ed25519" {
			return verdict(ed25519.Verify(pub, message, signature))
		}
	case *dsa.PublicKey:
		if kind == "dsa" {
			return checkDSA(pub, sum, signature)
		}
	}
	return notChecked("the certificate's key is of another kind than the signature")
}

func checkDSA(pub *dsa.PublicKey, sum, signature []byte) Outcome {
	var rs struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &rs); err != nil {
		return invalid("the signature is damaged")
	}
	if pub.P.BitLen() > 4096 || pub.Q.BitLen() > 512 || pub.P.Sign() <= 0 || pub.Q.Sign() <= 0 || pub.G.Sign() <= 0 || pub.Y.Sign() <= 0 {
		return notChecked("a DSA key of %d bits", pub.P.BitLen())
	}
	if n := (pub.Q.BitLen() + 7) / 8; len(sum) > n {
		sum = sum[:n]
	}
	if !dsa.Verify(pub, sum, rs.R, rs.S) {
		return invalid("the signature does not fit the key and the content")
	}
	return Outcome{State: Valid}
}

// pssHash is the digest that RSA-PSS parameters name; SHA-1 is the default.
func pssHash(parameters []byte) crypto.Hash {
	var p struct {
		Hash algorithm `asn1:"explicit,optional,tag:0"`
	}
	if _, err := asn1.Unmarshal(parameters, &p); err != nil || p.Hash.Algorithm == nil {
		return crypto.SHA1
	}
	return Hash(p.Hash.Algorithm)
}

// Verify checks that a signer signed the content: the digest it states is that
// of the content, and its signature is over that statement.
func (s *SignedData) Verify(signer *Signer, content []byte) Outcome {
	cert := s.Certificate(signer)
	if cert == nil {
		return notChecked("the signer's certificate did not come along")
	}
	h := Hash(signer.Digest)
	if h == 0 || !h.Available() {
		return notChecked("digest algorithm %v is not known", signer.Digest)
	}
	message := content
	if signer.signedRaw != nil {
		sum := h.New()
		sum.Write(content)
		stated := signer.MessageDigest()
		if stated == nil {
			return invalid("the signed attributes state no digest")
		}
		if !bytes.Equal(stated, sum.Sum(nil)) {
			return invalid("the content has another digest than the signer states")
		}
		message = signer.signedRaw
	}
	return check(cert.PublicKey, signer.Algorithm, h, signer.parameters, message, signer.Signature)
}

// Link is one certificate of a chain and how it is tied to the next.
type Link struct {
	*x509.Certificate
	// Next is the check of this certificate's signature by the next one, or by
	// itself when it is the last and self-signed.
	Next Outcome
}

// Chain follows the issuers from the signer's certificate as far as the
// certificates that came along go.
func (s *SignedData) Chain(signer *Signer) []Link {
	cert := s.Certificate(signer)
	if cert == nil {
		return nil
	}
	return Chain(cert, s.Certificates)
}

// Chain follows the issuers of a certificate among others.
func Chain(cert *x509.Certificate, among []*x509.Certificate) []Link {
	var out []Link
	used := map[*x509.Certificate]bool{}
	for cert != nil && len(out) < 32 {
		used[cert] = true
		link := Link{Certificate: cert}
		if bytes.Equal(cert.RawIssuer, cert.RawSubject) {
			link.Next = CheckCertificate(cert, cert)
			return append(out, link)
		}
		link.Next = notChecked("the issuer's certificate did not come along")
		var next *x509.Certificate
		for _, c := range among {
			if used[c] || !bytes.Equal(c.RawSubject, cert.RawIssuer) {
				continue
			}
			outcome := CheckCertificate(cert, c)
			if next == nil || outcome.State == Valid {
				next, link.Next = c, outcome
			}
			if outcome.State == Valid {
				break
			}
		}
		out = append(out, link)
		cert = next
	}
	return out
}

// CheckCertificate verifies that parent signed cert.
func CheckCertificate(cert, parent *x509.Certificate) Outcome {
	var raw struct {
		TBS       asn1.RawValue
		Algorithm algorithm
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(cert.Raw, &raw); err != nil {
		return invalid("the certificate is damaged")
	}
	return check(parent.PublicKey, raw.Algorithm.Algorithm, 0, raw.Algorithm.Parameters.FullBytes, cert.RawTBSCertificate, cert.Signature)
}
