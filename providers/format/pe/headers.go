package pe

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"

	"rea/providers/format/object"
)

// COFF characteristics.
const (
	fileRelocsStripped = 0x0001
	fileExecutable     = 0x0002
	fileSystem         = 0x1000
	fileDLL            = 0x2000
)

// Section characteristics.
const (
	scnCode          = 0x00000020
	scnData          = 0x00000040
	scnBSS           = 0x00000080
	scnInfo          = 0x00000200
	scnRemove        = 0x00000800
	scnComdat        = 0x00001000
	scnManyRelocs    = 0x01000000
	scnDiscardable   = 0x02000000
	scnExecute       = 0x20000000
	scnRead          = 0x40000000
	scnWrite         = 0x80000000
	sectionHeaderLen = 40
)

type optionalHeader struct {
	magic            uint16
	linker           [2]byte
	entry            uint32
	sectionAlignment uint32
	fileAlignment    uint32
	osVersion        [2]uint16
	subsystemVersion [2]uint16
	sizeOfImage      uint32
	sizeOfHeaders    uint32
	subsystem        uint16
	dll              uint16
}

type section struct {
	name    string
	rva     uint32
	vsize   uint32
	raw     uint32
	rawSize uint32
	relocs  uint32
	nrelocs uint32
	flags   uint32
	addr    uint64 // where it is mapped; 0 when it is not
}

var subsystemNames = map[uint16]string{
	1: "native", 2: "windows_gui", 3: "windows_console", 5: "os2_console", 7: "posix_console",
	8: "native_windows_9x", 9: "windows_ce_gui", 10: "efi_application", 11: "efi_boot_service_driver",
	12: "efi_runtime_driver", 13: "efi_rom", 14: "xbox", 16: "windows_boot_application", 17: "xbox_code_catalog",
}

// Names of the characteristics from bit 0 on.
var characteristicNames = []string{
	"RELOCS_STRIPPED", "EXECUTABLE_IMAGE", "LINE_NUMS_STRIPPED", "LOCAL_SYMS_STRIPPED", "AGGRESSIVE_WS_TRIM",
	"LARGE_ADDRESS_AWARE", "", "BYTES_REVERSED_LO", "32BIT_MACHINE", "DEBUG_STRIPPED", "REMOVABLE_RUN_FROM_SWAP",
	"NET_RUN_FROM_SWAP", "SYSTEM", "DLL", "UP_SYSTEM_ONLY", "BYTES_REVERSED_HI",
}

var dllCharacteristicNames = []string{
	"", "", "", "", "", "HIGH_ENTROPY_VA", "DYNAMIC_BASE", "FORCE_INTEGRITY", "NX_COMPAT", "NO_ISOLATION", "NO_SEH", "NO_BIND",
	"APPCONTAINER", "WDM_DRIVER", "GUARD_CF", "TERMINAL_SERVER_AWARE",
}

func flagList(flags uint32, names []string) string {
	var out []string
	for i, name := range names {
		if flags>>i&1 == 0 {
			continue
		}
		if name == "" {
			name = fmt.Sprintf("%#x", 1<<i)
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func archOf(machine uint16) (object.Arch, int) {
	switch machine {
	case machineI386:
		return object.X86, 32
	case machineAMD64:
		return object.X86_64, 64
	case machineARM, machineThumb, machineARMNT:
		return object.ARM, 32
	case machineARM64, machineARM64EC, machineARM64X:
		return object.ARM64, 64
	}
	return object.Unknown, 32
}

func (l *loader) setMachine(m uint16) {
	l.machine = m
	l.im.Arch, l.im.Bits = archOf(m)
	if name, ok := machineNames[m]; ok {
		l.im.Machine = name
	} else {
		l.im.Machine = fmt.Sprintf("IMAGE_FILE_MACHINE_%#04x", m)
	}
	switch m {
	case machineARM64EC:
		l.im.Subtype = "arm64ec"
	case machineARM64X:
		l.im.Subtype = "arm64x"
	}
}

// image reads a file that begins with the DOS header.
func (l *loader) image() error {
	if len(l.data) < 64 {
		return bad(0, "DOS header cut off after %d bytes", len(l.data))
	}
	pe := uint64(le.Uint32(l.data[60:]))
	if pe+24 > uint64(len(l.data)) {
		return bad(60, "PE header offset %#x lies beyond the file: a DOS program or a truncated image", pe)
	}
	if sig := l.data[pe : pe+4]; !bytes.Equal(sig, []byte("PE\x00\x00")) {
		switch string(sig[:2]) {
		case "NE", "LE", "LX":
			return bad(pe, "a %s executable, not PE", sig[:2])
		}
		return bad(pe, "no PE signature")
	}
	h := l.data[pe+4:]
	l.setMachine(le.Uint16(h))
	nsec := int(le.Uint16(h[2:]))
	stamp := le.Uint32(h[4:])
	optSize := uint64(le.Uint16(h[16:]))
	l.chars = le.Uint16(h[18:])
	opt := pe + 24
	if err := l.optionalHeader(opt, optSize); err != nil {
		return err
	}
	l.im.Kind = object.Executable
	if l.chars&fileDLL != 0 {
		l.im.Kind = object.SharedLibrary
	}
	l.im.FileType = "PE32"
	if l.plus {
		l.im.FileType = "PE32+"
	}
	l.stringTable(le.Uint32(h[8:]), le.Uint32(h[12:]), 18)
	l.sectionTable(opt+optSize, nsec)
	l.mapSections()
	l.properties(stamp)
	l.rich(pe)

	if l.optional.entry != 0 {
		l.im.Entry, l.im.HasEntry = l.base+uint64(l.optional.entry), true
		if l.thumb() {
			l.im.Entry &^= 1
		}
		if l.executable(l.im.Entry) {
			l.hint(l.im.Entry, 0, "", object.FromEntry)
		} else if l.im.Bytes(l.im.Entry, 1) == nil {
			l.im.Note("entry point %#x is not in a mapped section", l.im.Entry)
		}
	}
	l.imports()
	l.delayImports()
	l.boundImports()
	l.exports()
	l.baseRelocations()
	l.symbols(le.Uint32(h[8:]), le.Uint32(h[12:]), 18)
	l.loadConfig()
	l.exceptions()
	l.tls()
	l.debugDirectory()
	l.overlay(le.Uint32(h[8:]))
	l.mitigations()
	return nil
}

func (l *loader) optionalHeader(off, size uint64) error {
	if size < 2 || off+2 > uint64(len(l.data)) {
		return bad(off, "no optional header: not an executable image")
	}
	end := min(off+size, uint64(len(l.data)))
	b := l.data[off:end]
	o := &l.optional
	o.magic = le.Uint16(b)
	var fixed int
	switch o.magic {
	case 0x10b:
		fixed, l.im.Bits = 96, 32
	case 0x20b:
		fixed, l.plus, l.im.Bits = 112, true, 64
	case 0x107:
		return bad(off, "a ROM image, not PE")
	default:
		return bad(off, "unknown optional header magic %#x", o.magic)
	}
	if len(b) < fixed-4 {
		return bad(off, "optional header of %d bytes is too short", len(b))
	}
	o.linker = [2]byte{b[2], b[3]}
	o.entry = le.Uint32(b[16:])
	if l.plus {
		l.base = le.Uint64(b[24:])
	} else {
		l.base = uint64(le.Uint32(b[28:]))
	}
	o.sectionAlignment, o.fileAlignment = le.Uint32(b[32:]), le.Uint32(b[36:])
	o.osVersion = [2]uint16{le.Uint16(b[40:]), le.Uint16(b[42:])}
	o.subsystemVersion = [2]uint16{le.Uint16(b[48:]), le.Uint16(b[50:])}
	o.sizeOfImage, o.sizeOfHeaders = le.Uint32(b[56:]), le.Uint32(b[60:])
	o.subsystem, o.dll = le.Uint16(b[68:]), le.Uint16(b[70:])
	// RVAs are 32 bits wide: a base this high would wrap around.
	if l.base > ^uint64(0)-(1<<33) {
		l.im.Note("image base %#x leaves no room for the image; 0 is used instead", l.base)
		l.base = 0
	}
	l.im.Base = l.base
	if len(b) < fixed {
		return nil
	}
	claimed := le.Uint32(b[fixed-4:])
	n := int(min(claimed, 16))
	if have := (len(b) - fixed) / 8; n > have {
		l.im.Note("optional header claims %d data directories and holds %d", claimed, have)
		n = have
	}
	for i := range n {
		p := b[fixed+8*i:]
		l.dirs[i] = directory{le.Uint32(p), le.Uint32(p[4:])}
	}
	return nil
}

func (l *loader) properties(stamp uint32) {
	if name, ok := subsystemNames[l.optional.subsystem]; ok {
		l.property("subsystem", "%s", name)
	} else {
		l.property("subsystem", "unknown (%d)", l.optional.subsystem)
	}
	l.property("subsystem_version", "%d.%d", l.optional.subsystemVersion[0], l.optional.subsystemVersion[1])
	l.property("os_version", "%d.%d", l.optional.osVersion[0], l.optional.osVersion[1])
	l.property("linker_version", "%d.%d", l.optional.linker[0], l.optional.linker[1])
	l.property("characteristics", "%s", flagList(uint32(l.chars), characteristicNames))
	l.property("dll_characteristics", "%s", flagList(uint32(l.optional.dll), dllCharacteristicNames))
	l.property("timestamp", "%#08x", stamp)
	l.property("size_of_image", "%#x", l.optional.sizeOfImage)
	if l.optional.subsystem >= 10 && l.optional.subsystem <= 13 {
		l.im.OS = "uefi"
	}
	if l.chars&fileSystem != 0 {
		l.property("system_file", "true")
	}
	if d := l.dirs[dirCLR]; d.rva != 0 && d.size != 0 {
		l.property("clr", "header at %#x", l.base+uint64(d.rva))
		l.im.Note("a .NET assembly: its methods are CIL, which is not read here")
	}
	if a := l.optional.fileAlignment; a != 0 && bits.OnesCount32(a) != 1 {
		l.im.Note("file alignment %#x is no power of two", a)
	}
}

// overlay names bytes after everything that headers and sections account for.
// The attribute certificate table is no overlay though it follows the sections.
func (l *loader) overlay(symtab uint32) {
	end := uint64(min(uint64(l.optional.sizeOfHeaders), uint64(len(l.data))))
	for _, s := range l.sections {
		if s.raw != 0 && s.rawSize != 0 {
			end = max(end, uint64(s.raw)+uint64(s.rawSize))
		}
	}
	if symtab != 0 && len(l.strtab) > 0 {
		end = max(end, l.strtabEnd)
	}
	size := uint64(len(l.data))
	if end >= size {
		return
	}
	if d := l.dirs[dirSecurity]; d.size != 0 && uint64(d.rva) >= end && uint64(d.rva)+uint64(d.size) <= size {
		before, after := uint64(d.rva)-end, size-uint64(d.rva)-uint64(d.size)
		if before < 16 && after < 16 {
			return
		}
	}
	l.property("overlay", "%d bytes at file offset %#x", size-end, end)
	l.im.Note("%d bytes follow the last section (overlay at file offset %#x)", size-end, end)
}
