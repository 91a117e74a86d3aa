package session

import (
	"bytes"
	"io"
	"os"

	"rea/runtime/evidence"
)

// Keep says why a file that a call was allowed to overwrite must stay, "" when
// it may go. What may go is a bundle, a snapshot, or a file that holds nothing;
// what is open never is. The file is at its beginning.
func (s *Session) Keep(file *os.File) string {
	b, release := s.Acquire()
	defer release()
	if b != nil && b.isTarget(file) {
		return "it is the open target"
	}
	start := make([]byte, 64)
	n, err := io.ReadFull(file, start)
	switch start = start[:n]; {
	case err != nil && err != io.ErrUnexpectedEOF && err != io.EOF:
		return "it cannot be read, to see what it is: " + reason(err)
	case n == 0, evidence.IsBundle(start), bytes.HasPrefix(start, []byte(snapshotHead)):
		return ""
	}
	return "it is neither an Evidence bundle nor a snapshot, and only those are overwritten"
}

// isTarget reports whether a file is that of the target, under whatever name.
func (b *Binding) isTarget(file *os.File) bool {
	target, err := os.Stat(b.Target.Path)
	if err != nil {
		return false
	}
	info, err := file.Stat()
	return err == nil && os.SameFile(target, info)
}
