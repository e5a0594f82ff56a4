package fleet

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
)

// A phone is a device whose app decides whether it may work, and whose loss can fail.
type phone struct {
	t      *testing.T
	dim    int
	idle   atomic.Bool // the phone may not work
	broken atomic.Bool // the phone's loss fails
	stop   context.CancelFunc
	ended  chan error
}

func (p *phone) Dim() int { return p.dim }

func (p *phone) Loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	if p.broken.Load() {
		return 0, errors.New("out of memory")
	}
	return float64(x[0]) * float64(x[0]), nil
}

func (p *phone) MayWork(objective.Work) bool { return !p.idle.Load() }

// phone starts a device.
func (l *lead) phone(run, id string, dim int) *phone {
	l.t.Helper()
	p := &phone{t: l.t, dim: dim, ended: make(chan error, 1)}
	p.begin(l, run, id)
	return p
}

func (p *phone) begin(l *lead, run, id string) {
	c, err := client.New(client.Config{
		Conn: l.connect(id), Run: run, ID: id, Objective: p, RetryMax: 2 * time.Second,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p.stop = cancel
	p.t.Cleanup(cancel)
	go func() { p.ended <- c.Run(ctx) }()
}

// await reads events until wanted accepts one.
func (l *lead) await(what string, wanted func(report.Event) bool) report.Event {
	l.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e := <-l.events:
			if wanted(e) {
				return e
			}
		case <-timeout:
			l.t.Fatalf("no %s: %+v", what, l.c.Status())
		}
	}
}

func (l *lead) awaitKind(kind report.EventKind) report.Event {
	l.t.Helper()
	return l.await(kind.String(), func(e report.Event) bool { return e.Kind == kind })
}

// awaitRounds waits for n more rounds.
func (l *lead) awaitRounds(n int) {
	l.t.Helper()
	for range n {
		l.awaitKind(report.RoundDone)
	}
}

// longPlan returns a plan whose rounds wait for all devices, for longer than a test lasts.
func longPlan(t *testing.T, run string, members, quorum uint32) *plan.Plan {
	p := testPlan(t, run, 10, members, 0)
	p.Quorum, p.Deadline, p.Reannounce = quorum, uint32(2*patience.Milliseconds()), 200
	p.Diverge = 0
	return p
}

// A device that cannot run the plan takes no slot.
func TestNoSlotWithoutPlan(t *testing.T) {
	l := startLead(t, longPlan(t, "slots", 2, 2), broker.Config{})
	stranger := l.phone("slots", "stranger", 11)
	if err := <-stranger.ended; !errors.Is(err, replica.ErrDim) {
		t.Fatalf("a device of another dimension: %v, want ErrDim", err)
	}
	l.phone("slots", "a", 10)
	l.phone("slots", "b", 10)
	l.awaitRounds(3)
	if d := l.c.Devices(); len(d) != 2 {
		t.Errorf("members %+v, want a and b", d)
	}
}

// TestGoodbye checks that no round waits for a device that stopped and said goodbye. The device
// takes part again once it runs again.
func TestGoodbye(t *testing.T) {
	l := startLead(t, longPlan(t, "goodbye", 3, 2), broker.Config{})
	l.phone("goodbye", "a", 10)
	l.phone("goodbye", "b", 10)
	c := l.phone("goodbye", "c", 10)
	l.awaitRounds(3)
	c.stop()
	if err := <-c.ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("c: %v", err)
	}
	if e := l.awaitKind(report.Left); e.ID != "c" || e.Members != 2 {
		t.Errorf("left: %+v, want c, with two present", e)
	}
	l.awaitRounds(50) // each round would last as long as the test's patience if it waited for device c
	c.begin(l, "goodbye", "c")
	if e := l.awaitKind(report.Returned); e.ID != "c" || e.Members != 3 {
		t.Errorf("returned: %+v, want c, with three present", e)
	}
	l.await("round of three", func(e report.Event) bool {
		return e.Kind == report.RoundDone && e.Contributors == 3
	})
}

// TestUnplugged forbids four of six phones to work. The run waits for the four phones, and
// continues by itself when they may work.
func TestUnplugged(t *testing.T) {
	l := startLead(t, longPlan(t, "phones", 6, 4), broker.Config{})
	var phones []*phone
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		phones = append(phones, l.phone("phones", id, 10))
	}
	l.awaitRounds(2)
	for _, p := range phones[:4] {
		p.idle.Store(true)
	}
	paused := l.awaitKind(report.RunPaused)
	before := l.c.Status()
	time.Sleep(2 * time.Second)
	if s := l.c.Status(); s.Counters.Declines-before.Counters.Declines > 100 ||
		s.Rounds != before.Rounds {
		t.Errorf("in 2 s of %q, %d more declines and %d more rounds", paused.Reason,
			s.Counters.Declines-before.Counters.Declines, s.Rounds-before.Rounds)
	}
	for _, p := range phones[:4] {
		p.idle.Store(false)
	}
	l.awaitKind(report.RunResumed)
	l.await("round of six", func(e report.Event) bool {
		return e.Kind == report.RoundDone && e.Contributors == 6
	})
}

// TestBrokenLoss runs a single device whose loss fails. The coordinator asks the device less and
// less often, and asks it normally once the loss works.
func TestBrokenLoss(t *testing.T) {
	l := startLead(t, longPlan(t, "broken", 1, 1), broker.Config{})
	p := l.phone("broken", "a", 10)
	l.awaitRounds(2)
	p.broken.Store(true)
	l.awaitKind(report.RunPaused)
	time.Sleep(2 * time.Second)
	if s := l.c.Status(); s.Counters.Declines > 40 {
		t.Errorf("%d declines in 2 s, want pauses between attempts", s.Counters.Declines)
	}
	p.broken.Store(false)
	l.awaitRounds(3)
}

// TestRetire checks that rounds no longer wait for a retired device, and that the device may not
// join again.
func TestRetire(t *testing.T) {
	l := startLead(t, longPlan(t, "retire", 3, 2), broker.Config{})
	l.phone("retire", "a", 10)
	l.phone("retire", "b", 10)
	c := l.phone("retire", "c", 10)
	l.awaitRounds(2)
	if err := l.c.Retire("c"); err != nil {
		t.Fatal(err)
	}
	if e := l.awaitKind(report.Retired); e.ID != "c" {
		t.Errorf("retired %+v", e)
	}
	l.awaitRounds(20)
	c.stop()
	<-c.ended
	c.begin(l, "retire", "c")
	if err := <-c.ended; !errors.Is(err, client.ErrRefused) {
		t.Errorf("a retired device joins: %v, want ErrRefused", err)
	}
	if retired, err := l.log.Retired(); err != nil || len(retired) != 1 || retired[0] != "c" {
		t.Errorf("the log has retired %v, %v", retired, err)
	}
	if err := l.c.Retire("nobody"); err == nil {
		t.Error("a device that never joined is retired")
	}
}

// TestDeniedJoin checks a device that is not on the coordinator's list. The device's client ends
// with the reason, the device takes no slot, and the coordinator counts the refusal, while the run
// continues. Once on the list, the device takes part.
func TestDeniedJoin(t *testing.T) {
	var open atomic.Bool
	l := startLead(t, longPlan(t, "denied", 1, 1), broker.Config{}, func(c *coordinator.Config) {
		c.Allow = func(id string) bool { return id == "a" || open.Load() }
	})
	l.phone("denied", "a", 10)
	l.awaitRounds(2)
	b := l.phone("denied", "b", 10)
	if err := <-b.ended; !errors.Is(err, client.ErrRefused) ||
		!strings.Contains(err.Error(), "list of ids that may join does not have this one") {
		t.Errorf("a device that may not join: %v, want ErrRefused with the reason", err)
	}
	l.awaitRounds(2)
	s := l.c.Status()
	if s.Members != 1 || s.Counters.NotAllowed != 3 || s.TurnedAway["joins"] != 3 ||
		len(s.Offenders) != 1 || s.Offenders[0].Refused != 3 ||
		!strings.HasPrefix(s.Offenders[0].ID, "b of _INBOX.") {
		t.Errorf("%d members, %d not allowed, turned away %v, offenders %+v", s.Members,
			s.Counters.NotAllowed, s.TurnedAway, s.Offenders)
	}
	open.Store(true)
	b.begin(l, "denied", "b")
	if e := l.await("b", func(e report.Event) bool {
		return e.Kind == report.Joined && e.ID == "b"
	}); e.Members != 2 {
		t.Errorf("%d members after b joined, want 2", e.Members)
	}
}
