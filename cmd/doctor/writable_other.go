//go:build !unix

package doctor

func writable(string) string { return "unknown" }
