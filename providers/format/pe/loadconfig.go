package pe

import "rea/providers/format/object"

// Guard flags of the load configuration.
const (
	guardInstrumented = 0x00000100
	guardTable        = 0x00000400
	guardLongJump     = 0x00010000
	guardEHCont       = 0x00400000
)

// loadConfig is what the load configuration says that later steps need.
type loadConfig struct {
	size       uint32
	cookie     uint64
	seTable    uint64
	seCount    uint64
	guardCheck uint64
	guardFlags uint32
	chpe       uint64
}

// configField locates a field in the 32- and 64-bit layouts. The structure
// grew over time: a field exists only if the recorded size covers it.
type configField struct{ at32, at64 uint32 }

var (
	cfgCookie     = configField{60, 88}
	cfgSETable    = configField{64, 96}
	cfgSECount    = configField{68, 104}
	cfgGuardCheck = configField{72, 112}
	cfgGuardTable = configField{80, 128}
	cfgGuardCount = configField{84, 136}
	cfgGuardFlags = configField{88, 144}
	cfgJumpTable  = configField{112, 176}
	cfgJumpCount  = configField{116, 184}
	cfgCHPE       = configField{124, 200}
	cfgEHTable    = configField{164, 264}
	cfgEHCount    = configField{168, 272}
)

func (l *loader) loadConfig() {
	d := l.dirs[dirLoadConfig]
	if d.rva == 0 {
		return
	}
	b := l.at(d.rva, 4)
	if b == nil {
		l.im.Note("load configuration at %#x is not in the image", l.base+uint64(d.rva))
		return
	}
	c := &l.cfg
	c.size = le.Uint32(b)
	if c.size < 64 {
		c.size = max(c.size, d.size) // old linkers left the size 0
	}
	b = l.from(d.rva, uint64(min(c.size, 1<<12)))
	field := func(f configField) uint64 {
		at, n := f.at32, uint32(4)
		if l.plus {
			at, n = f.at64, 8
		}
		if at+n > uint32(len(b)) {
			return 0
		}
		return l.pointer(b[at:])
	}
	c.cookie, c.seTable, c.seCount = field(cfgCookie), field(cfgSETable), field(cfgSECount)
	c.guardCheck, c.chpe = field(cfgGuardCheck), field(cfgCHPE)
	if at := map[bool]uint32{false: cfgGuardFlags.at32, true: cfgGuardFlags.at64}[l.plus]; at+4 <= uint32(len(b)) {
		c.guardFlags = le.Uint32(b[at:])
	}
	// The high nibble of the flags is the number of extra bytes of an entry.
	stride := 4 + int(c.guardFlags>>28)
	l.guardEntries(field(cfgGuardTable), field(cfgGuardCount), stride, "guard function table", func(addr uint64) {
		l.hint(addr, 0, "", object.FromCFG)
	})
	l.guardEntries(field(cfgJumpTable), field(cfgJumpCount), stride, "guard long jump table", l.pad)
	l.guardEntries(field(cfgEHTable), field(cfgEHCount), stride, "guard EH continuation table", l.pad)
	if l.machine == machineI386 {
		l.guardEntries(c.seTable, c.seCount, 4, "SafeSEH handler table", func(addr uint64) {
			l.hint(addr, 0, "", object.FromCFG)
		})
	}
	if c.cookie != 0 {
		l.property("security_cookie", "%#x", c.cookie)
	}
	if c.guardFlags != 0 {
		l.property("guard_flags", "%#08x", c.guardFlags)
	}
	if c.chpe != 0 && (l.machine == machineAMD64 || l.im.Arch == object.ARM64) {
		l.hybrid(c.chpe)
	}
}

// guardEntries walks a table of RVAs with stride bytes each.
func (l *loader) guardEntries(table, count uint64, stride int, what string, visit func(addr uint64)) {
	rva, ok := l.rvaOf(table)
	if table == 0 || count == 0 {
		return
	}
	if !ok || count > uint64(len(l.data)) {
		l.im.Note("%s claims %d entries at %#x, outside the image", what, count, table)
		return
	}
	for b := l.table(rva, uint32(count), stride, what); len(b) >= stride; b = b[stride:] {
		visit(l.base + uint64(le.Uint32(b)))
	}
}

// hybrid reads the ARM64EC code map: which ranges hold which instruction set.
func (l *loader) hybrid(addr uint64) {
	rva, ok := l.rvaOf(addr)
	if !ok {
		return
	}
	b := l.at(rva, 12)
	if b == nil {
		l.im.Note("hybrid metadata at %#x is not in the image", addr)
		return
	}
	if l.machine == machineAMD64 {
		l.im.Subtype = "arm64ec"
	} else if l.im.Subtype == "" {
		l.im.Subtype = "arm64x"
	}
	names := []string{"arm64", "arm64ec", "x86_64"}
	var sizes [3]uint64
	for m := l.table(le.Uint32(b[4:]), le.Uint32(b[8:]), 8, "hybrid code map"); len(m) >= 8; m = m[8:] {
		if kind := le.Uint32(m) & 3; kind < 3 {
			sizes[kind] += uint64(le.Uint32(m[4:]))
		}
	}
	for i, name := range names {
		if sizes[i] > 0 {
			l.property("hybrid_code", "%d bytes of %s", sizes[i], name)
		}
	}
	l.im.Note("a hybrid image: parts of its code are ARM64EC, only code of the header's machine is described")
}
