package application

import (
	"path"

	"github.com/evanw/esbuild/pkg/api"
)

// lower takes the types out of TypeScript. Positions in what it gives are not
// those of the file; ok is false when the text cannot be read.
func lower(name, code string) (out string, ok bool) {
	loader := api.LoaderTS
	if path.Ext(name) == ".tsx" {
		loader = api.LoaderTSX
	}
	r := api.Transform(code, api.TransformOptions{Loader: loader, Target: api.ESNext, JSX: api.JSXPreserve, LogLevel: api.LogLevelSilent})
	return string(r.Code), len(r.Errors) == 0
}
