// Package framing reads newline-delimited JSON-RPC 2.0 from a byte stream that
// may contain anything.
//
// A line that is one well-formed message becomes a [Message]. Any other line
// becomes a [Fault]: the JSON-RPC error replies that its sender is owed. A fault
// never ends the stream, and a reader holds at most one frame of the configured
// size: the rest of an oversize line is dropped as it arrives.
//
// What is checked, in this order: size, UTF-8, nesting depth, JSON syntax, one
// value on the line, the value being an object (batch arrays were dropped from
// the protocol in 2025-06-18), and the shape of a JSON-RPC 2.0 message. Replies
// carry the id of the offending message whenever it can be read, so that a
// client waiting for that id is answered.
package framing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Error codes of JSON-RPC 2.0.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
)

// Limits bound what one line may hold.
type Limits struct {
	// FrameBytes is the longest accepted line, without its line break.
	FrameBytes int
	// Depth is the deepest accepted nesting of arrays and objects.
	Depth int
}

// DefaultLimits accept two complete 10 MiB records in one request and stay
// below the depth of 1,000 at which the MCP SDK gives up.
var DefaultLimits = Limits{FrameBytes: 32 << 20, Depth: 512}

// maxReplies bounds the replies to one faulty line.
const maxReplies = 64

// A Message is one JSON-RPC message. Its slices are owned by the receiver.
type Message struct {
	ID     any    // nil for a notification, else a string or an int64
	Method string // empty for a response
	Params []byte // nil when absent
	Result []byte // of a response
	Error  []byte // of a response
}

// A Fault is a line that is no message.
type Fault struct {
	Code    int
	Message string
	// IDs are the raw JSON ids the line is known to carry, never empty:
	// a single nil stands for "unknown" and is answered with a null id.
	IDs [][]byte
}

func (f *Fault) Error() string { return f.Message }

// A Reader turns a stream into messages. It is not safe for concurrent use.
type Reader struct {
	src    *bufio.Reader
	limits Limits
	frame  []byte
}

// NewReader reads from src; zero limits select [DefaultLimits].
func NewReader(src io.Reader, limits Limits) *Reader {
	if limits.FrameBytes <= 0 {
		limits.FrameBytes = DefaultLimits.FrameBytes
	}
	if limits.Depth <= 0 {
		limits.Depth = DefaultLimits.Depth
	}
	return &Reader{src: bufio.NewReaderSize(src, 64<<10), limits: limits}
}

// Next returns the next message. A *[Fault] error describes one bad line, after
// which reading goes on; any other error is the end of the stream. Blank lines
// are skipped.
func (r *Reader) Next() (*Message, error) {
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		return parse(line, r.limits.Depth)
	}
}

// line returns the next line without its break. The last line of a stream may
// lack one. The result is owned by the caller.
func (r *Reader) line() ([]byte, error) {
	r.frame = r.frame[:0]
	for {
		part, err := r.src.ReadSlice('\n')
		full := err == nil
		if full {
			part = part[:len(part)-1]
		}
		if len(r.frame)+len(part) > r.limits.FrameBytes {
			return nil, r.discard(part, full)
		}
		r.frame = append(r.frame, part...)
		switch {
		case full:
			return r.take(), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(r.frame) > 0:
			return r.take(), nil
		default:
			return nil, err
		}
	}
}

// take gives the frame away; small frames are copied so that the growing buffer
// is kept, large ones are handed over so that they are not held twice.
func (r *Reader) take() []byte {
	if cap(r.frame) <= 64<<10 {
		return bytes.Clone(r.frame)
	}
	frame := r.frame
	r.frame = nil
	return frame
}

// discard drops the rest of an oversize line, looking for its id on the way.
func (r *Reader) discard(part []byte, full bool) error {
	var ids idScanner
	ids.feed(r.frame)
	ids.feed(part)
	size := int64(len(r.frame) + len(part))
	r.frame = nil
	for !full {
		more, err := r.src.ReadSlice('\n')
		full = err == nil
		ids.feed(more)
		size += int64(len(more))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	return &Fault{
		Code:    CodeInvalidRequest,
		Message: fmt.Sprintf("message of at least %d bytes exceeds the frame limit of %d bytes", size, r.limits.FrameBytes),
		IDs:     ids.found(),
	}
}

// parse checks one line and splits it into its members.
func parse(line []byte, maxDepth int) (*Message, error) {
	if !utf8.Valid(line) {
		return nil, faultOf(line, CodeParse, "message is not valid UTF-8")
	}
	if deeper(line, maxDepth) {
		return nil, faultOf(line, CodeParse, fmt.Sprintf("message is nested deeper than %d levels", maxDepth))
	}
	return decode(line)
}

// faultOf is a fault that carries the ids the line can be seen to have.
func faultOf(line []byte, code int, message string) *Fault {
	var ids idScanner
	ids.feed(line)
	return &Fault{Code: code, Message: message, IDs: ids.found()}
}

// deeper reports whether brackets outside of strings nest beyond limit.
func deeper(line []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		if quoted {
			switch c {
			case '\\':
				i++
			case '"':
				quoted = false
			}
			continue
		}
		switch c {
		case '"':
			quoted = true
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}
