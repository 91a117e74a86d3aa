package binary

import (
	"fmt"
	"strconv"
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/apksig"
	"rea/providers/format/cms"
)

// apk verifies the signing block of a package and the manifest of a jar.
func (i *inspection) apk(l *apksig.Layout) error {
	i.out.Format = tool.InspectSignatureOutputFormatJar
	part := &tool.InspectSignatureOutputApk{}
	for _, p := range l.Pairs {
		part.Blocks = append(part.Blocks, tool.InspectSignatureOutputApkBlock{ID: fmt.Sprintf("%#x", p.ID), Name: p.Name(), Size: int64(p.Size)})
	}
	j, err := apksig.ReadJar(i.source.Data, i.stop)
	if err != nil {
		i.note("scheme 1: " + err.Error())
	}
	if j != nil {
		i.jar(j, l, part)
	}
	schemes, notes := l.Schemes(i.stop)
	i.note(notes...)
	for _, s := range schemes {
		for _, signer := range s.Signers {
			i.out.Signatures = append(i.out.Signatures, i.blockSigner(s.Name, signer, l, part))
		}
	}
	if len(l.Pairs) > 0 {
		i.out.Format = tool.InspectSignatureOutputFormatApk
	}
	if len(i.out.Signatures) > 0 {
		i.out.Apk = part
	}
	return nil
}

func (i *inspection) jar(j *apksig.Jar, l *apksig.Layout, part *tool.InspectSignatureOutputApk) {
	entries, covered := int64(j.Entries), int64(j.Covered)
	part.Entries, part.Covered = &entries, &covered
	part.Wrong, part.Unlisted, part.Missing = j.Wrong, j.Unlisted, j.Missing
	i.note(j.Notes...)
	for _, l := range []struct {
		what         string
		given, total int
	}{{"wrong entries", len(j.Wrong), j.WrongCount}, {"unlisted entries", len(j.Unlisted), j.UnlistedCount}, {"missing entries", len(j.Missing), j.MissingCount}} {
		if l.given < l.total {
			i.note(fmt.Sprintf("%s: the first %d of %d are named", l.what, l.given, l.total))
		}
	}
	for _, s := range j.Signers {
		out := model.CodeSignature{Scheme: model.CodeSignatureSchemeJar}
		var c checks
		c.pass("manifest", s.Manifest.State == cms.Valid, "%s: %s", s.File, orWord(s.Manifest.Reason, "fits the manifest"))
		c.pass("entries", j.WrongCount == 0, "%d of %d entries have the digest that the manifest states", j.Covered, j.Entries)
		c.pass("unlisted entries", j.UnlistedCount == 0, "%d entries are not in the manifest", j.UnlistedCount)
		c.pass("missing entries", j.MissingCount == 0, "%d entries are only in the manifest", j.MissingCount)
		c.promises(s.Promised, l)
		for n, signer := range s.Signers {
			out.Signers = append(out.Signers, signerOf(s.SignedData, signer, s.Signature[n]))
			name := cms.HashName(signer.Digest)
			out.DigestAlgorithm = &name
		}
		if len(s.Signers) == 0 {
			c.pass("signer", false, "%s has no signer", s.Block)
		}
		i.note(s.Notes...)
		out.Checks, out.State = c, stateOf(c, out.Signers)
		i.out.Signatures = append(i.out.Signatures, out)
	}
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

var apkSchemes = map[string]model.CodeSignatureScheme{
	"v2": model.CodeSignatureSchemeApkV2, "v3": model.CodeSignatureSchemeApkV3, "v3.1": model.CodeSignatureSchemeApkV3_1,
}

// blockSigner describes a signer of the signing block: its certificates come
// along bare, and it may sign in several ways.
func (i *inspection) blockSigner(scheme string, s *apksig.Signer, l *apksig.Layout, part *tool.InspectSignatureOutputApk) model.CodeSignature {
	out := model.CodeSignature{Scheme: apkSchemes[scheme]}
	var c checks
	for _, d := range s.Contents {
		if out.DigestAlgorithm == nil {
			name := d.Algorithm
			out.DigestAlgorithm = &name
		}
		add(&c, "contents "+d.Algorithm, d.Outcome, fmt.Sprintf("%x", d.Stated))
	}
	if len(s.Contents) == 0 {
		c.pass("contents", false, "the signer states no digest")
	}
	c.promises(s.Promised, l)
	signer := model.CodeSigner{Signature: model.CodeSignerSignatureNotChecked, ChainState: model.CodeSignerChainStateNone}
	for n, sig := range s.Signatures {
		add(&c, "signature "+sig.Algorithm, sig.Outcome, "over the signed data")
		if n == 0 || sig.State == cms.Invalid {
			name := sig.Algorithm
			signer.Signature, signer.Reason, signer.SignatureAlgorithm = model.CodeSignerSignature(sig.State), optional(sig.Reason), &name
		}
	}
	if len(s.Signatures) == 0 {
		c.pass("signature", false, "the signer has no signature")
	}
	if len(s.Certificates) > 0 {
		chain := cms.Chain(s.Certificates[0], s.Certificates)
		signer.Name, signer.Chain, signer.ChainState = nameOf(s.Certificates[0]), chainOf(chain), chainState(chain)
	}
	if s.MaxSDK != 0 {
		low, high := int64(s.MinSDK), int64(s.MaxSDK)
		part.MinimumSDK, part.MaximumSDK = &low, &high
	}
	for _, l := range s.Lineage {
		part.Lineage = append(part.Lineage, certificateOf(l))
	}
	for _, n := range s.Notes {
		i.note("scheme " + scheme + ": " + n)
	}
	out.Signers = []model.CodeSigner{signer}
	out.Checks, out.State = c, stateOf(c, out.Signers)
	return out
}

// promises checks that the schemes that a signer speaks of are there.
func (c *checks) promises(promised []int, l *apksig.Layout) {
	if len(promised) == 0 {
		return
	}
	lacks := l.Lacks(promised)
	c.pass("newer schemes", len(lacks) == 0, "it states that the file is signed with %s; %s", numbers(promised), missing(lacks))
}

func missing(schemes []int) string {
	if len(schemes) == 0 {
		return "none that is known here is missing"
	}
	return numbers(schemes) + " was taken away"
}

func numbers(schemes []int) string {
	words := make([]string, len(schemes))
	for n, s := range schemes {
		words[n] = strconv.Itoa(s)
	}
	return "scheme " + strings.Join(words, ", ")
}

// add makes a check of an outcome.
func add(c *checks, name string, o cms.Outcome, detail string) {
	switch o.State {
	case cms.Valid:
		c.pass(name, true, "%s", detail)
	case cms.Invalid:
		c.pass(name, false, "%s", o.Reason)
	default:
		c.skip(name, "%s", o.Reason)
	}
}
