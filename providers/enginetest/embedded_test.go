package enginetest

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"rea/generated/model"
	"rea/providers/embedded"
	"rea/runtime/engine"
)

// nobody has named anything.
type nobody struct{}

func (nobody) NameAt(model.Address) (string, bool)    { return "", false }
func (nobody) AddressOf(string) (model.Address, bool) { return 0, false }
func (nobody) AllNames() iter.Seq2[model.Address, string] {
	return func(func(model.Address, string) bool) {}
}

func TestEmbeddedEngineConforms(t *testing.T) {
	Run(t, func(t *testing.T, path string) engine.Engine {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		what, err := recognize(path, data, "")
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		eng, err := embedded.Provider{Version: "test"}.Open(t.Context(), &engine.Target{
			Path: path, Name: filepath.Base(path), SHA256: hex.EncodeToString(sum[:]), Data: data,
			Kind: what.Kind, Format: what.Format, Architecture: what.Architecture,
		}, nobody{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { eng.Close() })
		return eng
	})
}
