package application_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rea/providers/javascript/application"
	"rea/providers/javascript/tree"
)

// ending is a context that ends when it was asked some number of times.
type ending struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		e.cancel()
	}
	return e.Context.Err()
}

// TestCancelled ends analyses at every moment at which they look, and at others. They
// give nothing, and do not fail in another way.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	var src strings.Builder
	src.WriteString("(()=>{var m={")
	for i := range 400 {
		fmt.Fprintf(&src, `%d:(e,t,n)=>{const a=n(%d),b=s=>fetch("/x"+s+a.y);t.f=(p,q)=>{switch(p){case 1:return b(q);default:try{return a.z(()=>q?p:[q,...p])}catch{}}};class C{m(){return this.m()}}t.C=new C},`, i, i+1)
	}
	src.WriteString("};function r(i){var e={exports:{}};m[i](e,e.exports,r);return e.exports}r(0)})()")
	for name, text := range map[string]string{"bundle.js": src.String(), "main.js": `const {ipcMain}=require("electron");ipcMain.handle("c",require("./bundle.js"))`, "package.json": `{"main":"main.js"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	analyze := func(ctx context.Context) error {
		files, err := tree.Read(t.Context(), dir, bounds)
		if err != nil {
			t.Fatal(err)
		}
		out, err := application.Analyze(ctx, files)
		if (out == nil) == (err == nil) {
			t.Fatalf("%v and %v are given", out, err)
		}
		return err
	}
	asked := int64(0)
	for ; ; asked += 1 + asked/40 {
		ctx, cancel := context.WithCancel(t.Context())
		e := &ending{Context: ctx, cancel: cancel}
		e.left.Store(asked)
		err := analyze(e)
		cancel()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if asked < 30 {
		t.Errorf("it looks %d times", asked)
	}
	for i := range 60 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		if err := analyze(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}
}
