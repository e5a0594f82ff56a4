//go:build !race

package fleet

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// mostDrawn is what a device may draw of little: its share at once, and that of the test's seconds.
const mostDrawn = 16<<20 + 4<<20

// draws floods one of those who answer with valid requests of one device, on one connection, and
// reads the answers on another. It returns the bytes of the requests and of the answers.
func (l *lead) draws(subject string, frame []byte, during time.Duration) (in, out uint64) {
	l.t.Helper()
	inbox, stop, got := nats.NewInbox(), time.Now().Add(during), atomic.Uint64{}
	listener := l.connect("listener")
	sub, err := listener.Subscribe(inbox, func(m *nats.Msg) { got.Add(uint64(len(m.Data))) })
	if err != nil {
		l.t.Fatal(err)
	}
	defer sub.Unsubscribe()
	nc := l.connect("flood")
	for i := 0; time.Now().Before(stop); i++ {
		if err := nc.PublishRequest(subject, inbox, frame); err != nil {
			l.t.Fatal(err)
		}
		in += uint64(len(frame))
		if i%10 == 0 {
			time.Sleep(time.Millisecond) // a modest flood: 10,000 requests a second at most
		}
	}
	return in, got.Load()
}

// A device that asks for the log, or for a witness's snapshot, as often as it can, draws its share.
// Before there were shares of bytes, it drew as much as the network carries. Other devices get what
// they ask for meanwhile.
func TestFloodDrawsItsShare(t *testing.T) {
	const rounds, dim, during = 1 << 20, 20_000, 2 * time.Second
	p := testPlan(t, "share", dim, 2, rounds)
	p.Perturbations, p.Diverge = 1000, 0 // the loss begins at 0, and noise may raise it
	p.Members, p.Target, p.Quorum = 1, 1, 1
	l := startLead(t, p, broker.Config{})
	d0 := l.phone("share", "d0", dim)
	t.Cleanup(func() { d0.stop(); <-d0.ended })
	store, err := client.OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.New(client.Config{Conn: l.connect("w"), Run: "share", ID: "w", Store: store,
		Passive: &client.Passive{SnapshotEvery: 8}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() { end(); <-ended })
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if n, _ := w.Record(); n > 60 {
			break
		} else if time.Since(began) > patience {
			t.Fatalf("the witness has %d records", n)
		}
	}
	l.c.Pause("enough records")
	page := (&wire.CatchUpRequest{From: 1, MaxBytes: wire.MaxFrame}).Append(nil)
	piece := (&wire.SnapshotRequest{MaxBytes: wire.SnapshotPiece}).Append(nil)
	for _, tt := range []struct {
		what, subject string
		frame         []byte
	}{
		{"records", subjects.CatchUp("share", "d0"), page},
		{"snapshots", subjects.Snapshot("share", "d0"), piece},
	} {
		in, out := l.draws(tt.subject, tt.frame, during)
		t.Logf("%s: %.3f MB/s in, %.1f MB/s out", tt.what, float64(in)/during.Seconds()/1e6,
			float64(out)/during.Seconds()/1e6)
		if out > mostDrawn || out < 8<<20 {
			t.Errorf("%s: %d bytes in %v, want %d at most", tt.what, out, during, mostDrawn)
		}
	}
	if _, err := l.newcomer("share", "honest"); err != nil {
		t.Error(err)
	}
	s := l.c.Status()
	if len(s.Offenders) == 0 || s.Offenders[0].ID != "d0" || s.TurnedAway["records"] == 0 {
		t.Errorf("offenders %+v, turned away %v: want d0", s.Offenders, s.TurnedAway)
	}
}
