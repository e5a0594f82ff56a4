//go:build linux && !race

package fleet

import (
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestKillSecure kills devices and the coordinator of a run with secure aggregation at random
// moments, and so in all steps of a round. The run reaches its end, and every device has the log's
// state.
func TestKillSecure(t *testing.T) {
	if testing.Short() {
		t.Skip("tens of seconds of processes that are killed")
	}
	t.Parallel()
	const rounds = 40
	k := embedded(t, "masked", killDevices, killDevices/2+1, func(p *plan.Plan) {
		p.Secure, p.MaxScalar, p.Bound, p.Rounds = 1, 1000, 0, rounds
		p.EvalEvery, p.EvalCount, p.Metrics = 0, 0, nil
	})
	k.rounds, k.passes = rounds, true
	k.disturb(killer(7), true)
	k.finish()
	k.must(10, 0)
}
