package macho

import (
	"encoding/hex"
	"fmt"

	"rea/providers/format/object"
)

type dylib struct{ name string }

var platforms = []string{
	"", "macos", "ios", "tvos", "watchos", "bridgeos", "maccatalyst", "ios-simulator", "tvos-simulator",
	"watchos-simulator", "driverkit", "visionos", "visionos-simulator",
}

var toolNames = map[uint32]string{1: "clang", 2: "swift", 3: "ld", 4: "lld", 1024: "metal"}

// identity reads the commands that say what the image is and what it needs.
func (l *loader) identity() {
	im := l.im
	seen := map[string]bool{}
	for _, c := range l.commands {
		switch c.cmd {
		case cmdLoadDylib, cmdWeakDylib, cmdReexport, cmdLazyDylib, cmdUpwardDylib:
			name := l.stringArgument(c)
			l.dylibs = append(l.dylibs, dylib{name})
			if name != "" && !seen[name] {
				seen[name] = true
				im.Libraries = append(im.Libraries, object.Library{
					Name: name, Weak: c.cmd == cmdWeakDylib, Delay: c.cmd == cmdLazyDylib,
				})
			}
			if c.cmd == cmdReexport {
				l.property("reexport", "%s", name)
			}
		case cmdIDDylib:
			im.SOName = l.stringArgument(c)
		case cmdLoadDylinker, cmdIDDylinker:
			im.Interp = l.stringArgument(c)
		case cmdRPath:
			im.RPaths = append(im.RPaths, l.stringArgument(c))
		case cmdDyldEnv:
			l.property("dyld_environment", "%s", l.stringArgument(c))
		case cmdUUID:
			if len(c.data) >= 24 {
				im.BuildID = hex.EncodeToString(c.data[8:24])
			}
		case cmdBuildVersion:
			l.buildVersion(c.data)
		case cmdMinMacOS, cmdMinIOS, cmdMinTVOS, cmdMinWatchOS:
			if len(c.data) >= 16 {
				os := map[uint32]string{cmdMinMacOS: "macos", cmdMinIOS: "ios", cmdMinTVOS: "tvos", cmdMinWatchOS: "watchos"}[c.cmd]
				l.platform(os, l.u32(c.data[8:]), l.u32(c.data[12:]))
			}
		case cmdSourceVersion:
			if len(c.data) >= 16 {
				v := l.order.Uint64(c.data[8:])
				if v != 0 {
					l.property("source_version", "%d.%d.%d.%d.%d", v>>40, v>>30&0x3ff, v>>20&0x3ff, v>>10&0x3ff, v&0x3ff)
				}
			}
		case cmdEncryption, cmdEncryption64:
			l.encryption(c.data)
		case cmdFilesetEntry:
			if len(c.data) >= 32 {
				off := uint64(l.u32(c.data[24:]))
				if off < uint64(len(c.data)) {
					l.property("fileset_entry", "%s at %#x", padded(c.data[off:]), l.order.Uint64(c.data[8:]))
				}
			}
		}
	}
	if l.ftype == typeFileset {
		im.Note("a kernel collection: its member images are named, not loaded")
	}
	for i := range l.sections {
		if name := l.sections[i].name; name == "__DWARF,__debug_info" || name == "__DWARF,__zdebug_info" {
			im.Debug = append(im.Debug, "dwarf")
			break
		}
	}
}

// stringArgument reads the string of a command whose first field is its offset.
func (l *loader) stringArgument(c command) string {
	if len(c.data) < 12 {
		return ""
	}
	off := uint64(l.u32(c.data[8:]))
	if off < 12 || off >= uint64(len(c.data)) {
		l.im.Note("load command at file offset %#x names a string outside itself", c.off)
		return ""
	}
	return padded(c.data[off:])
}

func version(v uint32) string {
	if v&0xff == 0 {
		return fmt.Sprintf("%d.%d", v>>16, v>>8&0xff)
	}
	return fmt.Sprintf("%d.%d.%d", v>>16, v>>8&0xff, v&0xff)
}

func (l *loader) platform(os string, minimum, sdk uint32) {
	if l.im.OS == "" {
		l.im.OS = os
	}
	l.property("platform", "%s", os)
	l.property("minimum_os", "%s", version(minimum))
	if sdk != 0 {
		l.property("sdk", "%s", version(sdk))
	}
}

func (l *loader) buildVersion(d []byte) {
	if len(d) < 24 {
		return
	}
	os := fmt.Sprintf("platform %d", l.u32(d[8:]))
	if p := l.u32(d[8:]); p > 0 && p < uint32(len(platforms)) {
		os = platforms[p]
	}
	l.platform(os, l.u32(d[12:]), l.u32(d[16:]))
	n := min(int64(l.u32(d[20:])), int64(len(d)-24)/8)
	for i := range int(n) {
		t := d[24+8*i:]
		name, ok := toolNames[l.u32(t)]
		if !ok {
			name = fmt.Sprintf("tool %d", l.u32(t))
		}
		l.im.Compiler = append(l.im.Compiler, name+" "+version(l.u32(t[4:])))
	}
}

func (l *loader) encryption(d []byte) {
	if len(d) < 20 {
		return
	}
	off, size, id := l.u32(d[8:]), l.u32(d[12:]), l.u32(d[16:])
	l.property("encryption", "id %d, %d bytes at file offset %#x", id, size, off)
	if id != 0 {
		l.crypt = id
		l.im.Note("%d bytes at file offset %#x are encrypted: what is read from there is not the program", size, off)
	}
}
