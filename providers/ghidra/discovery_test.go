//go:build unix

package ghidra

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/enginetest/scripted"
	"rea/runtime/engine"
)

func TestDiscover_names_the_condition(t *testing.T) {
	for _, tt := range []struct {
		name    string
		spoil   func(t *testing.T, root, home string, env map[string]string)
		reason  string // "" is available
		version string
	}{
		{"available", func(*testing.T, string, string, map[string]string) {}, "", "12.0"},
		{"nothing_set", func(_ *testing.T, _, _ string, env map[string]string) { delete(env, InstallSetting) }, "GHIDRA_INSTALL_DIR is not set", ""},
		{"relative", func(_ *testing.T, _, _ string, env map[string]string) { env[InstallSetting] = "ghidra" }, "is not an absolute path", ""},
		{"bad_root", func(_ *testing.T, root, _ string, env map[string]string) { env[InstallSetting] = root + "/none" }, "does not exist", ""},
		{"root_is_a_file", func(_ *testing.T, root, _ string, env map[string]string) {
			env[InstallSetting] = filepath.Join(root, launchFile)
		}, "is not a directory", ""},
		{"exclamation_mark", func(_ *testing.T, root, _ string, env map[string]string) { env[InstallSetting] = root + "!" }, "exclamation mark", ""},
		{"no_release", func(_ *testing.T, root, home string, env map[string]string) { env[InstallSetting] = home }, "is no Ghidra release: application.properties cannot be read", ""},
		{"other_program", func(t *testing.T, root, _ string, _ map[string]string) {
			write(t, filepath.Join(root, "Ghidra", "application.properties"), "application.name=Other\napplication.version=12.0\n", 0o644)
		}, "names no version of Ghidra", ""},
		{"too_old", func(t *testing.T, root, _ string, _ map[string]string) {
			write(t, filepath.Join(root, "Ghidra", "application.properties"), "application.name = Ghidra\napplication.version = 11.4.2\n", 0o644)
		}, "Ghidra 11.4.2 is installed", "11.4.2"},
		{"too_new", func(t *testing.T, root, _ string, _ map[string]string) {
			write(t, filepath.Join(root, "Ghidra", "application.properties"), "application.name=Ghidra\napplication.version=120.1\n", 0o644)
		}, "version 12.x is needed", "120.1"},
		{"incomplete", func(t *testing.T, root, _ string, _ map[string]string) { os.Remove(filepath.Join(root, utility)) }, "Utility.jar is missing", "12.0"},
		{"no_launch_settings", func(t *testing.T, root, _ string, _ map[string]string) { os.Remove(filepath.Join(root, launchFile)) }, "launch.properties is missing", "12.0"},
		{"no_java_home", func(_ *testing.T, _, _ string, env map[string]string) { delete(env, JavaSetting) }, "JAVA_HOME is not set", "12.0"},
		{"java_is_none", func(_ *testing.T, root, _ string, env map[string]string) { env[JavaSetting] = root }, "is no JDK: release cannot be read", "12.0"},
		{"java_too_old", func(t *testing.T, _, home string, _ map[string]string) {
			write(t, filepath.Join(home, "release"), "JAVA_VERSION=\"17.0.15\"\n", 0o644)
		}, "has Java 17.0.15, and Ghidra needs 21", "12.0"},
		{"java_8", func(t *testing.T, _, home string, _ map[string]string) {
			write(t, filepath.Join(home, "release"), "JAVA_VERSION=\"1.8.0_392\"\n", 0o644)
		}, "has Java 1.8.0_392", "12.0"},
		{"java_beyond_the_limit", func(t *testing.T, root, home string, _ map[string]string) {
			write(t, filepath.Join(root, "Ghidra", "application.properties"), "application.name=Ghidra\napplication.version=12.1\napplication.java.min=21\napplication.java.max=23\n", 0o644)
			write(t, filepath.Join(home, "release"), "JAVA_VERSION=\"25\"\n", 0o644)
		}, "accepts up to 23", "12.1"},
		{"32_bit", func(t *testing.T, _, home string, _ map[string]string) {
			write(t, filepath.Join(home, "release"), "JAVA_VERSION=\"21\"\nOS_ARCH=\"i586\"\n", 0o644)
		}, "needs a 64-bit JDK", "12.0"},
		{"of_another_machine", func(t *testing.T, _, home string, _ map[string]string) {
			other := map[string]string{"amd64": "aarch64", "arm64": "x86_64"}[runtime.GOARCH]
			write(t, filepath.Join(home, "release"), "JAVA_VERSION=\"21\"\nOS_ARCH=\""+other+"\"\n", 0o644)
			if runtime.GOOS != "linux" || other == "" {
				t.Skip("only where programs of another machine do not run")
			}
		}, "and this machine is", "12.0"},
		{"no_decompiler", func(t *testing.T, root, _ string, _ map[string]string) {
			if err := os.RemoveAll(filepath.Join(root, "Ghidra", "Features", "Decompiler")); err != nil {
				t.Fatal(err)
			}
		}, "has no decompiler for", "12.0"},
		{"decompiler_built_here", func(t *testing.T, root, _ string, _ map[string]string) {
			dir := filepath.Join(root, "Ghidra", "Features", "Decompiler")
			if err := os.Mkdir(filepath.Join(dir, "build"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "os"), filepath.Join(dir, "build", "os")); err != nil {
				t.Fatal(err)
			}
		}, "", "12.0"},
		{"JRE", func(t *testing.T, _, home string, _ map[string]string) {
			os.Remove(filepath.Join(home, "bin", "javac"))
		}, "is a JRE: it has no bin/javac", "12.0"},
		{"java_missing", func(t *testing.T, _, home string, _ map[string]string) { os.Remove(filepath.Join(home, "bin", "java")) }, "it has no bin/java", "12.0"},
		{"java_not_executable", func(t *testing.T, _, home string, _ map[string]string) {
			os.Chmod(filepath.Join(home, "bin", "javac"), 0o644)
		}, "javac is not executable", "12.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			getenv := release(t, scripted.Behaviour{})
			env := map[string]string{InstallSetting: getenv(InstallSetting), JavaSetting: getenv(JavaSetting)}
			tt.spoil(t, env[InstallSetting], env[JavaSetting], env)
			in, a := Discover(func(name string) string { return env[name] })
			if a.Available != (tt.reason == "") || !strings.Contains(a.Reason, tt.reason) || in.Version != tt.version {
				t.Errorf("found version %q, %+v; want version %q, reason %q", in.Version, a, tt.version, tt.reason)
			}
			if !a.Available && a.Remediation == "" {
				t.Error("no way out is named")
			}
		})
	}
}

func TestDiscover_on_Windows(t *testing.T) {
	var in Installation
	if reason, remedy := in.find(release(t, scripted.Behaviour{}), "windows"); !strings.Contains(reason, "Windows") || remedy == "" {
		t.Errorf("reason %q, remedy %q", reason, remedy)
	}
}

func TestLaunchArguments(t *testing.T) {
	getenv := release(t, scripted.Behaviour{})
	for goos, want := range map[string]string{"linux": "-Dl=1", "darwin": "-Dm=1"} {
		var in Installation
		if reason := in.findGhidra(getenv(InstallSetting), goos); reason != "" {
			t.Fatal(reason)
		}
		if got := strings.Join(in.VMArgs, " "); got != "-Djava.system.class.loader=ghidra.GhidraClassLoader "+want {
			t.Errorf("arguments on %s are %q", goos, got)
		}
	}
}

func TestTimeoutSetting(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": DefaultStartTimeout, "1": time.Millisecond, "2147483647": 2147483647 * time.Millisecond, "0330000": 330 * time.Second,
		"0": 0, "2147483648": 0, "-1": 0, "+1": 0, "1.5": 0, "1e3": 0, " 1": 0, "1 ": 0, "0x10": 0, "１": 0, "99999999999999999999": 0, "ten": 0,
	} {
		getenv := func(name string) string {
			if name == TimeoutSetting {
				return value
			}
			return ""
		}
		got, err := startTimeout(getenv)
		if got != want || (want == 0) != (fault.CodeOf(err) == fault.ConfigurationInvalidCode) {
			t.Errorf("%q gives %v, %v", value, got, err)
		}
		if (Validate(getenv) == nil) != (err == nil) {
			t.Errorf("validation of %q disagrees", value)
		}
	}
}

// TestSelection: the rules of choosing hold for this engine, and nothing is started.
func TestSelection(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Start: scripted.Crash}, nil)
	tg, err := target(program(t))
	if err != nil {
		t.Fatal(err)
	}
	absent := Provider{Getenv: func(string) string { return "" }, File: h.provider.File}
	for _, tt := range []struct {
		name      string
		providers []engine.Provider
		request   string
		want      string
		kind      fault.ProviderSelectionDetailsKind
	}{
		{"nobody_chose", []engine.Provider{h.provider, h.provider.File}, "", "embedded", ""},
		{"chosen", []engine.Provider{h.provider, h.provider.File}, ID, ID, ""},
		{"auto_is_ambiguous", []engine.Provider{h.provider, h.provider.File}, engine.Auto, "", fault.ProviderSelectionDetailsKindAmbiguous},
		{"auto_without_ghidra", []engine.Provider{absent, h.provider.File}, engine.Auto, "embedded", ""},
		{"unavailable", []engine.Provider{absent, h.provider.File}, ID, "", fault.ProviderSelectionDetailsKindUnavailable},
		{"unknown", []engine.Provider{h.provider}, "radare", "", fault.ProviderSelectionDetailsKindUnknown},
		{"written_otherwise", []engine.Provider{h.provider}, "Ghidra", "", fault.ProviderSelectionDetailsKindUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := engine.Select(t.Context(), tt.providers, tg, engine.Choose(tt.request, "", ""))
			if tt.want != "" {
				if err != nil || p.Describe().Provider.ID != tt.want {
					t.Errorf("selected %v, %v", p, err)
				}
				return
			}
			f, ok := err.(*fault.Error)
			if !ok || f.Details.(*fault.ProviderSelectionDetails).Kind != tt.kind || len(f.Details.(*fault.ProviderSelectionDetails).Candidates) != len(tt.providers) {
				t.Errorf("error is %v, want kind %s and all candidates", err, tt.kind)
			}
		})
	}
	if s := h.provider.Supports(&engine.Target{Format: model.TargetFormatElf, Kind: model.TargetKindObject, Architecture: model.ArchitectureX86_64}); s.Supported || s.Reason == "" {
		t.Errorf("a relocatable object: %+v", s)
	}
	list := engine.Candidates(t.Context(), []engine.Provider{h.provider, absent}, nil, "")
	if len(list) != 2 || list[0].TargetSupport.State != model.EngineCandidateTargetSupportStateUnknown || *list[0].Provider.Version != "12.0" {
		t.Errorf("candidates are %+v", list)
	}
}
