package authenticode

import (
	"bytes"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"rea/providers/format/cms"
)

// Object identifiers of catalogs: a list of digests that one signature covers,
// for files that hold none themselves. [MS-CAESO, wincrypt.h, mscat.h]
var (
	oidTrustList  = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 10, 1}
	oidCatalog    = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 12, 1, 1}
	oidNameValue  = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 12, 2, 1}
	oidSignedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
)

// maxMembers bounds what is read of a catalog: those of Windows have some
// ten thousand members.
const maxMembers = 1 << 18

// A Catalog is a signed list of digests.
type Catalog struct {
	*cms.SignedData
	Identifier []byte // of the list; nil when it has none
	Time       time.Time
	Attributes []NameValue
	Members    []Member
}

// A Member is one file of a catalog.
type Member struct {
	Tag        string                // by which it is found: most often its digest
	Algorithm  asn1.ObjectIdentifier // of the digest, nil when there is none
	Digest     []byte                // of the file, for programs without their signature
	Attributes []NameValue
}

// A NameValue is text that whoever made the catalog put there.
type NameValue struct{ Name, Value string }

// IsMessage reports whether a file begins like a PKCS #7 message.
func IsMessage(file []byte) bool {
	der, err := asn1.Marshal(oidSignedData)
	return err == nil && len(file) > 0 && file[0] == 0x30 && bytes.Contains(file[:min(len(file), 32)], der)
}

// ReadCatalog reads a message whose content is a catalog.
func ReadCatalog(file []byte) (*Catalog, error) {
	data, err := cms.Parse(file)
	if err != nil {
		return nil, err
	}
	if !data.ContentType.Equal(oidTrustList) {
		return nil, fmt.Errorf("a signed message with content of type %v, not a catalog", data.ContentType)
	}
	c := &Catalog{SignedData: data}
	if err := c.list(data.Content); err != nil {
		return nil, fmt.Errorf("the list of the catalog is damaged: %w", err)
	}
	return c, nil
}

var errShort = errors.New("it ends early")

// list reads the fields of the list, of which many are optional.
func (c *Catalog) list(b []byte) error {
	var v asn1.RawValue
	next := func() (err error) {
		if len(b) == 0 {
			return errShort
		}
		b, err = asn1.Unmarshal(b, &v)
		return err
	}
	is := func(tag int) bool { return v.Class == asn1.ClassUniversal && v.Tag == tag }
	if err := next(); err != nil {
		return err
	}
	if is(asn1.TagInteger) { // the version
		if err := next(); err != nil {
			return err
		}
	}
	var usage []asn1.ObjectIdentifier
	if _, err := asn1.Unmarshal(v.FullBytes, &usage); err != nil {
		return err
	}
	if len(usage) == 0 || !usage[0].Equal(oidCatalog) {
		return fmt.Errorf("a list for %v, not a catalog", usage)
	}
	if err := next(); err != nil {
		return err
	}
	if is(asn1.TagOctetString) {
		c.Identifier = v.Bytes
		if err := next(); err != nil {
			return err
		}
	}
	if is(asn1.TagInteger) { // a number in a sequence
		if err := next(); err != nil {
			return err
		}
	}
	if _, err := asn1.Unmarshal(v.FullBytes, &c.Time); err != nil {
		return err
	}
	if err := next(); err != nil {
		return err
	}
	if is(asn1.TagUTCTime) || is(asn1.TagGeneralizedTime) { // when the next list comes
		if err := next(); err != nil {
			return err
		}
	}
	// v is how members are named.
	for len(b) > 0 {
		if err := next(); err != nil {
			return err
		}
		switch {
		case is(asn1.TagSequence):
			if err := c.members(v.Bytes); err != nil {
				return err
			}
		case v.Class == asn1.ClassContextSpecific && v.Tag == 0:
			c.extensions(v.Bytes)
		}
	}
	return nil
}

func (c *Catalog) members(b []byte) error {
	for len(b) > 0 {
		if len(c.Members) == maxMembers {
			c.Notes = append(c.Notes, fmt.Sprintf("more than %d members; the others are left out", maxMembers))
			return nil
		}
		var m struct {
			Tag        []byte
			Attributes asn1.RawValue `asn1:"optional,set"`
		}
		var err error
		if b, err = asn1.Unmarshal(b, &m); err != nil {
			return err
		}
		member := Member{Tag: tag(m.Tag)}
		for rest := m.Attributes.Bytes; len(rest) > 0; {
			var a struct {
				Type   asn1.ObjectIdentifier
				Values asn1.RawValue `asn1:"set"`
			}
			if rest, err = asn1.Unmarshal(rest, &a); err != nil {
				return err
			}
			switch {
			case a.Type.Equal(oidIndirectData):
				var content indirect
				if _, err := asn1.Unmarshal(a.Values.Bytes, &content); err != nil {
					return err
				}
				member.Algorithm, member.Digest = content.Message.Algorithm.Algorithm, content.Message.Digest
			case a.Type.Equal(oidNameValue):
				if nv, ok := nameValue(a.Values.Bytes); ok {
					member.Attributes = append(member.Attributes, nv)
				}
			}
		}
		c.Members = append(c.Members, member)
	}
	return nil
}

func (c *Catalog) extensions(b []byte) {
	var list []struct {
		ID       asn1.ObjectIdentifier
		Critical bool `asn1:"optional"`
		Value    []byte
	}
	if _, err := asn1.Unmarshal(b, &list); err != nil {
		c.Notes = append(c.Notes, "the attributes of the catalog can't be read: "+err.Error())
		return
	}
	for _, e := range list {
		if !e.ID.Equal(oidNameValue) {
			continue
		}
		if nv, ok := nameValue(e.Value); ok {
			c.Attributes = append(c.Attributes, nv)
		}
	}
}

func nameValue(b []byte) (NameValue, bool) {
	var nv struct {
		Name  asn1.RawValue
		Flags int
		Value []byte
	}
	if _, err := asn1.Unmarshal(b, &nv); err != nil {
		return NameValue{}, false
	}
	name := string(nv.Name.Bytes)
	if nv.Name.Tag == asn1.TagBMPString {
		name = utf16Text(nv.Name.Bytes)
	}
	return NameValue{name, littleText(nv.Value)}, true
}

// tag is text where it is such, and otherwise hexadecimal.
func tag(b []byte) string {
	if len(b)%2 == 0 && len(b) > 0 {
		text := true
		for i := 0; i < len(b); i += 2 {
			text = text && b[i+1] == 0 && (b[i] >= ' ' && b[i] <= '~' || b[i] == 0 && i == len(b)-2)
		}
		if text {
			return littleText(b)
		}
	}
	return hex.EncodeToString(b)
}

// littleText is UTF-16, little-endian, without the NUL at its end.
func littleText(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])|uint16(b[i+1])<<8)
	}
	return strings.TrimRight(string(utf16.Decode(units)), "\x00")
}
