package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// pass lets milliseconds pass, and returns the events.
func pass(c *Core, now *uint64, ms uint64) (events []report.Event) {
	end := *now + ms
	for at, ok := c.Wake(); ok && at <= end; at, ok = c.Wake() {
		*now = max(*now, at)
		for _, o := range c.Step(*now, Input{Kind: InTick}) {
			if o.Kind == OutEvent {
				events = append(events, *o.Event)
			}
		}
	}
	*now = end
	return events
}

// TestOnlyMemberIsGone: a run whose only member is gone reports once that the member is lost. Then
// the run reports, less and less often, how long it has been paused and what to do. The run
// continues when the member is back.
func TestOnlyMemberIsGone(t *testing.T) {
	const day = 24 * 3600 * 1000
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Quorum, plan.OverSample = 1, 1, 1, 1
	plan.Deadline, plan.Reannounce = 30_000, 5_000
	c := newTestCore(t, plan, 1)
	now, since := uint64(1), 0.0
	var told []string
	for _, e := range pass(c, &now, 30*day) {
		told = append(told, e.Kind.String())
		if e.Kind != report.StillPaused {
			continue
		}
		if e.Seconds < 1.9*since { // it tells at most half as often each time
			t.Errorf("told after %g s and after %g s", since, e.Seconds)
		}
		since = e.Seconds
		if !strings.Contains(e.Reason, "zofl stop") || !strings.Contains(e.Reason, "quorum 1") {
			t.Errorf("reason %q, want what is wrong and what to do", e.Reason)
		}
	}
	if text := fmt.Sprint(told); len(told) > 16 || len(told) < 8 ||
		!strings.HasPrefix(text, "[lost paused still paused") ||
		strings.Count(text, "still") != len(told)-2 {
		t.Errorf("in 30 days: %v", told)
	}
	var back []string
	for i, frame := range contributions(c, 1, func(int) []float32 { return []float32{1, 2} }) {
		for _, o := range c.Step(now, Input{Kind: InReply, ID: ids(1)[i], Frame: frame}) {
			if o.Kind == OutEvent {
				back = append(back, o.Event.Kind.String())
			}
		}
	}
	if fmt.Sprint(back) != "[returned resumed]" || c.phase() != appending {
		t.Errorf("when it is back: %v, phase %v", back, c.phase())
	}
}

// TestPauseKeepsItsCause: if devices declined and then left, the pause continues to say why they
// declined.
func TestPauseKeepsItsCause(t *testing.T) {
	p := chaintest.Plan(t)
	p.Members, p.Target, p.Quorum, p.OverSample = 1, 1, 1, 1
	p.Deadline, p.Reannounce = 30_000, 5_000
	c := newTestCore(t, p, 1)
	now := uint64(1)
	decline := wire.Reply{Kind: wire.Decline, N: c.N + 1, Tip: c.Hash.Tip(),
		Reason: wire.DeclineLoss}
	c.Step(now, Input{Kind: InReply, ID: ids(1)[0], Frame: decline.Append(nil)})
	paused := 0
	for _, e := range pass(c, &now, 24*3600*1000) {
		if e.Kind != report.RunPaused && e.Kind != report.StillPaused {
			continue
		}
		if paused++; !strings.Contains(e.Reason, "1 declined: 1 loss failed") {
			t.Errorf("reason %q, want why the device declined", e.Reason)
		}
	}
	if paused < 2 {
		t.Errorf("%d pauses were told", paused)
	}
}

// TestChangeWhileAskingAgain: if an operator changes the plan while a run that lacks devices asks
// again, the change happens once the attempt has failed.
func TestChangeWhileAskingAgain(t *testing.T) {
	p := chaintest.Plan(t)
	p.Members, p.Target, p.Quorum, p.OverSample, p.MaxAttempts = 2, 2, 2, 1, 1
	p.Deadline, p.Reannounce = 30_000, 5_000
	c := newTestCore(t, p, 2)
	now := uint64(1)
	for c.halt.shortage.Spells < 3 || c.halt.shortage.Waits {
		pass(c, &now, 100)
	}
	change := &plan.Change{Fields: []uint64{fieldNumber(t, "quorum")}, Values: plan.Plan{
		RoundsFields: plan.RoundsFields{Quorum: 1},
	}}
	c.Step(now, Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindChange, Change: change}})
	if c.phase() != collecting {
		t.Fatalf("phase %v, want an open attempt", c.phase())
	}
	pass(c, &now, uint64(p.Deadline))
	if c.phase() != appending {
		t.Fatalf("phase %v after a deadline, want the change to be appended", c.phase())
	}
	if r, err := wire.DecodeRecord(c.next.frame); err != nil || r.Kind != wire.KindChange {
		t.Errorf("record %+v, %v, want the change", r, err)
	}
}
