package macho

import (
	"fmt"
	"strings"

	"rea/providers/format/object"
)

// mitigations states each hardening property from flags, imports and signature.
func (l *loader) mitigations() {
	add := func(name, state, format string, args ...any) {
		l.im.Mitigations = append(l.im.Mitigations, object.Mitigation{Name: name, State: state, Detail: fmt.Sprintf(format, args...)})
	}
	flag := func(name string, on bool, yes, no string) {
		if on {
			add(name, "enabled", "%s", yes)
		} else {
			add(name, "disabled", "%s", no)
		}
	}
	if l.ftype == typeObject {
		return
	}
	mentions := map[string]bool{}
	for i := range l.im.Symbols {
		mentions[l.im.Symbols[i].Name] = true
	}
	for i := range l.im.Imports {
		mentions[l.im.Imports[i].Name] = true
	}
	if l.ftype == typeExecute {
		flag("pie", l.flags&flagPIE != 0, "MH_PIE is set", "MH_PIE is not set")
	} else {
		add("pie", "enabled", "%s images are position independent", l.im.FileType)
	}
	flag("nx", l.flags&flagAllowStack == 0, "MH_ALLOW_STACK_EXECUTION is not set", "MH_ALLOW_STACK_EXECUTION is set")
	switch {
	case l.flags&flagNoHeapExec != 0:
		add("nx_heap", "enabled", "MH_NO_HEAP_EXECUTION is set")
	case l.im.Arch == object.ARM64:
		add("nx_heap", "enabled", "always on for this architecture")
	default:
		add("nx_heap", "disabled", "MH_NO_HEAP_EXECUTION is not set")
	}
	flag("canary", mentions["___stack_chk_fail"] || mentions["___stack_chk_guard"],
		"stack protector symbols are used", "no stack protector symbol is used")
	l.fortify(add)
	arc := mentions["_objc_release"] || mentions["_objc_storeStrong"] || mentions["_objc_retainAutoreleasedReturnValue"]
	if arc || l.im.Section("__DATA,__objc_imageinfo") != nil || l.im.Section("__DATA_CONST,__objc_imageinfo") != nil {
		flag("arc", arc, "reference counting entry points are used", "no reference counting entry point is used")
	}
	if l.im.Arch == object.ARM64 {
		flag("pac", l.im.Subtype == "arm64e", "arm64e", "not an arm64e image")
	}
	if l.sign.present {
		add("code_signature", "enabled", "%s", l.sign.kind())
	} else {
		add("code_signature", "disabled", "no embedded signature")
	}
	flag("hardened_runtime", l.sign.flags&signRuntime != 0, "runtime flag in the code directory", "no runtime flag in a code directory")
	flag("library_validation", l.sign.flags&signLibraryCheck != 0,
		"library validation flag in the code directory", "no library validation flag in a code directory")
	flag("restrict", l.restrict || l.sign.flags&signRestrict != 0, "__RESTRICT segment or restrict flag", "no __RESTRICT segment")
	flag("stripped", l.im.Strip, "no local symbols", "local symbols are present")
	flag("encrypted", l.crypt != 0, fmt.Sprintf("encryption id %d", l.crypt), "not encrypted")
}

// fortify counts the imported functions that check their buffers.
func (l *loader) fortify(add func(name, state, format string, args ...any)) {
	checked := 0
	for i := range l.im.Imports {
		if im := &l.im.Imports[i]; strings.HasPrefix(im.Name, "___") && strings.HasSuffix(im.Name, "_chk") {
			checked++
		}
	}
	if checked > 0 {
		add("fortify", "enabled", "checked functions are imported")
	} else {
		add("fortify", "disabled", "no checked function is imported")
	}
}
