package macho

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestPrec(t *testing.T) {
	fs, _ := filepath.Glob("/tmp/rea-corpus/open/bin/*_macho_*")
	for _, f := range fs {
		d, _ := os.ReadFile(f)
		im, err := Load(d, "")
		if err != nil {
			fmt.Println(f, err)
			continue
		}
		var tr struct {
			Functions []struct {
				Addr, Size uint64
				Name, Src  string
			}
			Parts  []struct{ Addr, Size uint64 }
			Ignore []uint64
			Cold   []struct{ Addr uint64 }
		}
		b, _ := os.ReadFile("/tmp/rea-corpus/open/truth/" + filepath.Base(f) + ".json")
		if err := json.Unmarshal(b, &tr); err != nil {
			fmt.Println(err)
		}
		tf := map[uint64]bool{}
		for _, x := range tr.Functions {
			tf[x.Addr] = true
		}
		neu := func(a uint64) bool {
			for _, r := range tr.Ignore {
				if a == r {
					return true
				}
			}
			return false
		}
		good := map[string]int{}
		bad := map[string][]string{}
		for _, h := range im.Hints {
			s := string(h.Source)
			if tf[h.Addr] {
				good[s]++
			} else if !neu(h.Addr) {
				bad[s] = append(bad[s], fmt.Sprintf("%x", h.Addr))
			}
		}
		fmt.Println(filepath.Base(f), len(tr.Functions), good)
		for k, v := range bad {
			n := len(v)
			if n > 12 {
				v = v[:12]
			}
			fmt.Println("   BAD", k, n, v)
		}
	}
}
