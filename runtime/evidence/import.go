package evidence

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/wire"
)

// ImportLimits bound what an import reads.
type ImportLimits struct {
	Bundle int64 // bytes of the document
	Record int   // bytes of one record
}

// DefaultImportLimits admit what a long investigation exports.
var DefaultImportLimits = ImportLimits{Bundle: 8 << 30, Record: 256 << 20}

// ImportInfo says what an import did.
type ImportInfo struct {
	BundleInfo
	Added int // records that were not held before
}

// Import reads a bundle from src and admits its records, all or none. It
// verifies the canonical form of the whole document, the identity and the
// meaning of every record, their order, and the manifest. A document that is
// not such a bundle is an [*IntegrityError]; other errors come from src, from
// storing, or from ctx.
func (l *Ledger) Import(ctx context.Context, src io.Reader, limits ImportLimits) (ImportInfo, error) {
	intake, err := l.Intake()
	if err != nil {
		return ImportInfo{}, err
	}
	defer intake.Discard()
	info, err := ReadBundle(ctx, src, limits, intake.Add)
	if err != nil {
		return ImportInfo{}, err
	}
	if err := ctx.Err(); err != nil {
		return ImportInfo{}, err
	}
	return ImportInfo{BundleInfo: info, Added: intake.Commit()}, nil
}

// ReadBundle verifies a bundle as [Ledger.Import] does and gives each record to
// admit, in order. Only when it returns without an error were all of them good.
func ReadBundle(ctx context.Context, src io.Reader, limits ImportLimits, admit func(*Record) error) (BundleInfo, error) {
	in := bufio.NewReaderSize(src, 4096)
	if reason := foreign(in); reason != nil {
		return BundleInfo{}, reason
	}
	source := &source{ctx: ctx, r: in, left: limits.Bundle, sum: sha256.New()}
	b := &bundleReader{
		source: source,
		dec:    jsontext.NewDecoder(source),
		limits: limits,
		seen:   newManifest(),
		sum:    sha256.New(),
		admit:  admit,
	}
	err := b.read()
	switch {
	case err == nil:
		return BundleInfo{Records: b.seen.records, Bytes: source.n, SHA256: hex.EncodeToString(source.sum.Sum(nil))}, nil
	case source.err != nil:
		return BundleInfo{}, source.err
	}
	if syntactic := new(jsontext.SyntacticError); errors.As(err, &syntactic) {
		reason := fmt.Sprintf("not valid JSON at byte %d: %v", syntactic.ByteOffset, syntactic.Err)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = fmt.Sprintf("the document ends early, at byte %d", source.n)
		}
		return BundleInfo{}, &IntegrityError{Pointer: wire.ShortPointer(syntactic.JSONPointer), Reason: reason}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return BundleInfo{}, &IntegrityError{Reason: fmt.Sprintf("the document ends early, at byte %d", source.n)}
	}
	return BundleInfo{}, err
}

const giveBundle = "Give a file that export_evidence_bundle wrote."

func notBundle(format string, args ...any) error {
	return &IntegrityError{Reason: fmt.Sprintf(format, args...), Remedy: giveBundle}
}

// foreign says what a document is that by its first bytes is no bundle.
func foreign(in *bufio.Reader) error {
	start, err := in.Peek(64)
	text := bytes.TrimLeft(start, " \t\r\n")
	switch {
	case len(text) == 0 && err == io.EOF:
		return notBundle("it is empty, and no Evidence bundle")
	case len(text) == 0:
		return nil // reading tells why
	case bytes.HasPrefix(start, []byte("rea-snapshot ")):
		return &IntegrityError{Reason: "it is a snapshot, not an Evidence bundle", Remedy: "Give the snapshot to open_binary as snapshot_path; a bundle is a file that export_evidence_bundle wrote."}
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		return notBundle("it begins with a byte order mark, which no Evidence bundle does: something rewrote it")
	case text[0] == '[':
		return notBundle("it is a JSON array, not an Evidence bundle")
	case text[0] != '{':
		return notBundle("it is not an Evidence bundle, which is a JSON object")
	}
	return nil
}

// source is the bounded, cancellable document; it keeps the error of reading
// apart from errors of the document.
type source struct {
	ctx  context.Context
	r    io.Reader
	n    int64
	left int64
	sum  hash.Hash
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	if s.left <= 0 {
		var one [1]byte
		if n, err := s.r.Read(one[:]); n == 0 && err != nil {
			return 0, s.fail(err)
		}
		return 0, s.fail(&IntegrityError{Reason: fmt.Sprintf("the document is larger than %d bytes", s.n)})
	}
	p = p[:min(int64(len(p)), s.left)]
	n, err := s.r.Read(p)
	s.n, s.left = s.n+int64(n), s.left-int64(n)
	s.sum.Write(p[:n])
	return n, s.fail(err)
}

func (s *source) fail(err error) error {
	if err != nil && err != io.EOF {
		s.err = err
	}
	return err
}

type bundleReader struct {
	source *source
	dec    *jsontext.Decoder
	limits ImportLimits
	seen   *manifest
	sum    hash.Hash // of the canonical form
	last   ID
	admit  func(*Record) error
}

func (b *bundleReader) read() error {
	claimed, err := b.head()
	if err != nil {
		return err
	}
	b.sum.Write(claimed)
	for b.dec.PeekKind() != ']' {
		if err := b.record(); err != nil {
			return err
		}
	}
	if err := b.token(']'); err != nil {
		return err
	}
	if b.dec.PeekKind() == '"' {
		return b.unexpected("a member follows the records, with which a bundle ends")
	}
	if err := b.token('}'); err != nil {
		return err
	}
	if _, err := b.dec.ReadToken(); err != io.EOF {
		if err == nil {
			err = &IntegrityError{Reason: "more than one value in the document"}
		}
		return err
	}
	b.sum.Write([]byte(tail))
	if !bytes.Equal(b.seen.head(), claimed) {
		return &IntegrityError{Pointer: "/manifest", Reason: "the manifest is not that of the records"}
	}
	if !bytes.Equal(b.sum.Sum(nil), b.source.sum.Sum(nil)) {
		return &IntegrityError{Reason: "the document is not in canonical form"}
	}
	return nil
}

// head reads up to the first record and returns the canonical form of that.
func (b *bundleReader) head() ([]byte, error) {
	if err := b.token('{'); err != nil {
		return nil, err
	}
	switch first, err := b.first(); {
	case err != nil:
		return nil, err
	case first == memberNames[0]:
		return nil, notBundle("it is one record, not an Evidence bundle of records")
	case first != "bundle_version":
		return nil, notBundle("it is not an Evidence bundle, which begins with bundle_version")
	}
	version, err := b.canonical("bundle_version", 32)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.ParseUint(string(version), 10, 64); err == nil && n > BundleVersion {
		return nil, &IntegrityError{
			Pointer: "/bundle_version", Reason: fmt.Sprintf("it is an Evidence bundle of version %d, of a newer rea; this one reads version %d", n, BundleVersion),
			Remedy: "Use the rea that wrote the bundle, or a newer one.",
		}
	}
	if string(version) != strconv.Itoa(BundleVersion) {
		return nil, &IntegrityError{Pointer: "/bundle_version", Reason: fmt.Sprintf("%s is no version of Evidence bundles", printable(version)), Remedy: giveBundle}
	}
	stated, err := b.member("manifest", 1024)
	if err != nil {
		return nil, err
	}
	if err := b.name("records"); err != nil {
		return nil, err
	}
	out := append([]byte(`{"bundle_version":`), version...)
	out = append(out, `,"manifest":`...)
	out = append(out, stated...)
	out = append(out, `,"records":[`...)
	return out, b.token('[')
}

// member reads one member with a value of at most limit bytes, in canonical form.
func (b *bundleReader) member(name string, limit int) ([]byte, error) {
	if err := b.name(name); err != nil {
		return nil, err
	}
	return b.canonical(name, limit)
}

// first is the name of the first member, "" when there is none.
func (b *bundleReader) first() (string, error) {
	switch b.dec.PeekKind() {
	case '"':
	case '}':
		return "", nil
	default:
		return "", b.unexpected("a member name is missing")
	}
	token, err := b.dec.ReadToken()
	if err != nil {
		return "", err
	}
	return token.String(), nil
}

// canonical reads the value of a member.
func (b *bundleReader) canonical(name string, limit int) ([]byte, error) {
	value, err := b.value(limit, "/"+name)
	if err != nil {
		return nil, err
	}
	canonical, err := Canonical(value)
	if err != nil {
		return nil, &IntegrityError{Pointer: "/" + name, Reason: err.Error()}
	}
	return canonical, nil
}

func (b *bundleReader) name(want string) error {
	if b.dec.PeekKind() != '"' {
		return b.unexpected(fmt.Sprintf("member %q is missing", want))
	}
	token, err := b.dec.ReadToken()
	if err != nil {
		return err
	}
	if got := token.String(); got != want {
		return &IntegrityError{Reason: fmt.Sprintf("member %q stands where %q belongs", shorten(got), want)}
	}
	return nil
}

func (b *bundleReader) token(want jsontext.Kind) error {
	if b.dec.PeekKind() != want {
		return b.unexpected(fmt.Sprintf("%q is missing", byte(want)))
	}
	_, err := b.dec.ReadToken()
	return err
}

// unexpected is the syntax error at the next token, or else reason.
func (b *bundleReader) unexpected(reason string) error {
	if _, err := b.dec.ReadToken(); err != nil {
		return err
	}
	return &IntegrityError{Pointer: wire.ShortPointer(b.dec.StackPointer()), Reason: reason}
}

// value reads one value whose extent the decoder may buffer: the limit is
// enforced while reading, by the bound of what the source may still give.
func (b *bundleReader) value(limit int, pointer string) ([]byte, error) {
	start := b.dec.InputOffset()
	left := b.source.left
	bound := start + int64(limit) + readAhead - b.source.n
	b.source.left = min(left, max(bound, 0))
	before := b.source.left
	value, err := b.dec.ReadValue()
	used := before - b.source.left
	b.source.left = left - used
	if err != nil && before < left && b.source.err != nil {
		if _, ok := AsIntegrity(b.source.err); ok {
			b.source.err = nil
			return nil, b.tooLarge(limit, pointer)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(value) > limit {
		return nil, b.tooLarge(limit, pointer)
	}
	return value, nil
}

// readAhead is more than a decoder takes beyond the value it reads.
const readAhead = 1 << 20

func (b *bundleReader) tooLarge(limit int, pointer string) error {
	return &IntegrityError{Pointer: pointer, Reason: fmt.Sprintf("larger than %d bytes", limit)}
}

func (b *bundleReader) record() error {
	pointer := fmt.Sprintf("/records/%d", b.seen.records)
	if err := b.source.ctx.Err(); err != nil {
		b.source.err = err
		return err
	}
	value, err := b.value(b.limits.Record, pointer)
	if err != nil {
		return err
	}
	r, err := Verify(value)
	if err != nil {
		if e, ok := AsIntegrity(err); ok {
			e.Pointer = pointer + e.Pointer
		}
		return err
	}
	if b.seen.records > 0 && bytes.Compare(b.last[:], r.id[:]) >= 0 {
		return &IntegrityError{Pointer: pointer, Reason: "records are not sorted by id, or one appears twice", Claimed: r.id.String()}
	}
	if b.seen.records > 0 {
		b.sum.Write([]byte(","))
	}
	b.sum.Write(r.canonical)
	b.last = r.id
	b.seen.add(r.id, sha256.Sum256(r.canonical))
	if err := b.admit(r); err != nil {
		b.source.err = err // of storing, not of the document
		return err
	}
	return nil
}
