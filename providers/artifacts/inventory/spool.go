package inventory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// inMemory is how much of a nested container is kept in memory before it goes
// to a file.
const inMemory = 4 << 20

// spool keeps the bytes of a nested container that cannot be read where they
// lie. Its file has no name as soon as the system allows, so that nothing stays
// behind however the process ends.
type spool struct {
	memory bytes.Buffer
	file   *os.File
	named  bool // the file could not be unlinked while open
	n      int64
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) > inMemory {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	s.n += int64(len(p))
	if s.file != nil {
		return s.file.Write(p)
	}
	return s.memory.Write(p)
}

func (s *spool) spill() error {
	f, err := os.CreateTemp("", ".rea-spool-*")
	if err != nil {
		return err
	}
	s.file, s.named = f, os.Remove(f.Name()) != nil
	_, err = s.memory.WriteTo(f)
	s.memory = bytes.Buffer{}
	return err
}

func (s *spool) source(ctx context.Context) *io.SectionReader {
	if s.file != nil {
		return io.NewSectionReader(watched{ctx, s.file}, 0, s.n)
	}
	return io.NewSectionReader(bytes.NewReader(s.memory.Bytes()), 0, s.n)
}

func (s *spool) Close() error {
	s.memory = bytes.Buffer{}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	s.file = nil
	return err
}
