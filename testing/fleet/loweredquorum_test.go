package fleet

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// TestLoweredQuorum: a coordinator writes a lower quorum into the log of a private run with secure
// aggregation, as an honest one would not, and asks for sums of three of the six devices. It gets
// none, and hears why. With the quorum that the devices joined for it gets sums again.
func TestLoweredQuorum(t *testing.T) {
	p := longPlan(t, "masked", 6, 5)
	p.Secure, p.MaxScalar, p.Bound, p.Weights, p.MaxAttempts = 1, 1000, 0, plan.Equal, 1
	p.EvalEvery, p.EvalCount, p.Metrics = 0, 0, nil
	l := startLead(t, p, broker.Config{})
	for i := range 6 {
		l.phone("masked", fmt.Sprintf("d%d", i), 10)
	}
	l.awaitRounds(3)
	if err := l.c.Change(changeTo(t, "quorum=3")); err == nil ||
		!strings.Contains(err.Error(), "quorum = 3: with secure=sum") {
		t.Errorf("an honest coordinator lowers the quorum: %v", err)
	}
	l.lies(&wire.Record{Kind: wire.KindChange, Change: changeTo(t, "quorum=3", "target=3")})
	e := l.await("sum, or a reason for none", func(e report.Event) bool {
		return e.Kind == report.RoundDone || e.Kind == report.RunPaused
	})
	if e.Kind == report.RoundDone || !strings.Contains(e.Reason, "3 declined: 3 policy") {
		t.Errorf("a sum of %d of 6 devices, %q", e.Contributors, e.Reason)
	}
	if err := l.c.Change(changeTo(t, "quorum=5", "target=6")); err != nil {
		t.Fatal(err)
	}
	if e := l.awaitKind(report.RoundDone); e.Contributors < 5 {
		t.Errorf("a sum of %d devices with the quorum of 5", e.Contributors)
	}
}

// changeTo returns the change that sets fields.
func changeTo(t *testing.T, fields ...string) *plan.Change {
	t.Helper()
	change := &plan.Change{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if err := planfile.SetChange(change, name, value); err != nil {
			t.Fatal(err)
		}
	}
	return change
}

// lies stops the coordinator, appends a record to its log by hand, and starts another coordinator.
func (l *lead) lies(r *wire.Record) {
	l.t.Helper()
	l.finish()
	for range len(l.events) {
		<-l.events
	}
	w := l.witness("masked")
	r.N, r.Prev, r.Epoch = w.N()+1, w.Hash(), w.Epoch()
	if err := l.log.Append(l.t.Context(), r.N, r.Append(nil)); err != nil {
		l.t.Fatal(err)
	}
	var err error
	l.c, err = coordinator.New(l.t.Context(), coordinator.Config{
		Conn: l.connect("another"), Log: l.log, Linger: patience,
		Recorder: report.RecorderFunc(func(e report.Event) error { l.events <- e; return nil }),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	l.stop = stop
	l.ended.Go(func() { l.err = l.c.Run(ctx) })
	l.t.Cleanup(l.finish) // before its connection is closed
}
