package macho

import (
	"encoding/hex"
	"fmt"
	"strings"

	"rea/providers/format/object"
)

// Command is one load command as the file has it. Fields are those of its
// structure that mean something alone, in structure order.
type Command struct {
	Name   string // "LC_SEGMENT_64", or "LC_0x…" for one that is not known here
	Offset uint64 // from the start of the slice
	Size   uint64
	Fields []object.Property
}

var commandNames = map[uint32]string{
	cmdSegment: "LC_SEGMENT", cmdSymtab: "LC_SYMTAB", 0x3: "LC_SYMSEG", cmdThread: "LC_THREAD", cmdUnixThread: "LC_UNIXTHREAD",
	0x6: "LC_LOADFVMLIB", 0x7: "LC_IDFVMLIB", 0x8: "LC_IDENT", 0x9: "LC_FVMFILE", 0xa: "LC_PREPAGE",
	cmdDysymtab: "LC_DYSYMTAB", cmdLoadDylib: "LC_LOAD_DYLIB", cmdIDDylib: "LC_ID_DYLIB", cmdLoadDylinker: "LC_LOAD_DYLINKER",
	cmdIDDylinker: "LC_ID_DYLINKER", 0x10: "LC_PREBOUND_DYLIB", cmdRoutines: "LC_ROUTINES", 0x12: "LC_SUB_FRAMEWORK",
	0x13: "LC_SUB_UMBRELLA", 0x14: "LC_SUB_CLIENT", 0x15: "LC_SUB_LIBRARY", 0x16: "LC_TWOLEVEL_HINTS", 0x17: "LC_PREBIND_CKSUM",
	cmdWeakDylib: "LC_LOAD_WEAK_DYLIB", cmdSegment64: "LC_SEGMENT_64", cmdRoutines64: "LC_ROUTINES_64", cmdUUID: "LC_UUID",
	cmdRPath: "LC_RPATH", cmdCodeSignature: "LC_CODE_SIGNATURE", 0x1e: "LC_SEGMENT_SPLIT_INFO", cmdReexport: "LC_REEXPORT_DYLIB",
	cmdLazyDylib: "LC_LAZY_LOAD_DYLIB", cmdEncryption: "LC_ENCRYPTION_INFO", cmdDyldInfo: "LC_DYLD_INFO",
	cmdDyldInfoOnly: "LC_DYLD_INFO_ONLY", cmdUpwardDylib: "LC_LOAD_UPWARD_DYLIB", cmdMinMacOS: "LC_VERSION_MIN_MACOSX",
	cmdMinIOS: "LC_VERSION_MIN_IPHONEOS", cmdFuncStarts: "LC_FUNCTION_STARTS", cmdDyldEnv: "LC_DYLD_ENVIRONMENT", cmdMain: "LC_MAIN",
	cmdDataInCode: "LC_DATA_IN_CODE", cmdSourceVersion: "LC_SOURCE_VERSION", 0x2b: "LC_DYLIB_CODE_SIGN_DRS",
	cmdEncryption64: "LC_ENCRYPTION_INFO_64", 0x2d: "LC_LINKER_OPTION", 0x2e: "LC_LINKER_OPTIMIZATION_HINT",
	cmdMinTVOS: "LC_VERSION_MIN_TVOS", cmdMinWatchOS: "LC_VERSION_MIN_WATCHOS", 0x31: "LC_NOTE", cmdBuildVersion: "LC_BUILD_VERSION",
	cmdExportsTrie: "LC_DYLD_EXPORTS_TRIE", cmdChainedFixups: "LC_DYLD_CHAINED_FIXUPS", cmdFilesetEntry: "LC_FILESET_ENTRY",
	0x36: "LC_ATOM_INFO", 0x37: "LC_FUNCTION_VARIANTS", 0x38: "LC_FUNCTION_VARIANT_FIXUPS", 0x39: "LC_TARGET_TRIPLE",
}

// flagNames are the header flags from bit 0 on.
var flagNames = []string{
	"NOUNDEFS", "INCRLINK", "DYLDLINK", "BINDATLOAD", "PREBOUND", "SPLIT_SEGS", "LAZY_INIT", "TWOLEVEL", "FORCE_FLAT",
	"NOMULTIDEFS", "NOFIXPREBINDING", "PREBINDABLE", "ALLMODSBOUND", "SUBSECTIONS_VIA_SYMBOLS", "CANONICAL", "WEAK_DEFINES",
	"BINDS_TO_WEAK", "ALLOW_STACK_EXECUTION", "ROOT_SAFE", "SETUID_SAFE", "NO_REEXPORTED_DYLIBS", "PIE", "DEAD_STRIPPABLE_DYLIB",
	"HAS_TLV_DESCRIPTORS", "NO_HEAP_EXECUTION", "APP_EXTENSION_SAFE", "NLIST_OUTOFSYNC_WITH_DYLDINFO", "SIM_SUPPORT",
	"IMPLICIT_PAGEZERO", "", "", "DYLIB_IN_CACHE",
}

func flagList(flags uint32) string {
	var out []string
	for i, name := range flagNames {
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

// Commands lists the load commands of one slice, chosen as Load does. A list
// that is damaged ends where it can't be followed; the notes say so.
func Commands(data []byte, slice string) (commands []Command, notes []string, err error) {
	l, _, err := open(data, slice)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range l.commands {
		name, ok := commandNames[c.cmd]
		if !ok {
			name = fmt.Sprintf("LC_%#x", c.cmd)
		}
		commands = append(commands, Command{Name: name, Offset: c.off, Size: uint64(len(c.data)), Fields: l.commandFields(c)})
	}
	return commands, l.im.Notes, nil
}

// commandField is a field of a command's structure by offset.
type commandField struct {
	name string
	at   int
	kind byte // 'd' decimal, 'x' hex, 'q' 64-bit hex, 'v' version, 's' string by offset
}

var (
	dylibFields   = []commandField{{"name", 8, 's'}, {"current_version", 16, 'v'}, {"compatibility_version", 20, 'v'}}
	stringFields  = []commandField{{"name", 8, 's'}}
	dataFields    = []commandField{{"data_offset", 8, 'x'}, {"data_size", 12, 'd'}}
	minimumFields = []commandField{{"minimum_os", 8, 'v'}, {"sdk", 12, 'v'}}
	cryptFields   = []commandField{{"offset", 8, 'x'}, {"size", 12, 'd'}, {"id", 16, 'd'}}
	infoFields    = []commandField{
		{"rebase_offset", 8, 'x'}, {"rebase_size", 12, 'd'}, {"bind_offset", 16, 'x'}, {"bind_size", 20, 'd'},
		{"weak_bind_offset", 24, 'x'}, {"weak_bind_size", 28, 'd'}, {"lazy_bind_offset", 32, 'x'}, {"lazy_bind_size", 36, 'd'},
		{"export_offset", 40, 'x'}, {"export_size", 44, 'd'},
	}
)

var commandLayouts = map[uint32][]commandField{
	cmdLoadDylib: dylibFields, cmdIDDylib: dylibFields, cmdWeakDylib: dylibFields, cmdReexport: dylibFields,
	cmdLazyDylib: dylibFields, cmdUpwardDylib: dylibFields,
	cmdLoadDylinker: stringFields, cmdIDDylinker: stringFields, cmdRPath: stringFields, cmdDyldEnv: stringFields,
	0x12: stringFields, 0x13: stringFields, 0x14: stringFields, 0x15: stringFields,
	cmdCodeSignature: dataFields, 0x1e: dataFields, cmdFuncStarts: dataFields, cmdDataInCode: dataFields, 0x2b: dataFields,
	0x2e: dataFields, cmdExportsTrie: dataFields, cmdChainedFixups: dataFields, 0x36: dataFields,
	cmdMinMacOS: minimumFields, cmdMinIOS: minimumFields, cmdMinTVOS: minimumFields, cmdMinWatchOS: minimumFields,
	cmdEncryption: cryptFields, cmdEncryption64: cryptFields,
	cmdDyldInfo: infoFields, cmdDyldInfoOnly: infoFields,
	cmdMain: {{"entry_offset", 8, 'q'}, {"stack_size", 16, 'q'}},
	cmdSymtab: {
		{"symbols_offset", 8, 'x'}, {"symbols", 12, 'd'}, {"strings_offset", 16, 'x'}, {"strings_size", 20, 'd'},
	},
	cmdDysymtab: {
		{"local_symbols", 12, 'd'}, {"external_symbols", 20, 'd'}, {"undefined_symbols", 28, 'd'},
		{"indirect_symbols_offset", 56, 'x'}, {"indirect_symbols", 60, 'd'},
	},
	cmdSegment: {
		{"address", 24, 'x'}, {"size", 28, 'x'}, {"file_offset", 32, 'x'}, {"file_size", 36, 'x'},
		{"maximum_protection", 40, 'd'}, {"initial_protection", 44, 'd'}, {"sections", 48, 'd'}, {"flags", 52, 'x'},
	},
	cmdSegment64: {
		{"address", 24, 'q'}, {"size", 32, 'q'}, {"file_offset", 40, 'q'}, {"file_size", 48, 'q'},
		{"maximum_protection", 56, 'd'}, {"initial_protection", 60, 'd'}, {"sections", 64, 'd'}, {"flags", 68, 'x'},
	},
	cmdBuildVersion: {{"platform", 8, 'd'}, {"minimum_os", 12, 'v'}, {"sdk", 16, 'v'}, {"tools", 20, 'd'}},
	cmdFilesetEntry: {{"address", 8, 'q'}, {"file_offset", 16, 'q'}},
	0x31:            {{"data_offset", 24, 'q'}, {"data_size", 32, 'q'}},
}

func (l *loader) commandFields(c command) []object.Property {
	var out []object.Property
	add := func(name, format string, args ...any) {
		out = append(out, object.Property{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	switch c.cmd {
	case cmdSegment, cmdSegment64:
		if len(c.data) >= 24 {
			add("name", "%s", padded(c.data[8:24]))
		}
	case cmdUUID:
		if len(c.data) >= 24 {
			add("uuid", "%s", hex.EncodeToString(c.data[8:24]))
		}
	case cmdUnixThread, cmdThread:
		if len(c.data) >= 16 {
			add("flavor", "%d", l.u32(c.data[8:]))
			add("words", "%d", l.u32(c.data[12:]))
		}
	}
	for _, f := range commandLayouts[c.cmd] {
		size := 4
		if f.kind == 'q' {
			size = 8
		}
		if f.at+size > len(c.data) {
			break
		}
		b := c.data[f.at:]
		switch f.kind {
		case 'd':
			add(f.name, "%d", l.u32(b))
		case 'x':
			add(f.name, "%#x", l.u32(b))
		case 'q':
			add(f.name, "%#x", l.order.Uint64(b))
		case 'v':
			add(f.name, "%s", version(l.u32(b)))
		case 's':
			add(f.name, "%s", l.stringArgument(c))
		}
	}
	return out
}
