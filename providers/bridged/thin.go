package bridged

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"rea/providers/format/macho"
	"rea/runtime/engine"
)

// Copied are the bytes that an engine is given: the file, or one slice of a
// universal file, so that no engine has to be told which.
type Copied struct {
	Data   []byte
	SHA256 string
}

// Thin finds the bytes of the opened slice.
func Thin(t *engine.Target) (Copied, error) {
	if len(t.Slices) < 2 {
		return Copied{t.Data, t.SHA256}, nil
	}
	slices, err := macho.Slices(t.Data)
	if err != nil {
		return Copied{}, fmt.Errorf("finding slice %s: %w", t.Slice, err)
	}
	for _, s := range slices {
		if s.Name() != t.Slice {
			continue
		}
		if s.Offset > uint64(len(t.Data)) || s.Size > uint64(len(t.Data))-s.Offset {
			break
		}
		data := t.Data[s.Offset : s.Offset+s.Size]
		sum := sha256.Sum256(data)
		return Copied{data, hex.EncodeToString(sum[:])}, nil
	}
	return Copied{}, fmt.Errorf("the file has no slice %s", t.Slice)
}
