// Package authenticode reads the signatures of PE files: PKCS #7 messages in
// the certificate table, which lies at the end of the file and names the
// digest of everything else.
package authenticode

import (
	"bytes"
	"crypto"
	_ "crypto/md5" // digests of files
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"

	"rea/providers/format/cms"
)

// Object identifiers of Microsoft's attributes.
var (
	oidIndirectData = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 1, 4}
	oidOpusInfo     = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 1, 12}
	oidNested       = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 4, 1}
	oidPageHashes1  = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 3, 1}
	oidPageHashes2  = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 3, 2}
)

// Limits of the certificate table.
const (
	maxEntries = 64
	maxNested  = 16
)

// Table is the certificate table of a file.
type Table struct {
	Offset, Size int
	Entries      []Entry
	// Trailing is how many bytes follow the table: they are not signed.
	Trailing int
	// Checksum is the one of the header, and Computed what it should be.
	Checksum, Computed uint32
	Notes              []string

	file   []byte
	places places
}

// Entry is one record of the table.
type Entry struct {
	Offset   int
	Revision uint16
	Type     uint16 // 2 is a PKCS #7 message
	Data     []byte
}

// TypePKCS7 is the type of entries that hold signatures.
const TypePKCS7 = 2

// places are the parts of the file that no digest covers.
type places struct{ checksum, directory int }

// ErrNotPE says that a file has no headers to look for a table in.
var ErrNotPE = errors.New("not a PE image")

// Read finds the certificate table; it is nil when the file has none.
func Read(file []byte) (*Table, error) {
	le := binary.LittleEndian
	if len(file) < 64 || file[0] != 'M' || file[1] != 'Z' {
		return nil, ErrNotPE
	}
	pe := uint64(le.Uint32(file[60:]))
	if pe+24+2 > uint64(len(file)) || !bytes.Equal(file[pe:pe+4], []byte("PE\x00\x00")) {
		return nil, ErrNotPE
	}
	opt := pe + 24
	directories := opt + 96
	switch le.Uint16(file[opt:]) {
	case 0x10b:
	case 0x20b:
		directories += 16
	default:
		return nil, ErrNotPE
	}
	if directories+5*8 > uint64(len(file)) || directories+5*8 > opt+uint64(le.Uint16(file[pe+20:])) {
		return nil, nil // the optional header ends before the table's place
	}
	if le.Uint32(file[directories-4:]) < 5 {
		return nil, nil
	}
	p := places{checksum: int(opt) + 64, directory: int(directories) + 4*8}
	off, size := uint64(le.Uint32(file[p.directory:])), uint64(le.Uint32(file[p.directory+4:]))
	if off == 0 || size == 0 {
		return nil, nil
	}
	t := &Table{file: file, places: p, Checksum: le.Uint32(file[p.checksum:])}
	if off >= uint64(len(file)) || off < uint64(p.directory+8) {
		return nil, fmt.Errorf("the certificate table at %#x lies outside of the file", off)
	}
	if size > uint64(len(file))-off {
		t.note("the certificate table claims %d bytes, the file holds %d", size, uint64(len(file))-off)
		size = uint64(len(file)) - off
	}
	t.Offset, t.Size = int(off), int(size)
	t.Trailing = len(file) - t.Offset - t.Size
	t.entries(file[off : off+size])
	t.Computed = checksum(file, p.checksum)
	return t, nil
}

func (t *Table) note(format string, args ...any) {
	if len(t.Notes) < 64 {
		t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
	}
}

func (t *Table) entries(b []byte) {
	le := binary.LittleEndian
	at := 0
	for at+8 <= len(b) {
		if len(t.Entries) == maxEntries {
			t.note("more than %d entries; the others are left out", maxEntries)
			return
		}
		n := uint64(le.Uint32(b[at:]))
		if n < 8 || n > uint64(len(b)-at) {
			if len(bytes.Trim(b[at:], "\x00")) > 0 {
				t.note("an entry of %d bytes at %#x does not fit its table", n, t.Offset+at)
			}
			return
		}
		t.Entries = append(t.Entries, Entry{
			Offset: t.Offset + at, Revision: le.Uint16(b[at+4:]), Type: le.Uint16(b[at+6:]), Data: b[at+8 : at+int(n)],
		})
		at += int((n + 7) &^ 7)
	}
}

// Digest is the digest of the file that signatures name: all of it but the
// checksum, the table's place in the header and the table.
func (t *Table) Digest(h crypto.Hash) []byte {
	sum := h.New()
	sum.Write(t.file[:t.places.checksum])
	sum.Write(t.file[t.places.checksum+4 : t.places.directory])
	sum.Write(t.file[t.places.directory+8 : t.Offset])
	return sum.Sum(nil)
}

// checksum is the sum of 16-bit words with carry, plus the length.
func checksum(file []byte, at int) uint32 {
	var sum uint64
	for i := 0; i+1 < len(file); i += 2 {
		if i == at || i == at+2 {
			continue
		}
		sum += uint64(file[i]) | uint64(file[i+1])<<8
	}
	if len(file)%2 == 1 {
		sum += uint64(file[len(file)-1])
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint32(sum) + uint32(len(file))
}

// Signature is one signature of a file.
type Signature struct {
	*cms.SignedData
	Algorithm  asn1.ObjectIdentifier // of the digest
	Digest     []byte                // what the file's digest should be
	PageHashes bool
	Nested     bool // lies inside of another as a second opinion
	Program    string
	URL        string
}

type indirect struct {
	Data struct {
		Type  asn1.ObjectIdentifier
		Value asn1.RawValue `asn1:"optional"`
	}
	Message struct {
		Algorithm struct {
			Algorithm  asn1.ObjectIdentifier
			Parameters asn1.RawValue `asn1:"optional"`
		}
		Digest []byte
	}
}

// Signatures reads an entry of the table, and the signatures nested in it.
func Signatures(b []byte) ([]*Signature, error) {
	first, err := signature(b)
	if err != nil {
		return nil, err
	}
	out := []*Signature{first}
	for i := 0; i < len(out) && len(out) < maxNested; i++ {
		for _, signer := range out[i].Signers {
			for _, a := range signer.Unsigned {
				if !a.Type.Equal(oidNested) {
					continue
				}
				for _, v := range a.Values {
					s, err := signature(v)
					if err != nil {
						first.Notes = append(first.Notes, "a nested signature can't be read: "+err.Error())
						continue
					}
					s.Nested = true
					if len(out) < maxNested {
						out = append(out, s)
					}
				}
			}
		}
	}
	return out, nil
}

func signature(b []byte) (*Signature, error) {
	data, err := cms.Parse(b)
	if err != nil {
		return nil, err
	}
	s := &Signature{SignedData: data}
	if !data.ContentType.Equal(oidIndirectData) {
		return nil, fmt.Errorf("content of type %v, not the digest of a file", data.ContentType)
	}
	var content indirect
	if _, err := asn1.Unmarshal(data.Element, &content); err != nil {
		return nil, fmt.Errorf("the content names no digest: %w", err)
	}
	s.Algorithm, s.Digest = content.Message.Algorithm.Algorithm, content.Message.Digest
	s.PageHashes = hasOID(data.Element, oidPageHashes1) || hasOID(data.Element, oidPageHashes2)
	for _, signer := range data.Signers {
		if v := cms.Find(signer.Signed, oidOpusInfo); v != nil {
			s.Program, s.URL = opus(v)
		}
	}
	return s, nil
}

// hasOID finds the bytes of an identifier.
func hasOID(b []byte, oid asn1.ObjectIdentifier) bool {
	der, err := asn1.Marshal(oid)
	return err == nil && bytes.Contains(b, der)
}

// opus reads the name and the address that the signer gave the program.
func opus(b []byte) (name, url string) {
	var seq asn1.RawValue
	if _, err := asn1.Unmarshal(b, &seq); err != nil {
		return "", ""
	}
	for rest := seq.Bytes; len(rest) > 0; {
		var field asn1.RawValue
		var err error
		if rest, err = asn1.Unmarshal(rest, &field); err != nil {
			break
		}
		var inner asn1.RawValue
		if _, err := asn1.Unmarshal(field.Bytes, &inner); err != nil || inner.Class != asn1.ClassContextSpecific {
			continue
		}
		switch {
		case field.Tag == 0 && inner.Tag == 0:
			name = utf16Text(inner.Bytes)
		case field.Tag == 0 && inner.Tag == 1:
			name = string(inner.Bytes)
		case field.Tag == 1 && inner.Tag == 0:
			url = string(inner.Bytes)
		}
	}
	return name, url
}

func utf16Text(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
	}
	return string(utf16.Decode(units))
}
