package apksig

import (
	"archive/zip"
	"bytes"
	"crypto"
	_ "crypto/md5" // digests of entries
	_ "crypto/sha1"
	_ "crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"rea/providers/format/cms"
)

// Jar is what the manifest and the signature files say, and whether it is so.
type Jar struct {
	Signers []*JarSigner
	// Entries counts the files that need a signature; Covered those whose
	// digest the manifest states rightly.
	Entries, Covered int
	// Wrong and Unlisted are the first names of entries that differ from the
	// manifest, or are not in it.
	Wrong, Unlisted []string
	WrongCount      int
	UnlistedCount   int
	// Missing are the first names that only the manifest has.
	Missing      []string
	MissingCount int
	Notes        []string
}

// JarSigner is one signature file with its message.
type JarSigner struct {
	*cms.SignedData
	File      string // META-INF/CERT.SF
	Block     string // META-INF/CERT.RSA
	Signature []cms.Outcome
	Manifest  cms.Outcome // whether the signature file fits the manifest
	// Promised are the numbers of the schemes that, says the signature file,
	// the archive was signed with as well.
	Promised []int
	Content  []byte
}

// Limits of reading a jar.
const (
	maxManifest = 64 << 20
	maxContent  = 4 << 30
	maxJar      = 32
	shownNames  = 20
)

// ReadJar verifies scheme 1; it is nil when the archive has no signature files.
func ReadJar(file []byte, stop func() bool) (*Jar, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	files := map[string]*zip.File{}
	j := &Jar{}
	for _, f := range z.File {
		if files[f.Name] != nil {
			j.note("two entries are named %q", f.Name)
			continue
		}
		files[f.Name] = f
	}
	var blocks []string
	for _, f := range z.File {
		if isBlock(f.Name) && len(blocks) < maxJar {
			blocks = append(blocks, f.Name)
		}
	}
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	if len(blocks) == 0 {
		return nil, nil
	}
	manifest, err := content(files["META-INF/MANIFEST.MF"], maxManifest)
	if err != nil {
		return nil, fmt.Errorf("the manifest: %w", err)
	}
	main, sections := splitManifest(manifest)
	for _, b := range blocks {
		j.Signers = append(j.Signers, j.signer(files, b, manifest, main, sections))
	}
	j.entries(z.File, sections, stop)
	return j, nil
}

func (j *Jar) note(format string, args ...any) {
	if len(j.Notes) < 64 {
		j.Notes = append(j.Notes, fmt.Sprintf(format, args...))
	}
}

// isBlock recognizes the message of a signature.
func isBlock(name string) bool {
	if path.Dir(name) != "META-INF" {
		return false
	}
	switch strings.ToUpper(path.Ext(name)) {
	case ".RSA", ".DSA", ".EC":
		return true
	}
	return false
}

// isMeta recognizes what a manifest does not list: itself and the signatures.
func isMeta(name string) bool {
	upper := strings.ToUpper(name)
	if strings.HasSuffix(name, "/") {
		return true
	}
	if path.Dir(upper) != "META-INF" {
		return false
	}
	return upper == "META-INF/MANIFEST.MF" || path.Ext(upper) == ".SF" || isBlock(upper) || strings.HasPrefix(path.Base(upper), "SIG-")
}

func content(f *zip.File, limit uint64) ([]byte, error) {
	if f == nil {
		return nil, errors.New("it is missing")
	}
	if f.UncompressedSize64 > limit {
		return nil, fmt.Errorf("it has %d bytes", f.UncompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, int64(limit)))
}

// section is a part of a manifest: its bytes and its fields.
type section struct {
	raw    []byte
	fields map[string]string
}

// splitManifest cuts a manifest at its empty lines. The empty line belongs to
// the section before it.
func splitManifest(b []byte) (main section, named map[string]section) {
	named = map[string]section{}
	first := true
	for len(b) > 0 {
		end := sectionEnd(b)
		s := section{b[:end], fields(b[:end])}
		b = b[end:]
		if first {
			main, first = s, false
			continue
		}
		if name, ok := s.fields["name"]; ok {
			if _, twice := named[name]; !twice {
				named[name] = s
			}
		}
	}
	return main, named
}

func sectionEnd(b []byte) int {
	for at := 0; at < len(b); {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return len(b)
		}
		line := bytes.TrimRight(b[at:at+n], "\r")
		at += n + 1
		if len(line) == 0 {
			return at
		}
	}
	return len(b)
}

// fields reads lines of "Name: value"; a line that begins with a space goes on
// the one before.
func fields(b []byte) map[string]string {
	out := map[string]string{}
	key := ""
	var value strings.Builder
	flush := func() {
		if key != "" {
			out[strings.ToLower(key)] = value.String()
		}
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if rest, ok := strings.CutPrefix(line, " "); ok {
			value.WriteString(rest)
			continue
		}
		flush()
		key = ""
		value.Reset()
		if k, v, ok := strings.Cut(line, ":"); ok {
			key = k
			value.WriteString(strings.TrimPrefix(v, " "))
		}
	}
	flush()
	return out
}

var digestNames = []struct {
	name string
	hash crypto.Hash
}{
	{"sha-512", crypto.SHA512}, {"sha-384", crypto.SHA384}, {"sha-256", crypto.SHA256}, {"sha1", crypto.SHA1}, {"sha-1", crypto.SHA1}, {"sha", crypto.SHA1}, {"md5", crypto.MD5},
}

// stated is the best digest that a section states under a suffix.
func stated(f map[string]string, suffix string) (crypto.Hash, []byte) {
	for _, d := range digestNames {
		if v, ok := f[d.name+suffix]; ok {
			if sum, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v)); err == nil {
				return d.hash, sum
			}
		}
	}
	return 0, nil
}

func fits(h crypto.Hash, sum, data []byte) bool {
	d := h.New()
	d.Write(data)
	return bytes.Equal(d.Sum(nil), sum)
}

func (j *Jar) signer(files map[string]*zip.File, block string, manifest []byte, main section, sections map[string]section) *JarSigner {
	s := &JarSigner{Block: block, File: strings.TrimSuffix(block, path.Ext(block)) + ".SF", SignedData: &cms.SignedData{}}
	sf, err := content(files[s.File], maxManifest)
	if err != nil {
		s.Manifest = cms.Outcome{State: cms.Invalid, Reason: s.File + ": " + err.Error()}
		return s
	}
	s.Content = sf
	message, err := content(files[block], maxManifest)
	if err == nil {
		s.SignedData, err = cms.Parse(message)
	}
	if err != nil {
		s.SignedData = &cms.SignedData{}
		j.note("%s: %v", block, err)
	}
	for _, signer := range s.Signers {
		s.Signature = append(s.Signature, s.Verify(signer, sf))
	}
	s.Manifest = fitsManifest(sf, manifest, main, sections)
	head, _ := splitManifest(sf)
	s.Promised = promised(head.fields["x-android-apk-signed"])
	return s
}

// promised reads a list such as "2, 3".
func promised(list string) []int {
	var out []int
	for word := range strings.SplitSeq(list, ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(word)); err == nil && n > 0 && len(out) < maxParts {
			out = append(out, n)
		}
	}
	return out
}

// fitsManifest compares a signature file: with the whole manifest, else with
// its main part and each section.
func fitsManifest(sf, manifest []byte, main section, sections map[string]section) cms.Outcome {
	head, named := splitManifest(sf)
	if h, sum := stated(head.fields, "-digest-manifest"); h != 0 && fits(h, sum, manifest) {
		return cms.Outcome{State: cms.Valid}
	}
	if h, sum := stated(head.fields, "-digest-manifest-main-attributes"); h != 0 && !fits(h, sum, main.raw) {
		return cms.Outcome{State: cms.Invalid, Reason: "the manifest's main part has another digest"}
	}
	if len(named) == 0 {
		return cms.Outcome{State: cms.Invalid, Reason: "the manifest has another digest"}
	}
	names := make([]string, 0, len(named))
	for name := range named {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s, ok := sections[name]
		h, sum := stated(named[name].fields, "-digest")
		if !ok || h == 0 || !fits(h, sum, s.raw) {
			return cms.Outcome{State: cms.Invalid, Reason: fmt.Sprintf("the manifest's section %q has another digest", name)}
		}
	}
	for name := range sections {
		if _, ok := named[name]; !ok {
			return cms.Outcome{State: cms.Invalid, Reason: "the manifest has sections that are not signed"}
		}
	}
	return cms.Outcome{State: cms.Valid}
}

// entries compares every file with the manifest.
func (j *Jar) entries(files []*zip.File, sections map[string]section, stop func() bool) {
	budget := uint64(maxContent)
	seen := map[string]bool{}
	add := func(list *[]string, count *int, name string) {
		*count++
		if len(*list) < shownNames {
			*list = append(*list, strings.ToValidUTF8(name, "\ufffd"))
		}
	}
	for _, f := range files {
		if isMeta(f.Name) {
			continue
		}
		if stop() {
			j.note("it was stopped before all entries were compared")
			return
		}
		j.Entries++
		seen[f.Name] = true
		s, ok := sections[f.Name]
		h, sum := stated(s.fields, "-digest")
		if !ok || h == 0 {
			add(&j.Unlisted, &j.UnlistedCount, f.Name)
			continue
		}
		n, good := digestOf(f, h, sum, budget, stop)
		if n >= budget {
			j.note("entries after %q were not compared: the contents are larger than %d bytes", f.Name, uint64(maxContent))
			return
		}
		budget -= n
		if good {
			j.Covered++
		} else {
			add(&j.Wrong, &j.WrongCount, f.Name)
		}
	}
	var missing []string
	for name := range sections {
		if !seen[name] && !strings.HasSuffix(name, "/") && !isMeta(name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		add(&j.Missing, &j.MissingCount, name)
	}
}

// digestOf reads an entry, at most limit bytes of it.
func digestOf(f *zip.File, h crypto.Hash, sum []byte, limit uint64, stop func() bool) (uint64, bool) {
	r, err := f.Open()
	if err != nil {
		return 0, false
	}
	defer r.Close()
	d := h.New()
	var total uint64
	for {
		n, err := io.CopyN(d, r, 1<<20)
		total += uint64(n)
		if err == io.EOF {
			break
		}
		if err != nil || stop() {
			return total, false
		}
		if total >= limit {
			return total, false
		}
	}
	return total, bytes.Equal(d.Sum(nil), sum)
}
