package dwarf

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// lineHeader is the header of a line number program.
type lineHeader struct {
	version           uint16
	wide              bool
	addrSize          uint8
	minInst, maxOps   uint8
	isStmt            bool
	lineBase          int8
	lineRange, opBase uint8
	opLengths         []uint8
	program, end      uint64
	files             []string
}

// fileTable is the list of files of one line program, by index.
type fileTable struct {
	header lineHeader
	ok     bool
}

// row is one line of the decoded matrix.
type row struct {
	addr       uint64
	line, col  uint32
	file       uint32
	endOfRange bool
}

// lineTable is one decoded program: rows by address, sequences kept together
// by their end marks.
type lineTable struct {
	rows  []row
	files []string
}

// maxFiles bounds a program's file list; a version 5 list may claim entries
// that take no bytes.
const maxFiles = 1 << 20

// maxPath and maxPaths bound one path and all paths of a program: entries may
// share a long string.
const (
	maxPath  = 4096
	maxPaths = 32 << 20
)

// pathList collects paths up to the bound.
type pathList struct {
	paths []string
	size  int
}

func (l *pathList) add(dir, name string) bool {
	p := join(dir, name)
	if len(p) > maxPath {
		p = ""
	}
	if l.size += len(p); l.size > maxPaths || len(l.paths) >= maxFiles {
		return false
	}
	l.paths = append(l.paths, p)
	return true
}

func (l *pathList) get(i uint64) string {
	if i < uint64(len(l.paths)) {
		return l.paths[i]
	}
	return ""
}

// fileName returns file i of a unit's line program.
func (d *Data) fileName(u *unit, i uint64) string {
	t := d.fileTable(u)
	if t == nil || i >= uint64(len(t.header.files)) {
		return ""
	}
	return t.header.files[i]
}

// fileTable reads and keeps the header of the unit's line program.
func (d *Data) fileTable(u *unit) *fileTable {
	if !u.hasLines {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t, ok := d.files[u.stmtList]
	if !ok {
		t = &fileTable{}
		if d.lineBudget > 0 {
			t.ok = d.readLineHeader(u, &t.header)
			d.lineBudget -= int(t.header.program - min(u.stmtList, t.header.program))
			for _, f := range t.header.files {
				d.lineBudget -= len(f)
			}
		}
		d.files[u.stmtList] = t
	}
	return t
}

// readLineHeader reads the header, which changed layout with version 5. The
// file list is complete as far as it could be read.
func (d *Data) readLineHeader(u *unit, h *lineHeader) bool {
	c := cursor{b: d.sec.line, off: u.stmtList, order: d.order}
	n, wide := c.length()
	if c.bad || n > c.left() {
		return false
	}
	h.wide, h.end = wide, c.off+n
	c.b = c.b[:h.end]
	h.version, h.addrSize = c.u16(), u.addrSize
	if h.version < 2 || h.version > 5 {
		return false
	}
	if h.version >= 5 {
		h.addrSize = c.u8()
		c.u8() // size of a segment selector
	}
	size := c.offset(wide)
	if size > c.left() {
		return false
	}
	h.program = c.off + size
	h.minInst, h.maxOps = c.u8(), 1
	if h.version >= 4 {
		h.maxOps = c.u8()
	}
	h.isStmt = c.u8() != 0
	h.lineBase, h.lineRange, h.opBase = int8(c.u8()), c.u8(), c.u8()
	if c.bad || h.lineRange == 0 || h.opBase == 0 {
		return false
	}
	h.opLengths = c.bytes(uint64(h.opBase) - 1)
	if c.bad {
		return false
	}
	c.b = c.b[:min(h.program, uint64(len(c.b)))]
	if h.version >= 5 {
		h.files = d.files5(u, &c, wide)
	} else {
		h.files = oldFiles(u, &c)
	}
	return true
}

func join(dir, name string) string {
	if dir == "" || strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' {
		return name
	}
	if strings.Contains(dir, "\\") && !strings.Contains(dir, "/") {
		return strings.TrimSuffix(dir, "\\") + "\\" + name
	}
	return path.Join(dir, name)
}

// oldFiles reads the lists of versions 2 to 4; file numbers begin with 1.
func oldFiles(u *unit, c *cursor) []string {
	dirs := pathList{paths: []string{u.dir}}
	for !c.bad {
		s := c.text()
		if s == "" || !dirs.add(u.dir, s) {
			break
		}
	}
	files := pathList{paths: []string{""}}
	for !c.bad {
		name := c.text()
		if name == "" {
			break
		}
		dir := c.uleb()
		c.uleb() // time
		c.uleb() // size
		if !files.add(dirs.get(dir), name) {
			break
		}
	}
	return files.paths
}

// Content types of version 5 lists.
const (
	lnctPath, lnctDirectory = 1, 2
)

// files5 reads the version 5 lists, which describe their own form. Directories
// are relative to the first one, files to their directory.
func (d *Data) files5(u *unit, c *cursor, wide bool) []string {
	dirs := &pathList{}
	d.list5(u, c, wide, func(name string, _ uint64) bool {
		if len(dirs.paths) == 0 { // the compilation directory itself
			return dirs.add("", name)
		}
		return dirs.add(dirs.paths[0], name)
	})
	files := &pathList{}
	d.list5(u, c, wide, func(name string, dir uint64) bool { return files.add(dirs.get(dir), name) })
	return files.paths
}

func (d *Data) list5(u *unit, c *cursor, wide bool, add func(name string, dir uint64) bool) {
	type field struct{ content, form uint32 }
	fields := make([]field, c.u8())
	for i := range fields {
		fields[i] = field{uint32(c.uleb()), uint32(c.uleb())}
	}
	count := c.uleb()
	if len(fields) == 0 || count > c.left() {
		c.fail()
		return
	}
	// Forms are read as in entries.
	w := &walker{c: *c, u: &unit{version: 5, wide: wide, addrSize: u.addrSize, data: c.b, strOffsetsBase: u.strOffsetsBase}}
	for range count {
		name, dir := "", uint64(0)
		for _, f := range fields {
			var a attribute
			w.value(&attrSpec{form: f.form}, &a)
			switch f.content {
			case lnctPath:
				name = d.str(w.u, a)
			case lnctDirectory:
				dir = a.u
			}
		}
		if w.c.bad || !add(name, dir) {
			break
		}
	}
	*c = w.c
}

// maxLineRows bounds the decoded rows that are kept.
const maxLineRows = 4 << 20

// lineTable decodes and keeps the line program of a unit. Line tables of a
// sound file do not overlap; the budget ends what is made to be read over and
// over.
func (d *Data) lineTable(u *unit) *lineTable {
	ft := d.fileTable(u)
	if ft == nil || !ft.ok {
		return nil
	}
	d.mu.Lock()
	t := d.lines[u.stmtList]
	if t == nil {
		d.lineBudget -= int(ft.header.end - min(ft.header.program, ft.header.end))
	}
	spent := d.lineBudget < 0
	d.mu.Unlock()
	if t != nil || spent {
		return t
	}
	t = &lineTable{rows: runLines(&ft.header, d), files: ft.header.files}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lineRows += len(t.rows); d.lineRows > maxLineRows {
		d.lines, d.lineRows = map[uint64]*lineTable{}, len(t.rows)
	}
	d.lines[u.stmtList] = t
	return t
}

// Standard and extended opcodes.
const (
	lnsCopy, lnsAdvancePC, lnsAdvanceLine, lnsSetFile, lnsSetColumn = 1, 2, 3, 4, 5
	lnsConstAddPC, lnsFixedAdvancePC                                = 8, 9
	lneEndSequence, lneSetAddress, lneDefineFile                    = 1, 2, 3
)

// runLines runs a line number program. Each opcode takes at least a byte and
// makes at most one row.
func runLines(h *lineHeader, d *Data) []row {
	c := cursor{b: d.sec.line[:h.end], off: h.program, order: d.order}
	var rows []row
	start := 0 // first row of the current sequence
	r := row{file: 1, line: 1}
	op := uint64(0)
	advance := func(n uint64) {
		if h.maxOps <= 1 {
			r.addr += n * uint64(h.minInst)
			return
		}
		r.addr += uint64(h.minInst) * ((op + n) / uint64(h.maxOps))
		op = (op + n) % uint64(h.maxOps)
	}
	for c.left() > 0 && !c.bad {
		code := c.u8()
		if code >= h.opBase {
			n := code - h.opBase
			advance(uint64(n / h.lineRange))
			r.line += uint32(int32(h.lineBase) + int32(n%h.lineRange))
			rows = append(rows, r)
			continue
		}
		switch code {
		case 0:
			size := c.uleb()
			if size == 0 || size > c.left() {
				c.fail()
				break
			}
			next := c.off + size
			switch c.u8() {
			case lneEndSequence:
				r.endOfRange = true
				rows = append(rows, r)
				sortSequence(rows[start:])
				start = len(rows)
				r, op = row{file: 1, line: 1}, 0
			case lneSetAddress:
				r.addr, op = c.fixed(uint8(min(size-1, 255))), 0
			}
			c.off, c.bad = next, false
		case lnsCopy:
			rows = append(rows, r)
		case lnsAdvancePC:
			advance(c.uleb())
		case lnsAdvanceLine:
			r.line += uint32(c.sleb())
		case lnsSetFile:
			r.file = uint32(c.uleb())
		case lnsSetColumn:
			r.col = uint32(c.uleb())
		case lnsConstAddPC:
			advance(uint64((255 - h.opBase) / h.lineRange))
		case lnsFixedAdvancePC:
			r.addr += uint64(c.u16())
			op = 0
		default: // skip the arguments of opcodes without one above, known or not
			for range h.opLengths[code-1] {
				c.uleb()
			}
		}
	}
	rows = rows[:start] // a sequence without an end has no extent
	sortSequences(rows)
	return rows
}

// sortSequence puts the rows of a sequence in order of address; they should be.
func sortSequence(rows []row) {
	n := len(rows) - 1
	byAddr := func(a, b row) int { return cmp.Compare(a.addr, b.addr) }
	if !slices.IsSortedFunc(rows[:n], byAddr) {
		slices.SortStableFunc(rows[:n], byAddr)
	}
}

// sortSequences orders whole sequences by their first address.
func sortSequences(rows []row) {
	var seqs [][]row
	from := 0
	for i := range rows {
		if rows[i].endOfRange {
			seqs = append(seqs, rows[from:i+1])
			from = i + 1
		}
	}
	byStart := func(a, b []row) int { return cmp.Compare(a[0].addr, b[0].addr) }
	if slices.IsSortedFunc(seqs, byStart) {
		return
	}
	slices.SortStableFunc(seqs, byStart)
	copy(rows, slices.Concat(seqs...))
}

// Position is a place in the source.
type Position struct {
	File      string
	Line, Col int
}

// Line returns the source position of an address.
func (d *Data) Line(addr uint64) (Position, bool) {
	u := d.unitAt(addr)
	if u == nil {
		return Position{}, false
	}
	t := d.lineTable(u)
	if t == nil {
		return Position{}, false
	}
	i, found := slices.BinarySearchFunc(t.rows, addr, func(r row, a uint64) int { return cmp.Compare(r.addr, a) })
	if !found {
		i--
	}
	// Of several rows for one address the last counts; an end mark may share
	// its address with the next sequence.
	for i >= 0 && i+1 < len(t.rows) && t.rows[i+1].addr == addr {
		i++
	}
	if i < 0 || t.rows[i].endOfRange {
		return Position{}, false
	}
	p := Position{Line: int(t.rows[i].line), Col: int(t.rows[i].col)}
	if f := uint64(t.rows[i].file); f < uint64(len(t.files)) {
		p.File = t.files[f]
	}
	return p, true
}
