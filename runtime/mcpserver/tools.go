package mcpserver

import (
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/generated/schema"
	"rea/generated/tool"
	"rea/generated/wire"
)

// toolList is the answer to tools/list, written once.
type toolList struct{ members []byte }

// noTools is what the SDK answers, which knows no tools.
const noTools = `"tools":[]`

func newToolList(specs []*tool.Spec, profile schema.Profile) *toolList {
	size := 0
	for _, spec := range specs {
		size += len(schema.Input(spec.Name, profile)) + len(schema.Output(spec.Name)) + len(spec.Description) + 400
	}
	out := append(make([]byte, 0, size), `"tools":[`...)
	for i, spec := range specs {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendTool(out, spec, profile)
	}
	return &toolList{append(out, ']')}
}

func appendTool(out []byte, spec *tool.Spec, profile schema.Profile) []byte {
	out = append(out, `{"name":`...)
	out = wire.AppendString(out, spec.Name)
	out = append(out, `,"title":`...)
	out = wire.AppendString(out, spec.Title)
	out = append(out, `,"description":`...)
	out = wire.AppendString(out, spec.Description)
	out = append(out, `,"inputSchema":`...)
	out = append(out, schema.Input(spec.Name, profile)...)
	out = append(out, `,"outputSchema":`...)
	out = append(out, schema.Output(spec.Name)...)
	out = append(out, `,"annotations":{"readOnlyHint":`...)
	out = wire.AppendBool(out, spec.Effects.ReadOnly())
	out = append(out, `,"destructiveHint":`...)
	out = wire.AppendBool(out, spec.Effects.Destructive())
	out = append(out, `,"idempotentHint":`...)
	out = wire.AppendBool(out, spec.Effects.Idempotent)
	out = append(out, `,"openWorldHint":`...)
	out = wire.AppendBool(out, spec.Effects.OpenWorld())
	return append(out, "}}"...)
}

// WriteMembers writes the list.
func (l *toolList) WriteMembers(w io.Writer) error {
	_, err := w.Write(l.members)
	return err
}

// listTools answers with all tools on one page.
func (s *server) listTools(req mcp.Request, next func() (mcp.Result, error)) (mcp.Result, error) {
	if params, ok := req.GetParams().(*mcp.ListToolsParams); ok && params != nil && params.Cursor != "" {
		return nil, invalidParams("cursor %.80q was not given out: the tools are one page", params.Cursor)
	}
	res, err := next()
	if err != nil {
		return nil, err
	}
	s.conn.replace(number(req), noTools, s.list())
	return res, nil
}
