package pe

import (
	"fmt"

	"rea/providers/format/object"
)

// DLL characteristics.
const (
	dllHighEntropy   = 0x0020
	dllDynamicBase   = 0x0040
	dllForceIntegity = 0x0080
	dllNX            = 0x0100
	dllNoIsolation   = 0x0200
	dllNoSEH         = 0x0400
	dllAppContainer  = 0x1000
	dllGuardCF       = 0x4000
)

// mitigations states each hardening property from the header flags and the
// tables that give them effect.
func (l *loader) mitigations() {
	d := l.optional.dll
	add := func(name, state, format string, args ...any) {
		l.im.Mitigations = append(l.im.Mitigations, object.Mitigation{Name: name, State: state, Detail: fmt.Sprintf(format, args...)})
	}
	flag := func(name string, on bool, what string) {
		if on {
			add(name, "enabled", "%s is set", what)
		} else {
			add(name, "disabled", "%s is not set", what)
		}
	}
	movable := l.chars&fileRelocsStripped == 0
	switch {
	case d&dllDynamicBase == 0:
		add("aslr", "disabled", "DYNAMIC_BASE is not set")
	case !movable:
		add("aslr", "disabled", "DYNAMIC_BASE is set, but relocations are stripped: the image can't be moved")
	case l.dirs[dirBaseReloc].size == 0:
		add("aslr", "enabled", "DYNAMIC_BASE is set; no base relocations are needed")
	default:
		add("aslr", "enabled", "DYNAMIC_BASE is set and base relocations are present")
	}
	if l.plus {
		flag("high_entropy_aslr", d&dllHighEntropy != 0, "HIGH_ENTROPY_VA")
	}
	flag("nx", d&dllNX != 0, "NX_COMPAT")
	l.guardMitigation(add)
	if l.machine == machineI386 {
		switch {
		case d&dllNoSEH != 0:
			add("safeseh", "enabled", "NO_SEH: the image has no exception handlers")
		case l.cfg.seTable != 0 && l.cfg.seCount != 0:
			add("safeseh", "enabled", "%d registered handlers", l.cfg.seCount)
		case l.cfg.seTable != 0:
			add("safeseh", "enabled", "handler table is empty: no handler is allowed")
		default:
			add("safeseh", "disabled", "no SafeSEH table in the load configuration")
		}
	}
	switch {
	case l.cfg.cookie != 0:
		add("canary", "enabled", "security cookie at %#x", l.cfg.cookie)
	case l.importsAny("__stack_chk_fail", "__security_check_cookie"):
		add("canary", "enabled", "stack protector failure routine is imported")
	default:
		add("canary", "disabled", "no security cookie in the load configuration")
	}
	flag("cet_shstk", l.exDLL&1 != 0, "CET_COMPAT")
	if l.im.Strip {
		add("stripped", "enabled", "no COFF symbol table")
	} else {
		add("stripped", "disabled", "a COFF symbol table is present")
	}
	flag("force_integrity", d&dllForceIntegity != 0, "FORCE_INTEGRITY")
	flag("app_container", d&dllAppContainer != 0, "APPCONTAINER")
	if s := l.dirs[dirSecurity]; s.rva != 0 && s.size != 0 {
		if uint64(s.rva)+uint64(s.size) <= uint64(len(l.data)) {
			add("authenticode", "enabled", "certificate table of %d bytes is present; not verified here", s.size)
		} else {
			add("authenticode", "unknown", "certificate table lies beyond the file")
		}
	} else {
		add("authenticode", "disabled", "no certificate table")
	}
}

func (l *loader) guardMitigation(add func(name, state, format string, args ...any)) {
	set, flags := l.optional.dll&dllGuardCF != 0, l.cfg.guardFlags
	switch {
	case set && flags&guardInstrumented != 0 && flags&guardTable != 0:
		add("cfg", "enabled", "GUARD_CF is set, the code is instrumented and a function table is present")
	case set && flags&guardInstrumented != 0:
		add("cfg", "partial", "GUARD_CF is set, but the function table is absent")
	case set:
		add("cfg", "partial", "GUARD_CF is set, but the load configuration does not say that the code is instrumented")
	default:
		add("cfg", "disabled", "GUARD_CF is not set")
	}
	if flags&guardEHCont != 0 {
		add("eh_continuation_guard", "enabled", "EH continuation table present")
	}
}

func (l *loader) importsAny(names ...string) bool {
	for i := range l.im.Imports {
		for _, n := range names {
			if l.im.Imports[i].Name == n {
				return true
			}
		}
	}
	return false
}
