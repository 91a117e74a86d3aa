package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"rea/generated/fault"
	"rea/runtime/engine"
	"rea/runtime/progress"
)

// DefaultMaxTarget is the largest file that is opened: 1 GiB. The whole file is
// kept in memory while it is open.
const DefaultMaxTarget = 1 << 30

// content is a file that was read once.
type content struct {
	path   string // absolute, links resolved
	data   []byte
	sha256 string
}

// readChunk is how much is read between two looks at the context.
const readChunk = 8 << 20

// readFile reads the regular file at path. Every refusal is a
// target_unavailable fault that names the path as it was given.
func readFile(ctx context.Context, path string, limit int64) (*content, error) {
	refuse := func(kind fault.TargetUnavailableDetailsKind, cause error, format string, args ...any) error {
		return fault.TargetUnavailable(fault.TargetUnavailableDetails{
			Path: Printable(path), Reason: fmt.Sprintf(format, args...), Kind: kind,
		}, cause)
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, refuse(fault.TargetUnavailableDetailsKindInvalidPath, nil, "a path has at least one byte and no NUL")
	}
	resolved, err := resolve(path)
	if err != nil {
		return nil, refuse(kindOf(err), err, "%s", reason(err))
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return nil, refuse(kindOf(err), err, "%s", reason(err))
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(fault.TargetUnavailableDetailsKindNotRegular, nil, "it is %s, not a regular file", kindName(info.Mode()))
	}
	file, err := openFile(resolved)
	if err != nil {
		return nil, refuse(kindOf(err), err, "%s", reason(err))
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return nil, refuse(fault.TargetUnavailableDetailsKindIo, err, "%s", reason(err))
	}
	switch {
	case !before.Mode().IsRegular(): // it was replaced since it was looked at
		return nil, refuse(fault.TargetUnavailableDetailsKindNotRegular, nil, "it is %s, not a regular file", kindName(before.Mode()))
	case before.Size() == 0:
		return nil, refuse(fault.TargetUnavailableDetailsKindEmpty, nil, "it is empty")
	case before.Size() > limit:
		return nil, refuse(fault.TargetUnavailableDetailsKindTooLarge, nil, "it has %d bytes, more than the %d that are opened", before.Size(), limit)
	}
	data, sum, err := readAll(ctx, file, before.Size())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.Is(err, errChanged) {
		return nil, refuse(fault.TargetUnavailableDetailsKindIo, err, "reading failed: %s", reason(err))
	}
	after, statErr := file.Stat()
	if err != nil || statErr != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return nil, refuse(fault.TargetUnavailableDetailsKindChanged, err, "it changed while it was read")
	}
	return &content{path: resolved, data: data, sha256: sum}, nil
}

// ReadTarget reads a file that a call names beside the open target. Nothing is
// recognized and nothing is opened; the faults are those of opening.
func ReadTarget(ctx context.Context, path string) (*engine.Target, error) {
	c, err := readFile(ctx, path, DefaultMaxTarget)
	if err != nil {
		return nil, err
	}
	return &engine.Target{Path: c.path, Name: filepath.Base(c.path), SHA256: c.sha256, Data: c.data}, nil
}

var errChanged = errors.New("the size is not what it was")

// readAll reads exactly size bytes and the end of the file.
func readAll(ctx context.Context, file io.Reader, size int64) ([]byte, string, error) {
	data := make([]byte, size)
	h := hashBehind()
	defer h.sum()
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if size > readChunk {
			progress.Reportf(ctx, "reading the file: %d of %d MB", at>>20, size>>20)
		}
		n, err := io.ReadFull(file, data[at:min(at+readChunk, size)])
		h.write(data[at : at+int64(n)])
		at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, "", errChanged
		}
		if err != nil {
			return nil, "", err
		}
	}
	var one [1]byte
	if n, err := file.Read(one[:]); n != 0 {
		return nil, "", errChanged
	} else if err != nil && err != io.EOF {
		return nil, "", err
	}
	return data, h.sum(), nil
}

// behindHash is a digest that another goroutine computes behind the reader.
type behindHash struct {
	chunks chan []byte
	done   func() string
}

func hashBehind() *behindHash {
	h := &behindHash{chunks: make(chan []byte, 64)}
	result := make(chan string, 1)
	go func() {
		sum := sha256.New()
		for b := range h.chunks {
			sum.Write(b)
		}
		result <- hex.EncodeToString(sum.Sum(nil))
	}()
	h.done = sync.OnceValue(func() string {
		close(h.chunks)
		return <-result
	})
	return h
}

func (h *behindHash) write(b []byte) { h.chunks <- b }

// sum ends the hash; what was written stays unchanged until then.
func (h *behindHash) sum() string { return h.done() }

// resolve makes path absolute and follows links.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func kindOf(err error) fault.TargetUnavailableDetailsKind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.TargetUnavailableDetailsKindMissing
	case errors.Is(err, fs.ErrPermission):
		return fault.TargetUnavailableDetailsKindPermission
	case badPath(err):
		return fault.TargetUnavailableDetailsKindInvalidPath
	}
	return fault.TargetUnavailableDetailsKindIo
}

// reason is the cause of a file error, without the path that the fault names.
func reason(err error) string {
	if cause := new(fs.PathError); errors.As(err, &cause) {
		return cause.Err.Error()
	}
	if text, ok := strings.CutPrefix(err.Error(), "EvalSymlinks: "); ok {
		return text
	}
	return err.Error()
}

func kindName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// Printable is a path that can be written as JSON: bytes that are not UTF-8 are
// shown as escapes.
func Printable(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var out bytes.Buffer
	for len(path) > 0 {
		r, n := utf8.DecodeRuneInString(path)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&out, `\x%02x`, path[0])
		} else {
			out.WriteString(path[:n])
		}
		path = path[n:]
	}
	return out.String()
}
