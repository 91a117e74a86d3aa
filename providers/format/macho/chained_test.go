package macho

import (
	"encoding/binary"
	"reflect"
	"testing"

	"rea/providers/format/object"
)

// Bit layouts by the published structures of each pointer format.
func TestDecodeChained(t *testing.T) {
	const auth, isBind = 1 << 63, 1 << 62
	for _, tt := range []struct {
		name   string
		format uint16
		raw    uint64
		want   chainedValue
	}{
		{"arm64e_rebase_address", formatARM64E, 0x7f<<43 | 0x100004000, chainedValue{target: 0x100004000, high8: 0x7f, segment: -1}},
		{"arm64e_auth_rebase", formatARM64E, auth | 3<<49 | 0xbeef<<32 | 0x4000, chainedValue{auth: true, target: 0x4000, offset: true, segment: -1}},
		{"arm64e_bind", formatARM64E, isBind | 5<<32 | 0x1234, chainedValue{bind: true, ordinal: 0x1234, segment: -1}},
		{"arm64e_auth_bind", formatARM64E, auth | isBind | 0xbeef<<32 | 0x1234, chainedValue{bind: true, auth: true, ordinal: 0x1234, segment: -1}},
		{"userland_rebase_offset", formatARM64EUserland, 0x4000, chainedValue{target: 0x4000, offset: true, segment: -1}},
		{"userland24_bind", formatARM64EUserland24, isBind | 0x123456, chainedValue{bind: true, ordinal: 0x123456, segment: -1}},
		{"userland24_keeps_next_out", formatARM64EUserland24, isBind | 0x7ff<<51 | 7, chainedValue{bind: true, ordinal: 7, segment: -1}},
		{"kernel_rebase_offset", formatARM64EKernel, 0x7000, chainedValue{target: 0x7000, offset: true, segment: -1}},
		{"firmware_rebase_address", formatARM64EFirmware, 0x7000, chainedValue{target: 0x7000, segment: -1}},
		{"64_rebase", format64, 0xfff<<51 | 0xab<<36 | 0x8_1234_5678, chainedValue{target: 0x812345678, high8: 0xab, segment: -1}},
		{"64_bind", format64, 1<<63 | 0xff<<24 | 0x123456, chainedValue{bind: true, ordinal: 0x123456, segment: -1}},
		{"64_offset", format64Offset, 0x10, chainedValue{target: 0x10, offset: true, segment: -1}},
		{"32_rebase", format32, 0x1f<<26 | 0x3ffffff, chainedValue{target: 0x3ffffff, segment: -1}},
		{"32_bind", format32, 1<<31 | 0x3f<<20 | 0xfffff, chainedValue{bind: true, ordinal: 0xfffff, segment: -1}},
		{"kernel_cache", format64KernelCache, 1<<63 | 1<<30 | 0x2000, chainedValue{auth: true, target: 0x2000, offset: true, segment: -1}},
		{"shared_cache", formatARM64ESharedCache, 0xff<<34 | 0x3_0000_0000, chainedValue{target: 0x300000000, offset: true, high8: 0xff, segment: -1}},
		{"segmented", formatARM64ESegmented, 3<<28 | 0x123, chainedValue{target: 0x123, segment: 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := decodeChained(tt.raw, tt.format); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// eachChain calls visit with the file offset of every pointer of the image's
// chains, which must be of the plain 64-bit format.
func eachChain(t *testing.T, data []byte, visit func(off int)) (formatFields []int) {
	t.Helper()
	le := binary.LittleEndian
	l := &loader{im: &object.Image{}, data: data, budget: 1 << 20, names: 1 << 20, slots: map[uint64]int{}}
	l.im.SetData(data)
	if err := l.header(0); err != nil {
		t.Fatal(err)
	}
	l.layout()
	c, ok := l.find(16, cmdChainedFixups)
	if !ok {
		t.Fatal("no chained fixups")
	}
	base := int(le.Uint32(c.data[8:]))
	starts := base + int(le.Uint32(data[base+4:]))
	for i := range int(le.Uint32(data[starts:])) {
		off := int(le.Uint32(data[starts+4+4*i:]))
		if off == 0 {
			continue
		}
		s := data[starts+off:]
		formatFields = append(formatFields, starts+off+6)
		for page := range int(le.Uint16(s[20:])) {
			start := int(le.Uint16(s[22+2*page:]))
			if start == 0xffff {
				continue
			}
			at := int(l.segments[i].off) + page*int(le.Uint16(s[4:])) + start
			for {
				next := int(le.Uint64(data[at:]) >> 51 & 0xfff)
				visit(at)
				if next == 0 {
					break
				}
				at += 4 * next
			}
		}
	}
	return formatFields
}

// An arm64e image is made from the arm64 one by writing its pointers anew. It
// must load to the same pointers, half of them authenticated.
func TestARM64E_chains(t *testing.T) {
	le := binary.LittleEndian
	data := fixture(t, "chained_arm64.dylib")
	plain := mustLoad(t, data, "")
	n := 0
	fields := eachChain(t, append([]byte(nil), data...), func(off int) {
		raw := le.Uint64(data[off:])
		v := decodeChained(raw, format64)
		next := raw >> 51 & 0xfff / 2
		auth := uint64(n % 2)
		n++
		e := auth<<63 | next<<51
		if v.bind {
			e |= 1<<62 | v.ordinal
		} else {
			e |= v.target
		}
		le.PutUint64(data[off:], e)
	})
	for _, f := range fields {
		le.PutUint16(data[f:], formatARM64EUserland)
	}
	le.PutUint32(data[8:], 2) // the arm64e subtype
	im := mustLoad(t, data, "arm64e")
	equal(t, "subtype", im.Subtype, "arm64e")
	equal(t, "mitigation", mitigation(im, "pac"), "enabled")
	equal(t, "imports", im.Imports, plain.Imports)
	equal(t, "number of pointers", len(im.Relocations), len(plain.Relocations))
	kinds := map[string]int{}
	for i := range im.Relocations {
		r := im.Relocations[i]
		kinds[r.Type]++
		if r.Type == "auth_bind" {
			r.Type = "bind"
		}
		if r.Type == "auth_rebase" {
			r.Type = "rebase"
		}
		equal(t, "relocation", r, plain.Relocations[i])
		if r.HasTarget && r.Symbol == "" {
			equal(t, "bytes", le64(im.Bytes(r.Addr, 8)), r.Target)
		}
	}
	if kinds["auth_bind"] == 0 || kinds["bind"] == 0 {
		t.Errorf("kinds %v", kinds)
	}
}

// Stubs of arm64e go through an added address and an authenticated branch.
func TestARM64_stub_slots(t *testing.T) {
	const addr = 0x100003f00
	for _, tt := range []struct {
		name       string
		w0, w1, w2 uint32
		want       uint64
		ok         bool
	}{
		// adrp x16, +0x4000; ldr x16, [x16, #8]; br x16
		{"plain", 0x90000030, 0xf9400610, 0xd61f0200, 0x100007008, true},
		// adrp x17, +0x4000; add x17, x17, #8; ldr x16, [x17]
		{"authenticated", 0x90000031, 0x91002231, 0xf9400230, 0x100007008, true},
		// ldr x16, +8
		{"literal", 0x58000050, 0xd61f0200, 0, addr + 8, true},
		{"other_register", 0x90000030, 0xf9400631, 0xd61f0200, 0, false},
		{"not_a_stub", 0xd503201f, 0xd503201f, 0xd503201f, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := arm64StubSlot(addr, tt.w0, tt.w1, tt.w2)
			if got != tt.want || ok != tt.ok {
				t.Errorf("got %#x, %v; want %#x, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// The chains that opcodes start, as arm64e had them before chained fixups.
func TestThreaded_binds(t *testing.T) {
	data := make([]byte, 64)
	le := binary.LittleEndian
	le.PutUint64(data[0:], 1<<62|2<<51|1) // bind of the second name, next 16 bytes on
	le.PutUint64(data[16:], 1<<63|1<<51|0x20)
	le.PutUint64(data[24:], 0x1000) // rebase to an address, the last
	l := &loader{
		im: &object.Image{Base: 0x1000}, data: data, order: le, wide: true, budget: 100, names: 100, slots: map[uint64]int{},
		segments: []segment{{name: "__DATA", addr: 0x1000, size: 64, fileSize: 64, initProt: 3}},
	}
	l.im.SetData(data)
	l.im.Segments = []object.Segment{{Addr: 0x1000, Size: 64, FileSize: 64}}
	stream := []byte{0xd0, 2, 0x50 | 1}
	for _, name := range []string{"_one", "_two"} {
		stream = append(append(append(stream, 0x40), name...), 0)
		stream = append(stream, 0x90)
	}
	stream = append(stream, 0x70, 0, 0xd1, 0)
	l.bindOpcodes(stream, "bind")
	l.bindRelocations()
	l.im.Normalize()
	equal(t, "relocations", l.im.Relocations, []object.Relocation{
		{Addr: 0x1000, Size: 8, Type: "bind", Symbol: "_two"},
		{Addr: 0x1010, Size: 8, Type: "auth_rebase", Target: 0x1020, HasTarget: true},
		{Addr: 0x1018, Size: 8, Type: "rebase", Target: 0x1000, HasTarget: true},
	})
	if len(l.im.Notes) > 0 {
		t.Errorf("notes %q", l.im.Notes)
	}
}

// A trie whose child is its parent ends, and keeps what it could read.
func TestExport_trie_with_cycle(t *testing.T) {
	for _, tt := range []struct {
		name string
		trie []byte
		want []string
	}{
		{"self", []byte{0, 1, 'a', 0, 0}, nil},
		{"grandparent", []byte{0, 1, 'a', 0, 5, 2, 0, 0x10, 1, 'b', 0, 0}, []string{"a"}},
		{"beyond", []byte{0, 1, 'a', 0, 0x7f}, nil},
		{"cut_off", []byte{0, 9, 'a'}, nil},
		{"two_children", []byte{0, 2, 'a', 0, 8, 'b', 0, 12, 2, 0, 0x10, 0, 2, 0, 0x20, 0}, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := make([]byte, 16)
			le := binary.LittleEndian
			le.PutUint32(cmd, cmdExportsTrie)
			le.PutUint32(cmd[12:], uint32(len(tt.trie)))
			l := &loader{
				im: &object.Image{}, data: tt.trie, order: le, budget: 100, names: 100,
				commands: []command{{cmd: cmdExportsTrie, data: cmd}}, symtab: symbolTable{defined: map[string]uint64{}},
			}
			l.exports()
			var got []string
			for _, e := range l.im.Exports {
				got = append(got, e.Name)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("exports %q, want %q; notes %q", got, tt.want, l.im.Notes)
			}
		})
	}
}

func TestLEB128(t *testing.T) {
	for _, tt := range []struct {
		in     []byte
		u      uint64
		s      int64
		ok     bool
		remain int
	}{
		{[]byte{0x00}, 0, 0, true, 0},
		{[]byte{0x7f}, 127, -1, true, 0},
		{[]byte{0xe5, 0x8e, 0x26, 0x01}, 624485, 624485, true, 1},
		{[]byte{0xc0, 0xbb, 0x78}, 1973696, -123456, true, 0},
		{[]byte{0x80}, 0, 0, false, 0},
		{nil, 0, 0, false, 0},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 0, 0, false, 0},
	} {
		c := &opcodes{tt.in, true}
		if got := c.uint(); c.ok != tt.ok || c.ok && (got != tt.u || len(c.b) != tt.remain) {
			t.Errorf("% x unsigned reads %d, %v", tt.in, got, c.ok)
		}
		c = &opcodes{tt.in, true}
		if got := c.int(); c.ok != tt.ok || c.ok && got != tt.s {
			t.Errorf("% x signed reads %d, %v", tt.in, got, c.ok)
		}
	}
}

// Registers of the first thread, by processor.
func TestEntry_of_threads(t *testing.T) {
	for _, tt := range []struct {
		cpu, flavor uint32
		words, at   int
		size        int
	}{
		{cpuX8664, 4, 42, 16 * 8, 8},
		{cpuX86, 1, 16, 10 * 4, 4},
		{cpuARM64, 6, 68, 32 * 8, 8},
		{cpuARM, 1, 17, 15 * 4, 4},
	} {
		le := binary.LittleEndian
		cmd := make([]byte, 16+4*tt.words)
		le.PutUint32(cmd[8:], tt.flavor)
		le.PutUint32(cmd[12:], uint32(tt.words))
		if tt.size == 8 {
			le.PutUint64(cmd[16+tt.at:], 0x1010)
		} else {
			le.PutUint32(cmd[16+tt.at:], 0x1010)
		}
		load := func(cmd []byte) *object.Image {
			l := &loader{im: &object.Image{}, order: le, cpu: tt.cpu, commands: []command{{cmd: cmdUnixThread, data: cmd}}}
			l.im.Segments = []object.Segment{{Addr: 0x1000, Size: 0x1000, Perm: object.Permissions{Execute: true}}}
			l.entry()
			return l.im
		}
		if im := load(cmd); !im.HasEntry || im.Entry != 0x1010 || len(im.Hints) != 1 {
			t.Errorf("cpu %#x: entry %#x", tt.cpu, im.Entry)
		}
		if im := load(cmd[:len(cmd)-4]); im.HasEntry || len(im.Notes) != 1 {
			t.Errorf("cpu %#x: a state that is cut off gives entry %#x, notes %q", tt.cpu, im.Entry, im.Notes)
		}
	}
}

// The 64-bit universal header, made from the 32-bit one.
func TestUniversal64(t *testing.T) {
	old := fixture(t, "universal.o")
	be := binary.BigEndian
	want, err := Slices(old)
	if err != nil {
		t.Fatal(err)
	}
	data := append([]byte(nil), old...)
	be.PutUint32(data, fatMagic64)
	for i := range want {
		from, to := old[8+20*i:], data[8+32*i:]
		copy(to, from[:8])
		be.PutUint64(to[8:], uint64(be.Uint32(from[8:])))
		be.PutUint64(to[16:], uint64(be.Uint32(from[12:])))
	}
	got, err := Slices(data)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "slices", got, want)
	be.PutUint64(data[8+16:], 1<<62)
	cut, err := Slices(data)
	if err != nil || cut[0].Offset+cut[0].Size != uint64(len(data)) {
		t.Errorf("a slice beyond the file: %+v, %v", cut, err)
	}
}
