package untouched

import (
	"math"
	"os"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// TestHonestDevicesAreNotCut trains honest devices on the eight tasks of defaults, and with every
// preset on one of them, with the bound of zofl plan and without one. The bound may cut at most one
// of 1,000 contributions, and the preset zofl may lose at most 0.01 of its accuracy on a task. The
// test prints the largest scalar. With ZOFL_TRAIN and ZOFL_DATA the test uses the data sets, 300
// rounds and five seeds, instead of generated data, a few rounds and one seed. Only then the
// accuracies count. No device is a suspect.
func TestHonestDevicesAreNotCut(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e, seeds, trains := &lab.Env{Generated: 600, Screen: true, Rounds: 8}, uint64(1), false
	if os.Getenv("ZOFL_TRAIN") != "" {
		e = &lab.Env{Data: os.Getenv("ZOFL_DATA"), Screen: true, Rounds: 300}
		seeds, trains = 5, true
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
		presets := []string{"zofl", "decomfl"}
		if task.Name == "covtype-softmax" {
			presets = preset.Names()
		}
		for _, name := range presets {
			change := 0.0
			for seed := uint64(1); seed <= seeds; seed++ {
				p, _, err := x.plan(b, name, seed)
				if err != nil {
					t.Fatal(err)
				}
				if p.Transport == plan.DenseVectors || seed > 1 && name != "zofl" {
					continue
				}
				without := x.honest(t, b, name, seed, func(*plan.Plan) {})
				with := x.honest(t, b, name, seed, func(p *plan.Plan) { preset.Guard(p) })
				if len(with.Suspects) > 0 {
					t.Errorf("%s on %s: honest devices are suspects: %v", name, task.Name, with.Suspects)
				}
				contributions := with.Curve.Last() * uint64(p.Target)
				before, after := without.Curve.At(run.Accuracy, p.Rounds),
					with.Curve.At(run.Accuracy, p.Rounds)
				t.Logf("%s on %s, seed %d: %d of %d cut, accuracy %.4f, %.4f without a bound", name,
					task.Name, seed, with.Cut, contributions, after, before)
				cut, all, change = cut+with.Cut, all+contributions, change+(after-before)/float64(seeds)
			}
			if name == "zofl" && trains && change < -0.01 {
				t.Errorf("on %s the bound costs %.4f of the accuracy, want at most 0.01", task.Name, -change)
			}
		}
	}
	if t.Logf("%d of %d cut", cut, all); 1000*cut > all {
		t.Errorf("%d of %d contributions were cut, want at most one of 1,000", cut, all)
	}
}

// honest trains a preset on a task.
func (x *trial) honest(t *testing.T, b *bench, name string, seed uint64,
	edit func(*plan.Plan)) *run.Result {
	t.Helper()
	p, devices, err := x.plan(b, name, seed)
	if err != nil {
		t.Fatal(err)
	}
	edit(p)
	shares, err := b.deal(devices, seed)
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
