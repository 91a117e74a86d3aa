package embedded

import (
	"context"
	"fmt"
	"sync"

	"rea/generated/model"
	"rea/providers/embedded/arm64"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/program"
	"rea/providers/embedded/x86"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// Engine answers questions about one image.
type Engine struct {
	profile model.AnalysisProfile
	target  *engine.Target
	im      *object.Image
	dec     isa.Decoder
	names   engine.Names
	run     analysis

	sections  func() []sectionFact // with entropy, computed once
	readable  func() *readableIndex
	summary   func() summaryFacts
	closeOnce sync.Once
}

func newEngine(identity model.Provider, t *engine.Target, im *object.Image, names engine.Names) *Engine {
	e := &Engine{profile: profile(identity, t), target: t, im: im, names: names, dec: decoder(im)}
	e.run.start = func(ctx context.Context, report func(phase string, done, total int)) (*program.Program, error) {
		return program.Analyze(ctx, im, program.Options{Progress: report})
	}
	e.sections = sync.OnceValue(e.measureSections)
	e.readable = sync.OnceValue(e.indexReadable)
	e.summary = sync.OnceValue(e.count)
	return e
}

func decoder(im *object.Image) isa.Decoder {
	switch im.Arch {
	case object.X86:
		return x86.New(32)
	case object.X86_64:
		return x86.New(64)
	case object.ARM64:
		return arm64.New()
	}
	return nil
}

// Profile is the exact configuration.
func (e *Engine) Profile() model.AnalysisProfile { return e.profile }

// Capabilities of this target: what its bytes can answer.
func (e *Engine) Capabilities() []model.EngineCapability {
	c := common()
	for _, kind := range e.im.Debug {
		if kind == "dwarf" {
			c = append(c, model.EngineCapabilityDataTypes)
			break
		}
	}
	if e.im.Format == object.MachO {
		c = append(c, model.EngineCapabilityObjectiveC, model.EngineCapabilitySwift)
	}
	return c
}

// Activity never blocks behind an analysis.
func (e *Engine) Activity() engine.Activity { return e.run.activity() }

// Documents is the file, with its slice where the file has several.
func (e *Engine) Documents(context.Context) ([]string, error) { return []string{e.document()}, nil }

func (e *Engine) document() string {
	if len(e.target.Slices) > 1 {
		return fmt.Sprintf("%s (%s)", e.target.Name, e.target.Slice)
	}
	return e.target.Name
}

// Close stops an analysis that still runs.
func (e *Engine) Close() error {
	e.closeOnce.Do(e.run.stop)
	return nil
}

// program is the analysed program; the first call pays.
func (e *Engine) program(ctx context.Context) (*program.Program, error) { return e.run.get(ctx) }
