package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// copyChunk is how much is copied between two looks at the context.
const copyChunk = 4 << 20

// Copy writes data to a file of the place that only the owner can read, reads
// it back and compares the digest, so that the engine is given what was opened.
func (p *Place) Copy(ctx context.Context, name string, data []byte, digest string) (path string, err error) {
	path = p.Path(name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o400)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for rest := data; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Write(rest[:min(len(rest), copyChunk)])
		if err != nil {
			return "", err
		}
		rest = rest[n:]
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, contextReader{ctx, f}); err != nil {
		return "", err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
		return "", fmt.Errorf("the copy has SHA-256 %s and not %s", got, digest)
	}
	return path, nil
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
