package hopper

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"rea/providers/format/plist"
	"rea/runtime/engine"
)

// Settings that say where things are.
const (
	LauncherSetting = "HOPPER_LAUNCHER_PATH"
	TimeoutSetting  = "REA_HOPPER_STARTUP_TIMEOUT_MS"
)

// launchers are where Hopper's installers put it.
var launchers = map[string]string{
	"darwin": "/Applications/Hopper Disassembler.app/Contents/MacOS/hopper",
	"linux":  "/opt/hopper/bin/Hopper",
}

// An Installation is a Hopper, as its files say.
type Installation struct {
	Launcher string
	Version  string // "" when no file says
	Xvfb     string // on Linux: what shows Hopper's window where nobody sees it
	Display  string // on Linux without Xvfb: the display of the user
}

// Discover looks for Hopper without starting anything. The first condition that
// fails is the reason why there is none.
func Discover(getenv func(string) string) (Installation, engine.Availability) {
	in, reason, remedy := find(getenv, runtime.GOOS)
	if reason != "" {
		return in, engine.Availability{Reason: reason, Remediation: remedy}
	}
	return in, engine.Availability{Available: true}
}

func find(getenv func(string) string, goos string) (in Installation, reason, remedy string) {
	usual, supported := launchers[goos]
	if !supported {
		return in, "it runs on macOS and Linux, not on " + goos, "Use another engine, or rea on macOS or Linux."
	}
	remedy = fmt.Sprintf("Install Hopper, or set %s to its launcher.", LauncherSetting)
	in.Launcher = getenv(LauncherSetting)
	switch {
	case in.Launcher == "":
		if _, err := os.Stat(usual); err != nil {
			return in, fmt.Sprintf("%s is not set and there is no %s", LauncherSetting, usual), remedy
		}
		in.Launcher = usual
	case !filepath.IsAbs(in.Launcher):
		return in, fmt.Sprintf("%s=%q is not an absolute path", LauncherSetting, in.Launcher), remedy
	}
	info, err := os.Stat(in.Launcher)
	switch {
	case err != nil:
		return in, fmt.Sprintf("%s=%q does not exist", LauncherSetting, in.Launcher), remedy
	case info.IsDir():
		return in, fmt.Sprintf("%s=%q is a directory", LauncherSetting, in.Launcher), remedy
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return in, fmt.Sprintf("%s=%q is not executable", LauncherSetting, in.Launcher), remedy
	}
	in.Version = bundleVersion(in.Launcher)
	if goos != "linux" {
		return in, "", ""
	}
	if in.Xvfb = lookIn(getenv("PATH"), "Xvfb"); in.Xvfb == "" {
		if in.Display = getenv("DISPLAY"); in.Display == "" {
			return in, "it has a window, and there is neither Xvfb in PATH nor a DISPLAY", "Install Xvfb, so that Hopper runs where nobody sees it."
		}
	}
	return in, "", ""
}

// bundleVersion reads the property list of the application that a launcher is part of.
func bundleVersion(launcher string) string {
	const most = 1 << 20
	path := filepath.Join(filepath.Dir(filepath.Dir(launcher)), "Info.plist")
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	list, _, err := plist.Parse(data)
	if err != nil {
		return ""
	}
	return list.String("CFBundleShortVersionString")
}

// lookIn finds an executable in the directories of a PATH.
func lookIn(path, name string) string {
	for _, dir := range strings.Split(path, string(os.PathListSeparator)) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}
