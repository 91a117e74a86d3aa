package application

import (
	"path"
	"strconv"

	"github.com/evanw/esbuild/pkg/api"
)

// lower takes the types out of TypeScript. Positions in what it gives are not
// those of the file. When the text cannot be read, reason says why.
func lower(name, code string) (out, reason string) {
	loader := api.LoaderTS
	if path.Ext(name) == ".tsx" {
		loader = api.LoaderTSX
	}
	r := api.Transform(code, api.TransformOptions{Loader: loader, Target: api.ESNext, JSX: api.JSXPreserve, LogLevel: api.LogLevelSilent})
	if len(r.Errors) == 0 {
		return string(r.Code), ""
	}
	reason = r.Errors[0].Text
	if at := r.Errors[0].Location; at != nil {
		reason = "line " + strconv.Itoa(at.Line) + ": " + reason
	}
	return "", reason
}
