package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/peterbourgon/ff/v3/ffcli"

	"rea/generated/cli"
	"rea/generated/fault"
	"rea/runtime/evidence"
)

// A command has no session that another began: it holds no records but those
// that it is given in files.

const (
	exportTool = "export_evidence_bundle"
	importTool = "import_evidence_bundle"
	listTool   = "get_evidence_bundle"
	// inspectTool is no tool of a session, but importTool and listTool in one.
	inspectTool = "inspect_evidence_bundle"
)

// notes tell what a tool means on the command line where that may surprise.
var notes = map[string]string{
	importTool: "the bundle is sound; a command keeps nothing of it (rea inspect-evidence-bundle lists it)",
	listTool:   "a command begins without records; rea inspect-evidence-bundle FILE lists those of a bundle",
}

// ownExamples stand in place of those of contracts, which are about sessions.
var ownExamples = map[string][][2]string{
	exportTool: {{"rea export-evidence-bundle bundle.json strings.json main.json", "two findings that were saved with --format json"}},
	inspectTool: {
		{"rea inspect-evidence-bundle bundle.json", "everything in it"},
		{`rea inspect-evidence-bundle '{"path":"bundle.json","detail":"summary","filters":{"operation":"analyze_function"}}' --format json`, "for programs"},
	},
}

// commands are those of the tools, with what the command line adds to them.
func commands() []cli.Command {
	list := append(slices.Clone(cli.Commands()), inspectBundle())
	for i := range list {
		if c := &list[i]; c.Tool == exportTool {
			c.Title = "Make a bundle of records in files"
			c.Description = "Write the records of files as one bundle, canonical JSON; it appears only when it is complete."
			c.Positionals = append(slices.Clone(c.Positionals), cli.Argument{
				Name: "record", Pointer: recordsPointer, Type: cli.Path, Required: true, Repeated: true,
				Help: "File with a record as --format json printed it, a bundle, or a snapshot; - is standard input.",
			})
		}
	}
	return list
}

const recordsPointer = "/records"

// admitFiles moves the records that export_evidence_bundle is given in files to
// the session, and gives the input that is left.
func (a *app) admitFiles(ctx context.Context, c *connection, in *input) ([]byte, error) {
	const name = "records" // as recordsPointer
	paths, _ := in.fields[name].([]any)
	delete(in.fields, name)
	if len(paths) == 0 {
		return nil, usagef("Name files with records, as --format json prints them: rea export-evidence-bundle PATH RECORD...",
			"a command begins without records, so there is nothing to export")
	}
	for _, p := range paths {
		var path string
		if raw, ok := p.(json.RawMessage); !ok || json.Unmarshal(raw, &path) != nil {
			return nil, usagef("", "%v is not a path", p)
		}
		if err := a.admitFile(ctx, c.dispatcher.Session().Ledger(), path); err != nil {
			return nil, err
		}
	}
	return in.JSON()
}

// snapshotStart begins the line that stands before the bundle in a snapshot.
const snapshotStart = "rea-snapshot "

func (a *app) admitFile(ctx context.Context, ledger *evidence.Ledger, path string) error {
	r := a.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return unreadableFile(path, err)
		}
		defer file.Close()
		r = file
	}
	in := bufio.NewReaderSize(r, 64<<10)
	start, _ := in.Peek(64)
	if bytes.HasPrefix(start, []byte(snapshotStart)) {
		if _, err := in.ReadSlice('\n'); err != nil {
			return unsound(path, &evidence.IntegrityError{Reason: "the snapshot ends early"})
		}
		start, _ = in.Peek(64)
	}
	if evidence.IsBundle(start) {
		_, err := ledger.Import(ctx, in, evidence.DefaultImportLimits)
		return unsound(path, err)
	}
	doc, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return unreadableFile(path, err)
	case len(doc) > maxInput:
		return unsound(path, &evidence.IntegrityError{Reason: fmt.Sprintf("it is larger than the %d bytes that a record may have", maxInput)})
	}
	if !bytes.HasPrefix(bytes.TrimLeft(doc, " \t\r\n"), []byte("{")) {
		return unsound(path, &evidence.IntegrityError{
			Reason: "it is neither a record, nor a bundle, nor a snapshot", Remedy: "Give files that commands printed with --format json, bundles, or snapshots.",
		})
	}
	record, err := evidence.Verify(doc)
	if err != nil {
		return unsound(path, err)
	}
	_, err = ledger.Append(record)
	return err
}

func unreadableFile(path string, err error) error {
	if cause := new(os.PathError); errors.As(err, &cause) {
		err = cause.Err
	}
	kind := fault.ArtifactOperationFailedDetailsKindIo
	switch {
	case errors.Is(err, os.ErrNotExist):
		kind = fault.ArtifactOperationFailedDetailsKindMissing
	case errors.Is(err, os.ErrPermission):
		kind = fault.ArtifactOperationFailedDetailsKindPermission
	}
	return fault.ArtifactOperationFailed(fault.ArtifactOperationFailedDetails{Operation: "read", Path: path, Reason: err.Error(), Kind: kind}, err)
}

// unsound is the fault for a file that holds no record.
func unsound(path string, err error) error {
	e, ok := evidence.AsIntegrity(err)
	if !ok {
		return err
	}
	f := fault.EvidenceIntegrityMismatch(fault.EvidenceIntegrityMismatchDetails{Pointer: e.Pointer, Reason: fmt.Sprintf("%s, in file %q", e.Reason, path)}, err)
	if e.Remedy != "" {
		f = fault.Advise(f, e.Remedy)
	}
	return f
}

// inspectBundle is the command that lists the records of a bundle: its input is
// that of import_evidence_bundle and of get_evidence_bundle together.
func inspectBundle() cli.Command {
	c := cli.Command{
		Name: "inspect-evidence-bundle", Tool: inspectTool, Family: "evidence",
		Title: "List the records of a bundle file",
		Description: "Verify a bundle and list its records, as get_evidence_bundle does in a session: ids, targets, engines, procedures. " +
			"Filters choose by exact values; --detail complete gives the records themselves.",
	}
	for _, t := range cli.Commands() {
		switch t.Tool {
		case importTool:
			c.Positionals = t.Positionals
			c.Flags = append(slices.Clone(t.Flags), c.Flags...)
		case listTool:
			for _, f := range t.Flags {
				if f.Pointer == "/detail" {
					f.Default = `"summary"`
				}
				c.Flags = append(c.Flags, f)
			}
		}
	}
	return c
}

func (a *app) inspectBundleCommand(c *cli.Command) *ffcli.Command {
	fs := flags(c.Name)
	in := &input{stdin: a.in}
	var own toolFlags
	a.inputFlags(fs, c, in, &own)
	return a.command(c, fs, in, &own, a.inspectBundle)
}

func (a *app) inspectBundle(ctx context.Context, c *cli.Command, in *input, own *toolFlags, args []string) error {
	_, data, err := in.read(c, own, args)
	if err != nil {
		return err
	}
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(data, &members); err != nil || members == nil {
		return usagef("usage: "+usageLine(c), "the input is not a JSON object with each name once")
	}
	bundle := map[string]jsontext.Value{}
	if path, ok := members["path"]; ok {
		bundle["path"] = path
		delete(members, "path")
	}
	if _, ok := members["detail"]; !ok {
		members["detail"] = jsontext.Value(`"summary"`)
	}
	conn := a.connect("", nil)
	defer conn.close()
	ctx, end := a.progress(ctx)
	defer end()
	var result []byte
	for _, step := range []struct {
		tool  string
		input map[string]jsontext.Value
	}{{importTool, bundle}, {listTool, members}} {
		data, err := jsonv2.Marshal(step.input)
		if err != nil {
			return err
		}
		if result, err = conn.call(ctx, step.tool, data); err != nil {
			return err
		}
	}
	end()
	return a.print(result, own.format)
}

// bound bounds ctx by --timeout; see within.
func (f *toolFlags) bound(ctx context.Context) (_ context.Context, failed func(error) error, stop func(), err error) {
	if f.timeout < 0 {
		return ctx, nil, nil, usagef("", "flag --timeout: %v is not a time to wait", f.timeout)
	}
	ctx, failed, stop = within(ctx, f.timeout)
	return ctx, failed, stop, nil
}
