package elf

import (
	"bytes"
	"fmt"
	"strings"

	"rea/providers/format/object"
)

// States of a mitigation.
const (
	enabled  = "enabled"
	disabled = "disabled"
	partial  = "partial"
	unknown  = "unknown"
)

// mitigations reads the hardening properties. Each says what was seen; what
// the file can't tell is unknown, never disabled.
func (f *file) mitigations(names map[string]int) {
	if f.header.typ == etCore {
		return
	}
	add := func(name, state, detail string) {
		f.im.Mitigations = append(f.im.Mitigations, object.Mitigation{Name: name, State: state, Detail: detail})
	}
	if f.header.typ != etRel {
		f.linkage()
		state, detail := f.relro()
		add("relro", state, detail)
		state, detail = f.pie()
		add("pie", state, detail)
		state, detail = f.nx()
		add("nx", state, detail)
		state, detail = f.writableCode()
		add("no_wx_segments", state, detail)
		state, detail = f.textrel()
		add("no_textrel", state, detail)
		state, detail = f.searchPath()
		add("no_rpath", state, detail)
	}
	state, detail := f.canary(names)
	add("canary", state, detail)
	state, detail = f.fortify(names)
	add("fortify", state, detail)
	f.branchProtection(add)
	for _, s := range []struct{ name, detail, prefix string }{
		{"cfi", "cross-module control flow integrity (__cfi_check)", "__cfi_check"},
		{"safe_stack", "__safestack_init is present", "__safestack_init"},
		{"address_sanitizer", "__asan_init is present", "__asan_init"},
		{"hw_address_sanitizer", "__hwasan_init is present", "__hwasan_init"},
	} {
		if names[s.prefix] != 0 {
			add(s.name, enabled, s.detail)
		}
	}
	if f.header.typ != etRel {
		if f.im.Strip {
			add("stripped", enabled, "no static symbol table")
		} else {
			add("stripped", disabled, "a static symbol table is present")
		}
	}
}

// linkage tells how the program is linked.
func (f *file) linkage() {
	v := "dynamic"
	switch {
	case f.im.Interp == "" && len(f.im.Libraries) == 0 && f.im.Kind == object.Executable && f.header.typ == etDyn:
		v = "static-pie"
	case f.im.Interp == "" && len(f.im.Libraries) == 0 && f.im.Kind == object.Executable:
		v = "static"
	}
	f.im.Properties = append(f.im.Properties, object.Property{Name: "linkage", Value: v})
}

func (f *file) relro() (state, detail string) {
	p := f.first(ptGNURelro)
	switch {
	case p == nil || p.memsz == 0:
		return disabled, "no GNU_RELRO segment"
	case f.dynamic.bindNow:
		return enabled, "GNU_RELRO segment and immediate binding: full"
	}
	if _, lazy := f.dynamic.get(dtJmpRel); f.dynamic.present && !lazy {
		return enabled, "GNU_RELRO segment and no lazily bound slots: full"
	}
	return partial, "GNU_RELRO segment without immediate binding: the PLT's slots stay writable"
}

func (f *file) pie() (state, detail string) {
	switch {
	case f.header.typ == etExec:
		return disabled, "ET_EXEC: fixed load address"
	case f.im.Kind == object.Executable:
		return enabled, "ET_DYN executable"
	case f.header.typ == etDyn:
		return enabled, "ET_DYN shared library, position independent"
	}
	return unknown, f.im.FileType
}

func (f *file) nx() (state, detail string) {
	p := f.first(ptGNUStack)
	switch {
	case p != nil && p.flags&pfX == 0:
		return enabled, "GNU_STACK is not executable"
	case p != nil:
		return disabled, "GNU_STACK is executable"
	case f.header.machine == em386 && f.im.OS == "linux":
		return disabled, "no GNU_STACK segment: Linux makes the stack executable"
	}
	return unknown, "no GNU_STACK segment: the default depends on the system"
}

func (f *file) writableCode() (state, detail string) {
	for _, p := range f.programs {
		if p.typ == ptLoad && p.flags&(pfW|pfX) == pfW|pfX {
			return disabled, fmt.Sprintf("the segment at %#x is writable and executable", p.vaddr)
		}
	}
	if len(f.im.Segments) == 0 {
		return unknown, "no segments"
	}
	return enabled, "no segment is both writable and executable"
}

func (f *file) textrel() (state, detail string) {
	switch {
	case f.dynamic.textrel:
		return disabled, "DT_TEXTREL: code is relocated at run time"
	case !f.dynamic.present:
		return enabled, "no dynamic relocations"
	}
	return enabled, "no DT_TEXTREL"
}

// searchPath judges DT_RPATH and DT_RUNPATH by who could put a library there.
func (f *file) searchPath() (state, detail string) {
	if len(f.im.RPaths) == 0 {
		return enabled, "no DT_RPATH or DT_RUNPATH"
	}
	tag := "DT_RUNPATH "
	if f.dynamic.runpath == "" {
		tag = "DT_RPATH "
	}
	detail = tag + strings.Join(f.im.RPaths, ":")
	for _, p := range f.im.RPaths {
		origin := strings.HasPrefix(p, "$ORIGIN") || strings.HasPrefix(p, "${ORIGIN}")
		if !origin && !strings.HasPrefix(p, "/") {
			return disabled, detail + ": a part depends on the working directory"
		}
		if p == "/tmp" || strings.HasPrefix(p, "/tmp/") || strings.HasPrefix(p, "/var/tmp") || strings.HasPrefix(p, "/dev/shm") {
			return disabled, detail + ": a part is world-writable"
		}
	}
	return partial, detail
}

// Where a name was seen.
const (
	nameUndefined = 1 << iota
	nameDefined
)

// referencedNames are the symbols of the whole image.
func (f *file) referencedNames() map[string]int {
	out := make(map[string]int, len(f.im.Symbols))
	for i := range f.im.Symbols {
		s := &f.im.Symbols[i]
		if !strings.HasPrefix(s.Name, "__") && !fortifiable[s.Name] {
			continue
		}
		if s.Defined {
			out[s.Name] |= nameDefined
		} else {
			name, _, _ := strings.Cut(s.Name, "@")
			out[name] |= nameUndefined
		}
	}
	return out
}

// blind tells that a program carries its library code without names.
func (f *file) blind() bool {
	return f.im.Strip && !f.dynamic.present || f.im.Strip && len(f.im.Libraries) == 0 && f.im.Kind == object.Executable
}

func (f *file) canary(names map[string]int) (state, detail string) {
	for _, n := range []string{"__stack_chk_fail", "__stack_chk_fail_local", "__stack_chk_guard", "__stack_smash_handler", "__intel_security_cookie"} {
		if names[n] != 0 {
			return enabled, n + " is referenced"
		}
	}
	if f.blind() {
		return unknown, "statically linked and stripped: there are no names to look for"
	}
	return disabled, "no reference to __stack_chk_fail"
}

// fortifiable are the functions that _FORTIFY_SOURCE replaces by __name_chk.
var fortifiable = map[string]bool{
	"asprintf": true, "confstr": true, "dprintf": true, "fgets": true, "fgetws": true, "fprintf": true, "fread": true, "fwprintf": true,
	"getcwd": true, "getdomainname": true, "getgroups": true, "gethostname": true, "getlogin_r": true, "gets": true, "getwd": true,
	"longjmp": true, "mbsnrtowcs": true, "mbsrtowcs": true, "mbstowcs": true, "memcpy": true, "memmove": true, "mempcpy": true, "memset": true,
	"poll": true, "ppoll": true, "pread": true, "pread64": true, "printf": true, "ptsname_r": true, "read": true, "readlink": true,
	"readlinkat": true, "realpath": true, "recv": true, "recvfrom": true, "snprintf": true, "sprintf": true, "stpcpy": true, "stpncpy": true,
	"strcat": true, "strcpy": true, "strncat": true, "strncpy": true, "swprintf": true, "syslog": true, "ttyname_r": true, "vasprintf": true,
	"vdprintf": true, "vfprintf": true, "vfwprintf": true, "vprintf": true, "vsnprintf": true, "vsprintf": true, "vswprintf": true,
	"vsyslog": true, "vwprintf": true, "wcpcpy": true, "wcpncpy": true, "wcrtomb": true, "wcscat": true, "wcscpy": true, "wcsncat": true,
	"wcsncpy": true, "wcsnrtombs": true, "wcsrtombs": true, "wcstombs": true, "wctomb": true, "wmemcpy": true, "wmemmove": true,
	"wmempcpy": true, "wmemset": true, "wprintf": true,
}

func (f *file) fortify(names map[string]int) (state, detail string) {
	checked, plain := 0, 0
	for name, where := range names {
		if where&nameUndefined == 0 {
			continue
		}
		if base := strings.TrimSuffix(strings.TrimPrefix(name, "__"), "_chk"); len(base) == len(name)-6 && fortifiable[base] {
			checked++
		} else if fortifiable[name] {
			plain++
		}
	}
	switch {
	case checked > 0 && plain > 0:
		return partial, fmt.Sprintf("%d checked functions, %d that could be checked and are not", checked, plain)
	case checked > 0:
		return enabled, fmt.Sprintf("%d checked functions", checked)
	case plain > 0:
		return disabled, fmt.Sprintf("no checked functions, %d that could be", plain)
	case !f.dynamic.present && f.header.typ != etRel:
		return unknown, "statically linked: checked and plain calls can't be told apart by name"
	}
	return unknown, "no function is imported that could be checked"
}

// branchProtection reads the marks for CET and for BTI and PAC. Linkers set
// them only when all inputs had them; code may be protected without the mark.
func (f *file) branchProtection(add func(name, state, detail string)) {
	mark := func(name string, has bool, set uint32, label string) {
		switch {
		case has && set != 0:
			add(name, enabled, "the GNU property has "+label)
		case has:
			add(name, disabled, "the GNU property lacks "+label)
		default:
			add(name, disabled, "no GNU property for it")
		}
	}
	switch f.header.machine {
	case emX86_64, em386:
		mark("cet_ibt", f.props.hasX86, f.props.x86&featureIBT, "IBT")
		mark("cet_shstk", f.props.hasX86, f.props.x86&featureSHSTK, "SHSTK")
	case emAArch64:
		f.markOrCode(add, "bti", f.props.aarch64&featureBTI, "BTI", a64BTIC)
		f.markOrCode(add, "pac", f.props.aarch64&featurePAC, "PAC", 0xd503233f, 0xd503237f)
		if f.props.aarch64&featureGCS != 0 {
			add("gcs", enabled, "the GNU property has GCS")
		}
	}
}

// markOrCode falls back to looking for the instructions themselves.
func (f *file) markOrCode(add func(name, state, detail string), name string, set uint32, label string, insns ...uint32) {
	if set != 0 {
		add(name, enabled, "the GNU property has "+label)
		return
	}
	for _, s := range f.im.Segments {
		if !s.Perm.Execute {
			continue
		}
		for _, insn := range insns {
			if f.containsInsn(f.mapped(s.Addr, s.FileSize), insn) {
				add(name, partial, "code uses it, but the GNU property does not say so")
				return
			}
		}
	}
	add(name, disabled, "no GNU property and no instructions for it")
}

func (f *file) containsInsn(code []byte, insn uint32) bool {
	var pattern [4]byte
	// Instructions are little endian on big-endian AArch64 as well.
	for i := range pattern {
		pattern[i] = byte(insn >> (8 * i))
	}
	for base := 0; ; {
		i := bytes.Index(code[base:], pattern[:])
		if i < 0 {
			return false
		}
		if (base+i)%4 == 0 {
			return true
		}
		base += i + 1
	}
}
