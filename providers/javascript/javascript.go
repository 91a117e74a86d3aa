package javascript

import "rea/generated/tool"

// Handlers serve one session. They keep nothing between calls.
type Handlers struct{}

// New makes the handlers.
func New() *Handlers { return &Handlers{} }

var _ tool.JavascriptHandlers = (*Handlers)(nil)
