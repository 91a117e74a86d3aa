package binary

import (
	"bytes"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/authenticode"
	"rea/providers/format/cms"
)

// pe verifies the certificate table of a PE file.
func (i *inspection) pe() error {
	i.out.Format = tool.InspectSignatureOutputFormatPe
	t, err := authenticode.Read(i.source.Data)
	if err != nil {
		if err == authenticode.ErrNotPE { // an object file has no table
			return nil
		}
		return i.source.unsupported(signedFile, err)
	}
	if t == nil {
		return nil
	}
	i.note(t.Notes...)
	i.out.Pe = &tool.InspectSignatureOutputPe{
		Offset: int64(t.Offset), Size: int64(t.Size), TrailingBytes: int64(t.Trailing),
		Checksum: fmt.Sprintf("%#x", t.Checksum), ComputedChecksum: fmt.Sprintf("%#x", t.Computed),
	}
	for _, e := range t.Entries {
		if e.Type != authenticode.TypePKCS7 {
			i.note(fmt.Sprintf("an entry of type %d at file offset %#x holds no signature that is known here", e.Type, e.Offset))
			continue
		}
		all, err := authenticode.Signatures(e.Data)
		if err != nil {
			var c checks
			c.add("message", model.SignatureCheckStateFail, "the signature at file offset %#x can't be read: %v", e.Offset, err)
			i.out.Signatures = append(i.out.Signatures, model.CodeSignature{
				Scheme: model.CodeSignatureSchemeAuthenticode, State: model.CodeSignatureStateBroken, Checks: c,
			})
			continue
		}
		for _, s := range all {
			i.out.Signatures = append(i.out.Signatures, i.authenticode(t, s))
		}
	}
	return nil
}

func (i *inspection) authenticode(t *authenticode.Table, s *authenticode.Signature) model.CodeSignature {
	name := cms.HashName(s.Algorithm)
	out := model.CodeSignature{Scheme: model.CodeSignatureSchemeAuthenticode, Nested: s.Nested, DigestAlgorithm: &name}
	var c checks
	if h := cms.Hash(s.Algorithm); h == 0 || !h.Available() {
		c.skip("file digest", "digest algorithm %s is not known", name)
	} else if sum := t.Digest(h); bytes.Equal(sum, s.Digest) {
		c.pass("file digest", true, "%s %x", name, sum)
	} else {
		c.pass("file digest", false, "the file has %x, the signature states %x", sum, s.Digest)
	}
	if t.Trailing > 0 {
		c.pass("end of file", false, "%d bytes follow the certificate table, which no signature covers", t.Trailing)
	}
	for _, signer := range s.Signers {
		out.Signers = append(out.Signers, signerOf(s.SignedData, signer, s.Verify(signer, s.Content)))
	}
	if len(s.Signers) == 0 {
		c.pass("signer", false, "the message has no signer")
	}
	if s.PageHashes {
		i.out.Pe.PageHashes = true
	}
	if i.out.Pe.Program == nil {
		i.out.Pe.Program, i.out.Pe.URL = optional(clean(s.Program)), optional(clean(s.URL))
	}
	i.note(s.Notes...)
	out.Checks, out.State = c, stateOf(c, out.Signers)
	return out
}
