package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"rea/generated/catalog"
)

// Names of the files that Export writes.
const (
	DataFile  = "product-catalog.json"
	PageFile  = "index.html"
	GuideFile = "SKILL.md"
)

// JSON is the document as it is published.
func JSON(d *catalog.Document) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("writing the catalog: %w", err)
	}
	return b.Bytes(), nil
}

// Export writes the document, its page and the guide for agents into dir, which
// is made if need be.
// Each file is replaced as a whole or not at all. It returns the paths written.
func Export(dir string, doc *catalog.Document, guide string) ([]string, error) {
	data, err := JSON(doc)
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
	}{{DataFile, data}, {PageFile, page.Bytes()}, {GuideFile, []byte(guide)}} {
		path := filepath.Join(dir, f.name)
		if err := replace(path, f.data); err != nil {
			return nil, fmt.Errorf("writing %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// replace puts a new file in the place of path when all of it is on the disk.
func replace(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
