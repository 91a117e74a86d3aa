package framing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxSafeID is the largest integer every JSON implementation carries exactly.
const maxSafeID = 1<<53 - 1

// decode splits a line that is valid UTF-8 and bounded in depth.
func decode(line []byte) (*Message, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true))
	switch dec.PeekKind() {
	case '{':
	case '[':
		if err := onlyValue(line); err != nil {
			return nil, err
		}
		return nil, faultOf(line, CodeInvalidRequest, "batches are not supported: send one message per line")
	case 'n', 't', 'f', '"', '0':
		if err := onlyValue(line); err != nil {
			return nil, err
		}
		return nil, faultOf(line, CodeInvalidRequest, "message is not a JSON object")
	default:
		return nil, syntaxFault(line, dec)
	}
	m, err := members(line, dec)
	if err != nil {
		if fault := new(Fault); errors.As(err, &fault) {
			fault.IDs = m.ids()
			return nil, fault
		}
		return nil, faultOf(line, CodeParse, "message is not valid JSON: "+reason(err))
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return nil, faultOf(line, CodeParse, "more than one value on a line: send one message per line")
	}
	return m.message()
}

// onlyValue refuses a line that is not exactly one JSON value.
func onlyValue(line []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true))
	if err := dec.SkipValue(); err != nil {
		return faultOf(line, CodeParse, "message is not valid JSON: "+reason(err))
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return faultOf(line, CodeParse, "more than one value on a line: send one message per line")
	}
	return nil
}

func syntaxFault(line []byte, dec *jsontext.Decoder) error {
	_, err := dec.ReadToken()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return faultOf(line, CodeParse, "message is not valid JSON: "+reason(err))
}

// reason is the cause of a syntax error with its offset, free of input bytes
// beyond what the parser quotes.
func reason(err error) string {
	text := err.Error()
	if syntactic := new(jsontext.SyntacticError); errors.As(err, &syntactic) && syntactic.Err != nil {
		text = fmt.Sprintf("%v at byte %d", syntactic.Err, syntactic.ByteOffset)
	}
	const limit = 200
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return string(bytes.ToValidUTF8([]byte(text), []byte("\ufffd")))
}

// envelope holds the raw members of one JSON-RPC object.
type envelope struct {
	version, id, method, params, result, failure jsontext.Value
}

func members(line []byte, dec *jsontext.Decoder) (*envelope, error) {
	e := &envelope{}
	if _, err := dec.ReadToken(); err != nil {
		return e, err
	}
	var repeated string
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return e, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return e, err
		}
		slot := e.slot(key)
		if slot == nil {
			continue
		}
		if *slot != nil {
			repeated = key
		}
		end := dec.InputOffset()
		*slot = line[end-int64(len(value)) : end : end]
	}
	if _, err := dec.ReadToken(); err != nil {
		return e, err
	}
	if repeated != "" {
		return e, &Fault{Code: CodeInvalidRequest, Message: fmt.Sprintf("member %q appears twice", repeated)}
	}
	return e, nil
}

func (e *envelope) slot(key string) *jsontext.Value {
	switch key {
	case "jsonrpc":
		return &e.version
	case "id":
		return &e.id
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.failure
	}
	return nil
}

// ids is what a reply to this envelope carries: its id if that is one.
func (e *envelope) ids() [][]byte {
	if validRawID(e.id) {
		return [][]byte{e.id}
	}
	return [][]byte{nil}
}

func (e *envelope) refuse(format string, args ...any) error {
	return &Fault{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...), IDs: e.ids()}
}

func (e *envelope) message() (*Message, error) {
	if string(e.version) != `"2.0"` {
		return nil, e.refuse(`member "jsonrpc" must be "2.0"`)
	}
	m := &Message{Result: e.result, Error: e.failure}
	if e.id != nil {
		id, ok := parseID(e.id)
		if !ok {
			return nil, e.refuse("id must be a string of at most %d bytes or an integer of magnitude at most %d", maxIDBytes-2, int64(maxSafeID))
		}
		m.ID = id
	}
	if e.method == nil {
		switch {
		case e.id == nil:
			return nil, e.refuse("message has neither a method nor an id")
		case (e.result == nil) == (e.failure == nil):
			return nil, e.refuse("a response has either a result or an error")
		}
		return m, nil
	}
	if e.method.Kind() != '"' {
		return nil, e.refuse("method must be a string")
	}
	if e.result != nil || e.failure != nil {
		return nil, e.refuse("message has both a method and a result")
	}
	method, err := jsontext.AppendUnquote(nil, e.method)
	if err != nil {
		return nil, e.refuse("method must be a string")
	}
	m.Method = string(method)
	if e.params != nil && e.params.Kind() != 'n' { // some clients write an absent object as null
		if e.params.Kind() != '{' {
			return nil, e.refuse("params must be an object")
		}
		m.Params = e.params
	}
	return m, nil
}

// maxIDBytes bounds an id as it is written, quotes included: it has to fit what
// a response reserves for its envelope.
const maxIDBytes = 768

func parseID(raw jsontext.Value) (any, bool) {
	switch raw.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		return string(text), err == nil && len(raw) <= maxIDBytes
	case '0':
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return n, err == nil && n <= maxSafeID && n >= -maxSafeID
	}
	return nil, false
}

func validRawID(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	_, ok := parseID(raw)
	return ok
}
