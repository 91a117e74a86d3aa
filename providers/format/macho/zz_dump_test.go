package macho

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	for _, f := range strings.Fields(os.Getenv("FILES")) {
		d, _ := os.ReadFile(f)
		sl, err := Slices(d)
		if err != nil {
			fmt.Println(f, err)
			continue
		}
		for _, s := range sl {
			t0 := time.Now()
			im, err := Load(d, s.Name())
			dt := time.Since(t0)
			if err != nil {
				fmt.Println(f, err)
				continue
			}
			by := map[string]int{}
			rt := map[string]int{}
			slots := 0
			for _, x := range im.Imports {
				if x.Slot != 0 {
					slots++
				}
			}
			for _, h := range im.Hints {
				by[string(h.Source)]++
			}
			for _, r := range im.Relocations {
				rt[r.Type]++
			}
			fmt.Println(filepath.Base(f), len(im.Data()), dt, s.Name(), im.Machine, "sec", len(im.Sections), "sym", len(im.Symbols), "imp", len(im.Imports), slots, "stubs", len(im.Stubs), "exp", len(im.Exports), "rel", rt, "hints", by, "parts", len(im.Parts), "pads", len(im.LandingPads), im.Debug, im.Compiler, im.BuildID)
			for _, m := range im.Mitigations {
				fmt.Print(m.Name, "=", m.State, " (", m.Detail, ") ")
			}
			fmt.Println()
			fmt.Println(im.Properties)
			fmt.Println(im.Notes)
		}
	}
}
