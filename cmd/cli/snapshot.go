package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"unicode/utf8"

	"rea/cmd/terminal"
	"rea/generated/fault"
)

// snapshotFlags let commands about one file use one another's results.
type snapshotFlags struct {
	path      string
	overwrite bool
}

func (s *snapshotFlags) define(fs *flag.FlagSet) {
	fs.StringVar(&s.path, "snapshot", "", "`file` that keeps exact results between commands; it is made if it is not there")
	fs.BoolVar(&s.overwrite, "overwrite", false, "add new results to the snapshot, or replace one that does not fit")
}

// opening makes open_binary read the snapshot, if there is one. With overwrite
// one that does not fit is passed over, to be replaced.
func (s *snapshotFlags) opening(call caller) caller {
	if s.path == "" && !s.overwrite {
		return call
	}
	return func(ctx context.Context, tool string, input []byte) ([]byte, error) {
		if tool != "open_binary" {
			return call(ctx, tool, input)
		}
		if s.path == "" {
			return nil, usagef("", "flag --overwrite is about a snapshot, and --snapshot names none")
		}
		if !utf8.ValidString(s.path) {
			return nil, usagef("Choose a name that is valid UTF-8.", "the path %q is not valid UTF-8", s.path)
		}
		if _, err := os.Lstat(s.path); errors.Is(err, fs.ErrNotExist) {
			return call(ctx, tool, input)
		}
		var request map[string]any
		if err := json.Unmarshal(input, &request); err != nil {
			return nil, err
		}
		request["snapshot_path"] = s.path
		with, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		out, err := call(ctx, tool, with)
		switch code := fault.CodeOf(err); {
		case replaceable(err) && s.overwrite:
			return call(ctx, tool, input)
		case replaceable(err):
			err = fault.Advise(err, "Give --snapshot another file, or replace this one with --overwrite.")
		case code == fault.SnapshotMismatchCode, code == fault.SnapshotUnavailableCode:
			err = fault.Advise(err, "Give --snapshot another file; one that is not there is made.")
		}
		return out, err
	}
}

// replaceable reports whether a snapshot was refused that a new one may replace.
func replaceable(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) {
		return false
	}
	d, ok := f.Details.(*fault.SnapshotMismatchDetails)
	return ok && d.Kind != fault.SnapshotMismatchDetailsKindNotASnapshot
}

// saveSnapshot keeps what a command found for the next. The result of the
// command was printed before.
func (a *app) saveSnapshot(ctx context.Context, c *connection, s *snapshotFlags) error {
	if s.path == "" {
		return nil
	}
	bound, release := c.dispatcher.Session().Acquire()
	if bound == nil {
		release()
		return nil
	}
	unsaved, opened := bound.Unsaved(), bound.Snapshot()
	release()
	switch {
	case unsaved == 0 && opened == nil:
		a.note("no result of this command can be used again, and no snapshot was saved")
		return nil
	case unsaved == 0:
		return nil
	case opened != nil && !s.overwrite:
		a.note(fmt.Sprintf("the snapshot has no answer to this, and none was added; --overwrite adds new results (%d)", unsaved))
		return nil
	}
	input, err := json.Marshal(map[string]any{"snapshot_path": s.path, "overwrite": s.overwrite})
	if err != nil {
		return err
	}
	_, err = c.call(ctx, "close_binary", input)
	return err
}

// note tells on standard error what a user should know of a success.
func (a *app) note(text string) {
	if !a.json {
		fmt.Fprintf(a.err, "note: %s\n", terminal.Escape(text))
	}
}
