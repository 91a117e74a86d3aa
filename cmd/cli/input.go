package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"rea/generated/cli"
)

// maxInput bounds what is read from a file or standard input as JSON.
const maxInput = 256 << 20

// input gathers the JSON input of one tool from the command line.
type input struct {
	whole  []byte // --input, or a positional argument that is an object
	fields map[string]any
	stdin  io.Reader
}

// set puts the text of an argument where its pointer says. Repeated arguments
// append to a list.
func (in *input) set(a *cli.Argument, text string) error {
	v, err := in.value(a, text)
	if err != nil {
		return err
	}
	if in.fields == nil {
		in.fields = map[string]any{}
	}
	path := strings.Split(strings.TrimPrefix(a.Pointer, "/"), "/")
	at := in.fields
	for _, name := range path[:len(path)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[name] = next
		}
		at = next
	}
	last := path[len(path)-1]
	if !a.Repeated {
		if old, given := at[last]; given && !same(old, v) {
			return fmt.Errorf("%s is given twice, as %s and as %s", last, shorten(fmt.Sprintf("%s", old)), shorten(string(v)))
		}
		at[last] = v
		return nil
	}
	list, _ := at[last].([]any)
	at[last] = append(list, v)
	return nil
}

func same(a any, b json.RawMessage) bool {
	old, ok := a.(json.RawMessage)
	return ok && bytes.Equal(old, b)
}

// value turns the text of an argument into JSON. Bounds are the tool's to check.
func (in *input) value(a *cli.Argument, text string) (json.RawMessage, error) {
	switch a.Type {
	case cli.Integer:
		return integer(text)
	case cli.Number:
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return json.RawMessage(text), nil
	case cli.Boolean:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return json.RawMessage(strconv.FormatBool(b)), nil
	case cli.JSON:
		if record, isBundle, err := recordOfBundle(text); isBundle || err != nil {
			return record, err
		}
		data, err := in.load(text)
		if err != nil {
			return nil, err
		}
		if !json.Valid(data) {
			return nil, fmt.Errorf("%q is not JSON", shorten(string(data)))
		}
		return data, nil
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%q is not valid UTF-8", text)
	}
	if len(a.Enum) > 0 && !contains(a.Enum, text) {
		return nil, fmt.Errorf("%q is not one of %s", text, strings.Join(a.Enum, ", "))
	}
	return quote(text)
}

// integer reads a decimal, or a hexadecimal number with 0x.
func integer(text string) (json.RawMessage, error) {
	digits, negative := strings.CutPrefix(text, "-")
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number", text)
	}
	out := strconv.FormatUint(n, 10)
	if negative && n != 0 {
		out = "-" + out
	}
	return json.RawMessage(out), nil
}

func quote(text string) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// load reads JSON given as itself, as @file, or as - for standard input.
func (in *input) load(text string) ([]byte, error) {
	var r io.Reader
	switch path, isFile := strings.CutPrefix(text, "@"); {
	case text == "-":
		r = in.stdin
	case isFile:
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	default:
		return []byte(text), nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("%s holds more than %d bytes", text, maxInput)
	}
	return bytes.TrimSpace(data), nil
}

// JSON is the input of the tool. Fields that were given one by one replace those
// of the whole input; a whole input alone is passed on untouched.
func (in *input) JSON() ([]byte, error) {
	if in.whole == nil {
		if in.fields == nil {
			return []byte("{}"), nil
		}
		return json.Marshal(in.fields)
	}
	if len(in.fields) == 0 {
		return in.whole, nil
	}
	dec := json.NewDecoder(bytes.NewReader(in.whole))
	dec.UseNumber()
	var base map[string]any
	if err := dec.Decode(&base); err != nil {
		return nil, usagef("", "the input is not a JSON object: %v", err)
	}
	merge(base, in.fields)
	return json.Marshal(base)
}

func merge(into, from map[string]any) {
	for k, v := range from {
		sub, ok := v.(map[string]any)
		old, had := into[k].(map[string]any)
		if ok && had {
			merge(old, sub)
			continue
		}
		into[k] = v
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func shorten(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
