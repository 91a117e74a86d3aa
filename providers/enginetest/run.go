package enginetest

import (
	"testing"

	"rea/generated/model"
	"rea/providers/enginetest/conform"
	"rea/runtime/engine"
)

// Run checks that an engine keeps the promises of engine.Engine and that its
// facts are those of nm, objdump and readelf. open opens the ELF file at path,
// without analyst names, and closes the engine when the test ends.
func Run(t *testing.T, open func(t *testing.T, path string) engine.Engine) {
	conform.Suite(t, func(name string, _ model.EngineCapability, check func(conform.T)) {
		t.Run(name, func(t *testing.T) { check(t) })
	}, func(in conform.T, path string) engine.Engine { return open(in.(*testing.T), path) })
}
