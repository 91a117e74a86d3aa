package embedded

import (
	"rea/providers/embedded/isa"
	"rea/providers/embedded/program"
	"rea/providers/format/object"
)

// startupNames names what the start-up convention of an executable tells of a
// file without symbols: an ELF entry point is _start, and what it hands to
// __libc_start_main as first argument is main (System V start-up code of glibc
// and musl, on x86-64 and AArch64).
func (e *Engine) startupNames() map[uint64]string {
	names := map[uint64]string{}
	p := e.run.done
	if e.im.Format != object.ELF || !e.im.HasEntry || e.im.GoVersion != "" || e.im.Kind == object.Relocatable || e.im.Kind == object.SharedLibrary && e.im.Interp == "" {
		return names
	}
	start, ok := p.FunctionAt(e.im.Entry)
	if !ok {
		return names
	}
	if p.Functions[start].Name == "" {
		names[e.im.Entry] = "_start"
	}
	if main, ok := e.firstArgument(p, start); ok {
		if i, ok := p.FunctionAt(main); ok && p.Functions[i].Name == "" {
			names[main] = "main"
		}
	}
	return names
}

// firstArgument is the code address in the first argument register at the only
// call of a short start-up function.
func (e *Engine) firstArgument(p *program.Program, start int) (uint64, bool) {
	var arg isa.Reg
	switch e.im.Arch {
	case object.X86_64:
		arg = 7 // rdi
	case object.ARM64:
		arg = 0
	default:
		return 0, false
	}
	var value uint64
	var known bool
	var in isa.Inst
	for _, g := range p.FunctionRanges(start) {
		for at := range p.InstructionsBetween(g.Start, g.End) {
			e.dec.Decode(e.im.Bytes(at, e.dec.MaxLen()), at, &in)
			if in.Flow == isa.Call || in.Flow == isa.IndirectCall {
				return value, known
			}
			if in.Writes>>arg&1 == 0 {
				continue
			}
			value, known = 0, false
			for _, r := range p.RefsFrom(at, at+1) {
				switch r.Kind {
				case program.RefAddress:
					value, known = r.To, true
				case program.RefRead:
					value, known = e.relocated(r.To)
				}
			}
		}
	}
	return 0, false
}

// relocated is the address that the loader writes to a pointer.
func (e *Engine) relocated(slot uint64) (uint64, bool) {
	for i := range e.im.Relocations {
		if r := &e.im.Relocations[i]; r.Addr == slot && r.HasTarget {
			return r.Target, true
		}
	}
	return 0, false
}
