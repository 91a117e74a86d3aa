package binary

import (
	"encoding/hex"
	"fmt"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/authenticode"
	"rea/providers/format/cms"
)

// maxCatalogRows bounds the members that are given.
const maxCatalogRows = 2000

// catalog verifies the signature of a catalog. Which files its digests belong to
// is not for it to say.
func (i *inspection) catalog() error {
	i.out.Format = tool.InspectSignatureOutputFormatCatalog
	c, err := authenticode.ReadCatalog(i.source.Data)
	if err != nil {
		return i.source.unsupported(signedFile, err)
	}
	rows := &tool.InspectSignatureOutputCatalog{Time: timeOf(c.Time), Attributes: attributesOf(c.Attributes), Total: int64(len(c.Members))}
	if c.Identifier != nil {
		rows.Identifier = optional(hex.EncodeToString(c.Identifier))
	}
	for _, m := range c.Members[:min(len(c.Members), maxCatalogRows)] {
		row := tool.InspectSignatureOutputCatalogMember{Tag: clean(m.Tag), Attributes: attributesOf(m.Attributes)}
		if m.Algorithm != nil {
			row.DigestAlgorithm, row.Digest = optional(cms.HashName(m.Algorithm)), optional(hex.EncodeToString(m.Digest))
		}
		rows.Members = append(rows.Members, row)
	}
	if len(c.Members) > maxCatalogRows {
		i.note(fmt.Sprintf("the first %d of %d members are listed", maxCatalogRows, len(c.Members)))
	}
	i.out.Catalog = rows
	i.note(c.Notes...)
	if len(c.Signers) == 0 {
		return nil
	}
	out := model.CodeSignature{Scheme: model.CodeSignatureSchemeCatalog}
	for _, signer := range c.Signers {
		if out.DigestAlgorithm == nil {
			out.DigestAlgorithm = optional(cms.HashName(signer.Digest))
		}
		out.Signers = append(out.Signers, signerOf(c.SignedData, signer, c.Verify(signer, c.Content)))
	}
	var list checks
	list.skip("member files", "the catalog holds the digests of %d files, not the files", len(c.Members))
	out.Checks, out.State = list, stateOf(nil, out.Signers)
	i.out.Signatures = append(i.out.Signatures, out)
	return nil
}

func attributesOf(list []authenticode.NameValue) []tool.InspectSignatureAttribute {
	var out []tool.InspectSignatureAttribute
	for _, a := range list {
		out = append(out, tool.InspectSignatureAttribute{Name: clean(a.Name), Value: clean(a.Value)})
	}
	return out
}
