package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"iter"
	"slices"
	"strconv"
)

// BundleVersion of the bundles that are written and read.
const BundleVersion = 1

// BundleInfo describes one complete bundle.
type BundleInfo struct {
	Records int
	Bytes   int64
	SHA256  string
}

// A View is the set of records a ledger held at one moment, sorted by identity.
// It stays readable when the ledger is cleared, until it is closed.
type View struct{ entries []*entry }

// View takes the records held now.
func (l *Ledger) View() *View {
	l.mu.RLock()
	entries := slices.Clone(l.order)
	for _, e := range entries {
		if e.segment != nil {
			e.segment.hold()
		}
	}
	l.mu.RUnlock()
	slices.SortFunc(entries, func(a, b *entry) int {
		return bytes.Compare(a.summary.ID[:], b.summary.ID[:])
	})
	return &View{entries: entries}
}

// Close lets go of the records.
func (v *View) Close() {
	for _, e := range v.entries {
		if e.segment != nil {
			e.segment.release()
		}
	}
	v.entries = nil
}

// Len is the number of records.
func (v *View) Len() int { return len(v.entries) }

// manifest accumulates what a bundle says of its records.
type manifest struct {
	records      int
	ids, digests hash.Hash
}

func newManifest() *manifest { return &manifest{ids: sha256.New(), digests: sha256.New()} }

func (m *manifest) add(id ID, digest [sha256.Size]byte) {
	m.records++
	line := append([]byte(id.String()), '\n')
	m.ids.Write(line)
	line = append(hex.AppendEncode(line[:0], digest[:]), '\n')
	m.digests.Write(line)
}

// head is the canonical bundle up to its first record.
func (m *manifest) head() []byte {
	out := strconv.AppendInt([]byte(bundleStart), BundleVersion, 10)
	out = append(out, `,"manifest":{"ids_sha256":"`...)
	out = hex.AppendEncode(out, m.ids.Sum(nil))
	out = append(out, `","records":`...)
	out = strconv.AppendInt(out, int64(m.records), 10)
	out = append(out, `,"records_sha256":"`...)
	out = hex.AppendEncode(out, m.digests.Sum(nil))
	return append(out, `"},"records":[`...)
}

// Manifest is what a bundle says of its records.
type Manifest struct {
	Records      int
	IDs, Digests string // SHA-256, lowercase hex
}

// Manifest of the view's bundle.
func (v *View) Manifest() Manifest {
	m := v.manifest()
	return Manifest{m.records, hex.EncodeToString(m.ids.Sum(nil)), hex.EncodeToString(m.digests.Sum(nil))}
}

// Records yields the records, sorted by identity, each read when it is reached.
func (v *View) Records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for _, e := range v.entries {
			if !yield(e.record()) {
				return
			}
		}
	}
}

// bundleStart begins a bundle of any version.
const bundleStart = `{"bundle_version":`

// IsBundle reports whether the first bytes of a document, at least 64 of them
// where there are so many, are those of a bundle.
func IsBundle(start []byte) bool {
	version, ok := bytes.CutPrefix(start, []byte(bundleStart))
	rest := bytes.TrimLeft(version, "0123456789")
	return ok && len(rest) < len(version) && bytes.HasPrefix(rest, []byte(`,"manifest":{`))
}

// tail ends a bundle.
const tail = "]}"

func (v *View) manifest() *manifest {
	m := newManifest()
	for _, e := range v.entries {
		m.add(e.summary.ID, e.digest)
	}
	return m
}

// Size is the exact length of the bundle, known without reading a record.
func (v *View) Size() int64 {
	n := int64(len(v.manifest().head()) + len(tail) + max(0, len(v.entries)-1))
	for _, e := range v.entries {
		n += int64(e.summary.Bytes)
	}
	return n
}

// WriteBundle writes the canonical bundle to w, one record in memory at a time.
// It stops soon after ctx ends.
func (v *View) WriteBundle(ctx context.Context, w io.Writer) (BundleInfo, error) {
	sum := sha256.New()
	out := &counter{w: io.MultiWriter(w, sum)}
	if _, err := out.Write(v.manifest().head()); err != nil {
		return BundleInfo{}, err
	}
	var buf []byte
	for i, e := range v.entries {
		if err := ctx.Err(); err != nil {
			return BundleInfo{}, err
		}
		if i > 0 {
			if _, err := out.Write([]byte(",")); err != nil {
				return BundleInfo{}, err
			}
		}
		doc, err := e.read(buf)
		if err != nil {
			return BundleInfo{}, err
		}
		if e.inline == nil {
			buf = doc
		}
		if _, err := out.Write(doc); err != nil {
			return BundleInfo{}, err
		}
	}
	if _, err := io.WriteString(out, tail); err != nil {
		return BundleInfo{}, err
	}
	return BundleInfo{Records: len(v.entries), Bytes: out.n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// counter counts the bytes that pass.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
