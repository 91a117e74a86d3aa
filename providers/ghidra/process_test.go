//go:build unix

package ghidra

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"rea/generated/fault"
	"rea/generated/model"
	"rea/providers/enginetest/scripted"
	"rea/runtime/bridge"
	"rea/runtime/bridge/facts"
	"rea/runtime/engine"
	"rea/runtime/progress"
)

func ask(ctx context.Context, eng engine.Engine) error {
	_, err := eng.Summary(ctx)
	return err
}

// TestStart_that_fails: whatever goes wrong before an engine is ready, the
// caller learns it with a code, and nothing is left.
func TestStart_that_fails(t *testing.T) {
	path := program(t)
	for _, tt := range []struct {
		name   string
		b      scripted.Behaviour
		limit  time.Duration
		code   fault.Code
		reason string
	}{
		{"crash", scripted.Behaviour{Start: scripted.Crash}, 0, fault.ProviderUnavailableCode, "exit status 3; it wrote: the scripted engine starts | ERROR the scripted engine crashes"},
		{"leave", scripted.Behaviour{Start: scripted.Leave}, 0, fault.ProviderUnavailableCode, "before it was ready: exit status 0"},
		{"crash_when_connected", scripted.Behaviour{Start: scripted.Connected}, 0, fault.ProviderUnavailableCode, ""},
		{"hang", scripted.Behaviour{Start: scripted.Hang}, 300 * time.Millisecond, fault.ProviderTimeoutCode, "did not answer within 300 ms"},
		{"slow", scripted.Behaviour{Delay: time.Minute}, 300 * time.Millisecond, fault.ProviderTimeoutCode, ""},
		{"silent", scripted.Behaviour{Start: scripted.Silent}, 300 * time.Millisecond, fault.ProviderTimeoutCode, ""},
		{"silent_beyond_the_handshake", scripted.Behaviour{Start: scripted.Silent}, 0, fault.ProviderUnavailableCode, "did not say who it is"},
		{"garbage", scripted.Behaviour{Start: scripted.Garbage}, 0, fault.ProviderUnavailableCode, "greeting that cannot be read"},
		{"half_a_frame", scripted.Behaviour{Start: scripted.Half}, 0, fault.ProviderUnavailableCode, "unexpected EOF"},
		{"half_a_frame_and_hang", scripted.Behaviour{Start: scripted.HalfHang}, 0, fault.ProviderUnavailableCode, "did not say who it is"},
		{"enormous_frame", scripted.Behaviour{Start: scripted.Oversize}, 0, fault.ProviderUnavailableCode, "a frame of 4294967280 bytes"},
		{"empty_frame", scripted.Behaviour{Start: scripted.Empty}, 0, fault.ProviderUnavailableCode, "a frame of 0 bytes"},
		{"wrong_token", scripted.Behaviour{Start: scripted.WrongToken}, 0, fault.ProviderUnavailableCode, "does not know the token"},
		{"other_protocol", scripted.Behaviour{Start: scripted.Protocol}, 0, fault.ProviderUnavailableCode, "speaks protocol 2"},
		{"other_engine", scripted.Behaviour{Engine: "hopper"}, 0, fault.ProviderUnavailableCode, `of engine "hopper"`},
		{"lying_version", scripted.Behaviour{Version: "11.9"}, 0, fault.ProviderUnavailableCode, `version "11.9", and its files say "12.0"`},
		{"other_bytes", scripted.Behaviour{SHA256: strings.Repeat("0", 64)}, 0, fault.ProviderUnavailableCode, "were imported"},
		{"ignores_SIGTERM", scripted.Behaviour{Start: scripted.Hang, Stubborn: true}, 300 * time.Millisecond, fault.ProviderTimeoutCode, ""},
		{"orphan", scripted.Behaviour{Start: scripted.Hang, Orphan: true}, 300 * time.Millisecond, fault.ProviderTimeoutCode, ""},
		{"orphan_of_a_crash", scripted.Behaviour{Start: scripted.Crash, Orphan: true}, 0, fault.ProviderUnavailableCode, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHarness(t, tt.b, func(c *bridge.Config) {
				c.Handshake = 300 * time.Millisecond
				if tt.limit > 0 {
					c.StartTimeout, c.Handshake = tt.limit, time.Minute
				}
			})
			eng := h.open(t, path)
			err := ask(t.Context(), eng)
			if fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("the start fails with %v, want %s %q", err, tt.code, tt.reason)
			}
			h.clean(t)
			if a := eng.Activity(); a.Status != "idle" {
				t.Errorf("activity is %+v", a)
			}
		})
	}
}

// TestGrace_is_no_deadline: how long a process may take when it is asked says
// nothing about how long the system takes to end one that is killed.
func TestGrace_is_no_deadline(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Start: scripted.Hang, Stubborn: true, Orphan: true}, func(c *bridge.Config) {
		c.StartTimeout, c.Grace = 300*time.Millisecond, time.Microsecond
	})
	for range 5 {
		if err := ask(t.Context(), h.open(t, program(t))); fault.CodeOf(err) != fault.ProviderTimeoutCode {
			t.Errorf("the start ends with %v", err)
		}
		h.clean(t)
	}
}

// TestEngine_that_fails: whatever goes wrong later, questions end with a code,
// and closing leaves nothing.
func TestEngine_that_fails(t *testing.T) {
	path := program(t)
	for _, tt := range []struct {
		name   string
		at     scripted.Fault
		orphan bool
		code   fault.Code
		sticky bool
		reason string
	}{
		{"crash", scripted.Crash, false, fault.ProviderUnavailableCode, true, "crashes at texts"},
		{"crash_with_orphan", scripted.Crash, true, fault.ProviderUnavailableCode, true, ""},
		{"garbage", scripted.Garbage, false, fault.ProviderUnavailableCode, true, "cannot be read"},
		{"half", scripted.Half, false, fault.ProviderUnavailableCode, true, ""},
		{"enormous", scripted.Oversize, false, fault.ProviderUnavailableCode, true, "a frame of"},
		{"wrong_id", scripted.WrongID, false, fault.ProviderUnavailableCode, true, "which is not open"},
		{"hang", scripted.Hang, false, fault.ProviderTimeoutCode, false, "within 1500 ms"},
		{"half_and_hang", scripted.HalfHang, false, fault.ProviderTimeoutCode, false, ""},
		{"endless", scripted.Endless, false, fault.ProviderTimeoutCode, false, ""},
		{"deaf", scripted.Deaf, false, fault.ProviderTimeoutCode, false, ""},
		{"refusal", scripted.Refuse, false, "", false, "it was told to refuse"},
		{"bad_rows", scripted.BadRows, false, fault.ProviderUnavailableCode, false, "answers texts with what is no answer to it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, scripted.Behaviour{Op: facts.Texts, At: tt.at, Orphan: tt.orphan}, func(c *bridge.Config) {
				c.Answer, c.List = 1500*time.Millisecond, 1500*time.Millisecond
			})
			eng := h.open(t, path)
			if _, err := eng.Resolve(t.Context(), "0x1"); fault.CodeOf(err) != fault.ProcedureNotFoundCode {
				t.Fatalf("before it fails: %v", err)
			}
			err := ask(t.Context(), eng)
			if fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error is %v, want %s %q", err, tt.code, tt.reason)
			}
			if tt.sticky {
				h.clean(t)
				if _, err := eng.Item(t.Context(), 0x1000, 1); fault.CodeOf(err) != fault.ProviderUnavailableCode {
					t.Errorf("an engine that ended answers again: %v", err)
				}
				var e *fault.Error
				if !errors.As(err, &e) || !e.Details.(*fault.ProviderUnavailableDetails).Ended || !strings.HasPrefix(e.Remediation.Action, "Open the target again") {
					t.Errorf("the end is told as %+v", e)
				}
				if a := eng.Activity(); a.Status != "ended" {
					t.Errorf("activity is %+v", a)
				}
			}
			if err := eng.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			h.clean(t)
		})
	}
}

// TestCancelled_question: the engine stays busy until it has noticed, and says so.
func TestCancelled_question(t *testing.T) {
	for name, want := range map[string]struct {
		at    scripted.Fault
		after string
	}{"noticed": {scripted.Stall, "idle"}, "ignored": {scripted.Deaf, "timed_out_busy"}} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, scripted.Behaviour{Op: facts.Item, At: want.at}, nil)
			eng := h.open(t, program(t))
			if _, err := eng.Resolve(t.Context(), "0x1"); fault.CodeOf(err) != fault.ProcedureNotFoundCode {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			answers := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := eng.Item(ctx, 0x1000, 1)
					answers <- err
				}()
			}
			busy := engine.Activity{Status: "busy", Running: 1, Queued: 1, Phase: facts.Item}
			eventually(t, func() bool { return eng.Activity() == busy }, func() any { return eng.Activity() })
			cancel()
			for range 2 {
				if err := <-answers; !errors.Is(err, context.Canceled) {
					t.Errorf("a cancelled question ends with %v", err)
				}
			}
			eventually(t, func() bool { return eng.Activity().Status == want.after }, func() any { return eng.Activity() })
		})
	}
}

func eventually(t *testing.T, ok func() bool, is func() any) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it is still %+v", is())
}

// TestStart_cancelled: the start belongs to those who wait for it.
func TestStart_cancelled(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Delay: 600 * time.Millisecond}, nil)
	eng := h.open(t, program(t))
	impatient, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- ask(impatient, eng) }()
	eventually(t, func() bool { return eng.Activity().Status == "busy" }, func() any { return eng.Activity() })
	second := make(chan error, 1)
	go func() { second <- ask(t.Context(), eng) }()
	eventually(t, func() bool { return eng.Activity().Queued == 1 }, func() any { return eng.Activity() })
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up gets %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("who waited gets %v", err)
	}
	seen := eng.(interface {
		Processes() []model.AnalysisRunProcessLineageSnapshotsProvider
	}).Processes()
	if len(seen) != 1 {
		t.Fatalf("observed %+v", seen)
	}
	if o, ok := seen[0].Observation.(*model.AnalysisRunProcessLineageSnapshotsProviderObservationVerified); !ok || o.LauncherPID == 0 || o.ProcessGroup != o.LauncherPID || o.ObservedAt == "" {
		t.Errorf("observed %+v", seen[0].Observation)
	}
}

// TestWaiting_is_reported while the start is pending, and not after.
func TestWaiting_is_reported(t *testing.T) {
	h := newHarness(t, scripted.Behaviour{Delay: 700 * time.Millisecond}, func(c *bridge.Config) { c.Waiting = 200 * time.Millisecond })
	eng := h.open(t, program(t))
	var mu sync.Mutex
	var got []string
	ctx := progress.With(t.Context(), progress.NewReporter(func(_ int64, m string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, m)
	}))
	if err := ask(ctx, eng); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	settled := len(got)
	mu.Unlock()
	time.Sleep(500 * time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	// One more may have been held back by the rate when the start settled.
	if settled < 2 || len(got) > settled+1 {
		t.Errorf("%d reports while it started, %d in all: %q", settled, len(got), got)
	}
	later := progress.With(t.Context(), progress.NewReporter(func(_ int64, m string) { t.Errorf("after the start it is reported that %q", m) }))
	if _, err := eng.Item(later, 0, 1); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got[0], "starting Ghidra") {
		t.Errorf("the first report is %q", got[0])
	}
	for _, m := range got[1:] {
		if !strings.HasPrefix(m, "waiting for Ghidra for ") || !strings.Contains(m, "auto-analysis") {
			t.Errorf("report %q", m)
		}
	}
}

// TestCycles starts engines and gives them up at random moments: nothing is left.
func TestCycles(t *testing.T) {
	cycles := 200
	if testing.Short() {
		cycles = 20
	}
	h := newHarness(t, scripted.Behaviour{Delay: 2 * time.Millisecond}, nil)
	stubborn := newHarness(t, scripted.Behaviour{Delay: 2 * time.Millisecond, Stubborn: true, Orphan: true}, func(c *bridge.Config) { c.Grace = 20 * time.Millisecond })
	path := program(t)
	random := rand.New(rand.NewPCG(1, 2))
	answered := 0
	for i := range cycles {
		in := h
		if i%10 == 9 {
			in = stubborn
		}
		tg, err := target(path)
		if err != nil {
			t.Fatal(err)
		}
		eng, err := in.provider.Open(t.Context(), tg, engine.NoNames{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(random.IntN(60_000))*time.Microsecond, cancel)
		if i%3 == 0 { // closed under the question
			timer.Stop()
			timer = time.AfterFunc(time.Duration(random.IntN(60_000))*time.Microsecond, func() { eng.Close() })
		}
		if err := ask(ctx, eng); err == nil {
			answered++
		} else if code := fault.CodeOf(err); code == fault.ProviderTimeoutCode || code == fault.CleanupIncompleteCode {
			t.Errorf("cycle %d: %v", i, err)
		}
		timer.Stop()
		cancel()
		if err := eng.Close(); err != nil {
			t.Errorf("cycle %d: close: %v", i, err)
		}
	}
	t.Logf("%d of %d questions were answered before they were given up", answered, cycles)
	h.clean(t)
	stubborn.clean(t)
}
