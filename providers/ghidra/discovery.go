package ghidra

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"rea/runtime/engine"
)

// Settings that say where things are.
const (
	InstallSetting = "GHIDRA_INSTALL_DIR"
	JavaSetting    = "JAVA_HOME"
	TimeoutSetting = "REA_GHIDRA_STARTUP_TIMEOUT_MS"
)

// supportedMajor is the version of Ghidra whose API the bridge script uses.
const supportedMajor = 12

// leastJava is the JDK that Ghidra needs when its own properties do not say.
const leastJava = 21

// An Installation is a Ghidra with a JDK that can run it, as their files say.
type Installation struct {
	Root    string
	Version string
	Java    string // JAVA_HOME
	VMArgs  []string

	arch string // of the JDK, as its release file says
}

// Discover looks for Ghidra and its JDK without starting anything. The first
// condition that fails is the reason why there is none; the version is known as
// soon as Ghidra's own files were read.
func Discover(getenv func(string) string) (Installation, engine.Availability) {
	var in Installation
	if reason, remedy := in.find(getenv, runtime.GOOS); reason != "" {
		return in, engine.Availability{Reason: reason, Remediation: remedy}
	}
	return in, engine.Availability{Available: true}
}

func (in *Installation) find(getenv func(string) string, goos string) (reason, remedy string) {
	if goos == "windows" {
		return "it is unsupported on Windows, where its process tree cannot be owned", "Use the embedded engine, or rea on Linux or macOS."
	}
	if reason := in.findGhidra(getenv(InstallSetting), goos); reason != "" {
		return reason, fmt.Sprintf("Set %s to the directory of a Ghidra %d release, the one that holds ghidraRun.", InstallSetting, supportedMajor)
	}
	properties, err := readProperties(filepath.Join(in.Root, "Ghidra", "application.properties"))
	if err != nil {
		return err.Error(), "Install Ghidra again."
	}
	least, most := number(properties["application.java.min"], leastJava), number(properties["application.java.max"], 0)
	if reason := in.findJava(getenv(JavaSetting), least, most); reason != "" {
		return reason, fmt.Sprintf("Set %s to a full 64-bit JDK %d.", JavaSetting, least)
	}
	return in.findNative(goos)
}

// platforms are what Ghidra calls the systems that its native programs are for.
var (
	platforms     = map[string]string{"linux": "linux", "darwin": "mac"}
	architectures = map[string]string{"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm_64", "arm64": "arm_64"}
)

// findNative looks for the decompiler, a native program that releases do not
// have for every platform. The one that is run is that of the JDK.
func (in *Installation) findNative(goos string) (reason, remedy string) {
	platform := platforms[goos] + "_" + architectures[in.arch]
	for _, folder := range []string{"os", filepath.Join("build", "os")} {
		info, err := os.Stat(filepath.Join(in.Root, "Ghidra", "Features", "Decompiler", folder, platform, "decompile"))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return "", ""
		}
	}
	return fmt.Sprintf("the Ghidra in %q has no decompiler for %s that can be run", in.Root, platform),
		"Build it with support/gradle/buildNatives of the installation, or use a release that has it."
}

// findGhidra reads Ghidra's own files.
func (in *Installation) findGhidra(root, goos string) (reason string) {
	switch {
	case root == "":
		return InstallSetting + " is not set"
	case !filepath.IsAbs(root):
		return fmt.Sprintf("%s=%q is not an absolute path", InstallSetting, root)
	case strings.Contains(root, "!"):
		return fmt.Sprintf("%s=%q has an exclamation mark, which Ghidra does not accept", InstallSetting, root)
	}
	if info, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s=%q does not exist", InstallSetting, root)
	} else if err != nil || !info.IsDir() {
		return fmt.Sprintf("%s=%q is not a directory", InstallSetting, root)
	}
	in.Root = root
	properties, err := readProperties(filepath.Join(root, "Ghidra", "application.properties"))
	if err != nil {
		return fmt.Sprintf("%s=%q is no Ghidra release: %v", InstallSetting, root, err)
	}
	version := properties["application.version"]
	if properties["application.name"] != "Ghidra" || version == "" {
		return fmt.Sprintf("%s=%q is no Ghidra release: its application.properties names no version of Ghidra", InstallSetting, root)
	}
	in.Version = version
	major, _, _ := strings.Cut(version, ".")
	if major != strconv.Itoa(supportedMajor) {
		return fmt.Sprintf("Ghidra %s is installed in %q, and version %d.x is needed", version, root, supportedMajor)
	}
	for _, file := range []string{utility, launchFile} {
		if info, err := os.Stat(filepath.Join(root, file)); err != nil || !info.Mode().IsRegular() {
			return fmt.Sprintf("the Ghidra in %q is incomplete: %s is missing", root, file)
		}
	}
	if in.VMArgs, err = readLaunch(filepath.Join(root, launchFile), goos); err != nil {
		return fmt.Sprintf("the Ghidra in %q is damaged: %v", root, err)
	}
	return ""
}

var (
	utility    = filepath.Join("Ghidra", "Framework", "Utility", "lib", "Utility.jar")
	launchFile = filepath.Join("support", "launch.properties")
)

// findJava reads the release file of a JDK.
func (in *Installation) findJava(home string, least, most int) (reason string) {
	switch {
	case home == "":
		return JavaSetting + " is not set"
	case !filepath.IsAbs(home):
		return fmt.Sprintf("%s=%q is not an absolute path", JavaSetting, home)
	}
	release, err := readProperties(filepath.Join(home, "release"))
	if err != nil {
		return fmt.Sprintf("%s=%q is no JDK: %v", JavaSetting, home, err)
	}
	version := strings.Trim(release["JAVA_VERSION"], `"`)
	switch major := javaMajor(version); {
	case major == 0:
		return fmt.Sprintf("%s=%q is no JDK: its release file names no JAVA_VERSION", JavaSetting, home)
	case major < least:
		return fmt.Sprintf("%s=%q has Java %s, and Ghidra needs %d", JavaSetting, home, version, least)
	case most > 0 && major > most:
		return fmt.Sprintf("%s=%q has Java %s, and Ghidra accepts up to %d", JavaSetting, home, version, most)
	}
	if in.arch = strings.Trim(release["OS_ARCH"], `"`); in.arch == "" {
		in.arch = runtime.GOARCH
	}
	switch {
	case architectures[in.arch] == "":
		return fmt.Sprintf("%s=%q is built for %s, and Ghidra needs a 64-bit JDK", JavaSetting, home, in.arch)
	case runtime.GOOS == "linux" && architectures[in.arch] != architectures[runtime.GOARCH]:
		return fmt.Sprintf("%s=%q is built for %s, and this machine is %s", JavaSetting, home, in.arch, runtime.GOARCH)
	}
	for _, tool := range []string{"java", "javac"} {
		path := filepath.Join(home, "bin", tool)
		info, err := os.Stat(path)
		switch {
		case err != nil && tool == "javac":
			return fmt.Sprintf("%s=%q is a JRE: it has no bin/javac, which compiles the bridge script", JavaSetting, home)
		case err != nil:
			return fmt.Sprintf("%s=%q is no JDK: it has no bin/%s", JavaSetting, home, tool)
		case info.Mode()&0o111 == 0 || !info.Mode().IsRegular():
			return fmt.Sprintf("%s is not executable", path)
		}
	}
	in.Java = home
	return ""
}

// javaMajor is 21 for 21.0.2 and 8 for 1.8.0_392.
func javaMajor(version string) int {
	first, rest, _ := strings.Cut(version, ".")
	if first == "1" {
		first, _, _ = strings.Cut(rest, ".")
	}
	first, _, _ = strings.Cut(first, "-")
	return number(first, 0)
}

func number(s string, fallback int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n
	}
	return fallback
}

// maxProperties bounds the property files that are read.
const maxProperties = 1 << 20

func lines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", filepath.Base(path))
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(io.LimitReader(f, maxProperties))
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" && line[0] != '#' && line[0] != '!' {
			out = append(out, line)
		}
	}
	if s.Err() != nil {
		return nil, fmt.Errorf("%s cannot be read", filepath.Base(path))
	}
	return out, nil
}

func readProperties(path string) (map[string]string, error) {
	list, err := lines(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, line := range list {
		if name, value, ok := strings.Cut(line, "="); ok {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out, nil
}

// readLaunch lists the arguments that Ghidra wants its virtual machine to have
// on a system.
func readLaunch(path, goos string) ([]string, error) {
	list, err := lines(path)
	if err != nil {
		return nil, err
	}
	own := map[string]string{"linux": "VMARGS_LINUX", "darwin": "VMARGS_MACOS"}[goos]
	var out []string
	for _, line := range list {
		name, value, _ := strings.Cut(line, "=")
		if name == "VMARGS" || own != "" && name == own {
			if value = strings.ReplaceAll(strings.TrimSpace(value), `"`, ""); value != "" {
				out = append(out, value)
			}
		}
	}
	return out, nil
}
