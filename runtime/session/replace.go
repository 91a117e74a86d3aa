package session

import (
	"bytes"
	"io"
	"os"

	"rea/runtime/evidence"
)

// KeepUnlessBundle says why a file that a call was allowed to overwrite with a
// bundle must stay, "" when it may go. What may go is of the same kind or holds
// nothing; what is open never may. The file is at its beginning.
func (s *Session) KeepUnlessBundle(file *os.File) string {
	return s.keep(file, "an Evidence bundle", evidence.IsBundle)
}

// KeepUnlessSnapshot is KeepUnlessBundle for a snapshot.
func (s *Session) KeepUnlessSnapshot(file *os.File) string {
	return s.keep(file, "a snapshot", func(start []byte) bool { return bytes.HasPrefix(start, []byte(snapshotMark)) })
}

func (s *Session) keep(file *os.File, kind string, is func(start []byte) bool) string {
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
	case n == 0, is(start):
		return ""
	}
	return "it is not " + kind + ", and only such a file is replaced by one"
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
