package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Names of the files that Export writes.
const (
	DataFile = "product-catalog.json"
	PageFile = "index.html"
)

// JSON is the document as it is published.
func (d *Document) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("writing the catalog: %w", err)
	}
	return b.Bytes(), nil
}

// Export writes the document and its page into dir, which is made if need be.
// Each file is replaced as a whole or not at all. It returns the paths written.
func Export(dir string, doc *Document) ([]string, error) {
	data, err := doc.JSON()
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := Page(&page, doc); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range []struct {
		name string
		data []byte
	}{{DataFile, data}, {PageFile, page.Bytes()}} {
		path := filepath.Join(dir, f.name)
		if err := renameio.WriteFile(path, f.data, 0o644); err != nil {
			return nil, fmt.Errorf("writing %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
