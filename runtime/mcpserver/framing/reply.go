package framing

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendReply appends one JSON-RPC error reply with its line break.
func AppendReply(dst []byte, id []byte, code int, message string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, id...)
	}
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst, _ = jsontext.AppendQuote(dst, message) // invalid UTF-8 is replaced, which is what we want
	return append(dst, "}}\n"...)
}

// Replies are the lines a fault is answered with.
func (f *Fault) Replies() []byte {
	var out []byte
	for _, id := range f.IDs {
		out = AppendReply(out, id, f.Code, f.Message)
	}
	return out
}
