package framing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var small = Limits{FrameBytes: 256, Depth: 8}

// read drains a stream, writing each message as method or "response" with its
// id and each fault as code and ids.
func read(t *testing.T, input string, limits Limits) []string {
	t.Helper()
	r := NewReader(strings.NewReader(input), limits)
	var got []string
	for {
		m, err := r.Next()
		fault := new(Fault)
		switch {
		case errors.As(err, &fault):
			var ids []string
			for _, id := range fault.IDs {
				if id == nil {
					id = []byte("null")
				}
				ids = append(ids, string(id))
			}
			got = append(got, fmt.Sprintf("fault %d %s", fault.Code, strings.Join(ids, " ")))
		case errors.Is(err, io.EOF):
			return got
		case err != nil:
			t.Fatal(err)
		case m.Method == "":
			got = append(got, fmt.Sprintf("response %v", m.ID))
		default:
			got = append(got, fmt.Sprintf("%s %v %s", m.Method, m.ID, m.Params))
		}
	}
}

func TestReader_Next(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\n"
	const pong = "ping 9 "
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"notification", `{"jsonrpc":"2.0","method":"a","params":{"x":1}}`, []string{`a <nil> {"x":1}`}},
		{"string_id", `{"jsonrpc":"2.0","id":"q\u0041","method":"a"}`, []string{`a qA `}},
		{"response", `{"jsonrpc":"2.0","id":3,"result":{}}`, []string{"response 3"}},
		{"error_response", `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}`, []string{"response 3"}},
		{"last_line_without_break", ping + ping[:len(ping)-1], []string{pong, pong}},
		{"carriage_return", strings.ReplaceAll(ping, "\n", "\r\n") + ping, []string{pong, pong}},
		{"blank_lines", "\n \t\r\n" + ping, []string{pong}},
		{"unknown_members", `{"x":[1],"jsonrpc":"2.0","method":"a"}`, []string{"a <nil> "}},

		{"garbage", "hello\n" + ping, []string{"fault -32700 null", pong}},
		{"truncated", `{"jsonrpc":"2.0","id":4,"method":"a"` + "\n" + ping, []string{"fault -32700 4", pong}},
		{"truncated_in_params", `{"jsonrpc":"2.0","id":"k","method":"a","params":{"id":5` + "\n" + ping, []string{`fault -32700 "k"`, pong}},
		{"two_messages", strings.TrimSpace(ping) + `{"jsonrpc":"2.0","id":10,"method":"ping"}` + "\n" + ping, []string{"fault -32700 9 10", pong}},
		{"trailing_text", strings.TrimSpace(ping) + " x\n" + ping, []string{"fault -32700 9", pong}},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":"b","method":"a"}]` + "\n" + ping, []string{`fault -32600 1 "b"`, pong}},
		{"empty_batch", "[]\n" + ping, []string{"fault -32600 null", pong}},
		{"broken_batch", `[{"jsonrpc":"2.0","id":1},` + "\n" + ping, []string{"fault -32700 1", pong}},
		{"scalar", "17\n" + ping, []string{"fault -32600 null", pong}},
		{"invalid_utf8", "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"\xff\"}\n" + ping, []string{"fault -32700 6", pong}},
		{"lone_surrogate", `{"jsonrpc":"2.0","id":6,"method":"a","params":{"s":"\ud800"}}` + "\n" + ping, []string{"fault -32700 6", pong}},
		{"byte_order_mark", "\ufeff" + ping + ping, []string{"fault -32700 9", pong}},
		{"nul", "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"a\x00\"}\n" + ping, []string{"fault -32700 6", pong}},
		{"deep", `{"jsonrpc":"2.0","id":6,"method":"a","params":{"a":` + strings.Repeat("[", 9) + strings.Repeat("]", 9) + "}}\n" + ping, []string{"fault -32700 6", pong}},
		{"deep_and_open", `{"id":6,"params":` + strings.Repeat("[", 100) + "\n" + ping, []string{"fault -32700 6", pong}},
		{"brackets_in_string_are_flat", `{"jsonrpc":"2.0","id":6,"method":"a","params":{"a":"\"[[[[[[[[[[[["}}`, []string{`a 6 {"a":"\"[[[[[[[[[[[["}`}},
		{"oversize_id_first", `{"jsonrpc":"2.0","id":6,"method":"` + long + `"}` + "\n" + ping, []string{"fault -32600 6", pong}},
		{"oversize_id_last", `{"jsonrpc":"2.0","method":"` + long + `","id":"z"}` + "\n" + ping, []string{`fault -32600 "z"`, pong}},
		{"oversize_inner_id", `{"jsonrpc":"2.0","params":{"id":5,"x":"` + long + `"}}` + "\n" + ping, []string{"fault -32600 null", pong}},
		{"oversize_unterminated", long, []string{"fault -32600 null"}},
		{"oversize_over_the_read_buffer", `{"id":7,"params":"` + strings.Repeat("y", 200<<10) + "\"}\n" + ping, []string{"fault -32600 7", pong}},
		{"exact_limit", `{"jsonrpc":"2.0","method":"` + strings.Repeat("m", 256-29) + `"}`, []string{strings.Repeat("m", 256-29) + " <nil> "}},

		{"no_version", `{"id":6,"method":"a"}`, []string{"fault -32600 6"}},
		{"old_version", `{"jsonrpc":"1.0","id":6,"method":"a"}`, []string{"fault -32600 6"}},
		{"null_id", `{"jsonrpc":"2.0","id":null,"method":"a"}`, []string{"fault -32600 null"}},
		{"fractional_id", `{"jsonrpc":"2.0","id":1.5,"method":"a"}`, []string{"fault -32600 null"}},
		{"huge_id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`, []string{"fault -32600 null"}},
		{"object_id", `{"jsonrpc":"2.0","id":{"id":1},"method":"a"}`, []string{"fault -32600 null"}},
		{"repeated_id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, []string{"fault -32600 2"}},
		{"method_number", `{"jsonrpc":"2.0","id":6,"method":5}`, []string{"fault -32600 6"}},
		{"params_array", `{"jsonrpc":"2.0","id":6,"method":"a","params":[1]}`, []string{"fault -32600 6"}},
		{"params_null", `{"jsonrpc":"2.0","id":6,"method":"a","params":null}`, []string{"a 6 "}},
		{"nothing", `{"jsonrpc":"2.0"}`, []string{"fault -32600 null"}},
		{"id_alone", `{"jsonrpc":"2.0","id":6}`, []string{"fault -32600 6"}},
		{"result_and_error", `{"jsonrpc":"2.0","id":6,"result":1,"error":{}}`, []string{"fault -32600 6"}},
		{"method_and_result", `{"jsonrpc":"2.0","id":6,"method":"a","result":1}`, []string{"fault -32600 6"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, read(t, tt.in, small)); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReader_frames_are_owned(t *testing.T) {
	in := `{"jsonrpc":"2.0","method":"a","params":{"n":1}}` + "\n" + `{"jsonrpc":"2.0","method":"a","params":{"n":2}}` + "\n"
	r := NewReader(strings.NewReader(in), Limits{})
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if string(first.Params) != `{"n":1}` {
		t.Errorf("the first message changed to %s when the second was read", first.Params)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}` + "\n" + `[{"id":2}]`))
	f.Add([]byte(`{"id":"a\"b","params":{"id":[}` + "\n\n{}{}"))
	f.Add([]byte("{\"id\":-1.5e3}\n\xff\n" + strings.Repeat("[", 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(strings.NewReader(string(data)), small)
		for range len(data) + 2 {
			m, err := r.Next()
			if fault := new(Fault); errors.As(err, &fault) {
				checkReplies(t, fault)
				continue
			}
			if err != nil {
				return
			}
			for _, part := range [][]byte{m.Params, m.Result, m.Error} {
				if part != nil && (!json.Valid(part) || !utf8.Valid(part)) {
					t.Fatalf("accepted member %q is not JSON", part)
				}
			}
		}
		t.Fatal("the reader does not come to an end")
	})
}

func checkReplies(t *testing.T, fault *Fault) {
	t.Helper()
	if len(fault.IDs) == 0 || len(fault.IDs) > maxReplies {
		t.Fatalf("a fault with %d ids", len(fault.IDs))
	}
	for line := range strings.Lines(string(fault.Replies())) {
		var reply struct {
			JSONRPC string
			ID      *json.RawMessage
			Error   struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(line), &reply); err != nil {
			t.Fatalf("reply %q: %v", line, err)
		}
		if reply.Error.Code != fault.Code || reply.Error.Message == "" || reply.JSONRPC != "2.0" {
			t.Fatalf("reply %q does not tell the fault", line)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":"` + strings.Repeat(`{\"a\":1}`, 1<<20) + `"}}` + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewReader(strings.NewReader(line), Limits{}).Next(); err != nil {
			b.Fatal(err)
		}
	}
}
