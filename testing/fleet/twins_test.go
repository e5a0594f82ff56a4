package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// copied starts a device whose data have the mean at.
func (l *lead) copied(run, id string, at float64) (stop func()) {
	l.t.Helper()
	loss := func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		return (float64(x[0]) - at) * (float64(x[0]) - at), nil
	}
	c, err := client.New(client.Config{Conn: l.connect(id), Run: run, ID: id,
		Objective: objective.Func(10, loss), RetryMax: 2 * time.Second})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	l.t.Cleanup(cancel)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return func() { cancel(); <-ended }
}

// TestTwoDevicesOfOneID runs two devices under one id, as two copies of one memory card would,
// beside a device with an id of its own. The coordinator names the shared id, and stops doing so
// when one of the two devices has gone.
func TestTwoDevicesOfOneID(t *testing.T) {
	l := startLead(t, longPlan(t, "twins", 2, 2), broker.Config{})
	l.copied("twins", "own", 0)
	l.copied("twins", "copy", 1)
	stop := l.copied("twins", "copy", 2)
	l.awaitTwins("copy")
	stop()
	for len(l.c.Status().SameID) > 0 {
		l.awaitRounds(1)
	}
}

// TestTwoDevicesOfOtherTransports checks that the coordinator also finds two devices of one id by
// their vectors and by their keys, whether rounds succeed or not.
func TestTwoDevicesOfOtherTransports(t *testing.T) {
	dense, err := preset.Unbound("fedzo-dense", "twins", 10)
	if err != nil {
		t.Fatal(err)
	}
	dense.Members, dense.Target, dense.Quorum, dense.Rounds, dense.Diverge = 3, 3, 3, 0, 0
	masked := longPlan(t, "twins", 3, 3)
	masked.Secure, masked.MaxScalar, masked.Deadline = 1, 1000, 1000
	masked.EvalEvery, masked.EvalCount, masked.Metrics = 0, 0, nil
	for name, p := range map[string]*plan.Plan{"vectors": dense, "keys": masked} {
		t.Run(name, func(t *testing.T) {
			l := startLead(t, p, broker.Config{})
			l.copied("twins", "a", 0)
			l.copied("twins", "b", 0)
			l.copied("twins", "copy", 1)
			l.copied("twins", "copy", 2)
			l.awaitTwins("copy")
		})
	}
}

// awaitTwins waits until the coordinator names an id that two devices use, and checks which id.
func (l *lead) awaitTwins(id string) {
	l.t.Helper()
	if e := l.awaitKind(report.SameID); e.ID != id {
		l.t.Errorf("two devices send as %q, want %s", e.ID, id)
	}
	for _, d := range l.c.Devices() {
		if d.SameID != (d.ID == id) {
			l.t.Errorf("device %s: two devices send as it: %t", d.ID, d.SameID)
		}
	}
	if s := l.c.Status().SameID; len(s) != 1 || s[0] != id {
		l.t.Errorf("the status names %v, want %s", s, id)
	}
}
