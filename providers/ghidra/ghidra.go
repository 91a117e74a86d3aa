// Package ghidra is the engine that runs Ghidra's headless analyzer.
//
// A private copy of the target is imported into a temporary project by a JVM of
// ours, which analyses it and then runs our bridge script; package bridged asks
// that script. Nothing of the user's own Ghidra is used but its program files:
// home, settings, caches and project are in the place of the process, and go
// with it.
package ghidra

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/bridged"
	"rea/runtime/bridge"
	"rea/runtime/engine"
)

// ID names the engine in selections.
const ID = "ghidra"

// Revision of the translation: raised whenever the same program may give
// another answer.
const Revision = 1

// DefaultStartTimeout is how long import, analysis and the bridge may take.
const DefaultStartTimeout = 330 * time.Second

// Provider makes Ghidra engines.
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

// Describe tells the version that the installation's files say.
func (p Provider) Describe() engine.Description {
	in, _ := Discover(p.Getenv)
	return engine.Description{Provider: identity(in), Capabilities: append(capabilities(), model.EngineCapabilityObjectiveC, model.EngineCapabilitySwift)}
}

func identity(in Installation) model.Provider {
	id := model.Provider{ID: ID, Name: "Ghidra"}
	if in.Version != "" {
		id.Version = &in.Version
	}
	return id
}

func capabilities() []model.EngineCapability {
	return []model.EngineCapability{
		model.EngineCapabilityFunctions, model.EngineCapabilityBody, model.EngineCapabilityPseudocode, model.EngineCapabilityReferences,
		model.EngineCapabilityStrings, model.EngineCapabilityNames, model.EngineCapabilitySegments, model.EngineCapabilityBytes,
		model.EngineCapabilityFileOffsets, model.EngineCapabilityCursor, model.EngineCapabilityAnnotations, model.EngineCapabilityDataTypes,
		model.EngineCapabilityValueFlow, model.EngineCapabilityCallTargets, model.EngineCapabilityWriteAnnotations,
	}
}

// Available looks at the files of the installation.
func (p Provider) Available(context.Context) engine.Availability {
	_, a := Discover(p.Getenv)
	return a
}

// Supports tells whether Ghidra imports t at the addresses of the file.
func (Provider) Supports(t *engine.Target) engine.Support {
	switch {
	case t.Format == model.TargetFormatUnknown:
		return engine.Support{Reason: "it imports ELF, PE and Mach-O files"}
	case t.Kind == model.TargetKindObject:
		return engine.Support{Reason: "it lays out relocatable objects at addresses of its own"}
	case t.Kind == model.TargetKindCore:
		return engine.Support{Reason: "it is not run on core dumps"}
	case t.Architecture == model.ArchitectureUnknown:
		return engine.Support{Reason: "the architecture of the file is not known"}
	}
	return engine.Support{Supported: true}
}

// Open binds an engine to t. The first question starts Ghidra.
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
	l := launch{installation: in, target: t, copied: copied}
	config := bridge.Config{
		Provider: identity(in), SHA256: copied.SHA256, Prepare: l.prepare, StartTimeout: limit, StartSetting: TimeoutSetting,
		Pending: "import, auto-analysis and the bridge may all still be pending",
	}
	if p.Adjust != nil {
		p.Adjust(&config)
	}
	caps := capabilities()
	if t.Format == model.TargetFormatMachO {
		caps = append(caps, model.EngineCapabilityObjectiveC, model.EngineCapabilitySwift)
	}
	return bridged.New(bridged.Config{
		Profile: profile(in, t, l.loader()), Capabilities: caps, Link: bridge.New(config), File: file, Target: t, Names: names,
		Decompile: decompileTimeout, ShowsNames: true,
	}), nil
}

// decompileTimeout is how long the decompilation of one function may take.
const decompileTimeout = 60 * time.Second

// profile is the configuration that decides what Ghidra finds.
func profile(in Installation, t *engine.Target, loader []string) model.AnalysisProfile {
	quote := func(s string) jsontext.Value {
		b, err := jsontext.AppendQuote(nil, s)
		if err != nil {
			b = []byte(`""`)
		}
		return b
	}
	parameters := map[string]jsontext.Value{
		"revision":          jsontext.Value(fmt.Sprint(Revision)),
		"architecture":      quote(string(t.Architecture)),
		"analysis":          quote("default"),
		"decompile_seconds": jsontext.Value(fmt.Sprint(int(decompileTimeout.Seconds()))),
		"heap_megabytes":    jsontext.Value(fmt.Sprint(heapMegabytes)),
		"processors":        jsontext.Value(fmt.Sprint(processors)),
	}
	if len(loader) > 0 {
		parameters["loader"] = quote(strings.Join(loader, " "))
	}
	if t.Slice != "" {
		parameters["slice"] = quote(t.Slice)
	}
	return engine.NewProfile(identity(in), parameters)
}

//go:embed script/ReaBridge.java
var script []byte
