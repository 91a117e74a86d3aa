package dylib

import (
	"path"
	"slices"
	"strings"

	"rea/providers/format/object"
	"rea/providers/format/pe"
)

// windows is the order in which LoadLibrary searches for a program that was
// started, with the safe search mode that is the default.
type windows struct {
	trace   *Trace
	root    *root
	o       *Options
	machine string
	program place
	system  []string // folders of the system, in order
	is32    bool
}

func newWindows(t *Trace, r *root, start *image, data []byte, o *Options) (*windows, error) {
	im, err := pe.Load(data)
	if err != nil {
		return nil, err
	}
	w := &windows{trace: t, root: r, o: o, machine: im.Machine, program: start.at, is32: im.Bits == 32}
	if o.Executable != "" {
		w.program = r.placeOf(o.Executable)
	}
	t.Loader = "windows"
	if r.host == "" {
		t.note("no sysroot was given: libraries of Windows itself are told by their names")
		return w, nil
	}
	w.system = []string{"/Windows/System32", "/Windows/System", "/Windows"}
	if w.is32 && im.Arch == object.X86 && r.isDir(r.fold(r.guest("/Windows/SysWOW64")).path) {
		w.system[0] = "/Windows/SysWOW64"
	}
	return w, nil
}

func (w *windows) read(im *image, data []byte) ([]need, error) {
	image, err := pe.Load(data)
	if err != nil {
		return nil, err
	}
	im.name = image.SOName
	var out []need
	for _, l := range image.Libraries {
		out = append(out, need{name: l.Name, delay: l.Delay})
	}
	return out, nil
}

func (w *windows) fits(data []byte) string {
	if !pe.Is(data) {
		return "not_pe"
	}
	image, err := pe.Load(data)
	if err != nil {
		return "not_pe"
	}
	if image.Machine != w.machine {
		return "wrong_architecture"
	}
	return ""
}

func (w *windows) key(n need, _ *image) string { return strings.ToLower(dllName(n.name)) }

func (w *windows) keys(n need, im *image) []string {
	return []string{strings.ToLower(dllName(n.name)), strings.ToLower(im.at.base())}
}

// dllName adds what the loader adds to names without an extension.
func dllName(s string) string {
	if !strings.Contains(path.Base(strings.ReplaceAll(s, `\`, "/")), ".") {
		return s + ".dll"
	}
	return s
}

func (w *windows) look(n need, _ *image) []candidate {
	name := dllName(n.name)
	lower := strings.ToLower(name)
	if strings.HasPrefix(lower, "api-ms-win-") || strings.HasPrefix(lower, "ext-ms-") {
		return []candidate{{rule: "API set", state: System, why: "the system maps the name to one of its libraries"}}
	}
	known := slices.Contains(knownDLLs, strings.TrimSuffix(lower, ".dll")) && strings.HasSuffix(lower, ".dll")
	var out []candidate
	add := func(rule string, at place) { out = append(out, candidate{rule: rule, at: w.root.fold(at)}) }
	file := strings.ReplaceAll(name, `\`, "/")
	if known {
		if len(w.system) == 0 {
			return []candidate{{rule: "KnownDLLs", state: System, why: "Windows takes it from its own folder"}}
		}
		add("KnownDLLs", w.root.guest(w.system[0]).join(file))
	}
	add("application folder", w.program.dir().join(file))
	for i, dir := range w.system {
		add([]string{"system folder", "16-bit system folder", "Windows folder"}[i], w.root.guest(dir).join(file))
	}
	for _, p := range w.o.LibraryPath {
		at := w.root.guest(p)
		if w.root.host == "" {
			at = place{p, true}
		}
		add("PATH", at.join(file))
	}
	if len(w.system) == 0 && slices.Contains(windowsDLLs, strings.TrimSuffix(lower, ".dll")) {
		out = append(out, candidate{rule: "system folder", state: System, why: "it is part of Windows"})
	}
	return out
}

// knownDLLs are those that Windows maps from its own folder whatever lies
// beside the program.
var knownDLLs = []string{
	"advapi32", "clbcatq", "combase", "comdlg32", "coml2", "difxapi", "gdi32", "gdiplus", "imagehlp", "imm32", "kernel32", "kernelbase", "msctf",
	"msvcrt", "normaliz", "nsi", "ntdll", "ole32", "oleaut32", "psapi", "rpcrt4", "sechost", "setupapi", "shcore", "shell32", "shlwapi", "user32",
	"wldap32", "ws2_32", "bcrypt", "bcryptprimitives", "cfgmgr32", "crypt32", "gdi32full", "msvcp_win", "ucrtbase", "win32u", "wintrust",
}

// windowsDLLs are other libraries that every Windows has.
var windowsDLLs = []string{
	"activeds", "avrt", "cabinet", "comctl32", "credui", "cryptui", "d2d1", "d3d11", "d3d12", "d3d9", "dbghelp", "dciman32", "ddraw", "dhcpcsvc", "dinput8",
	"dnsapi", "dsound", "dwmapi", "dwrite", "dxgi", "fltlib", "hid", "httpapi", "iphlpapi", "lz32", "mf", "mfplat", "mpr", "msacm32", "msi", "msimg32",
	"mswsock", "ncrypt", "netapi32", "newdev", "odbc32", "oleacc", "oledlg", "opengl32", "pdh", "powrprof", "propsys", "rasapi32", "rstrtmgr", "sensapi",
	"secur32", "sspicli", "t2embed", "tdh", "urlmon", "userenv", "usp10", "uxtheme", "version", "wevtapi", "winhttp", "wininet", "winmm", "winscard",
	"winspool.drv", "wlanapi", "wtsapi32", "xinput1_4", "xmllite",
}
