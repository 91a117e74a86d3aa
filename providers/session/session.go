// Package session is the family of tools that open and close the target and
// tell the state of the connection. What the state is, runtime/session keeps.
package session

import (
	"context"
	"path/filepath"
	"slices"

	"rea/generated/model"
	"rea/generated/tool"
	state "rea/runtime/session"
)

// Config is what the family is told by whoever puts the program together.
type Config struct {
	Session *state.Session
	// Availability describes every tool; see dispatch.Dispatcher.
	Availability func(context.Context) []model.ToolAvailability
	// Identity of what is running.
	Identity Identity
	// Families that were chosen at start; nil means all.
	Families []string
	// HowToShow tells how hidden families are shown.
	HowToShow string
}

// Identity of the running program.
type Identity struct {
	Package, Version   string
	Server             string
	ServerPath         string // "" when unknown
	SDK, SDKVersion    string
	InputSchemaProfile string // full or compact
	CatalogDigest      func() string
}

// Handlers serve one session.
type Handlers struct{ config Config }

// New makes the handlers.
func New(config Config) *Handlers { return &Handlers{config} }

var _ tool.SessionHandlers = (*Handlers)(nil)

// hidden are the families that were not chosen.
func (h *Handlers) hidden() (shown, hidden []string) {
	shown, hidden = []string{}, []string{}
	for _, family := range tool.FamilyNames() {
		if h.config.Families == nil || slices.Contains(h.config.Families, family) {
			shown = append(shown, family)
		} else {
			hidden = append(hidden, family)
		}
	}
	return shown, hidden
}

// samePath reports whether two paths lead to the same file, as far as names tell.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	a, errA := filepath.EvalSymlinks(a)
	b, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && a == b
}
