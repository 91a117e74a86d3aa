package inventory

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"rea/providers/format/ar"
	"rea/providers/format/asar"
	"rea/providers/format/cpio"
	"rea/providers/format/hfsplus"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/providers/format/partition"
	"rea/providers/format/stream"
	"rea/providers/format/tar"
	"rea/providers/format/universal"
	"rea/providers/format/zip"
)

// An Identity is what content is, by its bytes.
type Identity struct {
	Format       string
	Kind         string
	Architecture string
}

// The kinds of content.
const (
	KindContainer  = "container"
	KindExecutable = "executable"
	KindLibrary    = "library"
	KindObject     = "object"
	KindScript     = "script"
	KindText       = "text"
	KindImage      = "image"
	KindData       = "data"
	KindEmpty      = "empty"
)

// headSize is how much of a content is looked at: an ISO 9660 volume says what
// it is at 32 KiB.
const headSize = 40 << 10

// tailSize is where a disk image says what it is: at its end.
const tailSize = 512

var magics = []struct {
	at           int
	magic        string
	format, kind string
}{
	{0, "7z\xbc\xaf\x27\x1c", "7z", KindContainer},
	{0, "Rar!\x1a\x07", "rar", KindContainer},
	{0, "\xed\xab\xee\xdb", "rpm", KindContainer},
	{0, "hsqs", "squashfs", KindContainer},
	{0, "sqsh", "squashfs", KindContainer},
	{0, "xar!", "xar", KindContainer},
	{32769, "CD001", "iso9660", KindContainer},
	{32, "NXSB", "apfs", KindContainer},
	{0, "MSCF\x00\x00\x00\x00", "cab", KindContainer},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "compound-file", KindContainer},
	{0, "Cr24", "crx", KindContainer},
	{0, "JM\x01\x00", "jmod", KindContainer},
	{0, "\x89PNG\r\n\x1a\n", "png", KindImage},
	{0, "\xff\xd8\xff", "jpeg", KindImage},
	{0, "GIF8", "gif", KindImage},
	{0, "icns", "icns", KindImage},
	{0, "\x00\x00\x01\x00", "ico", KindImage},
	{8, "WEBP", "webp", KindImage},
	{0, "%PDF-", "pdf", KindData},
	{0, "SQLite format 3\x00", "sqlite", KindData},
	{0, "bplist0", "plist-binary", KindData},
	{0, "dex\n03", "dex", KindExecutable},
	{0, "\x00asm", "wasm", KindExecutable},
	{0, "OTTO", "opentype", KindData},
	{0, "\x00\x01\x00\x00\x00", "truetype", KindData},
	{0, "wOFF", "woff", KindData},
	{0, "wOF2", "woff2", KindData},
	{4, "ftyp", "mp4", KindData},
	{0, "RIFF", "riff", KindData},
	{0, "OggS", "ogg", KindData},
	{0, "ID3", "mp3", KindData},
	{0, "\xde\x12\x04\x95", "gettext", KindData},
	{0, "-----BEGIN ", "pem", KindText},
	{0, "#!", "script", KindScript},
}

// identify says what content is from its beginning.
func identify(head []byte, whole bool) Identity {
	if len(head) == 0 {
		return Identity{Format: "empty", Kind: KindEmpty}
	}
	if id, ok := program(head); ok {
		return id
	}
	switch {
	case zip.Is(head):
		return Identity{Format: "zip", Kind: KindContainer}
	case ar.Is(head):
		return Identity{Format: "ar", Kind: KindContainer}
	case cpio.Is(head):
		return Identity{Format: "cpio", Kind: KindContainer}
	case asar.Is(head):
		return Identity{Format: "asar", Kind: KindContainer}
	}
	if format := stream.Detect(head); format != "" {
		return Identity{Format: format, Kind: KindContainer}
	}
	for _, m := range magics {
		if len(head) >= m.at+len(m.magic) && string(head[m.at:m.at+len(m.magic)]) == m.magic {
			return Identity{Format: m.format, Kind: m.kind}
		}
	}
	if hfsplus.Is(head) { // behind what may stand over the same bytes
		return Identity{Format: "hfsplus", Kind: KindContainer}
	}
	if format := partition.Detect(head); format != "" {
		return Identity{Format: format, Kind: KindContainer}
	}
	if tar.Is(head) {
		return Identity{Format: "tar", Kind: KindContainer}
	}
	if format := unreadFormat(head); format != "" {
		return Identity{Format: format, Kind: KindContainer}
	}
	return text(head, whole)
}

// program knows native binaries and Java classes. The loaders read the headers
// from the beginning of the file alone; what lies behind it is not needed here.
func program(head []byte) (Identity, bool) {
	if len(head) >= 8 && string(head[:4]) == "\xca\xfe\xba\xbe" {
		// A universal binary counts its architectures where a class has its version.
		if n := binary.BigEndian.Uint32(head[4:]); n >= 40 || n == 0 {
			return Identity{Format: "java-class", Kind: KindExecutable}, true
		}
	}
	format := native.Detect(head)
	if format == "" {
		return Identity{}, false
	}
	id := Identity{Format: string(format), Kind: KindExecutable}
	if format == object.MachO && universal.Is(head) {
		return Identity{Format: "mach-o-universal", Kind: KindContainer}, true
	}
	im, err := native.Load(head, native.Options{})
	if err != nil {
		id.Kind = KindData
		return id, true
	}
	id.Architecture = string(im.Arch)
	switch im.Kind {
	case object.SharedLibrary:
		id.Kind = KindLibrary
	case object.Relocatable:
		id.Kind = KindObject
	case object.Core, object.OtherKind:
		id.Kind = KindData
	}
	return id, true
}

// text tells text from data, and a few formats of text.
func text(head []byte, whole bool) Identity {
	sample := head[:min(len(head), 4096)]
	if bytes.IndexByte(sample, 0) >= 0 {
		return Identity{Format: "data", Kind: KindData}
	}
	if !whole || len(sample) < len(head) { // do not judge a rune that is cut
		for i := 0; i < utf8.UTFMax && len(sample) > 0 && !utf8.RuneStart(sample[len(sample)-1]); i++ {
			sample = sample[:len(sample)-1]
		}
		if len(sample) > 0 && sample[len(sample)-1] >= utf8.RuneSelf {
			sample = sample[:len(sample)-1]
		}
	}
	if !utf8.Valid(sample) {
		return Identity{Format: "data", Kind: KindData}
	}
	t := bytes.TrimLeft(bytes.TrimPrefix(sample, []byte("\xef\xbb\xbf")), " \t\r\n")
	format := "text"
	switch {
	case bytes.Contains(t[:min(len(t), 512)], []byte("<!DOCTYPE plist")), bytes.Contains(t[:min(len(t), 512)], []byte("<plist")):
		format = "plist-xml"
	case bytes.HasPrefix(t, []byte("<?xml")):
		format = "xml"
	case bytes.HasPrefix(bytes.ToLower(t[:min(len(t), 16)]), []byte("<!doctype html")), bytes.HasPrefix(bytes.ToLower(t[:min(len(t), 16)]), []byte("<html")):
		format = "html"
	}
	return Identity{Format: format, Kind: KindText}
}
