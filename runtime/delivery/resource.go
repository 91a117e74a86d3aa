package delivery

import (
	"io"

	"rea/generated/wire"
)

// A Resource is the result of reading one JSON resource, ready to be written.
type Resource struct {
	uri string
	doc *Document
}

// NewResource prepares a JSON document as the resource at uri.
func NewResource(uri string, doc []byte) (*Resource, error) {
	d, err := NewDocument(doc)
	if err != nil {
		return nil, err
	}
	return &Resource{uri: uri, doc: d}, nil
}

// Size is the number of bytes on the wire that the budget counts, the envelope
// included.
func (r *Resource) Size() int64 {
	var text countingEscaped
	r.doc.lines(&text)
	return int64(text) + int64(len(r.uri)) + Envelope
}

// WriteMembers writes the members of the resources/read result, without the
// braces around them.
func (r *Resource) WriteMembers(w io.Writer) error {
	out := &plain{w: w}
	out.piece(append(wire.AppendString([]byte(`"contents":[{"uri":`), r.uri), `,"mimeType":"application/json","text":"`...))
	text := &escaped{plain{w: w, err: out.err}}
	r.doc.lines(text)
	out.err = text.err
	out.piece([]byte(`"}]`))
	return out.err
}
