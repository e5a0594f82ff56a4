package coordinator

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A partition is a bus that a test can cut off from other buses.
type partition struct {
	bus.Bus
	cut atomic.Bool
}

func (p *partition) Publish(subject string, data []byte) error {
	if p.cut.Load() {
		return bus.ErrOffline
	}
	return p.Bus.Publish(subject, data)
}

func (p *partition) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if p.cut.Load() {
		return nil, bus.ErrOffline
	}
	return p.Bus.Request(ctx, subject, data)
}

func (p *partition) Subscribe(
	subject string, handle func(bus.Message),
) (bus.Subscription, error) {
	return p.Bus.Subscribe(subject, func(m bus.Message) {
		if !p.cut.Load() {
			handle(m)
		}
	})
}

// A text receives log lines.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(b)
}

func (x *text) has(s string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Contains(x.b.String(), s)
}

// copyOf copies a log's directory.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir() + "/copy"
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// countAnnouncements counts the announcements on a bus.
func countAnnouncements(t *testing.T, b bus.Bus) *atomic.Int32 {
	t.Helper()
	var n atomic.Int32
	_, err := b.Subscribe(subjects.Announce("r", 0), func(bus.Message) { n.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	return &n
}

const mustStepDown = "it began later and must step down"

// A coordinator with a copy of a leading coordinator's log announces nothing and ends. Both
// coordinators log why.
func TestSecondEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, b, said := t.TempDir(), bus.NewMemory(), &text{}
		defer b.Close()
		first := run(t, Config{Plan: chaintest.Plan(t), Log: openFile(t, dir), Bus: b,
			Logger: slog.New(slog.NewTextHandler(said, nil))})
		synctest.Wait()
		first.bus = b
		first.join(ids(2), func(d *device, a *wire.Announcement) {
			if a.N < 5 {
				contribute(d, a)
			}
		})
		pass(30 * time.Second)
		heard := countAnnouncements(t, b)
		second := run(t, Config{Log: openFile(t, copyOf(t, dir)), Bus: b})
		synctest.Wait()
		select {
		case err := <-second.done:
			if !errors.Is(err, ErrSecond) || !strings.Contains(err.Error(), "up for 30s") {
				t.Errorf("got %v, want %v, with the time that the first is up", err, ErrSecond)
			}
		default:
			t.Error("the second leads beside the first")
		}
		if n := heard.Load(); n > 0 {
			t.Errorf("the second announced %d times", n)
		}
		if !said.has(mustStepDown) {
			t.Errorf("the first says nothing of the second: %s", said.b.String())
		}
		if s := first.Status(); s.State == report.Deposed {
			t.Errorf("the first has status %+v", s)
		}
	})
}

// While a coordinator is cut off, another coordinator starts with a copy of its log. When the first
// coordinator comes back, the second coordinator ends, because the first has run for longer.
func TestSecondEndsAfterPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, b, said := t.TempDir(), bus.NewMemory(), &text{}
		defer b.Close()
		p := &partition{Bus: b}
		first := run(t, Config{Plan: chaintest.Plan(t), Log: openFile(t, dir), Bus: p,
			Logger: slog.New(slog.NewTextHandler(said, nil))})
		pass(10 * time.Second)
		p.cut.Store(true)
		second := run(t, Config{Log: openFile(t, copyOf(t, dir)), Bus: b})
		pass(time.Hour)
		select {
		case err := <-second.done:
			t.Fatalf("the second ended while it was alone: %v", err)
		default:
		}
		p.cut.Store(false)
		pass(2 * 5 * time.Second)
		select {
		case err := <-second.done:
			if !errors.Is(err, ErrSecond) {
				t.Errorf("got %v, want %v", err, ErrSecond)
			}
		default:
			t.Error("both lead")
		}
		if !said.has(mustStepDown) {
			t.Errorf("the first says nothing of the second")
		}
		select {
		case err := <-first.done:
			t.Errorf("the first ended: %v", err)
		default:
		}
	})
}

// Of two coordinators that begin at the same moment, one continues.
func TestSecondAtTheSameMoment(t *testing.T) {
	for range 4 {
		synctest.Test(t, func(t *testing.T) {
			b := bus.NewMemory()
			defer b.Close()
			dirs := []string{t.TempDir(), t.TempDir()}
			var ended atomic.Int32
			for _, dir := range dirs {
				r := run(t, Config{Plan: chaintest.Plan(t), Log: openFile(t, dir), Bus: b})
				go func() {
					if err := <-r.done; errors.Is(err, ErrSecond) {
						ended.Add(1)
					}
				}()
			}
			pass(time.Minute)
			if n := ended.Load(); n != 1 {
				t.Errorf("%d of two coordinators stepped down, want one", n)
			}
		})
	}
}

// A coordinator that is restarted at once leads, even if the last message of the coordinator before
// arrives after the restart.
func TestRestartedIsNotSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, log := bus.NewMemory(), &unshared{}
		defer b.Close()
		first := run(t, Config{Plan: chaintest.Plan(t), Log: log, Bus: b})
		pass(time.Hour)
		last := first.seniority.Frame()
		first.cancel(errors.New("killed"))
		<-first.done
		second := run(t, Config{Log: log, Bus: b})
		synctest.Wait()
		if err := b.Publish(subjects.Lead("r"), last); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		select {
		case err := <-second.done:
			t.Errorf("the second ended: %v", err)
		default:
		}
		if s := second.Status(); s.Epoch != 2 {
			t.Errorf("status %+v, want epoch 2", s)
		}
	})
}

// An unshared log is in memory, so only one coordinator can lead it.
type unshared struct{ runlog.Memory }

func (*unshared) Lost() <-chan struct{} { return nil }

// Without permission for the subject a coordinator leads as before, and logs a warning.
func TestSecondNotPermitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, said := bus.NewMemory(), &text{}
		defer b.Close()
		b.DenyPublish(subjects.Lead("r"))
		r := run(t, Config{Plan: chaintest.Plan(t), Log: &unshared{}, Bus: b,
			Logger: slog.New(slog.NewTextHandler(said, nil))})
		pass(time.Minute)
		if s := r.Status(); s.N != 1 {
			t.Errorf("status %+v, want a run that began", s)
		}
		if !said.has("cannot look for other coordinators") {
			t.Error("it does not say that it cannot look for others")
		}
	})
}
