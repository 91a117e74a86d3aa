package doctor

import (
	"rea/cmd/setup/client"
	"rea/generated/tool"
)

// optional are programs that some tools use and nothing else needs. Which tools
// there are comes from the contracts, so that none is named that this build
// doesn't have.
var optional = []struct {
	name, purpose string
	programs      []string // names on PATH
	apps          []string // on macOS
	families      []string // whose tools that drive or start something need it
	command       string   // of the command line
	tools         []string // single tools
}{
	{
		name: "browser", purpose: "pages, captures and screenshots of a Chromium browser",
		programs: []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge", "brave-browser"},
		apps:     []string{"Google Chrome.app/Contents/MacOS/Google Chrome", "Chromium.app/Contents/MacOS/Chromium", "Microsoft Edge.app/Contents/MacOS/Microsoft Edge"},
		families: []string{"browser"},
	},
	{
		name: "lldb", purpose: "calls of a running native program",
		programs: []string{"lldb"}, tools: []string{"observe_native_calls"},
	},
	{
		name: "adb", purpose: "Android devices",
		programs: []string{"adb"}, families: []string{"android"},
	},
	{
		name: "hdiutil", purpose: "disk images in formats that only macOS opens",
		programs: []string{"hdiutil"}, tools: []string{"inspect_artifact", "extract_artifact"},
	},
	{
		name: "Xvfb", purpose: "a display of its own for Hopper on Linux",
		programs: []string{"Xvfb"}, tools: []string{"open_binary"},
	},
	{
		name: "gcc", purpose: "the programs that --verify builds to check an engine with",
		programs: []string{"gcc"}, command: "doctor --verify",
	},
}

// only are programs that exist on one system alone.
var only = map[string]string{"hdiutil": "darwin", "Xvfb": "linux"}

// tooling looks for the optional programs; unused are those that no tool of this
// build uses.
func tooling(h client.Host) (out []Tooling, unused []string) {
	out, unused = []Tooling{}, []string{}
	for _, o := range optional {
		if system, ok := only[o.name]; ok && system != h.OS {
			continue
		}
		t := Tooling{Name: o.name, For: o.purpose, Tools: []string{}}
		for _, s := range tool.Specs() {
			if needs(s, o.families, o.tools) {
				t.Tools = append(t.Tools, s.Name)
			}
		}
		if len(t.Tools) == 0 && o.command == "" {
			unused = append(unused, o.name)
			continue
		}
		for _, p := range o.programs {
			if found, err := h.LookPath(p); err == nil {
				t.Path = &found
				break
			}
		}
		for _, a := range o.apps {
			if path := "/Applications/" + a; h.OS == "darwin" && t.Path == nil && h.Exists(path) {
				t.Path = &path
			}
		}
		if o.command != "" {
			t.Tools = append(t.Tools, o.command)
		}
		out = append(out, t)
	}
	return out, unused
}

func needs(s *tool.Spec, families, tools []string) bool {
	for _, name := range tools {
		if s.Name == name {
			return true
		}
	}
	e := s.Effects
	for _, f := range families {
		if s.Family == f && (e.StartsProcesses || e.UsesNetwork || e.ExecutesForeignCode || e.MutatesDevice) {
			return true
		}
	}
	return false
}
