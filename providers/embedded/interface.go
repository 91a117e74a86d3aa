package embedded

import (
	"rea/generated/model"
	"rea/providers/embedded/program"
	"rea/runtime/engine"
)

// interfaceOf fills in how a function is called, as far as debug information
// and the platform's rules tell.
func (e *Engine) interfaceOf(p *program.Program, i int, b *engine.Body, want engine.Facet) {
	b.Locals = []model.LocalVariable{}
	if want&engine.API != 0 {
		b.API = &model.NativeAPIAvailable{
			CallingConvention: convention(e.im), CallingConventionSource: "the platform's usual convention; nothing in the function was checked against it",
			SignatureSource: "none", Parameters: []model.LocalVariable{},
			Limitations: []string{"the file has no debug information for this function, so parameters and return type are not known"},
		}
	}
	if want&engine.Locals != 0 {
		b.Missing[engine.Locals] = engine.Gap{Reason: "the file has no debug information for this function", Remediation: "open a build with DWARF debug information"}
	}
}
