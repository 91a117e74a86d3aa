//go:build !unix

package bridge

const ownerFile = "owner"

// own does nothing: here no engine runs in a place.
func (p *Place) own() {}

// Abandoned lists nothing, because no engine runs in a place here.
func Abandoned(string) []string { return nil }

// Sweep does nothing.
func Sweep(string) []string { return nil }
