package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"rea/runtime/evidence"
)

// recordOfBundle reads one record of a bundle, given as @FILE#ID, or as @FILE
// when it is the only one. What is no bundle is left to others.
func recordOfBundle(text string) (record []byte, isBundle bool, err error) {
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return nil, false, nil
	}
	var wanted *evidence.ID
	if i := strings.LastIndexByte(path, '#'); i >= 0 {
		if id, err := evidence.ParseID(path[i+1:]); err == nil {
			path, wanted = path[:i], &id
		}
	}
	// What was read of a pipe is gone; it is read as a record.
	if info, err := os.Stat(path); err != nil || wanted == nil && !info.Mode().IsRegular() {
		return nil, false, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 64<<10)
	start, _ := in.Peek(64)
	switch {
	case evidence.IsBundle(start):
	case wanted != nil:
		return nil, false, fmt.Errorf("%s is no Evidence bundle, of which a record could be taken", path)
	default:
		return nil, false, nil
	}
	info, err := evidence.ReadBundle(context.Background(), in, evidence.DefaultImportLimits, func(r *evidence.Record) error {
		if wanted == nil || r.ID() == *wanted {
			record = r.Bytes()
		}
		return nil
	})
	switch {
	case err != nil:
		if e, ok := evidence.AsIntegrity(err); ok {
			err = errors.New(strings.TrimPrefix(e.Pointer+": "+e.Reason, ": "))
		}
		return nil, true, fmt.Errorf("the bundle %s is not sound: %w", path, err)
	case wanted == nil && info.Records != 1:
		return nil, true, fmt.Errorf("%s is a bundle of %d records: name one as @%s#ev_…; rea inspect-evidence-bundle %s lists their ids", path, info.Records, path, path)
	case record == nil:
		return nil, true, fmt.Errorf("the bundle %s has no record %s; rea inspect-evidence-bundle %s lists those it has", path, wanted, path)
	}
	return record, true, nil
}
