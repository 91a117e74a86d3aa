//go:build unix && !linux

package child

// sweep does nothing: here one cannot wait for a child without reaping it, and
// after that its group's id may be another's. What a child leaves behind when it
// ends by itself goes on; what its context ends is ended with its group.
func (g *group) sweep() {}
