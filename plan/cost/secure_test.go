package cost_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/valid"
)

// secure returns a plan of decomfl with secure aggregation for ten devices. The devices agree on
// lists, or believe the lists of the server.
func secure(t *testing.T, lists uint8) *plan.Plan {
	t.Helper()
	p := planOf(t, "decomfl")
	p.Secure, p.SecureLists, p.MaxScalar, p.Bound = 1, lists, 1000, 0
	p.EvalEvery, p.EvalCount, p.Metrics = 0, 0, nil
	if lists > 0 {
		p.SetSecret(make([]byte, 32))
	}
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCostOfSecureSums: a device sends and gets the bytes that package secagg computes, in frames
// of 4 or 5 steps, and sends no contribution in the clear. testing/fleet counts the same over a
// broker.
func TestCostOfSecureSums(t *testing.T) {
	plain := secure(t, 0)
	plain.Secure = 0
	for lists, steps := range []int{4, 5} {
		p, in := secure(t, uint8(lists)), cost.Input{Round: 20, IDLen: 8}
		up, down := 0, cost.Of(plain, in).Down.Payload
		price := cost.Secure(p, in)
		for step := range price.Up {
			up, down = up+price.Up[step], down+price.Down[step]
		}
		const request, answer = 1 + 1 + 1 + 2 + 8 + 1 + 2, 1 + 1 + 1 + 2 + 8 + 1 + 1 + 2
		const long = 2 // two bodies each way are of 256 bytes or more
		c := cost.Of(p, in)
		if got := c.Up.Payload - up - steps*request; got != long {
			t.Errorf("lists %d: %+v up, want %d and frames: %d over", lists, c.Up, up, got)
		}
		if got := c.Down.Payload - down - steps*answer; got != long {
			t.Errorf("lists %d: %+v down, want %d and frames: %d over", lists, c.Down, down, got)
		}
	}
	early, late := secure(t, 0), secure(t, 0)
	late.PerturbationSchedule = []plan.PerturbationPoint{{Round: 50, Perturbations: 20}}
	in := cost.Input{Round: 50}
	if more := cost.Of(late, in).Up.Payload - cost.Of(early, in).Up.Payload; more != 4*10 {
		t.Errorf("10 more scalars take %d bytes more, want 4 each", more)
	}
}
