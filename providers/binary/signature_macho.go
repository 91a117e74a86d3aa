package binary

import (
	"encoding/hex"
	"fmt"
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/cms"
	"rea/providers/format/codesign"
	"rea/providers/format/macho"
	"rea/providers/format/plist"
)

// machO verifies the signature that is embedded in one slice.
func (i *inspection) machO(architecture *string) error {
	i.out.Format = tool.InspectSignatureOutputFormatMachO
	slice := i.source.Slice
	if architecture != nil {
		slice = *architecture
	}
	d, err := macho.Describe(i.source.Data, slice)
	if err != nil {
		return i.source.unsupported(signedFile, err)
	}
	name := d.Slice.Name()
	i.out.Slice = &name
	i.note(d.Notes...)
	if d.Signature() == nil {
		return nil
	}
	out := model.CodeSignature{Scheme: model.CodeSignatureSchemeMachO}
	var c checks
	s, err := codesign.Parse(d.Signature())
	if err != nil {
		c.pass("signature", false, "%v", err)
		out.Checks, out.State = c, model.CodeSignatureStateBroken
		i.out.Signatures = append(i.out.Signatures, out)
		return nil
	}
	i.note(s.Notes...)
	i.describeMachO(d, s)
	if len(s.Directories) == 0 {
		c.pass("code directory", false, "there is none that can be read")
	}
	for _, dir := range s.Directories {
		i.directory(&c, d, s, dir)
	}
	i.entitlements(&c, s)
	if m := s.Message(); m != nil && len(s.Directories) > 0 {
		out.Signers = i.message(&c, s, m)
	} else if len(s.Directories) > 0 && !s.Directories[0].AdHoc() {
		c.pass("signer", false, "the code directory is not ad hoc and there is no message with a signer")
	}
	if len(s.Directories) > 0 {
		h := s.Directories[0].HashName()
		out.DigestAlgorithm = &h
	}
	if i.bundle != nil {
		i.sealed(&c)
	}
	out.Checks, out.State = c, stateOf(c, out.Signers)
	i.out.Signatures = append(i.out.Signatures, out)
	return nil
}

// describeMachO fills in what the signature says of itself.
func (i *inspection) describeMachO(d *macho.Description, s *codesign.Signature) {
	part := &tool.InspectSignatureOutputMachO{Size: int64(len(d.Signature())), EntitlementsDer: s.EntitlementsDER() != nil}
	part.Offset = size(d.SignatureOffset())
	for _, b := range s.Blobs {
		part.Blobs = append(part.Blobs, tool.InspectSignatureOutputMachOBlob{
			Slot: codesign.SlotName(b.Slot), Magic: fmt.Sprintf("%#x", b.Magic), Offset: int64(b.Offset), Size: int64(len(b.Data)),
		})
	}
	for n, dir := range s.Directories {
		part.CodeDirectories = append(part.CodeDirectories, tool.InspectSignatureOutputMachOCodeDirectory{
			Slot: codesign.SlotName(dir.Slot), Version: fmt.Sprintf("%#x", dir.Version), Flags: dir.FlagNames(), Hash: dir.HashName(),
			Cdhash: dir.CDHash(), Digest: dir.FullHash(), PageSize: size(dir.PageSize), Pages: size(dir.CodeSlots), CodeLimit: size(dir.CodeLimit),
			Platform: int64(dir.Platform), Identifier: clean(dir.Identifier), TeamIdentifier: optional(clean(dir.Team)),
			ExecutableSegmentFlags: size(dir.ExecFlags), RuntimeVersion: optional(dir.Runtime),
		})
		i.out.Cdhashes = append(i.out.Cdhashes, dir.CDHash())
		if n == 0 {
			runtime := dir.HardenedRuntime()
			i.out.Identifier, i.out.TeamIdentifier, i.out.HardenedRuntime = optional(clean(dir.Identifier)), optional(clean(dir.Team)), &runtime
		}
	}
	requirements, err := s.Requirements()
	if err != nil {
		i.note(err.Error())
	}
	for _, r := range requirements {
		part.Requirements = append(part.Requirements, tool.InspectSignatureOutputMachORequirement{Kind: r.Kind, Text: r.Text})
		if r.Kind == "designated" {
			text := r.Text
			i.out.DesignatedRequirement = &text
		}
	}
	for _, b := range s.Constraints() {
		v, err := codesign.DecodeDER(b.Constraint())
		if err != nil {
			i.note(codesign.SlotName(b.Slot) + ": " + err.Error())
			continue
		}
		p := projection{budget: maxPlistJSON}
		part.LaunchConstraints = append(part.LaunchConstraints, tool.InspectSignatureOutputMachOLaunchConstraint{
			Slot: codesign.SlotName(b.Slot), Value: p.append(nil, &v),
		})
	}
	i.out.MachO = part
}

// directory compares one code directory with the pages and the other parts.
func (i *inspection) directory(c *checks, d *macho.Description, s *codesign.Signature, dir *codesign.Directory) {
	where := codesign.SlotName(dir.Slot) + " (" + dir.HashName() + "): "
	p := dir.CheckPages(d.Data(), i.stop)
	switch {
	case p.Reason != "" && p.Matching == 0:
		c.pass(where+"pages", false, "%s", p.Reason)
	case p.Matching == p.Total:
		c.pass(where+"pages", true, "%d of %d", p.Matching, p.Total)
	default:
		c.pass(where+"pages", false, "%d of %d; the first that differ: %v", p.Matching, p.Total, p.Bad)
	}
	if at := uint64(i.out.MachO.Offset); dir.CodeLimit != at {
		c.pass(where+"extent", false, "the directory covers %d bytes, the signature begins at %d", dir.CodeLimit, at)
	}
	covered := map[uint32]bool{}
	for _, sp := range dir.Specials() {
		if !sp.Present {
			continue
		}
		covered[sp.Slot] = true
		name := where + codesign.SlotName(sp.Slot)
		data, of := s.Part(sp.Slot), "the part in the signature"
		switch {
		case sp.Slot == codesign.SlotInfo:
			data, of = i.infoOf(d)
		case sp.Slot == codesign.SlotResources && i.bundle != nil:
			data, of = i.bundle.resources(i.ctx), "_CodeSignature/CodeResources"
		}
		if data == nil {
			c.skip(name, "digest %s; the part itself is not at hand", hex.EncodeToString(sp.Digest))
			continue
		}
		c.pass(name, dir.Matches(sp.Digest, data), "%s", of)
	}
	for _, b := range s.Blobs {
		if b.Slot > 0 && b.Slot < 0x1000 && !covered[b.Slot] {
			c.pass(where+codesign.SlotName(b.Slot), false, "the signature holds it and the directory has no digest of it")
		}
	}
}

// entitlements reads both forms and compares them.
func (i *inspection) entitlements(c *checks, s *codesign.Signature) {
	var text, der *plist.Value
	if b := s.Entitlements(); b != nil {
		if v, _, err := plist.Parse(b); err == nil {
			text = &v
		} else {
			c.pass("entitlements", false, "%v", err)
		}
	}
	if b := s.EntitlementsDER(); b != nil {
		if v, err := codesign.DecodeDER(b); err == nil {
			der = &v
		} else {
			c.pass("entitlements (DER)", false, "%v", err)
		}
	}
	if text != nil && der != nil {
		c.pass("entitlements agree", codesign.Same(text, der), "the property list and the DER form")
	}
	if text == nil {
		text = der
	}
	if text != nil {
		p := projection{budget: maxPlistJSON}
		i.out.Entitlements = p.append(nil, text)
		i.note(p.notes()...)
	}
}

// oidCDHashes is the attribute that names every code directory.
const oidCDHashes = "1.2.840.113635.100.9.1"

// message verifies the signers; what they sign is the first code directory.
func (i *inspection) message(c *checks, s *codesign.Signature, m []byte) []model.CodeSigner {
	data, err := cms.Parse(m)
	if err != nil {
		c.pass("message", false, "%v", err)
		return nil
	}
	i.note(data.Notes...)
	var out []model.CodeSigner
	for _, signer := range data.Signers {
		out = append(out, signerOf(data, signer, data.Verify(signer, s.Directories[0].Raw())))
		for _, a := range signer.Signed {
			if a.Type.String() == oidCDHashes && len(a.Values) > 0 {
				i.named(c, s, a.Values[0])
			}
		}
	}
	if len(data.Signers) == 0 {
		c.pass("signer", false, "the message has no signer")
	}
	return out
}

// named compares the directories with those that the signer names.
func (i *inspection) named(c *checks, s *codesign.Signature, value []byte) {
	at := strings.Index(string(value), "<?xml")
	if at < 0 {
		return
	}
	v, _, err := plist.Parse(value[at:])
	if err != nil {
		c.pass("named code directories", false, "%v", err)
		return
	}
	var names []string
	if list := v.Get("cdhashes"); list != nil {
		for n := range list.Items {
			names = append(names, hex.EncodeToString(list.Items[n].Bytes))
		}
	}
	good := len(names) == len(s.Directories)
	for n := range min(len(names), len(s.Directories)) {
		good = good && names[n] == s.Directories[n].CDHash()
	}
	c.pass("named code directories", good, "the signer names %s", strings.Join(names, ", "))
}
