package fleet

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan/cost"
)

// slowBytes runs a fleet of two whose losses take a while, and returns how many bytes a device's
// socket carries in a round. The first two rounds do not count: of the first, nobody knows how long
// it will take.
func slowBytes(t *testing.T, takes, reannounce time.Duration) float64 {
	t.Helper()
	const n, rounds, dim, from = 2, 5, 50, 2
	p := testPlan(t, "slow", dim, n, rounds)
	p.Deadline, p.Reannounce = 600_000, uint32(reannounce.Milliseconds())
	pause := takes / time.Duration(cost.Of(p, cost.Input{}).Queries)
	l := startLead(t, p, broker.Config{})
	var conns []*nats.Conn
	var traffic []*broker.Traffic
	for i := range n {
		nc, tr, err := l.broker.Connect(fmt.Sprintf("d%d", i))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		conns, traffic = append(conns, nc), append(traffic, tr)
	}
	carried := func() float64 { return float64(traffic[0].Up() + traffic[0].Down()) }
	at := map[uint64]float64{} // after a device's contribution to a round
	l.devices("slow", conns, dim, func(c *client.Config) {
		c.Objective = objective.Func(dim, func(_ context.Context, x []float32,
			_ objective.Batch) (float64, error) {
			time.Sleep(pause)
			return float64(x[0]*x[0]) + 1, nil
		})
		if c.ID != "d0" {
			return
		}
		c.Recorder = client.RecorderFunc(func(p client.Progress) error {
			if p.Contributed {
				at[p.Round+1] = carried()
			}
			return nil
		})
	})
	return (at[rounds] - at[from]) / (rounds - from)
}

// TestBytesOfSlowLoss: a round in which losses take long has hardly more bytes than a quick one.
// Here reannounce is a fiftieth of its default, and losses take a fiftieth of 11 and 33 s.
func TestBytesOfSlowLoss(t *testing.T) {
	const reannounce = 100 * time.Millisecond
	quick := slowBytes(t, 0, reannounce)
	for _, takes := range []time.Duration{220 * time.Millisecond, 660 * time.Millisecond} {
		slow := slowBytes(t, takes, reannounce)
		t.Logf("bytes of a round: %.0f with a quick loss, %.0f with one of %v", quick, slow, takes)
		if slow > 1.1*quick {
			t.Errorf("%.0f bytes a round if losses take %v, %.0f if they are quick", slow, takes, quick)
		}
	}
}
