package untouched

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// TestHonestDevicesAreNotCut trains honest devices on the eight tasks of defaults, and with every
// preset on one of them, with the bound of zofl plan and without one. The bound may scale down at
// most one of 1,000 contributions. In a run where the bound scales none down, the model must have
// the same bits as without the bound. No device is a suspect. The test prints the largest scalar.
// With ZOFL_TRAIN and ZOFL_DATA the test uses the data sets and 300 rounds, instead of generated
// data and a few rounds.
func TestHonestDevicesAreNotCut(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e := &lab.Env{Generated: 600, Screen: true, Rounds: 8}
	if os.Getenv("ZOFL_TRAIN") != "" {
		e = &lab.Env{Data: os.Getenv("ZOFL_DATA"), Screen: true, Rounds: 300}
	}
	size, err := sizeOf(e)
	if err != nil {
		t.Fatal(err)
	}
	x := newTrial(lab.NewTrial(t.Context(), e, "defaults"), size)
	var cut, all uint64
	for _, task := range size.tasks {
		b, err := newBench(e, task)
		if err != nil {
			t.Fatal(err)
		}
		presets := []string{"decomfl", "zofl"}
		if task.Name == "covtype-softmax" {
			presets = preset.Names()
		}
		for _, name := range presets {
			p, _, err := x.plan(b, name, 1)
			if err != nil {
				t.Fatal(err)
			}
			if p.Transport == plan.DenseVectors {
				continue
			}
			without := x.honest(t, b, name, func(*plan.Plan) {})
			with := x.honest(t, b, name, func(p *plan.Plan) { preset.Guard(p) })
			if with.Cut == 0 && !slices.Equal(with.Params, without.Params) {
				t.Errorf("%s on %s: nothing was cut, and the models differ", name, task.Name)
			}
			if len(with.Suspects) > 0 {
				t.Errorf("%s on %s: honest devices are suspects: %v", name, task.Name, with.Suspects)
			}
			contributions := with.Curve.Last() * uint64(p.Target)
			if t.Logf("%s on %s: %d of %d cut", name, task.Name, with.Cut, contributions); with.Cut > 0 {
				t.Logf("accuracy %v, without a bound %v", with.Curve.At(run.Accuracy, p.Rounds),
					without.Curve.At(run.Accuracy, p.Rounds))
			}
			cut, all = cut+with.Cut, all+contributions
		}
	}
	if t.Logf("%d of %d cut", cut, all); 1000*cut > all {
		t.Errorf("%d of %d contributions were cut, want at most one of 1,000", cut, all)
	}
}

// honest trains a preset on a task.
func (x *trial) honest(t *testing.T, b *bench, name string,
	edit func(*plan.Plan)) *run.Result {
	t.Helper()
	p, devices, err := x.plan(b, name, 1)
	if err != nil {
		t.Fatal(err)
	}
	edit(p)
	shares, err := b.deal(devices, 1)
	if err != nil {
		t.Fatal(err)
	}
	largest := 0.0
	cfg := run.Config{Task: b.task, Plan: p, Shares: shares,
		Measure: func(round uint64) bool { return round == p.Rounds },
		Heard: func(_ int, frame []byte) {
			r, err := wire.DecodeReply(frame)
			if err != nil || r.Kind != wire.Contribution {
				return
			}
			for _, g := range p.Precision.Values(r.Values, int(p.Steps), int(p.Perturbations)) {
				largest = max(largest, math.Abs(float64(g)))
			}
		}}
	x.Env.ScreenRun(&cfg)
	r, err := run.Train(x.Ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s on %s: |g| up to %.3g, max_scalar=%v", name, b.Name, largest, p.MaxScalar)
	return r
}
