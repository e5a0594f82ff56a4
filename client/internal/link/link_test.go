package link_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/signed"
)

const (
	run, id = "kitchen", "d0"
	timeout = 10 * time.Second
	every   = 5 * time.Second // interval of announcements
)

// A line is a bus whose connection can be dead without an error, or down. Another connection can
// replace it while a check waits.
type line struct {
	*bus.Memory
	most int64 // the longest message, in bytes; 0: any

	mu         sync.Mutex // guards what follows
	dead, down bool
	replaced   bool
	stuck      error // the error of Reconnect
	checks     int
	drops      []time.Time
}

// state returns the error of a message that the device sends now. If the line loses the message,
// state waits for ctx.
func (l *line) state(ctx context.Context) error {
	l.mu.Lock()
	dead, down, replaced := l.dead, l.down, l.replaced
	l.mu.Unlock()
	switch {
	case down:
		return bus.ErrOffline
	case dead:
		<-ctx.Done()
		if replaced {
			return fmt.Errorf("%w (%w)", bus.ErrOffline, ctx.Err())
		}
		return ctx.Err()
	}
	return nil
}

func (l *line) MaxPayload() int64 { return l.most }

func (l *line) Publish(subject string, data []byte) error {
	if l.down {
		return bus.ErrOffline
	}
	return l.Memory.Publish(subject, data)
}

func (l *line) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if err := l.state(ctx); err != nil {
		return nil, err
	}
	return l.Memory.Request(ctx, subject, data)
}

func (l *line) Check(ctx context.Context, subject string) error {
	l.mu.Lock()
	l.checks++
	l.mu.Unlock()
	if err := l.state(ctx); err != nil {
		return err
	}
	return l.Memory.Check(ctx, subject)
}

func (l *line) Reconnect() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drops = append(l.drops, time.Now())
	return l.stuck
}

// A device has a link over a line, on a fake clock.
type device struct {
	*link.Link
	line  *line
	heard time.Time
	log   strings.Builder
}

// each runs a test with a new device.
func each(t *testing.T, keys signed.Keys, f func(t *testing.T, d *device)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &device{line: &line{Memory: bus.NewMemory()}}
		defer d.line.Close()
		d.Link = link.New(link.Config{Bus: d.line, Run: run, ID: id, Timeout: timeout, Keys: keys,
			Logger: slog.New(slog.NewTextHandler(&d.log, nil)),
			About:  func() deviceinfo.Device { return deviceinfo.Device{Program: "pantry 1.4"} }})
		d.Follow(func() time.Duration { return every }, func() time.Time { return d.heard })
		f(t, d)
	})
}

// serve answers requests on a subject; nil: it answers nothing.
func (d *device) serve(t *testing.T, subject string, answers func(frame []byte) [][]byte) {
	t.Helper()
	_, err := d.line.Subscribe(subject, func(m bus.Message) {
		for _, answer := range answers(m.Data) {
			if err := d.line.Publish(m.Reply, answer); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func silent([]byte) [][]byte { return nil }

func always(answer []byte) func([]byte) [][]byte {
	return func([]byte) [][]byte { return [][]byte{answer} }
}

// took returns how long a call takes on the fake clock.
func took(call func()) time.Duration {
	began := time.Now()
	call()
	return time.Since(began)
}

// TestRequests: each request goes to a subject of its own, and the answer comes back.
func TestRequests(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		for subject, ask := range map[string]func(context.Context, []byte) ([]byte, error){
			subjects.CatchUp(run, id): d.Records, subjects.Snapshot(run, id): d.Snapshot,
			subjects.Object(run, id): d.Object, subjects.Upload(run, id): d.Upload,
			subjects.Step(run, id): d.Step,
		} {
			if _, err := ask(t.Context(), []byte("?")); !errors.Is(err, bus.ErrNoResponders) {
				t.Errorf("%s: %v, want %v", subject, err, bus.ErrNoResponders)
			}
			d.serve(t, subject, always([]byte(subject)))
			if b, err := ask(t.Context(), []byte("?")); err != nil || string(b) != subject {
				t.Errorf("%s: answer %q, %v", subject, b, err)
			}
		}
		if d.line.checks != 0 {
			t.Errorf("%d checks of a connection that answers, want none", d.line.checks)
		}
	})
}

// TestNoAnswer: if the coordinator does not answer, the error is ErrQuiet. The link then checks the
// connection, and drops it only if the broker does not answer, either. The link does not repeat a
// check that was good just now.
func TestNoAnswer(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		d.serve(t, subjects.CatchUp(run, id), silent)
		ask := func(checks, drops int) {
			t.Helper()
			_, err := d.Records(t.Context(), nil)
			if !errors.Is(err, link.ErrQuiet) || !strings.Contains(err.Error(), "no answer in 10s") {
				t.Errorf("%v, want %v after 10s", err, link.ErrQuiet)
			}
			if d.line.checks != checks || len(d.line.drops) != drops {
				t.Errorf("%d checks and %d drops, want %d and %d",
					d.line.checks, len(d.line.drops), checks, drops)
			}
		}
		if wait := took(func() { ask(1, 0) }); wait != timeout {
			t.Errorf("waited %v, want %v", wait, timeout)
		}
		ask(2, 0) // 10 s later, which is more than one and a half intervals
		d.line.dead = true
		if wait := took(func() { ask(3, 1) }); wait != timeout+every*3/4 {
			t.Errorf("waited %v for both, want %v", wait, timeout+every*3/4)
		}
		if !strings.Contains(d.log.String(), "the broker does not answer, connecting again") {
			t.Errorf("log %q", &d.log)
		}
		d.line.dead, d.line.down = false, true
		if _, err := d.Records(t.Context(), nil); !errors.Is(err, bus.ErrOffline) ||
			errors.Is(err, link.ErrQuiet) || d.line.checks != 3 {
			t.Errorf("offline: %v, %d checks", err, d.line.checks)
		}
	})
}

// TestGoodJustNow: if the broker answered a check within one and a half intervals, the link does
// not repeat the check.
func TestGoodJustNow(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		d.serve(t, subjects.CatchUp(run, id), silent)
		time.AfterFunc(timeout-every, func() {
			if err := d.Examine(t.Context(), "zo"); err != nil {
				t.Error(err)
			}
		})
		if _, err := d.Records(t.Context(), nil); !errors.Is(err, link.ErrQuiet) {
			t.Error(err)
		}
		if d.line.checks != 1 {
			t.Errorf("%d checks, want that of before", d.line.checks)
		}
	})
}

// TestEndsEarly: if the caller ends a request, the error is not ErrQuiet. After a denial the link
// makes no check.
func TestEndsEarly(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		d.serve(t, subjects.CatchUp(run, id), silent)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := d.Records(ctx, nil)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, link.ErrQuiet) {
			t.Errorf("the caller's deadline: %v", err)
		}
		d.line.DenyPublish(subjects.Object(run, id))
		if _, err := d.Object(t.Context(), nil); !errors.Is(err, bus.ErrPermission) {
			t.Errorf("denied: %v", err)
		}
		if d.line.checks != 0 {
			t.Errorf("%d checks, want none", d.line.checks)
		}
	})
}

// TestStepWaits: a step may wait for other devices, so the link makes no check if no answer comes.
func TestStepWaits(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		d.serve(t, subjects.Step(run, id), silent)
		var err error
		wait := took(func() { _, err = d.Step(t.Context(), nil) })
		if !errors.Is(err, context.DeadlineExceeded) || wait != timeout || d.line.checks != 0 {
			t.Errorf("%v after %v, %d checks", err, wait, d.line.checks)
		}
	})
}

// TestJoin: a device tells the operator about itself, and learns why the run takes no device.
func TestJoin(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		if _, err := d.Join(t.Context(), &wire.Known{}, true); !errors.Is(err, bus.ErrNoResponders) ||
			!strings.HasPrefix(err.Error(), "join: ") {
			t.Errorf("nobody there: %v", err)
		}
		reply, told := []byte{0xc1}, ""
		d.serve(t, subjects.Join(run, id), func(frame []byte) [][]byte {
			told = string(frame)
			return [][]byte{reply}
		})
		if _, err := d.Join(t.Context(), &wire.Known{}, true); !errors.Is(err, wire.ErrForm) ||
			!strings.HasPrefix(err.Error(), "join: ") {
			t.Errorf("malformed: %v, want %v", err, wire.ErrForm)
		}
		if !strings.Contains(told, "pantry 1.4") {
			t.Errorf("told %q", told)
		}
		reply = (&wire.JoinReply{Status: wire.JoinLater, Reason: "a full disk"}).Append(nil)
		later := link.LaterError("")
		if _, err := d.Join(t.Context(), &wire.Known{}, true); !errors.As(err, &later) ||
			err.Error() != "join: the run is paused: a full disk" {
			t.Errorf("later: %v", err)
		}
		reply = (&wire.JoinReply{Slot: 7}).Append(nil)
		if r, err := d.Join(t.Context(), &wire.Known{}, true); err != nil || r.Slot != 7 {
			t.Errorf("slot %d, %v", r.Slot, err)
		}
	})
}
