package binary

import (
	"context"
	"errors"
	"path/filepath"

	"rea/providers/format/macho"
	"rea/providers/format/plist"
	"rea/runtime/session"
)

// bundle is a folder of an application, framework or plug-in.
type bundle struct {
	folder     string
	root       string // the folder that the seal is about: Contents, or the folder
	info       []byte // Info.plist
	executable *source
}

// openBundle finds the executable that the folder's Info.plist names.
func openBundle(ctx context.Context, folder string) (*bundle, error) {
	t, name, err := bundleFile(ctx, folder, nil)
	if err != nil {
		return nil, err
	}
	list := &plistSource{source: &source{t, subjectOf(t)}, data: t.Data}
	v, _, err := plist.Parse(t.Data)
	if err != nil {
		return nil, list.unsupported(propertyList, err)
	}
	program := v.String("CFBundleExecutable")
	if program == "" || !filepath.IsLocal(program) {
		return nil, list.unsupported(bundledBinary, errors.New("the Info.plist names no executable"))
	}
	b := &bundle{folder: folder, root: folder, info: t.Data}
	candidates := []string{program}
	if filepath.Base(filepath.Dir(name)) == "Contents" {
		b.root = filepath.Join(folder, "Contents")
		candidates = []string{filepath.Join("Contents", "MacOS", program)}
	} else if filepath.Base(filepath.Dir(name)) == "Resources" {
		b.root = filepath.Join(folder, filepath.Dir(filepath.Dir(name)))
		candidates = []string{filepath.Join(filepath.Dir(filepath.Dir(name)), program), program}
	}
	for _, c := range candidates {
		var exe, readErr = session.ReadTarget(ctx, filepath.Join(folder, c))
		if readErr == nil {
			b.executable = &source{exe, subjectOf(exe)}
			return b, nil
		}
		err = readErr
	}
	return nil, err
}

// resources is the list of sealed files, nil when there is none.
func (b *bundle) resources(ctx context.Context) []byte {
	t, err := session.ReadTarget(ctx, filepath.Join(b.root, "_CodeSignature", "CodeResources"))
	if err != nil {
		return nil
	}
	return t.Data
}

// infoOf is the Info.plist that a signature is about: the bundle's, or the one
// that the binary holds.
func (i *inspection) infoOf(d *macho.Description) ([]byte, string) {
	if i.bundle != nil {
		return i.bundle.info, "the bundle's Info.plist"
	}
	if b := d.Contents("__TEXT,__info_plist"); b != nil {
		return b, "the embedded Info.plist"
	}
	return nil, ""
}
