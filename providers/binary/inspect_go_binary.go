package binary

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"rea/generated/model"
	"rea/generated/tool"
	"rea/providers/format/gopclntab"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/runtime/engine"
)

// InspectGoBinary joins what the linker recorded about the build with figures
// from the function table.
func (h *Handlers) InspectGoBinary(ctx context.Context, in *tool.InspectGoBinaryInput) (*tool.Finding[tool.InspectGoBinaryOutput], error) {
	s, err := h.source(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	im, err := s.image()
	if err != nil {
		return nil, err
	}
	version, module := native.GoBuild(im)
	table, err := functionTable(s, im)
	if err != nil {
		return nil, err
	}
	if version == "" && table == nil {
		return nil, s.unsupported(goProgram, errors.New("it has neither Go build information nor a Go function table"))
	}
	out := tool.InspectGoBinaryOutput{GoVersion: optional(clean(version)), BuildID: optional(clean(goBuildID(s.Data))), Stripped: im.Strip}
	f := &tool.Finding[tool.InspectGoBinaryOutput]{Subject: s.subject, Locations: s.whole()}
	var info *debug.BuildInfo
	if module != "" {
		if info, err = debug.ParseBuildInfo(module); err != nil {
			f.Limitations = append(f.Limitations, "the build information can't be read: "+clean(err.Error()))
			info = nil
		}
	} else if version != "" {
		f.Limitations = append(f.Limitations, "the program was built without modules: no paths, dependencies or settings are recorded")
	} else {
		f.Limitations = append(f.Limitations, "there is no Go build information: only the function table speaks")
	}
	if info != nil {
		buildInfo(&out, info, in.DependencyLimit)
		if n := int64(len(out.Dependencies.Items)); n < out.Dependencies.Total {
			f.Limitations = append(f.Limitations, fmt.Sprintf("dependencies: %d of %d are given; raise dependency_limit", n, out.Dependencies.Total))
		}
	}
	if table != nil {
		if err := figures(ctx, &out, in, table, info); err != nil {
			return nil, err
		}
		f.Limitations = append(f.Limitations, table.Notes...)
	} else {
		f.Limitations = append(f.Limitations, "there is no Go function table: packages and types are not known")
	}
	f.Result = out
	return f, nil
}

// found lets a table that does not exist be remembered too.
type found struct{ table *gopclntab.Table }

func functionTable(s *source, im *object.Image) (*gopclntab.Table, error) {
	f, err := engine.Memo(s.Target, "gopclntab", func() (found, error) { return found{gopclntab.Find(im)}, nil })
	return f.table, err
}

// goBuildID is the identity that the go command gave the build.
func goBuildID(data []byte) string {
	const mark, most = "\xff Go build ID: \"", 256
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(mark))
		if i < 0 {
			return elfBuildID(data)
		}
		at += i + len(mark)
		rest := data[at:min(at+most, len(data))]
		if end := bytes.Index(rest, []byte("\"\n \xff")); end >= 0 {
			return string(rest[:end])
		}
	}
}

// elfBuildID is the same where ELF files have it: in a note named Go.
func elfBuildID(data []byte) string {
	mark := []byte("\x04\x00\x00\x00Go\x00\x00")
	i := bytes.Index(data, mark)
	if i < 4 {
		return ""
	}
	n := uint64(data[i-4]) | uint64(data[i-3])<<8
	rest := data[i+len(mark):]
	if n == 0 || n > 256 || n > uint64(len(rest)) || data[i-2] != 0 || data[i-1] != 0 {
		return ""
	}
	return string(rest[:n])
}

func moduleOf(m *debug.Module) tool.InspectGoBinaryModule {
	out := tool.InspectGoBinaryModule{Path: clean(m.Path), Version: clean(m.Version), Sum: optional(clean(m.Sum))}
	if r := m.Replace; r != nil {
		out.ReplacedBy = &tool.InspectGoBinaryModuleReplacedBy{Path: clean(r.Path), Version: clean(r.Version), Sum: optional(clean(r.Sum))}
	}
	return out
}

func buildInfo(out *tool.InspectGoBinaryOutput, info *debug.BuildInfo, limit int64) {
	out.Path = optional(clean(info.Path))
	if info.Main.Path != "" {
		m := moduleOf(&info.Main)
		out.Main = &m
	}
	out.Dependencies.Total = int64(len(info.Deps))
	for _, d := range info.Deps[:min(limit, out.Dependencies.Total)] {
		out.Dependencies.Items = append(out.Dependencies.Items, moduleOf(d))
	}
	var vcs tool.InspectGoBinaryOutputVcs
	for _, s := range info.Settings {
		value := clean(s.Value)
		out.Settings = append(out.Settings, tool.InspectGoBinaryOutputSetting{Key: clean(s.Key), Value: value})
		yes := value == "true" || value == "1"
		switch s.Key {
		case "GOOS":
			out.Target.OS = &value
		case "GOARCH":
			out.Target.Architecture = &value
		case "CGO_ENABLED":
			out.Target.Cgo = &yes
		case "-race":
			out.Target.Race = yes
		case "-trimpath":
			out.Target.Trimpath = yes
		case "-buildmode":
			out.Target.BuildMode = &value
		case "vcs":
			vcs.System = value
		case "vcs.revision":
			vcs.Revision = &value
		case "vcs.time":
			vcs.Time = &value
		case "vcs.modified":
			vcs.Modified = &yes
		}
	}
	if vcs.System != "" || vcs.Revision != nil {
		out.Vcs = &vcs
	}
}

// typeKey names a type that has methods.
type typeKey struct{ pkg, name string }

// figures counts functions and code by package, and methods by type.
func figures(ctx context.Context, out *tool.InspectGoBinaryOutput, in *tool.InspectGoBinaryInput, t *gopclntab.Table, info *debug.BuildInfo) error {
	row := &tool.InspectGoBinaryOutputFunctionTable{Address: model.Address(t.Addr), Layout: string(t.Layout), Functions: int64(len(t.Functions()))}
	if t.TextStart != 0 {
		row.TextStart = address(t.TextStart)
	}
	packages := map[string]*tool.InspectGoBinaryOutputPackagesItem{}
	types := map[typeKey]*tool.InspectGoBinaryOutputTypesItem{}
	for i, f := range t.Functions() {
		if i%8192 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		name := gopclntab.SplitName(clean(f.Name))
		code := size(f.End - f.Entry)
		row.CodeBytes += code
		p := packages[name.Package]
		if p == nil {
			p = &tool.InspectGoBinaryOutputPackagesItem{Path: name.Package}
			packages[name.Package] = p
		}
		p.Functions++
		p.CodeBytes += code
		if name.Type == "" {
			continue
		}
		k := typeKey{name.Package, name.Type}
		ty := types[k]
		if ty == nil {
			ty = &tool.InspectGoBinaryOutputTypesItem{Name: k.name, Package: k.pkg}
			types[k] = ty
		}
		if strings.Contains(name.Name, ".") {
			continue // a closure inside of a method
		}
		if name.Pointer {
			ty.PointerMethods++
		} else {
			ty.ValueMethods++
		}
	}
	out.FunctionTable = row
	listPackages(out, in, packages, info)
	listTypes(out, in, types)
	return nil
}

// listPackages sorts the packages with most code first.
func listPackages(out *tool.InspectGoBinaryOutput, in *tool.InspectGoBinaryInput, packages map[string]*tool.InspectGoBinaryOutputPackagesItem, info *debug.BuildInfo) {
	rows := slices.Collect(maps.Values(packages))
	whose := modulesOf(info)
	for _, p := range rows {
		p.Kind, p.Module = whose.kind(p.Path)
	}
	slices.SortFunc(rows, func(a, b *tool.InspectGoBinaryOutputPackagesItem) int {
		return cmp.Or(cmp.Compare(b.CodeBytes, a.CodeBytes), cmp.Compare(a.Path, b.Path))
	})
	p := page(rows, in.PackageOffset, in.PackageLimit)
	out.Packages = tool.InspectGoBinaryOutputPackages{Total: p.Total, Offset: in.PackageOffset, NextOffset: p.Next}
	for _, r := range p.Items {
		out.Packages.Items = append(out.Packages.Items, *r)
	}
}

func listTypes(out *tool.InspectGoBinaryOutput, in *tool.InspectGoBinaryInput, types map[typeKey]*tool.InspectGoBinaryOutputTypesItem) {
	rows := slices.Collect(maps.Values(types))
	slices.SortFunc(rows, func(a, b *tool.InspectGoBinaryOutputTypesItem) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name))
	})
	p := page(rows, in.TypeOffset, in.TypeLimit)
	out.Types = tool.InspectGoBinaryOutputTypes{Total: p.Total, Offset: in.TypeOffset, NextOffset: p.Next}
	for _, r := range p.Items {
		out.Types.Items = append(out.Types.Items, *r)
	}
}

// modules finds the module of a package.
type modules struct {
	main string
	deps map[string]bool
}

func modulesOf(info *debug.BuildInfo) modules {
	if info == nil {
		return modules{}
	}
	m := modules{info.Main.Path, make(map[string]bool, len(info.Deps))}
	for _, d := range info.Deps {
		m.deps[d.Path] = true
	}
	return m
}

// kind tells whose a package is. Import paths of the standard library have no
// dot in their first element.
func (m *modules) kind(path string) (tool.InspectGoBinaryOutputPackagesItemKind, *string) {
	if path == "" {
		return tool.InspectGoBinaryOutputPackagesItemKindGenerated, nil
	}
	for prefix := path; ; {
		if prefix == m.main {
			return tool.InspectGoBinaryOutputPackagesItemKindMain, optional(clean(m.main))
		}
		if m.deps[prefix] {
			return tool.InspectGoBinaryOutputPackagesItemKindModule, optional(clean(prefix))
		}
		i := strings.LastIndexByte(prefix, '/')
		if i < 0 {
			break
		}
		prefix = prefix[:i]
	}
	first, _, _ := strings.Cut(path, "/")
	switch {
	case path == "main":
		return tool.InspectGoBinaryOutputPackagesItemKindMain, optional(clean(m.main))
	case !strings.Contains(first, "."):
		return tool.InspectGoBinaryOutputPackagesItemKindStandard, nil
	}
	return tool.InspectGoBinaryOutputPackagesItemKindModule, nil
}
