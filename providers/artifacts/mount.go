package artifacts

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"rea/generated/fault"
	"rea/providers/artifacts/inventory"
	"rea/runtime/child"
	"rea/runtime/progress"
	"rea/runtime/session"
)

const (
	hdiutil = "/usr/bin/hdiutil"
	// detachTime is how long detaching may take, whatever became of the call.
	detachTime = time.Minute
	maxPlist   = 1 << 20
)

// attached is a disk image whose volumes the system has mounted below a
// directory of ours.
type attached struct {
	program string
	dir     string
	device  string // "" while it is not known
}

// attach has macOS attach a disk image, read-only and out of sight.
func (h *Handlers) attach(ctx context.Context, path, operation string) (*attached, error) {
	if h.attacher == "" {
		return nil, fault.CapabilityUnavailable(fault.CapabilityUnavailableDetails{
			Tool: operation, Reason: "disk images are attached by hdiutil, which " + runtime.GOOS + " does not have; without mount the image is read from its bytes",
			Missing: []string{"macOS"}, Providers: []string{},
		}, nil)
	}
	if info, err := os.Stat(path); err != nil {
		return nil, walkFailure(path, operation, err)
	} else if !info.Mode().IsRegular() {
		return nil, walkFailure(path, operation, inventory.ErrNotRegular)
	}
	dir, err := os.MkdirTemp("", "rea-mount-*")
	if err != nil {
		return nil, walkFailure("the temporary directory", operation, err)
	}
	a := &attached{program: h.attacher, dir: dir}
	progress.Report(ctx, "attaching the disk image")
	var said bytes.Buffer
	abs, err := filepath.Abs(path)
	var out []byte
	if err == nil {
		out, err = child.Output(ctx, child.Command{
			Path: a.program, Args: []string{"attach", "-readonly", "-nobrowse", "-noautoopen", "-plist", "-mountroot", dir, abs}, Stderr: &limitedBuffer{&said},
		}, maxPlist)
	}
	a.device = wholeDevice(out)
	if err == nil {
		return a, nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	} else {
		reason := session.Printable(string(bytes.TrimSpace(said.Bytes())))
		if reason == "" {
			reason = err.Error()
		}
		err = operationFailed("attach", path, fault.ArtifactOperationFailedDetailsKindIo, reason, err)
	}
	return nil, a.detach(ctx, err)
}

// detach takes the image away again and gives err, or a fault that says what
// remains.
func (a *attached) detach(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachTime)
	defer cancel()
	targets := []string{a.device}
	if a.device == "" { // an attaching that failed may have mounted something
		targets = nil
		entries, _ := os.ReadDir(a.dir)
		for _, e := range entries {
			targets = append(targets, filepath.Join(a.dir, e.Name()))
		}
	}
	var failed error
	for _, t := range targets {
		_, e := child.Output(ctx, child.Command{Path: a.program, Args: []string{"detach", "-force", t}}, maxPlist)
		failed = errors.Join(failed, e)
	}
	// The directory goes only when nothing is mounted in it: what is not empty is
	// no longer ours to remove.
	entries, _ := os.ReadDir(a.dir)
	for _, e := range entries {
		failed = errors.Join(failed, os.Remove(filepath.Join(a.dir, e.Name())))
	}
	if e := os.Remove(a.dir); e != nil && !errors.Is(e, fs.ErrNotExist) {
		remaining := []string{"directory " + a.dir}
		if a.device != "" {
			remaining = append(remaining, "disk image attached as "+a.device)
		}
		return fault.CleanupIncomplete(fault.CleanupIncompleteDetails{Reason: errors.Join(failed, e).Error(), Remaining: remaining}, errors.Join(err, failed))
	}
	return err
}

var deviceName = regexp.MustCompile(`<string>(/dev/disk[0-9]+)(s[0-9]+)*</string>`)

// wholeDevice is the device of an image in what hdiutil printed, a property list
// that names its partitions too.
func wholeDevice(plist []byte) string {
	if m := deviceName.FindSubmatch(plist); m != nil {
		return string(m[1])
	}
	return ""
}

// limitedBuffer keeps the beginning of what a program says.
type limitedBuffer struct{ b *bytes.Buffer }

func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.b.Write(p[:min(len(p), max(0, 4096-l.b.Len()))])
	return len(p), nil
}

// walk makes the inventory of a path, or of the volumes of a disk image that is
// attached for it.
func (h *Handlers) walk(ctx context.Context, path, operation string, mount bool, opt inventory.Options) (res *inventory.Result, err error) {
	if !mount {
		res, err = inventory.Walk(ctx, path, opt)
		if err != nil {
			err = walkFailure(path, operation, err)
		}
		return res, err
	}
	a, err := h.attach(ctx, path, operation)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = a.detach(ctx, err); err != nil {
			res = nil
		}
	}()
	// The image itself is hashed and not expanded.
	image, err := inventory.Walk(ctx, path, inventory.Options{Bounds: opt.Bounds, Continue: opt.Continue, Select: []string{}})
	if err != nil {
		return nil, walkFailure(path, operation, err)
	}
	res, err = inventory.Walk(ctx, a.dir, opt)
	if err != nil {
		return nil, walkFailure(path, operation, err)
	}
	image.Root.Inside, res.Root = res.Root.Inside, image.Root
	res.Root.Notes = []string{"its volumes were read through the file systems of macOS"}
	if n := res.Root.Inside; n != nil && n.Failed == nil && len(n.Items) == 0 {
		n.Gaps = append(n.Gaps, "no volume of the image was mounted")
	}
	return res, nil
}
