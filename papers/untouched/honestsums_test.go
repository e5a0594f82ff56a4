package untouched

import (
	"os"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestHonestSumsAreNotCut trains 7 and 20 honest devices under masks on the eight tasks, with the
// bound of means that zofl plan sets and without one. At most one of 50 means of a task may be cut,
// and with ZOFL_TRAIN and ZOFL_DATA, see TestHonestDevicesAreNotCut, a task may lose at most 0.01
// of its accuracy.
func TestHonestSumsAreNotCut(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e, trains := &lab.Env{Generated: 600, Screen: true, Rounds: 8}, false
	if os.Getenv("ZOFL_TRAIN") != "" {
		e, trains = &lab.Env{Data: os.Getenv("ZOFL_DATA"), Screen: true, Rounds: 300}, true
	}
	size, err := sizeOf(e)
	if err != nil {
		t.Fatal(err)
	}
	x := newTrial(lab.NewTrial(t.Context(), e, "defaults"), size)
	for _, devices := range []int{7, 20} {
		for _, task := range size.tasks {
			task.Devices = devices
			b, err := newBench(e, task)
			if err != nil {
				t.Fatal(err)
			}
			masked := func(p *plan.Plan) {
				p.StepSize, p.Secure, p.MaxScalar, p.Rounds = 0.064, 1, 1000, size.rounds
				p.Weights, p.EvalEvery, p.EvalCount, p.Metrics = plan.Equal, 0, 0, nil
			}
			with := x.honest(t, b, "decomfl", 1, func(p *plan.Plan) { masked(p); preset.Guard(p) })
			without := with
			if with.Cut > 0 { // else it would be the same run
				without = x.honest(t, b, "decomfl", 1, masked)
			}
			means := with.Curve.Last()
			after, before := with.Curve.At(run.Accuracy, means), without.Curve.At(run.Accuracy, means)
			t.Logf("%s, %d devices: %d of %d means cut, accuracy %.4f, %.4f without a bound", b.Name,
				devices, with.Cut, means, after, before)
			if 50*with.Cut > means || trains && !(after >= before-0.01) {
				t.Errorf("%s, %d devices: %d of %d means cut, accuracy %.4f, %.4f without a bound", b.Name,
					devices, with.Cut, means, after, before)
			}
		}
	}
}
