package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// fedzoOf20 is the preset fedzo with 20 devices, whose records have 20*400 scalars: 32 KB.
func fedzoOf20(t *testing.T) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("fedzo", "wide", 40)
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Rounds = 20, 20, 20, 3
	p.StepSize, p.Diverge = 1e-4, 0
	return p
}

// TestLongRelayedRecords: announcements and catch-up replies carry records of 32 KB over a broker
// as zofl embeds it.
func TestLongRelayedRecords(t *testing.T) {
	p := fedzoOf20(t)
	l := startLead(t, p, broker.Config{})
	conns := make([]*nats.Conn, p.Members)
	for i := range conns {
		conns[i] = l.connect(fmt.Sprintf("d%d", i))
	}
	clients := l.devices(p.Run, conns, int(p.Dim))
	late, err := client.New(client.Config{Conn: l.connect("late"), Run: p.Run, ID: "late",
		Passive: &client.Passive{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := late.Run(ctx); err != nil {
		t.Fatal(err)
	}
	l.agree(p.Run, append(clients, late))
	rounds := 0
	err = l.log.Read(ctx, 1, func(n uint64, record []byte) bool {
		if r, err := wire.DecodeRecord(record); err == nil && r.Kind == wire.KindRound {
			rounds++
			if len(r.Round.Terms) != 20 || len(record) < 32_000 || len(record) > wire.MaxRecord {
				t.Errorf("record %d: %d terms, %d bytes", n, len(r.Round.Terms), len(record))
			}
		}
		return true
	})
	if err != nil || rounds != 3 {
		t.Errorf("%d rounds, %v", rounds, err)
	}
}

// TestBrokerTooNarrow: a broker that cannot carry such records is named at the start.
func TestBrokerTooNarrow(t *testing.T) {
	b, err := broker.Run(broker.Config{MaxPayload: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	nc, _, err := b.Connect("coordinator")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	_, err = coordinator.New(t.Context(), coordinator.Config{Conn: nc, Plan: fedzoOf20(t),
		Log: &runlog.Memory{}})
	if !errors.Is(err, coordinator.ErrConfig) || !strings.Contains(err.Error(), "16384") ||
		!strings.Contains(err.Error(), "set its max_payload to 65536") {
		t.Errorf("got %v", err)
	}
}
