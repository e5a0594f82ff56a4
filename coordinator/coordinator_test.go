package coordinator

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

func TestRunToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds, plan.Shards = 20, 3
		log := &runlog.Memory{}
		r := run(t, Config{Plan: plan, Log: log})
		synctest.Wait()
		devices := r.join(ids(2), contribute)
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		if got, want := log.Last(), uint64(22); got != want {
			t.Errorf("the log has %d records, want %d", got, want)
		}
		if got := r.count(report.RoundDone); got != 20 {
			t.Errorf("%d rounds were recorded, want 20", got)
		}
		s := r.Status()
		if s.State != report.Ended || s.End.Reason != wire.EndRounds ||
			s.Counters.Dropped() != s.Counters.Duplicate+s.Counters.Late {
			t.Errorf("status %+v", s)
		}
		for _, d := range devices {
			if a := d.last(); a.State != wire.Ended || a.N != 23 {
				t.Errorf("%s last saw %v of record %d, want ended of 23", d.id, a.State, a.N)
			}
		}
	})
}

func TestPauseResumeEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Quorum = 2
		r := run(t, Config{Plan: plan, Linger: time.Second})
		synctest.Wait()
		d := r.join(ids(2), nil)
		pass(time.Second)
		d[0].send(contributionTo(ptr(d[0].last()), 1, 1))
		synctest.Wait()
		r.Pause("maintenance")
		synctest.Wait()
		if s := r.Status(); s.State != report.Paused || s.Reason != "maintenance" ||
			s.Contributions != 1 {
			t.Errorf("paused: %+v", s)
		}
		if a := d[1].last(); a.State != wire.Paused || a.Reason != "maintenance" {
			t.Errorf("devices saw %v %q, want the pause and its reason", a.State, a.Reason)
		}
		pass(time.Minute)
		r.Resume()
		synctest.Wait()
		a := d[1].last()
		if a.State != wire.Open || a.N != 2 || a.Attempt != 1 || a.Left != 10_000 {
			t.Errorf("resumed: %+v", a)
		}
		d[1].send(contributionTo(&a, 3, 3))
		synctest.Wait()
		if s := r.Status(); s.N != 2 || s.Rounds != 1 {
			t.Errorf("after the second contribution: %+v, want round 1 done", s)
		}
		r.End("that is enough")
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		s := r.Status()
		if s.State != report.Ended || s.End.Reason != wire.EndRequested ||
			s.End.Text != "that is enough" {
			t.Errorf("ended: %+v", s)
		}
		if r.count(report.RunPaused) != 1 || r.count(report.RunResumed) != 1 ||
			r.count(report.RunEnded) != 1 {
			t.Errorf("events %+v", r.events)
		}
	})
}

// TestPauseAfter: with a pause planned after a later round, the run does no round after that round,
// and devices hear of the pause. With a pause after an earlier round, the run pauses at once.
// Another pause replaces a planned pause.
func TestPauseAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds = 20
		r := run(t, Config{Plan: plan})
		r.PauseAfter(5, "replaced")
		r.PauseAfter(7, "seven")
		synctest.Wait()
		d := r.join(ids(2), contribute)
		pass(time.Minute)
		paused := func(n uint64, reason string) {
			t.Helper()
			s := r.Status()
			if s.State != report.Paused || s.Rounds != n || s.Reason != reason {
				t.Errorf("%v after round %d: %q, want a pause after %d: %q", s.State, s.Rounds, s.Reason,
					n, reason)
			}
			if a := d[1].last(); a.State != wire.Paused || a.Reason != reason {
				t.Errorf("devices saw %v %q", a.State, a.Reason)
			}
		}
		paused(7, "seven")
		r.PauseAfter(9, "nine")
		r.Resume()
		pass(time.Minute)
		paused(9, "nine")
		r.PauseAfter(12, "replaced")
		r.Pause("lunch")
		r.Resume()
		synctest.Wait()
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		if s := r.Status(); s.State != report.Ended || s.Rounds != 20 {
			t.Errorf("%v after round %d, want the end after 20", s.State, s.Rounds)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Config{Plan: chaintest.Plan(t)})
		synctest.Wait()
		r.PauseAfter(0, "now")
		synctest.Wait()
		if s := r.Status(); s.State != report.Paused || s.Reason != "now" {
			t.Errorf("%v: %q, want a pause now", s.State, s.Reason)
		}
	})
}

func TestFinalEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds, plan.EvalEvery, plan.EvalCount, plan.Metrics = 3, 10, 2, []string{"acc"}
		r := run(t, Config{Plan: plan})
		synctest.Wait()
		r.join(ids(2), func(d *device, a *wire.Announcement) {
			contribute(d, a)
			if a.State == wire.Ended {
				d.send(wire.Reply{Kind: wire.Evaluation, N: a.N - 1, Weight: 1 + d.slot,
					Values: wire.AppendScalars(nil, float32(d.slot))})
			}
		})
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		e := r.Status().Evaluation
		if e.N != 5 || e.Count != 2 || e.Samples != 3 ||
			!slices.Equal(e.Metrics, []float32{2. / 3}) {
			t.Errorf("evaluation %+v, want 2/3 after record 5", e)
		}
	})
}

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds = 4
		dir := t.TempDir()
		b := bus.NewMemory()
		defer b.Close()
		log := openFile(t, dir)
		first := run(t, Config{Plan: plan, Log: log, Bus: b})
		synctest.Wait()
		first.bus = b
		first.join(ids(2), func(d *device, a *wire.Announcement) {
			if a.N < 4 || a.Epoch > 1 {
				contribute(d, a)
			}
		})
		pass(5 * time.Second)
		stop := errors.New("power cut")
		first.cancel(stop)
		if err := <-first.done; !errors.Is(err, stop) {
			t.Errorf("Run returned %v, want the cause of its context", err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		second := run(t, Config{Log: openFile(t, dir), Bus: b}) // the plan is the log's
		if err := <-second.done; err != nil {
			t.Fatal(err)
		}
		if s := second.Status(); s.N != 6 || s.Rounds != 4 || s.Epoch != 2 || s.Members != 2 {
			t.Errorf("status %+v, want 4 rounds by epoch 2", s)
		}
	})
}

// A failingLog fails while failing is set.
type failingLog struct {
	runlog.Memory
	failing atomic.Bool
}

func (l *failingLog) Append(ctx context.Context, n uint64, record []byte) error {
	if l.failing.Load() {
		return errDisk
	}
	return l.Memory.Append(ctx, n, record)
}

func (l *failingLog) AddMembers(ctx context.Context, ids []string) error {
	if l.failing.Load() {
		return errDisk
	}
	return l.Memory.AddMembers(ctx, ids)
}

func TestLogFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds = 1
		log := &failingLog{}
		r := run(t, Config{Plan: plan, Log: log})
		synctest.Wait()
		log.failing.Store(true)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := r.bus.Request(ctx, subjects.Join("r", "d0"),
			(&wire.JoinRequest{}).Append(nil)); err == nil {
			t.Error("a device was told of a slot that is not stored")
		}
		log.failing.Store(false)
		d := r.join(ids(2), nil)
		pass(time.Second)
		log.failing.Store(true)
		for _, d := range d {
			d.send(contributionTo(ptr(d.last()), 1, 1))
		}
		synctest.Wait()
		if s := r.Status(); s.State != report.Paused || s.N != 1 {
			t.Errorf("status %+v, want a pause at record 1", s)
		}
		log.failing.Store(false) // nobody resumes the run
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		if got := log.Last(); got != 3 {
			t.Errorf("the log has %d records, want 3", got)
		}
	})
}

func TestRunErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Config{Plan: chaintest.Plan(t)})
		synctest.Wait()
		if err := r.Run(context.Background()); !errors.Is(err, ErrRunning) {
			t.Errorf("Run while it runs: %v, want ErrRunning", err)
		}
		r.join(ids(2), nil)
		r.bus.Close()
		r.Pause("somebody is to be told")
		if err := <-r.done; !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run on a closed bus: %v, want bus.ErrClosed", err)
		}
		if err := r.Run(context.Background()); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Run on a closed bus: %v, want bus.ErrClosed", err)
		}
	})
}

func TestRecorderStopsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.NewMemory()
		defer b.Close()
		full := errors.New("no space for events")
		c, err := New(t.Context(), Config{Plan: chaintest.Plan(t), Log: &runlog.Memory{}, Bus: b,
			Recorder: report.RecorderFunc(func(report.Event) error { return full })})
		if err != nil {
			t.Fatal(err)
		}
		c.Pause("an event")
		if err := c.Run(context.Background()); !errors.Is(err, full) {
			t.Errorf("Run returned %v, want the recorder's error", err)
		}
	})
}

func TestNewErrors(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	started := &runlog.Memory{}
	chaintest.Append(t, started, chaintest.Records(t, 3))
	if err := started.AddMembers(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	bad, other, otherKey := chaintest.Plan(t), chaintest.Plan(t), chaintest.Plan(t)
	bad.Target = 0
	other.StepSize = 7
	otherKey.RunKey[3]++
	lost := &runlog.Memory{}
	chaintest.Append(t, lost, chaintest.Records(t, 3))
	lostBetween := &runlog.Memory{}
	chaintest.Append(t, lostBetween, betweenPhases(t))
	var planError *plan.Error
	for _, test := range []struct {
		name string
		cfg  Config
		want string
		ok   func(error) bool
	}{
		{"no bus", Config{Plan: chaintest.Plan(t), Log: &runlog.Memory{}},
			"coordinator: bad config: Conn is nil: connect with nats.Connect first",
			is(runlog.ErrConfig)},
		{"no log", Config{Plan: chaintest.Plan(t), Bus: b}, "", is(runlog.ErrConfig)},
		{"no plan", Config{Log: &runlog.Memory{}, Bus: b}, "", is(runlog.ErrConfig)},
		{"negative queue", Config{Plan: chaintest.Plan(t), Log: &runlog.Memory{}, Bus: b,
			Queue: -1}, "", is(runlog.ErrConfig)},
		{"negative timeout", Config{Plan: chaintest.Plan(t), Log: &runlog.Memory{}, Bus: b,
			AppendTimeout: -1}, "", is(runlog.ErrConfig)},
		{"negative patience", Config{Plan: chaintest.Plan(t), Log: &runlog.Memory{}, Bus: b,
			CatchUpPatience: -1}, "", is(runlog.ErrConfig)},
		{"bad witness", Config{Plan: chaintest.Plan(t), Log: &runlog.Memory{}, Bus: b,
			Witnesses: []string{"a", "b c"}}, "", is(runlog.ErrConfig)},
		{"bad plan", Config{Plan: bad, Log: &runlog.Memory{}, Bus: b}, "",
			func(err error) bool { return errors.As(err, &planError) }},
		{"another plan", Config{Plan: other, Log: started, Bus: b},
			"coordinator: plan differs from the log's: its step is 0.001, the configured one 7: " +
				"leave the plan out to continue the log's run, or take another log",
			is(runlog.ErrPlan)},
		{"another key", Config{Plan: otherKey, Log: started, Bus: b},
			"coordinator: plan differs from the log's: it has another run_key: leave the plan " +
				"out to continue the log's run, or take another log", is(runlog.ErrPlan)},
		{"roster lost", Config{Log: lost, Bus: b}, "", is(runlog.ErrCorrupt)},
		{"roster lost in round 1", Config{Log: lostBetween, Bus: b}, "", is(runlog.ErrCorrupt)},
	} {
		_, err := New(t.Context(), test.cfg)
		if err == nil || !test.ok(err) || test.want != "" && err.Error() != test.want {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if _, err := New(t.Context(), Config{Plan: chaintest.Plan(t), Log: started,
		Bus: b}); err != nil {
		t.Errorf("the log's own plan: %v", err)
	}
}

// betweenPhases returns a log that ends with the first phase of round 1.
func betweenPhases(t *testing.T) [][]byte {
	b := bus.NewMemory()
	defer b.Close()
	log := &runlog.Memory{}
	plan := chaintest.PlanWith(t, []string{"control=scaffold-1"}, 1)
	c, err := New(t.Context(), Config{Plan: plan, Log: log, Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	c.mustPerform(t, c.start())
	c.mustPerform(t, c.step(joinOf("d0")))
	c.mustPerform(t, c.step(c.contributionFrom("d0", 1, 2, 3)))
	var records [][]byte
	err = log.Read(t.Context(), 1, func(_ uint64, record []byte) bool {
		records = append(records, bytes.Clone(record))
		return true
	})
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, %v, want 2", len(records), err)
	}
	return records
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func ptr[T any](v T) *T { return &v }

// openFile opens a log in a directory until the test ends.
func openFile(t testing.TB, dir string) *filelog.Log {
	t.Helper()
	f, err := filelog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
