package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// numbered is a record of at least size bytes that differs from its neighbours.
func numbered(t testing.TB, n, size int) *Record {
	t.Helper()
	r, err := Seal(fmt.Appendf(nil, `{"schema_version":2,"operation":"analyze_function","predicate_type":"rea:test:1",
		"normalized_result":{"procedure":{"address":"0x%x","name":"sub_%d"},"text":%q},"confidence":"observed","authority":"shipped-artifact",
		"subject":{"name":"x","digest":{"sha256":%q},"format":"elf","architecture":null,"local_path":null},
		"provider":{"id":"embedded","name":"E","version":null},"analysis_profile":null,"parameters":{},"limitations":[],"locations":[],
		"evidence_links":[],"environment":null,"raw_result":null}`, 0x1000+n, n, strings.Repeat("x", size), strings.Repeat("ab", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fill(t testing.TB, l *Ledger, count, size int) []*Record {
	t.Helper()
	records := make([]*Record, count)
	for i := range records {
		records[i] = numbered(t, i, size)
		if added, err := l.Append(records[i]); err != nil || !added {
			t.Fatalf("record %d: added %v, %v", i, added, err)
		}
	}
	return records
}

func TestLedger(t *testing.T) {
	for name, memory := range map[string]int64{"in_memory": 1 << 20, "in_a_segment": 1, "across": 3000} {
		t.Run(name, func(t *testing.T) {
			l := NewLedger(t.TempDir(), memory)
			records := fill(t, l, 10, 500)
			for i, r := range records {
				if added, err := l.Append(r); added || err != nil {
					t.Errorf("record %d is added twice: %v", i, err)
				}
				got, err := l.Get(r.ID())
				if err != nil || !bytes.Equal(got.Bytes(), r.Bytes()) || got.Operation() != "analyze_function" {
					t.Errorf("record %d does not come back: %v", i, err)
				}
			}
			if l.Len() != 10 || l.Size() < 10*500 {
				t.Errorf("holds %d records, %d bytes", l.Len(), l.Size())
			}
			page, total := l.Page(8, 5)
			if len(page) != 2 || total != 10 || page[1].ID != records[9].ID() {
				t.Errorf("last page has %d of %d", len(page), total)
			}
			s := page[1]
			if s.Procedure == nil || s.Procedure.Address != "0x1009" || s.Procedure.Name != "sub_9" || s.Bytes != len(records[9].Bytes()) ||
				s.SubjectSHA256 != strings.Repeat("ab", 32) || s.ProfileDigest != "" || s.Dossier == nil || s.Dossier.ValueFlow != "unavailable" || s.Dossier.Omitted != nil {
				t.Errorf("summary is %+v", s)
			}
			if n := l.Clear(); n != 10 || l.Len() != 0 || l.Size() != 0 {
				t.Errorf("cleared %d, holds %d", n, l.Len())
			}
			if _, err := l.Get(records[0].ID()); !errors.Is(err, ErrNotHeld) {
				t.Errorf("a cleared record gives %v", err)
			}
			if added, err := l.Append(records[3]); err != nil || !added {
				t.Errorf("after clearing: added %v, %v", added, err)
			}
			l.Clear()
		})
	}
}

func TestLedger_readers_survive_a_clear(t *testing.T) {
	l := NewLedger(t.TempDir(), 1)
	records := fill(t, l, 50, 2000)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				want := records[rand.IntN(len(records))]
				got, err := l.Get(want.ID())
				if err != nil && !errors.Is(err, ErrNotHeld) {
					t.Errorf("reading: %v", err)
				}
				if err == nil && !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Error("read other bytes")
				}
			}
		})
	}
	for range 20 {
		l.Clear()
		for _, r := range records {
			if _, err := l.Append(r); err != nil {
				t.Error(err)
			}
		}
	}
	wg.Wait()
}

func TestLedger_detects_changed_bytes(t *testing.T) {
	l := NewLedger(t.TempDir(), 1)
	r := fill(t, l, 1, 100)[0]
	if _, err := l.current.file.WriteAt([]byte("X"), 40); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Get(r.ID()); err == nil || !strings.Contains(err.Error(), "have changed") {
		t.Errorf("a changed record gives %v", err)
	}
	l.Clear()
}

func TestLedger_without_a_place_for_files(t *testing.T) {
	l := NewLedger(t.TempDir()+"/missing", 1)
	if _, err := l.Append(numbered(t, 1, 10)); err == nil {
		t.Error("a record was stored nowhere")
	}
	if l.Len() != 0 {
		t.Error("a record that was not stored is counted")
	}
}

// TestLedger_leaves_nothing_behind kills a process that has stored records.
func TestLedger_leaves_nothing_behind(t *testing.T) {
	if dir := os.Getenv("REA_TEST_LEDGER_DIR"); dir != "" {
		fill(t, NewLedger(dir, 1), 20, 10000)
		os.Stdout.WriteString("ready\n")
		time.Sleep(time.Minute)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("needs SIGKILL")
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLedger_leaves_nothing_behind$")
	cmd.Env = append(os.Environ(), "REA_TEST_LEDGER_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestLedger_memory holds many records of 100 KB in a process of its own:
// 1,500, or 10,000 when REA_TEST_LARGE is set.
func TestLedger_memory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes much")
	}
	if os.Getenv("REA_TEST_LEDGER_MEMORY") == "" {
		if _, err := os.Stat("/proc/self/status"); err != nil {
			t.Skip("needs /proc")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestLedger_memory$", "-test.v")
		cmd.Env = append(os.Environ(), "REA_TEST_LEDGER_MEMORY=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		} else {
			t.Logf("%s", out)
		}
		return
	}
	count := 1500
	if os.Getenv("REA_TEST_LARGE") != "" {
		count = 10000
	}
	l := NewLedger("", 0)
	var last *Record
	for i := range count {
		last = numbered(t, i, 100<<10)
		if _, err := l.Append(last); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	if n := len(l.Summaries()); n != count {
		t.Errorf("%d summaries", n)
	}
	summaries := time.Since(start)
	start = time.Now()
	if _, err := l.Get(last.ID()); err != nil {
		t.Error(err)
	}
	one := time.Since(start)
	peak := procStatus(t, "VmHWM")
	t.Logf("%d MB stored, peak resident %d MB, summaries %v, one record %v", l.Size()>>20, peak>>10, summaries, one)
	if peak > 100<<10 {
		t.Errorf("peak resident memory is %d MB", peak>>10)
	}
	if one > 5*time.Millisecond {
		t.Errorf("one record took %v", one)
	}
	l.Clear()
}

func procStatus(t *testing.T, key string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s", key)
	return 0
}
