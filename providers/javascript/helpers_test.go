package javascript_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"rea/generated/model"
	"rea/generated/wire"
)

func decode(v jsontext.Value, a *model.ApplicationAnalysis) error {
	return wire.Decode(v, wire.RecordDepth, a, (*model.ApplicationAnalysis).DecodeJSON)
}

// alteredArchive is an ASAR whose only file is not what its header says.
func alteredArchive() []byte {
	const body = "exports.a = 1;"
	header := `{"files":{"a.js":{"offset":"0","size":14,"integrity":{"algorithm":"SHA256","hash":"` +
		`0000000000000000000000000000000000000000000000000000000000000000","blockSize":4194304,"blocks":["` +
		`0000000000000000000000000000000000000000000000000000000000000000"]}}}}`
	padded := header
	for len(padded)%4 != 0 {
		padded += "\x00"
	}
	var out []byte
	for _, n := range []int{4, len(padded) + 8, len(padded) + 4, len(header)} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	return append(append(out, padded...), body...)
}

func digestOf(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
