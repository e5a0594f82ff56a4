package runlist

import (
	"context"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// serve answers for a run with a history of rounds.
func serve(t *testing.T, b *broker.Broker, name string, rounds uint64) *history.History {
	t.Helper()
	p, err := preset.Unbound("decomfl", name, 3)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Members, p.Target, p.Quorum = make(plan.Bytes, 32), 1, 1, 1
	nc := connect(t, b)
	c, err := coordinator.New(t.Context(), coordinator.Config{Conn: nc, Plan: p,
		Log: &runlog.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	h := &history.History{}
	h.Lead(t.Context(), c, nil, slog.New(slog.DiscardHandler))
	for n := range rounds {
		_ = h.Record(report.Event{Kind: report.RoundDone, N: n + 2, Round: n + 1, Contributors: 1})
	}
	stop, err := operate.Serve(nc, operate.NewDesk(c, &operate.Watch{History: h}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return h
}

func connect(t *testing.T, b *broker.Broker) *nats.Conn {
	t.Helper()
	nc, _, err := b.Connect("test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// A broker lists the runs whose coordinators answer, with their tags. A history grows by what is
// new, also where it is longer than a page.
func TestBroker(t *testing.T) {
	b, err := broker.Run(broker.Config{InProcess: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	source := Broker(connect(t, b))
	if list := source.List(t.Context()); len(list) != 0 {
		t.Errorf("an empty broker lists %+v", list)
	}
	kitchen := serve(t, b, "kitchen", 300)
	kitchen.Tag([]string{"rate=0.1"})
	serve(t, b, "attic", 2)
	source = Broker(connect(t, b)) // the list of the other is as old as a page may show
	list := source.List(t.Context())
	if len(list) != 2 || list[0].Name != "attic" || list[1].Name != "kitchen" ||
		list[1].State != "waiting" || !list[1].Live || len(list[1].Tags) != 1 {
		t.Fatalf("listed %+v", list)
	}
	for want := range 3 {
		points, _, ok := source.History(t.Context(), list[1].Key)
		if !ok || len(points) != 300+want || points[len(points)-1].Round != uint64(300+want) {
			t.Fatalf("%d points, %v, want %d", len(points), ok, 300+want)
		}
		n := uint64(301 + want)
		_ = kitchen.Record(report.Event{Kind: report.RoundDone, N: n + 1, Round: n, Contributors: 1})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, ok := source.History(ctx, list[0].Key); ok {
		t.Error("a request that ended has a history")
	}
	if _, _, ok := source.History(t.Context(), "dir:kitchen"); ok {
		t.Error("another source's key has a history")
	}
}
