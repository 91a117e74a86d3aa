package mcpserver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/runtime/delivery"
	"rea/runtime/evidence"
)

const (
	evidenceScheme   = "rea://evidence/"
	resourcePage     = 100
	noContents       = `"contents":[]`
	resourceMIMEType = "application/json"
)

func evidenceTemplate() *mcp.ResourceTemplate {
	return &mcp.ResourceTemplate{
		Name:        "evidence",
		Title:       "Evidence record",
		Description: "A record that this connection retains, complete.",
		MIMEType:    resourceMIMEType,
		URITemplate: evidenceScheme + "{id}",
	}
}

// listResources lists retained records, in the order they were recorded.
func (s *server) listResources(req mcp.Request, next func() (mcp.Result, error)) (mcp.Result, error) {
	offset := 0
	if params, ok := req.GetParams().(*mcp.ListResourcesParams); ok && params != nil && params.Cursor != "" {
		n, err := strconv.Atoi(params.Cursor)
		if err != nil || n < 0 {
			return nil, invalidParams("cursor %.80q was not given out", params.Cursor)
		}
		offset = n
		params.Cursor = "" // the SDK has a page of its own
	}
	res, err := next()
	list, ok := res.(*mcp.ListResourcesResult)
	if err != nil || !ok {
		return res, err
	}
	page, total := s.session.Ledger().Page(offset, resourcePage)
	for i := range page {
		list.Resources = append(list.Resources, resourceOf(&page[i]))
	}
	if at := offset + len(page); at < total {
		list.NextCursor = strconv.Itoa(at)
	}
	return list, nil
}

func resourceOf(r *evidence.Summary) *mcp.Resource {
	name := r.Operation
	if p := r.Procedure; p != nil {
		name += " " + p.Address
		if p.Name != "" {
			name += " " + p.Name
		}
	}
	return &mcp.Resource{
		URI:         evidenceScheme + r.ID.String(),
		Name:        name,
		Description: r.PredicateType,
		MIMEType:    resourceMIMEType,
		Size:        int64(r.Bytes),
	}
}

// readResource answers with one retained record.
func (s *server) readResource(req *mcp.ReadResourceRequest) (mcp.Result, error) {
	uri := req.Params.URI
	name, ok := strings.CutPrefix(uri, evidenceScheme)
	if !ok {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	id, err := evidence.ParseID(name)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	record, err := s.session.Ledger().Get(id)
	if errors.Is(err, evidence.ErrNotHeld) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	m, err := record.Decode()
	if err != nil {
		return nil, err
	}
	resource, err := delivery.NewResource(uri, m.AppendJSON(nil))
	if err != nil {
		return nil, err
	}
	if size := resource.Size(); size > int64(s.config.Budget) {
		return nil, &jsonrpc.Error{Code: codeBusy, Message: fmt.Sprintf(
			"the record needs %d bytes and the client's buffer takes %d: use inspect_analysis_view or export_evidence_bundle", size, int64(s.config.Budget))}
	}
	s.conn.replace(number(req), noContents, typed(req.Params, resource))
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}, nil
}
