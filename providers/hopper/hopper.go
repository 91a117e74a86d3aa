// Package hopper is the engine that runs Hopper.
//
// Hopper is a program with a window. It is given a private copy of the target
// and our bridge script, which it runs when it has analysed the target; package
// bridged asks that script. On Linux it gets a display of its own, which nobody
// sees. On macOS the launcher may hand the file to a Hopper that runs already:
// then only our document is closed in the end, and that process is left alone.
package hopper

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/bridged"
	"rea/runtime/bridge"
	"rea/runtime/child"
	"rea/runtime/engine"
)

// ID names the engine in selections.
const ID = "hopper"

// Revision of the translation: raised whenever the same document may give
// another answer.
const Revision = 1

// DefaultStartTimeout is how long loading, analysis and the bridge may take.
const DefaultStartTimeout = 120 * time.Second

// decompileTimeout is how long the decompilation of one procedure may take.
const decompileTimeout = 60 * time.Second

// Provider makes Hopper engines.
type Provider struct {
	// Getenv reads settings.
	Getenv func(string) string
	// File makes what reads facts of the file itself.
	File engine.Provider
	// Adjust, unless nil, changes how an engine is run. It is for tests.
	Adjust func(*bridge.Config)
}

// Validate checks the settings whose values can be wrong by themselves.
func Validate(getenv func(string) string) error {
	_, err := startTimeout(getenv)
	return err
}

func startTimeout(getenv func(string) string) (time.Duration, error) {
	return bridge.ParseTimeout(TimeoutSetting, getenv(TimeoutSetting), DefaultStartTimeout)
}

// Describe tells the version that the application's files say.
func (p Provider) Describe() engine.Description {
	in, _ := Discover(p.Getenv)
	return engine.Description{Provider: identity(in), Capabilities: append(capabilities(), model.EngineCapabilityObjectiveC, model.EngineCapabilitySwift)}
}

func identity(in Installation) model.Provider {
	id := model.Provider{ID: ID, Name: "Hopper"}
	if in.Version != "" {
		id.Version = &in.Version
	}
	return id
}

func capabilities() []model.EngineCapability {
	return []model.EngineCapability{
		model.EngineCapabilityFunctions, model.EngineCapabilityBody, model.EngineCapabilityPseudocode, model.EngineCapabilityReferences,
		model.EngineCapabilityStrings, model.EngineCapabilityNames, model.EngineCapabilitySegments, model.EngineCapabilityBytes,
		model.EngineCapabilityFileOffsets, model.EngineCapabilityCursor, model.EngineCapabilityAnnotations, model.EngineCapabilityCallTargets,
		model.EngineCapabilityWriteAnnotations,
	}
}

// Available looks at the files of the application.
func (p Provider) Available(context.Context) engine.Availability {
	_, a := Discover(p.Getenv)
	return a
}

// loaders and processors are the arguments that spare Hopper a question to the user.
var (
	loaders = map[model.TargetFormat]string{
		model.TargetFormatElf: "ELF", model.TargetFormatPe: "WinPE", model.TargetFormatMachO: "Mach-O",
	}
	processors = map[model.Architecture]string{
		model.ArchitectureX86: "--intel-32", model.ArchitectureX86_64: "--intel-64", model.ArchitectureArm64: "--aarch64",
	}
)

// Supports tells whether Hopper loads t without asking anybody.
func (Provider) Supports(t *engine.Target) engine.Support {
	switch {
	case loaders[t.Format] == "":
		return engine.Support{Reason: "it loads ELF, PE and Mach-O files"}
	case processors[t.Architecture] == "":
		return engine.Support{Reason: fmt.Sprintf("it is run on x86, x86_64 and arm64 code, not %s", t.Architecture)}
	case t.Kind == model.TargetKindObject:
		return engine.Support{Reason: "it lays out relocatable objects at addresses of its own"}
	case t.Kind == model.TargetKindCore:
		return engine.Support{Reason: "it is not run on core dumps"}
	}
	return engine.Support{Supported: true}
}

// Open binds an engine to t. The first question starts Hopper.
func (p Provider) Open(ctx context.Context, t *engine.Target, names engine.Names) (engine.Engine, error) {
	in, available := Discover(p.Getenv)
	if !available.Available {
		return nil, fault.ProviderUnavailable(fault.ProviderUnavailableDetails{ProviderID: ID, Reason: available.Reason, Candidates: []string{}}, nil)
	}
	limit, err := startTimeout(p.Getenv)
	if err != nil {
		return nil, err
	}
	copied, err := bridged.Thin(t)
	if err != nil {
		return nil, err
	}
	file, err := p.File.Open(ctx, t, names)
	if err != nil {
		return nil, err
	}
	digest := ""
	if in.Version == "" {
		if digest, err = fileDigest(ctx, in.Launcher); err != nil {
			return nil, fault.ProviderUnavailable(fault.ProviderUnavailableDetails{
				ProviderID: ID, Reason: "its launcher cannot be read: " + err.Error(), Candidates: []string{},
			}, err)
		}
	}
	l := launch{installation: in, target: t, copied: copied, getenv: p.Getenv}
	config := bridge.Config{
		Provider: identity(in), SHA256: copied.SHA256, Prepare: l.prepare, StartTimeout: limit, StartSetting: TimeoutSetting, HandsOver: true,
		Pending: "loading, analysis and the bridge may all still be pending",
	}
	if in.Xvfb != "" {
		config.Companion = l.display
	}
	if p.Adjust != nil {
		p.Adjust(&config)
	}
	caps := capabilities()
	if t.Format == model.TargetFormatMachO {
		caps = append(caps, model.EngineCapabilityObjectiveC, model.EngineCapabilitySwift)
	}
	return bridged.New(bridged.Config{
		Profile: profile(in, digest, t), Capabilities: caps, Link: bridge.New(config), File: file, Target: t, Names: names,
		Decompile: decompileTimeout, ShowsNames: true, HasCursor: true,
	}), nil
}

// fileDigest is the SHA-256 of a file in hexadecimal.
func fileDigest(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), ctx.Err()
}

// profile is the configuration that decides what Hopper finds. Where no file says
// the version, digest is that of the program.
func profile(in Installation, digest string, t *engine.Target) model.AnalysisProfile {
	quote := func(s string) jsontext.Value {
		b, err := jsontext.AppendQuote(nil, s)
		if err != nil {
			b = []byte(`""`)
		}
		return b
	}
	parameters := map[string]jsontext.Value{
		"revision":     jsontext.Value(fmt.Sprint(Revision)),
		"architecture": quote(string(t.Architecture)),
		"loader":       quote(loaders[t.Format]),
	}
	if digest != "" {
		parameters["launcher_sha256"] = quote(digest)
	}
	if t.Slice != "" {
		parameters["slice"] = quote(t.Slice)
	}
	return engine.NewProfile(identity(in), parameters)
}

//go:embed script/rea_bridge.py
var script []byte

// launch is how one target is given to Hopper.
type launch struct {
	installation Installation
	target       *engine.Target
	copied       bridged.Copied
	getenv       func(string) string
}

// prepare fills the place and says how Hopper is started. Its licence is in the
// home of the user, so that it keeps that one; everything else is in the place.
func (l *launch) prepare(ctx context.Context, p *bridge.Place) (child.Command, error) {
	if err := p.Mkdir("tmp", "script", "target"); err != nil {
		return child.Command{}, fmt.Errorf("preparing Hopper's place: %w", err)
	}
	root, err := json.Marshal(p.Root) // a literal of Python as well
	if err != nil {
		return child.Command{}, err
	}
	bridgeScript := append([]byte("ROOT = "+string(root)+"\n"), script...)
	name := filepath.Join("script", "rea_bridge.py")
	if err := p.Write(name, bridgeScript); err != nil {
		return child.Command{}, fmt.Errorf("preparing Hopper's place: %w", err)
	}
	target, err := p.Copy(ctx, filepath.Join("target", "target"), l.copied.Data, l.copied.SHA256)
	if err != nil {
		return child.Command{}, fmt.Errorf("copying the target for Hopper: %w", err)
	}
	args := []string{"-l", loaders[l.target.Format], processors[l.target.Architecture], "-a"}
	if l.target.Format == model.TargetFormatMachO {
		args = append(args, "-o", "-f")
	}
	args = append(args, "-e", target, "-Y", p.Path(name))
	return child.Command{Path: l.installation.Launcher, Args: args, Dir: p.Root, Env: l.environment(p)}, nil
}

func (l *launch) environment(p *bridge.Place) []string {
	env := []string{"TMPDIR=" + p.Path("tmp"), "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8"}
	if home := l.getenv("HOME"); home != "" {
		env = append(env, "HOME="+home)
	}
	switch {
	case p.Companion != "":
		env = append(env, "DISPLAY=:"+p.Companion, "XAUTHORITY="+p.Path(authority))
	case l.installation.Display != "":
		env = append(env, "DISPLAY="+l.installation.Display)
		if file := l.getenv("XAUTHORITY"); file != "" {
			env = append(env, "XAUTHORITY="+file)
		}
	}
	return env
}
