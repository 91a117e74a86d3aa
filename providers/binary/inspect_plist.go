package binary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/macho"
	"rea/providers/format/plist"
	"rea/runtime/engine"
	"rea/runtime/session"
)

// infoPlists are where bundles keep their Info.plist.
var infoPlists = []string{"Contents/Info.plist", "Info.plist", "Resources/Info.plist", "Versions/Current/Resources/Info.plist"}

// plistSource is the bytes of a list and where they are from.
type plistSource struct {
	*source
	kind tool.InspectPlistOutputSource
	name string
	data []byte
}

// InspectPlist finds the list, reads it and selects a part.
func (h *Handlers) InspectPlist(ctx context.Context, in *tool.InspectPlistInput) (*tool.Finding[tool.InspectPlistOutput], error) {
	s, err := h.plistSource(ctx, in)
	if err != nil {
		return nil, err
	}
	v, format, err := plist.Parse(s.data)
	if err != nil {
		return nil, s.unsupported(propertyList, err)
	}
	part, err := selectValue(&v, in.Pointer)
	if err != nil {
		return nil, err
	}
	p := projection{budget: maxPlistJSON}
	out := tool.InspectPlistOutput{
		Format: tool.InspectPlistOutputFormat(format), Source: s.kind, SourcePath: s.name,
		Bundle: bundleOf(&v), KeyedArchive: v.String("$archiver") == "NSKeyedArchiver", Values: countValues(&v),
	}
	out.Value = p.append(nil, part)
	f := &tool.Finding[tool.InspectPlistOutput]{Result: out, Subject: s.subject, Limitations: p.notes()}
	if s.kind == tool.InspectPlistOutputSourceFile {
		f.Locations = s.whole()
	} else {
		f.Locations = []model.EvidenceLocation{&model.EvidenceLocationArtifactPath{Path: s.name}}
	}
	return f, nil
}

func (h *Handlers) plistSource(ctx context.Context, in *tool.InspectPlistInput) (*plistSource, error) {
	if in.RelativePath != nil && !filepath.IsLocal(filepath.FromSlash(*in.RelativePath)) {
		return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
			Pointer: "/relative_path", Keyword: "path", Expected: "a path inside the bundle",
		}, nil)
	}
	if in.Path != nil {
		if info, err := os.Stat(*in.Path); err == nil && info.IsDir() {
			return bundlePlist(ctx, *in.Path, in.RelativePath)
		}
	}
	if in.RelativePath != nil {
		return nil, fault.InvalidRequest(fault.InvalidRequestDetails{
			Pointer: "/relative_path", Keyword: "path", Expected: "absent, unless path names a folder",
		}, nil)
	}
	s, err := h.source(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	if !macho.Is(s.Data) {
		return &plistSource{s, tool.InspectPlistOutputSourceFile, session.Printable(s.Name), s.Data}, nil
	}
	d, err := macho.Describe(s.Data, s.Slice)
	if err != nil {
		return nil, s.unsupported(binaryFile, err)
	}
	const section = "__TEXT,__info_plist"
	data := d.Contents(section)
	if data == nil {
		return nil, s.unsupported(plistSection, errors.New("it has no section "+section))
	}
	return &plistSource{s, tool.InspectPlistOutputSourceSection, section, data}, nil
}

// bundlePlist reads a list out of a bundle's folder.
func bundlePlist(ctx context.Context, folder string, relative *string) (*plistSource, error) {
	t, name, err := bundleFile(ctx, folder, relative)
	if err != nil {
		return nil, err
	}
	return &plistSource{&source{t, subjectOf(t)}, tool.InspectPlistOutputSourceBundle, name, t.Data}, nil
}

func bundleFile(ctx context.Context, folder string, relative *string) (*engine.Target, string, error) {
	names := infoPlists
	if relative != nil {
		names = []string{*relative}
	}
	for _, name := range names {
		t, err := session.ReadTarget(ctx, filepath.Join(folder, filepath.FromSlash(name)))
		if err == nil {
			return t, filepath.ToSlash(name), nil
		}
		if relative != nil || fault.CodeOf(err) != fault.TargetUnavailableCode {
			return nil, "", err
		}
	}
	return nil, "", fault.TargetUnavailable(fault.TargetUnavailableDetails{
		Path: session.Printable(folder), Kind: fault.TargetUnavailableDetailsKindMissing,
		Reason: "the folder has no Info.plist where bundles keep one; name a file with relative_path",
	}, nil)
}

// selectValue follows a JSON pointer.
func selectValue(v *plist.Value, pointer string) (*plist.Value, error) {
	if pointer == "" {
		return v, nil
	}
	bad := func(expected string) error {
		return fault.InvalidRequest(fault.InvalidRequestDetails{Pointer: "/pointer", Keyword: "pointer", Expected: expected}, nil)
	}
	if pointer[0] != '/' {
		return nil, bad("a JSON pointer, which begins with /")
	}
	at := v
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		var next *plist.Value
		switch at.Kind {
		case plist.Dict:
			next = at.Get(token)
		case plist.Array:
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(at.Items) {
				next = &at.Items[i]
			}
		}
		if next == nil {
			nearest := []string{}
			for _, k := range at.Keys[:min(len(at.Keys), 20)] {
				nearest = append(nearest, strings.ToValidUTF8(k, "\ufffd"))
			}
			return nil, fault.NameNotFound(fault.NameNotFoundDetails{Name: token, Nearest: nearest}, nil)
		}
		at = next
	}
	return at, nil
}

func bundleOf(v *plist.Value) tool.InspectPlistOutputBundle {
	get := func(keys ...string) *string {
		for _, k := range keys {
			if s := v.String(k); s != "" {
				s = strings.ToValidUTF8(s, "\ufffd")
				return &s
			}
		}
		return nil
	}
	return tool.InspectPlistOutputBundle{
		Executable: get("CFBundleExecutable"), Identifier: get("CFBundleIdentifier"), Name: get("CFBundleName", "CFBundleDisplayName"),
		ShortVersion: get("CFBundleShortVersionString"), Version: get("CFBundleVersion"),
		MinimumOS: get("LSMinimumSystemVersion", "MinimumOSVersion"), PackageType: get("CFBundlePackageType"),
	}
}

func countValues(v *plist.Value) int64 {
	n := int64(1)
	for i := range v.Items {
		n += countValues(&v.Items[i])
	}
	return n
}
