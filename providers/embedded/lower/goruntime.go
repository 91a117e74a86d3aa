package lower

import (
	"strings"

	"rea/providers/embedded/ssa"
	"rea/providers/format/object"
)

// The assembly functions of Go's runtime that compiled code calls with
// conventions of their own (cmd/compile/internal/ssa, the operations that
// "clobber" few registers, and runtime/asm_*.s). All take nothing that a
// function could have got from its caller: those that make room on the stack
// are called with the parameters saved in memory, and the function begins anew
// behind them; write barriers and failed bounds checks keep all registers or do
// not return.
var ownConventions = []string{"runtime.morestack", "runtime.gcWriteBarrier", "runtime.panicBounds", "runtime.panicExtend", "runtime.duffzero", "runtime.duffcopy",
	"runtime.asyncPreempt", "runtime.sigpanic"}

// Runtime reports whether function i is one of Go's runtime that follows a
// convention of its own, and which.
func (l *Program) Runtime(i int) (kind string, ok bool) {
	if l.Image.GoVersion == "" {
		return "", false
	}
	name := l.Functions[i].Name
	if !strings.HasPrefix(name, "runtime.") {
		return "", false
	}
	for _, p := range ownConventions {
		if rest, ok := strings.CutPrefix(name, p); ok && !strings.ContainsAny(rest, "./(") {
			return p, true
		}
	}
	return "", false
}

// everything is the set of all registers.
var everything = ssa.Set{^uint64(0), ^uint64(0)}

// runtimeEffect is what a call of such a function does.
func (l *Program) runtimeEffect(e *ssa.Effect, kind string) {
	e.Args, e.StackArgs = nil, 0
	switch kind {
	case "runtime.morestack": // what it clobbers is loaded again
		e.Pure, e.Keeps = true, everything
	case "runtime.gcWriteBarrier": // gives a place for pointers in R11 or R25
		buffer := 11
		if l.Image.Arch == object.ARM64 {
			buffer = 25
		}
		e.Keeps = everything
		e.Keeps[0] &^= 1 << buffer
	}
}

// SavesParameters says that function i is one of Go's that makes room on the
// stack first, with all parameters that it uses saved around the call.
func (l *Program) SavesParameters(i int) bool {
	if l.Image.GoVersion == "" {
		return false
	}
	for _, c := range l.CallsIn(i) {
		if to, ok := l.FunctionAt(c.To); ok && strings.HasPrefix(l.Functions[to].Name, "runtime.morestack") {
			return true
		}
	}
	return false
}
