package ghidra

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"rea/generated/model"
	"rea/providers/bridged"
	"rea/providers/format/native"
	"rea/providers/format/object"
	"rea/runtime/bridge"
	"rea/runtime/child"
	"rea/runtime/engine"
)

// Bounds of the JVM.
const (
	heapMegabytes = 4096
	processors    = 2
)

// launch is how one target is given to Ghidra.
type launch struct {
	installation Installation
	target       *engine.Target
	copied       bridged.Copied
}

// prepare fills the place and says how Ghidra is started: the JVM itself, as
// Ghidra's launch script would, so that there is no shell between us and it.
func (l *launch) prepare(ctx context.Context, p *bridge.Place) (child.Command, error) {
	if err := p.Mkdir("home", "config", "cache", "tmp", "project", "script", "target"); err != nil {
		return child.Command{}, fmt.Errorf("preparing Ghidra's place: %w", err)
	}
	if err := p.Write(filepath.Join("script", "ReaBridge.java"), script); err != nil {
		return child.Command{}, fmt.Errorf("preparing Ghidra's place: %w", err)
	}
	target, err := p.Copy(ctx, filepath.Join("target", "target"), l.copied.Data, l.copied.SHA256)
	if err != nil {
		return child.Command{}, fmt.Errorf("copying the target for Ghidra: %w", err)
	}
	in := &l.installation
	args := append([]string{}, in.VMArgs...)
	args = append(args,
		"-Xmx"+strconv.Itoa(heapMegabytes)+"m",
		"-XX:ActiveProcessorCount="+strconv.Itoa(processors), "-XX:ParallelGCThreads="+strconv.Itoa(processors), "-XX:CICompilerCount=2",
		"-Djava.awt.headless=true",
		"-Duser.home="+p.Path("home"), "-Djava.io.tmpdir="+p.Path("tmp"),
		"-Dapplication.settingsdir="+p.Path("config"), "-Dapplication.cachedir="+p.Path("cache"), "-Dapplication.tempdir="+p.Path("tmp"),
		"-cp", filepath.Join(in.Root, utility), "ghidra.Ghidra", "ghidra.app.util.headless.AnalyzeHeadless",
		p.Path("project"), "rea", "-import", target)
	args = append(args, l.loader()...)
	args = append(args,
		"-scriptPath", p.Path("script"), "-postScript", "ReaBridge.java", p.Root,
		"-max-cpu", strconv.Itoa(processors), "-readOnly", "-deleteProject",
		"-log", p.Path("log"), "-scriptlog", p.Path("scriptlog"))
	return child.Command{
		Path: filepath.Join(in.Java, "bin", "java"), Args: args, Dir: p.Root,
		Env: []string{
			"HOME=" + p.Path("home"), "XDG_CONFIG_HOME=" + p.Path("config"), "XDG_CACHE_HOME=" + p.Path("cache"), "XDG_DATA_HOME=" + p.Path("config"),
			"TMPDIR=" + p.Path("tmp"), "JAVA_HOME=" + in.Java, "PATH=" + filepath.Join(in.Java, "bin") + ":/usr/bin:/bin", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
		},
	}, nil
}

// loader keeps position-independent ELF files at the addresses of the file;
// Ghidra would move them to a base of its own. Other files stay where they are.
func (l *launch) loader() []string {
	if l.target.Format != model.TargetFormatElf {
		return nil
	}
	im, err := engine.Memo(l.target, "image", func() (*object.Image, error) {
		return native.Load(l.target.Data, native.Options{Slice: l.target.Slice})
	})
	if err != nil || len(im.Segments) == 0 || im.Segments[0].Addr != 0 {
		return nil
	}
	return []string{"-loader", "ElfLoader", "-loader-imagebase", "0"}
}
