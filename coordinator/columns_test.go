package coordinator_test

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/stats"
)

// TestColumns: devices of unlike shares find one scale before their first loss, and a device that
// comes after the end has it, too.
func TestColumns(t *testing.T) {
	for _, secure := range []uint8{0, 1} {
		network := bus.NewMemory()
		defer network.Close()
		p, err := preset.New("decomfl", "rooms", 2)
		if err != nil {
			t.Fatal(err)
		}
		p.Members, p.Target, p.Quorum, p.Rounds, p.Columns = 3, 3, 3, 3, 2
		if p.Secure = secure; secure > 0 {
			p.ClaimBound = 0
		}
		lead, err := coordinator.New(t.Context(), coordinator.Config{Bus: network, Plan: p,
			Log: &runlog.Memory{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		led := make(chan error, 1)
		go func() { led <- lead.Run(ctx) }()
		shares := [][][]float32{{{1, 1e6}}, {{2, 2e6}, {3, 3e6}}, {{4, 4e6}, {5, 9e6}, {6, 5e6}}}
		var all [][]float32
		done := make(chan *client.Client, 4)
		for i, rows := range shares {
			all = append(all, rows...)
			go func() { done <- takePart(t, network, fmt.Sprint("d", i), rows) }()
		}
		var list []*client.Client
		for range shares {
			list = append(list, <-done)
		}
		list = append(list, takePart(t, network, "late", nil))
		want := stats.Of(all)
		_, digest := list[0].Digest()
		for _, c := range list {
			for i, got := range c.Stats() {
				if got.Count != 6 || math.Abs(got.Mean-want[i].Mean) > 1e-9*want[i].Mean ||
					math.Abs(got.Std-want[i].Std) > 1e-9*want[i].Std || (got.Min == nil) != (secure > 0) {
					t.Errorf("secure %d, column %d: %+v, want %+v", secure, i, got, want[i])
				}
			}
			if _, d := c.Digest(); d != digest || c.Scaler().Columns() != 2 {
				t.Errorf("secure %d: digest %x, want %x", secure, d, digest)
			}
		}
		end()
		<-led
	}
}

// takePart runs a device with rows until the run ends.
func takePart(t *testing.T, network bus.Bus, id string, rows [][]float32) *client.Client {
	var c *client.Client
	var scaled atomic.Bool
	c, err := client.New(client.Config{
		Bus: network, Run: "rooms", ID: id, RetryMax: time.Second, Columns: stats.Of(rows),
		Objective: objective.Func(2, func(_ context.Context, x []float32,
			_ objective.Batch) (float64, error) {
			scaled.Store(c.Scaler() != nil)
			return float64(x[0]*x[0] + x[1]*x[1]), nil
		}),
	})
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := c.Run(t.Context()); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	if len(rows) > 0 && !scaled.Load() {
		t.Errorf("%s: a loss finds no scaler", id)
	}
	return c
}
