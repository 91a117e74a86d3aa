package embedded

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"rea/generated/model"
	"rea/providers/embedded/arm64"
	"rea/providers/embedded/isa"
	"rea/providers/embedded/lower"
	"rea/providers/embedded/program"
	"rea/providers/embedded/signature"
	"rea/providers/embedded/x86"
	"rea/providers/format/dwarf"
	"rea/providers/format/objc"
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
	debug   debugInfo

	// Computed once, when first asked for.
	apple      func() (*objc.Metadata, error)
	sections   func() []sectionFact // with entropy
	readable   func() *readableIndex
	startup    func() map[uint64]string
	tableUsers func() map[uint64][]uint64
	summary    func() summaryFacts
	lowered    func() *lower.Program // nil where there is no lifter
	fixed      *constants
	kept       keptFlows
	cpp        hierarchy
	signatures func() *signature.Solver
	closeOnce  sync.Once
}

func newEngine(identity model.Provider, t *engine.Target, im *object.Image, names engine.Names) *Engine {
	e := &Engine{profile: profile(identity, t), target: t, im: im, names: names, dec: decoder(im)}
	e.debug.open = sync.OnceValues(func() (*dwarf.Data, error) { return dwarf.Open(im) })
	e.apple = sync.OnceValues(func() (*objc.Metadata, error) { return objc.Read(im) })
	e.run.start = e.analyze
	e.sections = sync.OnceValue(e.measureSections)
	e.readable = sync.OnceValue(e.indexReadable)
	e.startup = sync.OnceValue(e.startupNames)
	e.tableUsers = sync.OnceValue(e.indexTables)
	e.summary = sync.OnceValue(e.count)
	e.lowered = sync.OnceValue(e.lower)
	e.signatures = sync.OnceValue(func() *signature.Solver { return signature.New(e.lowered(), e.dec) })
	e.fixed = newConstants(im)
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

// analyze recovers the program from the image and what its debug information
// and Objective-C metadata say about functions. The image is shared with format
// tools, so their hints go to a copy.
func (e *Engine) analyze(ctx context.Context, report func(phase string, done, total int)) (*program.Program, error) {
	im := *e.im
	im.Hints, im.Parts, im.NoReturn = slices.Clone(im.Hints), slices.Clone(im.Parts), slices.Clone(im.NoReturn)
	im.Notes = slices.Clone(im.Notes)
	if d, err := e.debug.data(); err == nil && d != nil {
		report("debug information", 0, 0)
		if _, err := d.AddTo(ctx, &im); err != nil {
			return nil, err
		}
	} else if err != nil {
		im.Notes = append(im.Notes, "debug information cannot be read: "+err.Error())
	}
	if im.Format == object.MachO {
		if m, err := e.apple(); err == nil {
			m.AddTo(&im)
		}
	}
	return program.Analyze(ctx, &im, program.Options{Progress: report})
}

// program is the analysed program; the first call pays.
func (e *Engine) program(ctx context.Context) (*program.Program, error) { return e.run.get(ctx) }
