//go:build unix && !linux

package bridge

func carrying(string) []string { return nil }
