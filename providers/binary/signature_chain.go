package binary

import (
	//lint:ignore SA1019 keys of old certificates are named, not used
	"crypto/dsa"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"rea/generated/model"
	"rea/providers/format/cms"
)

// signerOf describes one who signed content.
func signerOf(s *cms.SignedData, signer *cms.Signer, outcome cms.Outcome) model.CodeSigner {
	digest, algorithm := cms.HashName(signer.Digest), cms.AlgorithmName(signer.Algorithm)
	chain := s.Chain(signer)
	out := model.CodeSigner{
		Signature: model.CodeSignerSignature(outcome.State), Reason: optional(outcome.Reason), DigestAlgorithm: &digest,
		SignatureAlgorithm: &algorithm, SigningTime: timeOf(signer.SigningTime()), Chain: chainOf(chain), ChainState: chainState(chain),
	}
	if len(chain) > 0 {
		out.Name = nameOf(chain[0].Certificate)
	}
	for _, t := range s.Timestamps(signer) {
		row := model.SignatureTimestamp{
			Kind: model.SignatureTimestampKind(t.Kind), Time: timeOf(t.Time), State: model.SignatureTimestampState(t.Check.State),
			Reason: optional(t.Check.Reason), Chain: chainOf(t.Chain),
		}
		if len(t.Chain) > 0 {
			row.Authority = nameOf(t.Chain[0].Certificate)
		}
		out.Timestamps = append(out.Timestamps, row)
	}
	return out
}

func chainState(chain []cms.Link) model.CodeSignerChainState {
	if len(chain) == 0 {
		return model.CodeSignerChainStateNone
	}
	for _, l := range chain {
		if l.Next.State == cms.Invalid {
			return model.CodeSignerChainStateBroken
		}
	}
	if chain[len(chain)-1].Next.State == cms.Valid {
		return model.CodeSignerChainStateSelfSignedRoot
	}
	return model.CodeSignerChainStateIncomplete
}

func chainOf(chain []cms.Link) []model.Certificate {
	var out []model.Certificate
	for _, l := range chain {
		row := certificateOf(l.Certificate)
		row.SignedByNext, row.Reason = model.CertificateSignedByNext(l.Next.State), optional(l.Next.Reason)
		out = append(out, row)
	}
	return out
}

func certificateOf(c *x509.Certificate) model.Certificate {
	sum, old := sha256.Sum256(c.Raw), sha1.Sum(c.Raw)
	return model.Certificate{
		Subject: clean(c.Subject.String()), CommonName: nameOf(c), Issuer: clean(c.Issuer.String()), Serial: hex.EncodeToString(c.SerialNumber.Bytes()),
		NotBefore: c.NotBefore.UTC().Format(time.RFC3339), NotAfter: c.NotAfter.UTC().Format(time.RFC3339),
		SHA256: hex.EncodeToString(sum[:]), Sha1: hex.EncodeToString(old[:]), Key: keyOf(c.PublicKey),
		Authority: c.IsCA, SelfSigned: string(c.RawIssuer) == string(c.RawSubject), SignedByNext: model.CertificateSignedByNextNotChecked,
	}
}

// clean is text of a file as JSON can hold it.
func clean(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// nameOf is the common name, or the organization.
func nameOf(c *x509.Certificate) *string {
	for _, s := range append([]string{c.Subject.CommonName}, c.Subject.Organization...) {
		if s != "" {
			return optional(clean(s))
		}
	}
	return nil
}

func keyOf(key any) string {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("rsa %d", k.N.BitLen())
	case *ecdsa.PublicKey:
		return "ecdsa " + k.Curve.Params().Name
	case ed25519.PublicKey:
		return "ed25519"
	case *dsa.PublicKey:
		return fmt.Sprintf("dsa %d", k.P.BitLen())
	}
	return "unknown"
}

// timeOf is nil for times that nobody stated.
func timeOf(t time.Time) *string {
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	s := t.UTC().Format(time.RFC3339)
	return &s
}

// checks gathers what was compared.
type checks []model.SignatureCheck

func (c *checks) add(name string, state model.SignatureCheckState, format string, args ...any) {
	*c = append(*c, model.SignatureCheck{Name: name, State: state, Detail: clean(fmt.Sprintf(format, args...))})
}

// pass adds a check that passed or failed.
func (c *checks) pass(name string, good bool, format string, args ...any) {
	state := model.SignatureCheckStatePass
	if !good {
		state = model.SignatureCheckStateFail
	}
	c.add(name, state, format, args...)
}

func (c *checks) skip(name, format string, args ...any) {
	c.add(name, model.SignatureCheckStateNotChecked, format, args...)
}

// stateOf joins the checks and signers of one signature: one that failed
// decides, then one that could not be made.
func stateOf(list checks, signers []model.CodeSigner) model.CodeSignatureState {
	state := model.CodeSignatureStateIntact
	for _, c := range list {
		switch c.State {
		case model.SignatureCheckStateFail:
			return model.CodeSignatureStateBroken
		case model.SignatureCheckStateNotChecked:
			state = model.CodeSignatureStatePartlyChecked
		}
	}
	for _, s := range signers {
		switch {
		case s.Signature == model.CodeSignerSignatureInvalid || s.ChainState == model.CodeSignerChainStateBroken:
			return model.CodeSignatureStateBroken
		case s.Signature == model.CodeSignerSignatureNotChecked:
			state = model.CodeSignatureStatePartlyChecked
		}
		for _, t := range s.Timestamps {
			switch t.State {
			case model.SignatureTimestampStateInvalid:
				return model.CodeSignatureStateBroken
			case model.SignatureTimestampStateNotChecked:
				state = model.CodeSignatureStatePartlyChecked
			}
		}
	}
	return state
}
