package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/secagg"
)

// TestSecureBytes runs devices over a broker with secure aggregation and without, with the
// coordinator's key pinned. The test checks that secure aggregation costs as many additional bytes
// as package secagg computes, including NATS protocol lines, signatures and nonces.
func TestSecureBytes(t *testing.T) {
	const n = 10
	rounds := uint64(30)
	if testing.Short() {
		rounds = 10
	}
	plain, plainTook := secureRun(t, n, rounds, func(p *plan.Plan) { p.Secure = 0 })
	for agree, edit := range map[bool]func(*plan.Plan){false: nil, true: agrees} {
		bytes, took := secureRun(t, n, rounds, edit)
		price := secagg.Price(n, 10+1, agree)
		sum, steps := 0, 4
		for step := range price.Up {
			sum += price.Up[step] + price.Down[step]
		}
		if agree {
			steps++
		}
		t.Logf("%d devices in %d steps: %.0f bytes a client and round, and %.0f without; "+
			"a round takes %v, and %v", n, steps, bytes, plain, took/time.Duration(rounds),
			plainTook/time.Duration(rounds))
		if over := bytes - plain - float64(sum); over < 0 || over > float64(300*steps) {
			t.Errorf("%.0f bytes more a client and round, want the %d of %d steps and at most %d",
				bytes-plain, sum, steps, 300*steps)
		}
	}
}

// agrees makes devices share a secret, and agree on lists.
func agrees(p *plan.Plan) {
	p.SetSecret(secret)
	p.SecureLists = 1
}

// TestSecureSparse runs 120 devices over a broker. The neighborhood of a device is smaller than the
// fleet.
func TestSecureSparse(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute with the race detector, which TestSecureBytes shows the same")
	}
	const rounds = 3
	bytes, took := secureRun(t, 120, rounds, nil)
	t.Logf("120 devices: %.0f bytes a client and round, %v a round", bytes,
		took/rounds)
}

// secureRun runs a fleet, and returns the bytes per client and round, and the duration of all
// rounds. The devices have the same state in the end.
func secureRun(t *testing.T, n uint32, rounds uint64, edit func(*plan.Plan)) (float64,
	time.Duration) {
	t.Helper()
	const dim = 50
	p := testPlan(t, "masked", dim, n, rounds)
	p.Secure, p.MaxScalar, p.Bound, p.Quorum, p.Weights = 1, 1000, 0, n/2+1, plan.Equal
	p.EvalEvery, p.EvalCount, p.Metrics = 0, 0, nil
	p.Deadline = 600_000 // ms: on a busy machine a shorter deadline would begin more attempts
	keyed := func(*client.Config) {}
	if edit != nil {
		edit(p)
	}
	if p.Private() {
		keyed = func(c *client.Config) { c.RunKey = secret }
	}
	l := startLead(t, p, broker.Config{}, signs)
	var conns []*nats.Conn
	var traffic []*broker.Traffic
	for i := range n {
		nc, tr, err := l.broker.Connect(fmt.Sprintf("d%d", i), client.ConnectOptions(
			fmt.Sprintf("d%d", i))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		conns, traffic = append(conns, nc), append(traffic, tr)
	}
	began := time.Now()
	clients := l.devices("masked", conns, dim, pins, keyed)
	l.agree("masked", clients)
	took := time.Since(began)
	sum := int64(0)
	for _, tr := range traffic {
		sum += tr.Up() + tr.Down()
	}
	return float64(sum) / float64(uint64(n)*rounds), took
}
