//go:build unix

// Command export analyses every file of a directory and writes, for each, one
// JSON document in the form of the corpus scorer: functions, calls, tail calls,
// blocks, instructions, references and strings, with the time and the memory
// that the analysis took.
//
//	go run ./tests/corpus/export -in DIR -out DIR [-only SUBSTRING]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rea/providers/embedded/program"
	"rea/providers/format/native"
)

// document is the scorer's input.
type document struct {
	Functions []uint64    `json:"functions"`
	Calls     [][2]uint64 `json:"calls"`
	TailCalls [][2]uint64 `json:"tailcalls"`
	Blocks    [][2]uint64 `json:"blocks"`
	Insns     []uint64    `json:"insns"`
	Xrefs     [][2]uint64 `json:"xrefs"`
	Strings   []uint64    `json:"strings"`
	// Evidence tells why each function was taken for one, for reading errors.
	Evidence map[uint64]string `json:"evidence"`
	Wall     float64           `json:"wall_s"`
	CPU      float64           `json:"cpu_s"`
	RSS      int64             `json:"rss_kb"`
}

func main() {
	in := flag.String("in", "", "directory of binaries")
	out := flag.String("out", "", "directory for the documents")
	only := flag.String("only", "", "part of the names to analyse")
	one := flag.String("one", "", "analyse this one file and write its document to standard output")
	workers := flag.Int("workers", 0, "workers of the analysis; 0: all processors")
	flag.Parse()
	var err error
	if *one != "" {
		err = single(*one, *workers)
	} else {
		err = all(*in, *out, *only, *workers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

// all runs one process for each file, so that each has its own peak memory.
func all(in, out, only string, workers int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	files, err := os.ReadDir(in)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if f.IsDir() || !strings.Contains(f.Name(), only) {
			continue
		}
		cmd := exec.Command(self, "-one", filepath.Join(in, f.Name()), "-workers", fmt.Sprint(workers))
		cmd.Stderr = os.Stderr
		b, err := cmd.Output()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", f.Name(), err)
			continue
		}
		if err := os.WriteFile(filepath.Join(out, f.Name()+".json"), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func single(path string, workers int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	start := time.Now()
	im, err := native.Load(data, native.Options{})
	if err != nil {
		return err
	}
	p, err := program.Analyze(context.Background(), im, program.Options{Workers: workers})
	if err != nil {
		return err
	}
	doc := export(p)
	doc.Wall = time.Since(start).Seconds()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err == nil {
		doc.CPU = float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
		doc.RSS = use.Maxrss
	}
	return json.NewEncoder(os.Stdout).Encode(doc)
}

func export(p *program.Program) *document {
	d := &document{Evidence: map[uint64]string{}}
	for i := range p.Functions {
		if f := &p.Functions[i]; f.Kind != program.KindPart {
			d.Functions = append(d.Functions, f.Entry)
			d.Evidence[f.Entry] = fmt.Sprintf("%s from %#x", f.Evidence, f.From)
		}
	}
	for _, c := range p.Calls {
		switch {
		case c.To == 0:
		case c.Kind == program.DirectCall:
			d.Calls = append(d.Calls, [2]uint64{c.From, c.To})
		case c.Kind == program.TailCall:
			d.TailCalls = append(d.TailCalls, [2]uint64{c.From, c.To})
		}
	}
	for _, b := range p.Blocks {
		d.Blocks = append(d.Blocks, [2]uint64{b.Start, b.End - b.Start})
	}
	for a := range p.InstructionsBetween(0, ^uint64(0)) {
		// the scorer knows the instructions of functions, not of linker stubs
		if i, ok := p.FunctionContaining(a); !ok || p.Functions[i].Kind != program.KindImportStub {
			d.Insns = append(d.Insns, a)
		}
	}
	for _, x := range p.Refs {
		d.Xrefs = append(d.Xrefs, [2]uint64{x.From, x.To})
	}
	for _, s := range p.Strings {
		if s.Encoding != program.UTF16 {
			d.Strings = append(d.Strings, s.Addr)
		}
	}
	return d
}
