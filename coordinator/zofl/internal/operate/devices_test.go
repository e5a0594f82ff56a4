package operate

import (
	"context"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestTenThousandDevices: Devices lists 10,000 devices over a broker whose messages hold only a few
// of them.
func TestTenThousandDevices(t *testing.T) {
	const members, payload = 10_000, 8 << 10
	b, err := broker.Run(broker.Config{InProcess: true, MaxPayload: payload})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	l := &lab{t: t, broker: b}
	l.nc = l.connect("operator")
	log := &runlog.Memory{}
	ids := make([]string, members)
	for i := range ids {
		ids[i] = fmt.Sprintf("device-of-the-kitchen-%d", i)
	}
	if err := log.AddMembers(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	for _, slot := range []int{3, 9_999} {
		if err := log.Retire(t.Context(), ids[slot]); err != nil {
			t.Fatal(err)
		}
	}
	p, err := preset.Unbound("decomfl", "kitchen", 3)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32)
	nc := l.connect("coordinator")
	watch := &Watch{}
	c, err := coordinator.New(t.Context(), coordinator.Config{Conn: nc, Plan: p, Log: log,
		Recorder: watch})
	if err != nil {
		t.Fatal(err)
	}
	stop, err := Serve(nc, NewDesk(c, watch))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	checkTenThousand(t, l.nc, ids)
}

func checkTenThousand(t *testing.T, nc *nats.Conn, ids []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	list, err := Devices(ctx, nc, "kitchen")
	if err != nil || len(list) != len(ids) {
		t.Fatalf("%d devices, %v", len(list), err)
	}
	if list[0].ID != ids[3] || list[1].ID != ids[9_999] || !list[1].Absent() {
		t.Errorf("the first are %+v and %+v, want the absent ones", list[0], list[1])
	}
	for i, d := range list[2:] {
		if i > 0 && d.Slot <= list[1+i].Slot || d.ID != ids[d.Slot] || d.Absent() {
			t.Fatalf("device %d is %+v after %+v", i+2, d, list[1+i])
		}
	}
}
