package bridge

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Protocol is the version both sides must speak.
const Protocol = 1

// MaxFrame bounds the JSON of one frame in bytes.
const MaxFrame = 16 << 20

// greeting is the first frame of a script.
type greeting struct {
	Protocol int    `json:"protocol"`
	Token    string `json:"token"`
	Engine   string `json:"engine"`
	Version  string `json:"version"`
	SHA256   string `json:"sha256"`
}

// question is what we send; one of the three forms.
type question struct {
	ID     int64          `json:"id,omitzero"`
	Op     string         `json:"op,omitzero"`
	Args   jsontext.Value `json:"args,omitzero"`
	Cancel int64          `json:"cancel,omitzero"`
	Quit   bool           `json:"quit,omitzero"`
}

// answer is a frame of a script after its greeting.
type answer struct {
	ID   int64          `json:"id"`
	Part string         `json:"part"`
	Rows jsontext.Value `json:"rows"`
	End  jsontext.Value `json:"end"`
	Fail *Failure       `json:"fail"`
}

func (a *answer) last() bool { return a.End != nil || a.Fail != nil }

// A Failure is how a script says that it cannot answer.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Codes of failures.
const (
	FailCancelled   = "cancelled"
	FailNotFound    = "not_found"
	FailUnsupported = "unsupported"
	FailTimedOut    = "timed_out"
	FailRefused     = "refused" // the engine does not accept a change
)

func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// ReadFrame reads the JSON of one frame. The length is checked before anything
// is allocated.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || uint64(n) > uint64(limit) {
		return nil, fmt.Errorf("a frame of %d bytes; 1 to %d are accepted", n, limit)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("a frame of %d bytes: %w", n, err)
	}
	return data, nil
}

// AppendFrame appends v as one frame.
func AppendFrame(b []byte, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return b, err
	}
	if len(data) > MaxFrame {
		return b, fmt.Errorf("a frame of %d bytes; %d are accepted", len(data), MaxFrame)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...), nil
}

// WriteFrame writes v as one frame in one write.
func WriteFrame(w io.Writer, v any) error {
	frame, err := AppendFrame(nil, v)
	if err != nil {
		return err
	}
	_, err = w.Write(frame)
	return err
}
