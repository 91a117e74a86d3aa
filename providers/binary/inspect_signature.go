package binary

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/apksig"
	"rea/providers/format/authenticode"
	"rea/providers/format/macho"
	"rea/providers/format/native"
	"rea/providers/format/object"
)

// inspection gathers one answer about signatures.
type inspection struct {
	ctx    context.Context
	source *source
	bundle *bundle // the folder that the file lies in, or nil
	out    tool.InspectSignatureOutput
	notes  []string
}

func (i *inspection) stop() bool { return i.ctx.Err() != nil }

func (i *inspection) note(notes ...string) { i.notes = append(i.notes, notes...) }

// InspectSignature verifies what the bytes allow: digests, signatures, which
// certificate signed which, time stamps. It never says that anybody is to be
// trusted.
func (h *Handlers) InspectSignature(ctx context.Context, in *tool.InspectSignatureInput) (*tool.Finding[tool.InspectSignatureOutput], error) {
	i := &inspection{ctx: ctx}
	var err error
	if in.Path != nil && isFolder(*in.Path) {
		if i.bundle, err = openBundle(ctx, *in.Path); err != nil {
			return nil, err
		}
		i.source = i.bundle.executable
	} else if i.source, err = h.source(ctx, in.Path); err != nil {
		return nil, err
	}
	i.out.Entitlements = []byte("null")
	s := i.source
	switch {
	case macho.Is(s.Data):
		err = i.machO(in.Architecture)
	case native.Detect(s.Data) == object.PE:
		err = i.pe()
	case authenticode.IsMessage(s.Data):
		err = i.catalog()
	case bytes.HasPrefix(s.Data, []byte("PK")):
		err = i.archive()
	default:
		err = s.unsupported(signedFile, errors.New("it begins and ends like none of them"))
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	i.conclude()
	return &tool.Finding[tool.InspectSignatureOutput]{Result: i.out, Limitations: i.notes, Subject: s.subject, Locations: s.whole()}, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// conclude sums the signatures up.
func (i *inspection) conclude() {
	out := &i.out
	out.Signed = len(out.Signatures) > 0
	out.State = tool.InspectSignatureOutputStateUnsigned
	for n := range out.Signatures {
		s := &out.Signatures[n]
		switch {
		case out.State == tool.InspectSignatureOutputStateBroken || s.State == model.CodeSignatureStateBroken:
			out.State = tool.InspectSignatureOutputStateBroken
		case s.State == model.CodeSignatureStatePartlyChecked || out.State == tool.InspectSignatureOutputStatePartlyChecked:
			out.State = tool.InspectSignatureOutputStatePartlyChecked
		default:
			out.State = tool.InspectSignatureOutputStateIntact
		}
		if s.DigestAlgorithm != nil && !slices.Contains(out.HashAlgorithms, *s.DigestAlgorithm) {
			out.HashAlgorithms = append(out.HashAlgorithms, *s.DigestAlgorithm)
		}
		for _, signer := range s.Signers {
			i.leading(&signer)
		}
	}
	if out.Signed {
		i.note("trust was not judged: there is no list of trusted roots, no look at revocation or at the clock")
	}
}

// leading takes names and time from the first signer that has them.
func (i *inspection) leading(s *model.CodeSigner) {
	if i.out.Authorities == nil {
		for _, c := range s.Chain {
			if c.CommonName != nil {
				i.out.Authorities = append(i.out.Authorities, *c.CommonName)
			}
		}
	}
	if i.out.Timestamp != nil {
		return
	}
	for _, t := range s.Timestamps {
		if t.Time != nil && t.State == model.SignatureTimestampStateValid {
			i.out.Timestamp = t.Time
			return
		}
	}
}

// archive verifies the schemes of Android and Java.
func (i *inspection) archive() error {
	l, err := apksig.Locate(i.source.Data)
	if err != nil {
		return i.source.unsupported(signedFile, err)
	}
	return i.apk(l)
}
