package enginetest_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"rea/generated/tool"
	"rea/providers/analysis"
	"rea/providers/binary"
	"rea/providers/embedded"
	"rea/providers/enginetest"
	"rea/providers/native"
	"rea/runtime/session"
)

func TestTry(t *testing.T) {
	path := os.Getenv("TRY")
	if path == "" {
		t.Skip()
	}
	h := enginetest.Open(t, embedded.Provider{Version: "t"}, recognize, path, tool.Families{Native: native.New(session.Source), Analysis: analysis.New(session.Source), Binary: binary.New(session.Target)})
	for i := 1; ; i++ {
		name, in := os.Getenv(fmt.Sprint("T", i)), os.Getenv(fmt.Sprint("I", i))
		if name == "" {
			break
		}
		start := time.Now()
		r := h.Call(t, name, in)
		d := time.Since(start)
		fmt.Printf("== %s %s (%s) %d bytes\n", name, in, d, len(r.Output))
		if r.Err != nil {
			fmt.Println("ERR", r.Code, r.Err)
			continue
		}
		if os.Getenv("QUIET") == "" {
			fmt.Println(r.Output)
		}
		for _, l := range r.Limitations {
			fmt.Println(" -", l)
		}
	}
}
