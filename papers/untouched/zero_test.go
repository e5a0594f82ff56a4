package untouched

import (
	"os"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
)

// TestDefaultsLayers trains a network with the layers that zofl plan --segments makes, and one
// that starts at zero: its units start alike, and it hardly learns.
func TestDefaultsLayers(t *testing.T) {
	e := &lab.Env{Generated: 1000, Rounds: 120}
	x, b := zeroBench(t, e, tasks.Task{Name: "digits-mlp", Data: tasks.Drawn, Shrink: 7,
		Scale: tasks.Standardized, Hidden: []int{16}, Devices: 3, Train: 1000, Test: 1000})
	step := func(p *plan.Plan) { p.StepSize = 0.1 }
	layers := x.layered(t, b, "decomfl", step, "relu:16x16,16x10", 1)
	zero := x.layered(t, b, "decomfl", step, "", 1)
	if layers < 0.4 || zero > 0.25 {
		t.Errorf("accuracy %.3f with layers, %.3f from zero: want at least 0.4, at most 0.25",
			layers, zero)
	}
}

// TestZeroStarts prints the table of papers/RESULTS.md of networks that start at zero. Each
// learns with layers. ZOFL_TRAIN=1 asks for the minutes that it takes.
func TestZeroStarts(t *testing.T) {
	e := &lab.Env{Data: os.Getenv("ZOFL_DATA")}
	if e.Data == "" || os.Getenv("ZOFL_TRAIN") == "" {
		t.Skip("set ZOFL_TRAIN=1, and ZOFL_DATA to a directory of the data sets, to train networks " +
			"from zero")
	}
	layers := map[string]string{"mnist-mlp": "relu:196x48,48x10",
		"fashion-mlp": "relu:196x32,32x10", "covtype-mlp": "relu:54x16,16x7"}
	for _, task := range eightTasks() {
		if task.Hidden == nil {
			continue
		}
		x, b := zeroBench(t, e, task)
		for _, m := range []struct {
			preset string
			set    func(*plan.Plan)
		}{
			{"zofl", func(*plan.Plan) {}},
			{"decomfl", func(p *plan.Plan) { p.StepSize = 0.016 }},
			{"decomfl-adam", func(p *plan.Plan) { p.ServerStep = 0.008 }},
		} {
			for seed := uint64(1); seed <= 3; seed++ {
				zero := x.layered(t, b, m.preset, m.set, "", seed)
				with := x.layered(t, b, m.preset, m.set, layers[task.Name], seed)
				t.Logf("%s, %s, seed %d: %.1f from zero, %.1f with layers", m.preset, task.Name, seed,
					100*zero, 100*with)
				if with < 0.5 {
					t.Errorf("%s on %s: accuracy %.3f with layers, want at least 0.5", m.preset,
						task.Name, with)
				}
			}
		}
	}
}

// zeroBench returns a trial of a task.
func zeroBench(t *testing.T, e *lab.Env, task tasks.Task) (*trial, *bench) {
	t.Helper()
	b, err := newBench(e, task)
	if err != nil {
		t.Fatal(err)
	}
	size, err := sizeOf(e)
	if err != nil {
		t.Fatal(err)
	}
	return newTrial(lab.NewTrial(t.Context(), e, "defaults"), size), b
}

// layered returns the accuracy of a network whose plan has layers, if any.
func (x *trial) layered(t *testing.T, b *bench, name string, set func(*plan.Plan),
	layers string, seed uint64) float64 {
	t.Helper()
	p, devices, err := x.plan(b, name, seed)
	if err != nil {
		t.Fatal(err)
	}
	set(p)
	if p.Segments = nil; layers != "" {
		err = planfile.SetLayers(p, layers)
	}
	if err != nil || layers != "" && len(plancheck.Warnings(p)) > 0 {
		t.Fatalf("layers %q, warnings %q: %v", layers, plancheck.Warnings(p), err)
	}
	s, err := x.train(b, p, devices, seed)
	if err != nil || !s.whole() {
		t.Fatalf("layers %q: %+v, %v", layers, s, err)
	}
	return s.Accuracy
}
