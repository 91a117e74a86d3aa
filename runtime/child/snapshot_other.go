//go:build !linux

package child

func snapshot(int) (Snapshot, error) { return Snapshot{}, ErrUnavailable }
