package binary

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rea/providers/format/plist"
)

// sealed compares the files of the bundle with the list of sealed files.
func (i *inspection) sealed(c *checks) {
	const name = "sealed files"
	data := i.bundle.resources(i.ctx)
	if data == nil {
		c.skip(name, "the bundle has no _CodeSignature/CodeResources")
		return
	}
	v, _, err := plist.Parse(data)
	if err != nil {
		c.pass(name, false, "%v", err)
		return
	}
	list := v.Get("files2")
	if list == nil {
		list = v.Get("files")
	}
	if list == nil || list.Kind != plist.Dict {
		c.pass(name, false, "the list holds no files")
		return
	}
	good, nested := 0, 0
	var wrong []string
	for n, path := range list.Keys {
		if i.stop() {
			return
		}
		switch seal := i.bundle.seal(path, &list.Items[n], i.stop); seal {
		case "":
			good++
		case nestedCode:
			nested++
		default:
			wrong = append(wrong, path+" "+seal)
		}
	}
	detail := fmt.Sprintf("%d of %d have their digest", good, len(list.Keys)-nested)
	const shown = 20
	for _, w := range wrong[:min(len(wrong), shown)] {
		detail += "; " + w
	}
	if len(wrong) > shown {
		i.note(fmt.Sprintf("sealed files: the first %d of %d that differ are named", shown, len(wrong)))
	}
	c.pass(name, len(wrong) == 0, "%s", detail)
	if nested > 0 {
		c.skip("nested code", "%d bundles or programs are sealed by a requirement; inspect each", nested)
	}
}

const nestedCode = "nested"

// seal compares one file; what is wrong with it is told in words.
func (b *bundle) seal(path string, v *plist.Value, stop func() bool) string {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return "lies outside of the bundle"
	}
	full := filepath.Join(b.root, filepath.FromSlash(path))
	if v.Get("requirement") != nil || v.Get("cdhash") != nil {
		return nestedCode
	}
	optional := v.Get("optional")
	missing := func(err error) string {
		if os.IsNotExist(err) && optional != nil && optional.Bool {
			return ""
		}
		return "is missing"
	}
	if link := v.String("symlink"); link != "" {
		to, err := os.Readlink(full)
		if err != nil {
			return missing(err)
		}
		if to != link {
			return "links to another file"
		}
		return ""
	}
	strong, weak := v.Get("hash2"), v.Get("hash")
	if v.Kind == plist.Data {
		weak = v
	}
	h, want := sha256.New(), strong
	if strong == nil {
		h, want = sha1.New(), weak
	}
	if want == nil {
		return "has no digest"
	}
	info, err := os.Lstat(full)
	if err != nil {
		return missing(err)
	}
	if !info.Mode().IsRegular() {
		return "is no regular file"
	}
	f, err := os.Open(full)
	if err != nil {
		return "can't be read"
	}
	defer f.Close()
	const piece = 4 << 20
	for !stop() {
		_, err := io.CopyN(h, f, piece)
		if err == io.EOF {
			break
		}
		if err != nil {
			return "can't be read"
		}
	}
	if !bytes.Equal(h.Sum(nil), want.Bytes) {
		return "has another digest"
	}
	return ""
}
