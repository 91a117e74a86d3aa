package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"rea/generated/wire"
	"rea/runtime/mcpserver/framing"
)

// Bounds of what a client may have in flight.
const (
	maxInFlight      = 1024
	maxInFlightBytes = 256 << 20
)

// codeBusy is the JSON-RPC code, out of the range for servers, for a request
// beyond these bounds.
const codeBusy = -32000

// A payload writes members of a result in place of an empty one.
type payload interface{ WriteMembers(w io.Writer) error }

// request is one request that was read and not yet answered.
type request struct {
	number      string
	size        int
	method      string
	sessionless bool    // it follows the protocol without a handshake
	mark        []byte  // the empty member in the SDK's result
	payload     payload // what stands in its place; nil for none
}

// conn is the transport and the connection of one client. Reads come from the
// SDK's reader goroutine; writes may come from anywhere.
type conn struct {
	in    *framing.Reader
	drain time.Duration
	alive func() bool // whether somebody may still read what is written

	incoming chan incoming
	closed   chan struct{}
	once     sync.Once

	writing sync.Mutex
	out     *bufio.Writer

	mu       sync.Mutex
	requests map[jsonrpc.ID]*request
	numbers  map[string]*request // by the number that travels with the request
	bytes    int
	idle     chan struct{} // closed while nothing is in flight and the input has ended
	ended    bool
	next     uint64

	broken atomic.Bool // writing failed
}

type incoming struct {
	msg jsonrpc.Message
	err error
}

func newConn(in io.Reader, out io.Writer, limits framing.Limits, drain time.Duration, alive func() bool) *conn {
	return &conn{
		in:       framing.NewReader(in, limits),
		drain:    drain,
		alive:    alive,
		incoming: make(chan incoming),
		closed:   make(chan struct{}),
		out:      bufio.NewWriterSize(out, 64<<10),
		requests: map[jsonrpc.ID]*request{},
		numbers:  map[string]*request{},
		idle:     make(chan struct{}),
	}
}

var (
	_ mcp.Transport  = (*conn)(nil)
	_ mcp.Connection = (*conn)(nil)
)

// Connect begins to read. It is called once.
func (c *conn) Connect(context.Context) (mcp.Connection, error) {
	go c.read()
	return c, nil
}

// SessionID is empty: there is one session.
func (c *conn) SessionID() string { return "" }

// Close ends reading. The streams stay open; they are the process's.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// read turns lines into messages until the input ends.
func (c *conn) read() {
	for {
		m, err := c.in.Next()
		var fault *framing.Fault
		switch {
		case errors.As(err, &fault):
			c.writeLine(fault.Replies())
			continue
		case err != nil:
			c.finishInput()
			c.hand(incoming{err: err})
			return
		}
		msg, refused := c.accept(m)
		if refused != nil {
			c.writeLine(refused)
			continue
		}
		if !c.hand(incoming{msg: msg}) {
			return
		}
	}
}

// hand gives the SDK what was read; false after Close.
func (c *conn) hand(m incoming) bool {
	select {
	case c.incoming <- m:
		return true
	case <-c.closed:
		return false
	}
}

// finishInput waits until everything that was asked is answered, for a while,
// or until nobody can read answers any more.
func (c *conn) finishInput() {
	c.mu.Lock()
	c.ended = true
	if len(c.requests) == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	limit := time.NewTimer(c.drain)
	defer limit.Stop()
	const lookEvery = 200 * time.Millisecond
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-c.idle:
			return
		case <-c.closed:
			return
		case <-limit.C:
			return
		case <-look.C:
			if c.broken.Load() || !c.alive() {
				return
			}
		}
	}
}

// accept makes a message of the SDK's, and registers requests. A request that
// cannot be taken is answered with the line it returns.
func (c *conn) accept(m *framing.Message) (_ jsonrpc.Message, refused []byte) {
	id, err := makeID(m.ID)
	if err != nil {
		return nil, framing.AppendReply(nil, nil, framing.CodeInvalidRequest, err.Error())
	}
	if m.Method == "" {
		return response(id, m), nil
	}
	r := &jsonrpc.Request{ID: id, Method: m.Method, Params: m.Params}
	if m.ID == nil {
		return r, nil
	}
	raw := rawID(m.ID)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.requests[id] != nil:
		// An answer with this id would be taken for that of the first request.
		return nil, framing.AppendReply(nil, nil, framing.CodeInvalidRequest, fmt.Sprintf("request id %s is already in use", raw))
	case len(c.requests) >= maxInFlight:
		return nil, framing.AppendReply(nil, raw, codeBusy, fmt.Sprintf("more than %d requests are in flight", maxInFlight))
	case c.bytes > 0 && c.bytes+len(m.Params) > maxInFlightBytes:
		return nil, framing.AppendReply(nil, raw, codeBusy, fmt.Sprintf("requests of more than %d bytes are in flight", maxInFlightBytes))
	}
	c.next++
	number := strconv.FormatUint(c.next, 10)
	entry := &request{number: number, size: len(m.Params), method: m.Method, sessionless: bytes.Contains(m.Params, []byte(mcp.MetaKeyProtocolVersion))}
	c.requests[id], c.numbers[number] = entry, entry
	c.bytes += entry.size
	r.Extra = &mcp.RequestExtra{Header: http.Header{numberHeader: {number}}}
	return r, nil
}

// numberHeader carries the number of a request through the SDK.
const numberHeader = "Rea-Request"

// makeID is the SDK's form of an id; framing has made sure that it is exact.
func makeID(id any) (jsonrpc.ID, error) {
	if n, ok := id.(int64); ok {
		return jsonrpc.MakeID(float64(n))
	}
	return jsonrpc.MakeID(id)
}

func rawID(id any) []byte {
	switch v := id.(type) {
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case string:
		return wire.AppendString(nil, v)
	}
	return []byte("null")
}

// response is the answer to a request of ours.
func response(id jsonrpc.ID, m *framing.Message) jsonrpc.Message {
	r := &jsonrpc.Response{ID: id, Result: m.Result}
	if m.Error != nil {
		r.Error = &jsonrpc.Error{Code: codeBusy, Message: string(m.Error)}
	}
	return r
}

// Read gives the SDK the next message.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m.msg, m.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// replace puts p in place of the empty member mark in the result of a request.
func (c *conn) replace(number string, mark string, p payload) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.numbers[number]; r != nil {
		r.mark, r.payload = []byte(mark), p
	}
}

// Write writes one message of the SDK's.
func (c *conn) Write(_ context.Context, msg jsonrpc.Message) error {
	switch m := msg.(type) {
	case *jsonrpc.Response:
		return c.writeResponse(m)
	default:
		line, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		return c.writeLine(append(line, '\n'))
	}
}

// writeLine writes bytes that end with a line break.
func (c *conn) writeLine(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.out.Write(line) // the error sticks, and Flush returns it
	return c.flush()
}

func (c *conn) flush() error {
	err := c.out.Flush()
	if err != nil {
		c.broken.Store(true)
	}
	return err
}

// maxErrorMessage bounds a JSON-RPC error message: the SDK quotes the request in some.
const maxErrorMessage = 2000

// writeResponse answers a request, with its payload in place.
func (c *conn) writeResponse(m *jsonrpc.Response) error {
	r := c.settle(m.ID)
	defer c.settled()
	raw := []byte("null")
	if m.ID.IsValid() {
		raw = rawID(m.ID.Raw())
	}
	if r != nil && r.method == "tools/call" && errors.Is(m.Error, context.Canceled) {
		// It ended before it reached a handler; the answer is that of one that did.
		result, err := cancelledResult(r.sessionless)
		if err != nil {
			return c.writeLine(errorLine(raw, err))
		}
		m = &jsonrpc.Response{ID: m.ID, Result: []byte("{}")}
		r.mark, r.payload = nil, result
	}
	if m.Error != nil {
		return c.writeLine(errorLine(raw, m.Error))
	}
	before, after := m.Result, []byte(nil)
	var body payload
	if r != nil && r.payload != nil {
		head, tail, found := cutAt(m.Result, r.mark)
		if !found {
			return c.writeLine(errorLine(raw, errors.New("internal error: the result has no place for its content")))
		}
		before, after, body = head, tail, r.payload
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.out.WriteString(`{"jsonrpc":"2.0","id":`)
	c.out.Write(raw)
	c.out.WriteString(`,"result":`)
	c.out.Write(before)
	if body != nil {
		if err := body.WriteMembers(c.out); err != nil {
			c.broken.Store(true)
			return err
		}
	}
	c.out.Write(after)
	c.out.WriteString("}\n")
	return c.flush()
}

// cutAt is what stands before and after the mark; without one, what is within the
// braces of an empty object.
func cutAt(result, mark []byte) (before, after []byte, found bool) {
	if mark == nil {
		return result[:1], result[1:], true
	}
	return bytes.Cut(result, mark)
}

// errorLine is the answer that carries err; its message is bounded and its code
// is never the 0 of a plain error.
func errorLine(id []byte, err error) []byte {
	code, data := int64(-32603), []byte(nil)
	var wireErr *jsonrpc.Error
	if errors.As(err, &wireErr) && wireErr.Code != 0 {
		code, data = wireErr.Code, wireErr.Data
	}
	message := err.Error()
	if len(message) > maxErrorMessage {
		message = message[:maxErrorMessage] + "…"
	}
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	out = append(out, `,"error":{"code":`...)
	out = strconv.AppendInt(out, code, 10)
	out = append(out, `,"message":`...)
	out = wire.AppendString(out, message)
	if data != nil {
		out = append(append(out, `,"data":`...), data...)
	}
	return append(out, "}}\n"...)
}

// settle takes a request out of flight.
func (c *conn) settle(id jsonrpc.ID) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.requests[id]
	if r == nil {
		return nil
	}
	delete(c.requests, id)
	delete(c.numbers, r.number)
	c.bytes -= r.size
	return r
}

// settled lets the end of input pass once the last answer was written.
func (c *conn) settled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended && len(c.requests) == 0 {
		select {
		case <-c.idle:
		default:
			close(c.idle)
		}
	}
}
