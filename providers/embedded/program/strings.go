package program

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Strings: runs of printable text in data sections. A run that ends in a zero
// is a string; so is a run that something refers to, which is what programs
// whose strings carry a length (Go, Rust) have. A reference into the middle of
// a run starts a string of its own there: the tail of a shared string in C, the
// next of several strings without terminators elsewhere.

const (
	minString   = 5
	minReferred = 2
	maxStrings  = 1 << 22
)

// notText are sections whose bytes are tables of the file format.
func notText(name string) bool {
	for _, p := range [...]string{".eh_frame", ".gcc_except", ".dyn", ".rela", ".rel.", ".gnu", ".note", ".pdata", ".xdata", ".reloc", ".gopclntab", ".hash"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return pointerTable(name) || strings.Contains(name, "unwind_info") || strings.HasSuffix(name, "__gopclntab") || strings.Contains(name, "__eh_frame") || strings.HasPrefix(name, "__DWARF")
}

// pointerTable names sections that hold nothing but pointers.
func pointerTable(name string) bool {
	switch name {
	case ".got", ".got.plt", ".init_array", ".fini_array", ".preinit_array", ".ctors", ".dtors":
		return true
	}
	_, section, _ := strings.Cut(name, ",")
	switch section {
	case "__got", "__la_symbol_ptr", "__nl_symbol_ptr", "__auth_got", "__mod_init_func", "__mod_term_func":
		return true
	}
	return false
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

func printable(c byte) bool { return c >= 0x20 && c < 0x7f || c == '\t' || c == '\n' || c == '\r' }

// findStrings scans every data section; targets are the places that something
// refers to.
func (r *recovery) findStrings(p *Program, targets []uint64) error {
	var jobs []textJob
	for i := range r.im.Sections {
		s := &r.im.Sections[i]
		if s.Mapped && !s.Code && s.FileSize > 0 && !notText(s.Name) {
			jobs = textJobs(jobs, i, r.im.Bytes(s.Addr, int(min(s.FileSize, s.Size, maxCode))))
		}
	}
	found := make([][]String, len(jobs))
	err := each(r.ctx, r.workers, len(jobs), 1, func(_, k int) {
		j := &jobs[k]
		base := r.im.Sections[j.section].Addr
		lo := sort.Search(len(targets), func(i int) bool { return targets[i] >= base+uint64(j.lo) })
		hi := sort.Search(len(targets), func(i int) bool { return targets[i] >= base+uint64(j.hi) })
		sc := textScanner{r: r, base: base, b: j.b[:j.hi], section: int32(j.section), targets: targets[lo:hi]}
		if j.wide {
			sc.wide()
		} else {
			sc.narrow(j.lo)
		}
		found[k] = sc.out
	})
	if err != nil {
		return err
	}
	found = append(found, r.textAmongCode(p, targets))
	if p.Strings = slices.Concat(found...); len(p.Strings) > maxStrings {
		p.Strings = p.Strings[:maxStrings]
		r.note("more strings than are kept were found")
	}
	slices.SortStableFunc(p.Strings, func(a, b String) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Len, b.Len)) })
	p.Strings = slices.CompactFunc(p.Strings, func(a, b String) bool { return a.Addr == b.Addr })
	return nil
}

// mostAmongCode bounds the length of a string among code.
const mostAmongCode = 1 << 16

// textAmongCode lists the strings that hand-written assembly and some compilers
// put between functions: text up to a zero whose address is taken, and in which
// no instruction lies. Each run is judged once, whatever leads into it.
func (r *recovery) textAmongCode(p *Program, targets []uint64) []String {
	var out []String
	for i := range r.im.Sections {
		s := &r.im.Sections[i]
		if !s.Mapped || !s.Code {
			continue
		}
		end, ascii, text := s.Addr, s.Addr, false // of the last run: its end, where it is ASCII from, and whether it is text
		k, _ := slices.BinarySearch(targets, s.Addr)
		for ; k < len(targets) && targets[k]-s.Addr < s.FileSize; k++ {
			at := targets[k]
			o := r.sp.off(at)
			if o == none {
				continue
			}
			b := r.sp.bytes(o)
			if at >= end {
				b := b[:min(len(b), mostAmongCode, int(s.FileSize-(at-s.Addr)))]
				n := bytes.IndexByte(b, 0)
				last, ok := 0, n >= 0 && r.apartFromCode(p, o, o+uint32(n)+1)
				if n < 0 {
					n = len(b)
				}
				for pos := 0; ok && pos < n; {
					c, size := utf8.DecodeRune(b[pos:n])
					ok = c != utf8.RuneError && (c >= 0x80 && unicode.IsPrint(c) || c < 0x80 && printable(b[pos]))
					if pos += size; c >= 0x80 {
						last = pos
					}
				}
				end, ascii, text = at+max(1, uint64(n)), at+uint64(last), ok
			}
			if n := end - at; text && n >= minString && utf8.RuneStart(b[0]) {
				enc := ASCII
				if at < ascii {
					enc = UTF8
				}
				out = append(out, String{Addr: at, Len: uint32(n), Section: int32(i), Encoding: enc, Terminated: true})
			}
		}
	}
	return out
}

// apartFromCode says whether no instruction of a function reaches into [lo, hi).
func (r *recovery) apartFromCode(p *Program, lo, hi uint32) bool {
	if p.starts.next(lo, hi) < hi {
		return false
	}
	base := r.sp.at(lo).base
	for a := lo; a > base && lo-a < 15; {
		a--
		if p.starts.has(a) {
			return a+r.d.size(a) <= lo
		}
	}
	return true
}

// textJob is a piece of a section to look through: for one-byte text [lo, hi),
// cut behind zeroes, for two-byte text the whole.
type textJob struct {
	section int
	b       []byte
	lo, hi  int
	wide    bool
}

const textPiece = 1 << 18

func textJobs(jobs []textJob, section int, b []byte) []textJob {
	jobs = append(jobs, textJob{section, b, 0, len(b), true})
	for lo := 0; lo < len(b); {
		hi := len(b)
		if hi-lo > textPiece {
			if z := bytes.IndexByte(b[lo+textPiece:], 0); z >= 0 {
				hi = lo + textPiece + z + 1
			}
		}
		jobs = append(jobs, textJob{section, b, lo, hi, false})
		lo = hi
	}
	return jobs
}

type textScanner struct {
	r       *recovery
	base    uint64
	b       []byte
	section int32
	targets []uint64
	out     []String
	steps   int
}

func (s *textScanner) put(off, n int, enc Encoding, term bool) {
	if n < minString {
		if _, pointer := s.r.relocated(s.base + uint64(off)); pointer {
			return
		}
	}
	if enc == UTF8 && isASCII(s.b[off:off+n]) { // the rest of its run is not
		enc = ASCII
	}
	s.out = append(s.out, String{Addr: s.base + uint64(off), Len: uint32(n), Section: s.section, Encoding: enc, Terminated: term})
}

// narrow finds ASCII and UTF-8 runs from offset i on.
func (s *textScanner) narrow(i int) {
	for i < len(s.b) {
		if s.steps++; s.steps&4095 == 0 && s.r.ctx.Err() != nil {
			return
		}
		start, ascii := i, true
		for i < len(s.b) {
			if printable(s.b[i]) {
				i++
				continue
			}
			if s.b[i] < 0x80 {
				break
			}
			c, n := utf8.DecodeRune(s.b[i:])
			if c == utf8.RuneError || !unicode.IsPrint(c) {
				break
			}
			if i == start && start > 0 && s.b[start-1] != 0 && !s.isTarget(start) {
				break // a string begins with such a byte only where one is known to begin
			}
			ascii = false
			i += n
		}
		if i == start {
			i++
			continue
		}
		s.run(start, i, ascii)
	}
}

func (s *textScanner) isTarget(off int) bool {
	_, ok := slices.BinarySearch(s.targets, s.base+uint64(off))
	return ok
}

// run records the strings of one run of text.
func (s *textScanner) run(start, end int, ascii bool) {
	enc := ASCII
	if !ascii {
		enc = UTF8
	}
	term := end < len(s.b) && s.b[end] == 0
	lo, _ := slices.BinarySearch(s.targets, s.base+uint64(start))
	hi, _ := slices.BinarySearch(s.targets, s.base+uint64(end))
	inner := s.targets[lo:hi]
	if term && !s.r.counted {
		if end-start >= minString || len(inner) > 0 && inner[0] == s.base+uint64(start) && end-start >= minReferred {
			s.put(start, end-start, enc, true)
		}
		for _, t := range inner {
			if o := int(t - s.base); o > start && end-o >= minReferred && utf8.RuneStart(s.b[o]) {
				s.put(o, end-o, enc, true)
			}
		}
		return
	}
	first := end
	if len(inner) > 0 {
		first = int(inner[0] - s.base)
	}
	if first-start >= minString && (term || len(inner) > 0) {
		s.put(start, first-start, enc, term && first == end)
	}
	for i, t := range inner {
		o, next := int(t-s.base), end
		if i+1 < len(inner) {
			next = int(inner[i+1] - s.base)
		}
		if next-o >= minReferred && utf8.RuneStart(s.b[o]) {
			s.put(o, next-o, enc, term && next == end)
		}
	}
}

// wide finds UTF-16LE runs that end in a zero.
func (s *textScanner) wide() {
	for i := int(-s.base & 1); i+1 < len(s.b); {
		if s.b[i+1] != 0 || !printable(s.b[i]) {
			i += 2
			continue
		}
		if s.steps++; s.steps&4095 == 0 && s.r.ctx.Err() != nil {
			return
		}
		start := i
		for i+1 < len(s.b) && wideText(s.b[i], s.b[i+1]) {
			i += 2
		}
		if i-start >= 2*minString && i+1 < len(s.b) && s.b[i] == 0 && s.b[i+1] == 0 {
			s.put(start, i-start, UTF16, true)
		}
	}
}

// wideText says whether a UTF-16 unit is text: ASCII, Latin, Greek or Cyrillic.
func wideText(lo, hi byte) bool {
	switch {
	case hi == 0:
		return printable(lo) || lo >= 0xa0
	case hi <= 4:
		return unicode.IsPrint(rune(hi)<<8 | rune(lo))
	}
	return false
}

// Text decodes a string to UTF-8.
func (p *Program) Text(s String) string {
	b := p.Image.Bytes(s.Addr, int(s.Len))
	if s.Encoding != UTF16 {
		return string(b)
	}
	var out strings.Builder
	for i := 0; i+1 < len(b); i += 2 {
		out.WriteRune(rune(b[i]) | rune(b[i+1])<<8)
	}
	return out.String()
}
