package pe

import (
	"rea/providers/format/ehframe"
	"rea/providers/format/object"
)

// exceptions reads the function table (.pdata) of the machines that have one,
// and the frames that GNU compilers leave for those that have none.
func (l *loader) exceptions() {
	if d := l.dirs[dirException]; d.rva != 0 && d.size != 0 {
		l.functions(d)
	}
	l.ehFrames()
}

func (l *loader) ehFrames() {
	var frames []object.Range
	for i := range l.sections {
		if s := &l.sections[i]; s.addr != 0 && s.name == ".eh_frame" {
			frames = append(frames, object.Range{Addr: s.addr, Size: uint64(max(s.vsize, s.rawSize))})
		}
	}
	if len(frames) > 0 {
		ehframe.Read(l.im, ehframe.Location{Frames: frames}).AddTo(l.im)
	}
}

func (l *loader) functions(d directory) {
	switch l.machine {
	case machineAMD64:
		b := l.functionTable(d, 12)
		l.unwindX64(b)
	case machineARM64, machineARM64EC, machineARM64X:
		l.unwindARM(l.functionTable(d, 8), 4)
	case machineARMNT:
		l.unwindARM(l.functionTable(d, 8), 2)
	default:
		l.im.Note("the function table of this machine is not read")
	}
}

func (l *loader) functionTable(d directory, size int) []byte {
	b := l.from(d.rva, uint64(d.size))
	if uint64(len(b)) < uint64(d.size) {
		l.im.Note("function table claims %d bytes, the image holds %d", d.size, len(b))
	}
	b = b[:len(b)/size*size]
	if !l.spend(len(b) / size) {
		return nil
	}
	return b
}

// UNWIND_INFO flags.
const (
	unwindEHandler = 1
	unwindUHandler = 2
	unwindChained  = 4
)

type runtimeFunction struct{ begin, end, unwind uint32 }

func readRuntimeFunction(b []byte) runtimeFunction {
	return runtimeFunction{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:])}
}

// unwindInfo is what precedes the codes, and where the trailer is.
type unwindInfo struct {
	flags   byte
	handler uint32 // language handler, with EHANDLER or UHANDLER
	data    uint32 // RVA of the language specific data
	framed  bool   // the frame is there before the first instruction
	parent  runtimeFunction
}

func (l *loader) unwindInfo(rva uint32) (unwindInfo, bool) {
	b := l.at(rva, 4)
	if b == nil || b[0]&7 == 0 || b[0]&7 > 3 {
		return unwindInfo{}, false
	}
	u := unwindInfo{flags: b[0] >> 3}
	u.framed = b[1] == 0 && l.buildsFrame(rva+4, int(b[2]))
	slots := uint64(b[2]+1) &^ 1 // an even number of codes is stored
	if b[2] == 255 {
		slots = 256
	}
	trailer := uint64(rva) + 4 + 2*slots
	if trailer > 0xffffffff {
		return unwindInfo{}, false
	}
	switch {
	case u.flags&unwindChained != 0:
		b := l.at(uint32(trailer), 12)
		if b == nil {
			return unwindInfo{}, false
		}
		u.parent = readRuntimeFunction(b)
	case u.flags&(unwindEHandler|unwindUHandler) != 0:
		b := l.at(uint32(trailer), 4)
		if b == nil {
			return unwindInfo{}, false
		}
		u.handler, u.data = le.Uint32(b), uint32(trailer)+4
	}
	return u, true
}

// buildsFrame tells whether unwind codes describe a frame. One that an
// interrupt pushed is none of the function's making.
func (l *loader) buildsFrame(rva uint32, count int) bool {
	const pushMachineFrame = 10
	b := l.at(rva, 2*count)
	if count == 0 || b == nil {
		return false
	}
	for i := 0; i < len(b); i += 2 {
		if b[i+1]&15 == pushMachineFrame {
			return false
		}
	}
	return true
}

// root follows a chain of unwind information to the function that begins it.
// Real chains are short; a longer or cyclic one has no root.
func (l *loader) root(f runtimeFunction) (runtimeFunction, unwindInfo, bool) {
	for range 32 {
		if f.unwind&1 != 0 { // the entry points to another entry
			b := l.at(f.unwind&^1, 12)
			if b == nil {
				return f, unwindInfo{}, false
			}
			f = readRuntimeFunction(b)
			continue
		}
		u, ok := l.unwindInfo(f.unwind)
		if !ok {
			return f, u, false
		}
		if u.flags&unwindChained == 0 {
			return f, u, true
		}
		f = u.parent
	}
	return f, unwindInfo{}, false
}

func (l *loader) unwindX64(table []byte) {
	handlers := map[uint32][]handledFunction{}
	unreadable := 0
	for ; len(table) >= 12; table = table[12:] {
		f := readRuntimeFunction(table)
		if f.begin == 0 && f.end == 0 {
			continue
		}
		if f.end <= f.begin || !l.executable(l.base+uint64(f.begin)) {
			l.im.Note("function table has an entry that covers no code (%#x to %#x)", f.begin, f.end)
			continue
		}
		addr, size := l.base+uint64(f.begin), uint64(f.end-f.begin)
		root, u, ok := l.root(f)
		if !ok {
			unreadable++
			l.hint(addr, size, "", object.FromPData)
			continue
		}
		if root.begin != f.begin {
			l.im.Parts = append(l.im.Parts, object.FunctionPart{
				Addr: addr, Size: size, Parent: l.base + uint64(root.begin), Source: object.FromPData,
			})
			continue
		}
		if u.framed {
			// No function has its frame before its first instruction: a part
			// that the compiler moved away from a function it does not name.
			l.im.Parts = append(l.im.Parts, object.FunctionPart{Addr: addr, Size: size, Source: object.FromPData})
		} else {
			l.hint(addr, size, "", object.FromPData)
		}
		if u.handler != 0 {
			handlers[u.handler] = append(handlers[u.handler], handledFunction{f, u.data})
		}
	}
	if unreadable > 0 {
		l.im.Note("unwind information of %d functions can't be read", unreadable)
	}
	l.languageData(handlers)
}
