package embedded

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/format/macho"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// ID names the engine in selections.
const ID = engine.DefaultID

// Revision of the analysis: raised whenever the same bytes may give another
// answer, so that findings of different analyses differ in identity.
const Revision = 6

// Provider makes embedded engines. Version is the version of the program it is part of.
type Provider struct{ Version string }

func (p Provider) identity() model.Provider {
	v := p.Version
	return model.Provider{ID: ID, Name: "rea embedded engine", Version: &v}
}

// Describe lists what the engine can supply for some target; the capabilities
// of an open target may be fewer.
func (p Provider) Describe() engine.Description {
	return engine.Description{Provider: p.identity(), Capabilities: append(common(),
		model.EngineCapabilityDataTypes, model.EngineCapabilityObjectiveC, model.EngineCapabilitySwift)}
}

func common() []model.EngineCapability {
	return []model.EngineCapability{
		model.EngineCapabilityFunctions, model.EngineCapabilityBody, model.EngineCapabilityReferences,
		model.EngineCapabilityStrings, model.EngineCapabilityNames, model.EngineCapabilitySegments,
		model.EngineCapabilityBytes, model.EngineCapabilityFileOffsets, model.EngineCapabilityCallTargets,
		model.EngineCapabilityCursor, model.EngineCapabilityAnnotations, model.EngineCapabilityValueFlow,
		model.EngineCapabilityCppClasses,
	}
}

// Available is always true: the engine is part of this program.
func (Provider) Available(context.Context) engine.Availability {
	return engine.Availability{Available: true}
}

// Supports tells whether t holds code of a supported architecture.
func (Provider) Supports(t *engine.Target) engine.Support {
	switch t.Architecture {
	case model.ArchitectureX86, model.ArchitectureX86_64, model.ArchitectureArm64:
		return engine.Support{Supported: true}
	}
	machine := string(t.Architecture)
	if im, err := Image(t); err == nil && im.Machine != "" {
		machine = im.Machine
	}
	return engine.Support{Reason: fmt.Sprintf("it analyses x86, x86_64 and arm64 code, not %s", machine)}
}

// Image is the parsed form of a target, shared by everyone who asks. Bytes that
// are no native binary give an unsupported_target fault.
func Image(t *engine.Target) (*object.Image, error) {
	return engine.Memo(t, "image", func() (*object.Image, error) {
		im, err := native.Load(t.Data, native.Options{Slice: t.Slice})
		if err != nil {
			return nil, Unsupported(t.Path, err)
		}
		return im, nil
	})
}

// Unsupported is the fault for a file that can't be loaded as a native binary.
func Unsupported(path string, err error) error {
	var slice *macho.UnknownSliceError
	if errors.As(err, &slice) {
		return fault.SliceNotFound(fault.SliceNotFoundDetails{Path: path, Slice: slice.Want, Available: slice.Have}, err)
	}
	d := fault.UnsupportedTargetDetails{Path: path, Expected: "an ELF, PE or Mach-O file", Reason: err.Error()}
	var format *object.FormatError
	if errors.As(err, &format) {
		at := int64(format.Offset)
		d.Offset = &at
		d.Reason = format.What
		if format.Format != "" {
			f := string(format.Format)
			d.Format = &f
		}
	}
	return fault.UnsupportedTarget(d, err)
}

// Open binds the engine to t.
func (p Provider) Open(_ context.Context, t *engine.Target, names engine.Names) (engine.Engine, error) {
	im, err := Image(t)
	if err != nil {
		return nil, err
	}
	return newEngine(p.identity(), t, im, names), nil
}

// profile is the configuration that decides what the engine finds.
func profile(identity model.Provider, t *engine.Target) model.AnalysisProfile {
	parameters := map[string]jsontext.Value{
		"revision":     jsontext.Value(fmt.Sprint(Revision)),
		"architecture": jsontext.Value(fmt.Sprintf("%q", t.Architecture)),
	}
	if t.Slice != "" {
		parameters["slice"] = jsontext.Value(fmt.Sprintf("%q", t.Slice))
	}
	return engine.NewProfile(identity, parameters)
}
