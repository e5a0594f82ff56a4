package fleet

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// TestBytesPerRound counts all bytes that a device's socket carries in a round with K=1 and P=10:
// greetings, join, protocol lines, and the end of the run. The DeComFL paper counts 120 bytes, for
// the scalars and seeds alone (3*K*P*4).
func TestBytesPerRound(t *testing.T) { countBytes(t, 240) }

// TestBytesOfSignatures counts the bytes when devices pin the coordinator's key: each announcement
// has 67 bytes more.
func TestBytesOfSignatures(t *testing.T) { countBytes(t, 240+69, signs) }

// countBytes runs a fleet, and checks how many bytes a client and round take.
func countBytes(t *testing.T, most float64, edits ...func(*coordinator.Config)) {
	t.Helper()
	const rounds, n, dim = 400, 4, 50
	p := testPlan(t, "demo", dim, n, rounds)
	l := startLead(t, p, broker.Config{}, edits...)
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
	clients := l.devices("demo", conns, dim, func(c *client.Config) {
		if len(edits) > 0 {
			pins(c)
		}
	})
	l.agree("demo", clients)
	up, down := int64(0), int64(0)
	for _, tr := range traffic {
		up += tr.Up()
		down += tr.Down()
	}
	perUp, perDown := float64(up)/(n*rounds), float64(down)/(n*rounds)
	t.Logf("a client and round: %.1f bytes up, %.1f down", perUp, perDown)
	if got := perUp + perDown; got > most {
		t.Errorf("%.1f bytes a client and round, want at most %.0f", got, most)
	}
}
