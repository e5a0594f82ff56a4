package tune_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestStep: whatever step the plan has, Run finds a step within a factor of 4 of the best step of a
// grid, with about the same loss.
func TestStep(t *testing.T) {
	computes(t)
	for _, c := range []struct{ name, field string }{
		{"decomfl-adam", "server_step"}, {"decomfl", "step"}, {"fedzo", "step"},
	} {
		best, bestStep := math.Inf(1), 0.0
		for e := -6; e <= 1; e++ {
			p := testPlan(t, c.name, nil)
			*stepOf(p, c.field) = float32(math.Pow(4, float64(e)))
			if loss := lossAfter(t, p, 50); loss < best {
				best, bestStep = loss, math.Pow(4, float64(e))
			}
		}
		for _, start := range []float32{1e-6, 1e3} {
			p := testPlan(t, c.name, func(p *plan.Plan) { *stepOf(p, c.field) = start })
			before, devices := *p, task(5)
			r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
				Fields: []string{"step"}, Seed: 3})
			if err != nil {
				t.Fatalf("%s from %g: %v", c.name, start, err)
			}
			got := float64(*stepOf(r.Plan, c.field))
			loss := lossAfter(t, r.Plan, 50)
			if ratio := got / bestStep; ratio < 1./4.01 || ratio > 4.01 || loss > 1.15*best {
				t.Errorf("%s from %g: %s %g with loss %v, the grid's best is %g with %v", c.name, start,
					c.field, got, loss, bestStep, best)
			}
			tries := 0
			for _, trial := range r.Trials {
				if trial.Stage == "bracket" {
					tries++
				}
			}
			if tries > 6 { // else line did not say where to begin
				t.Errorf("%s from %g: the bracket took %d trials", c.name, start, tries)
			}
			budget := tune.Budget(p, 5)
			if r.Queries != asked(devices) || r.Queries > budget || r.Field != c.field ||
				!reflect.DeepEqual(*p, before) {
				t.Errorf("%s from %g: %d queries, %d asked, budget %d, field %s", c.name, start,
					r.Queries, asked(devices), budget, r.Field)
			}
		}
	}
}

// TestPresets: Run tunes every preset within its budget, with the same result twice. The tuned plan
// is valid, and its loss is no higher than that of the given plan.
func TestPresets(t *testing.T) {
	for i, name := range preset.Names() {
		if testing.Short() && i%5 != 0 {
			continue // the race detector sees the same in a few
		}
		p := testPlan(t, name, func(p *plan.Plan) {
			p.Steps, p.Perturbations = min(p.Steps, 2), min(p.Perturbations, 5)
			if p.Estimator == plan.Surrogate {
				p.Perturbations = 1
				p.Features, p.Window, p.Candidates, p.Around, p.Active = 40, 10, 6, 3, 1
			}
		})
		var results [2]*tune.Result
		for i := range results {
			devices := task(4)
			budget := max(tune.Budget(p, 4)/8, 400)
			r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
				Queries: budget, Seed: 1, Rounds: 8})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if results[i] = r; r.Queries != asked(devices) || r.Queries > budget {
				t.Errorf("%s: %d queries, %d asked of %d", name, r.Queries, asked(devices), budget)
			}
			sum := uint64(0)
			for _, trial := range r.Trials {
				sum += trial.Queries
			}
			if sum != r.Queries || len(r.Reasons) < 4 || !(r.Loss <= r.Start) {
				t.Errorf("%s: %d queries by trials, %d in all; loss %v, at first %v; %q", name, sum,
					r.Queries, r.Loss, r.Start, r.Reasons)
			}
		}
		a, b := results[0], results[1]
		if !reflect.DeepEqual(a.Plan, b.Plan) || !reflect.DeepEqual(a.Reasons, b.Reasons) ||
			len(a.Trials) != len(b.Trials) || a.Loss != b.Loss {
			t.Errorf("%s: two tunings differ:\n%+v\n%+v", name, a, b)
		}
		if r, err := fleet.Run(t.Context(), a.Plan, objectives(task(4)), fleet.Options{Rounds: 5}); err !=
			nil {
			t.Errorf("%s: the tuned plan: %v, %+v", name, err, r)
		}
	}
}

// TestFields: Run changes only the fields that Config names, and tries all of them.
func TestFields(t *testing.T) {
	computes(t)
	for _, field := range tune.Fields() {
		p := testPlan(t, "decomfl", func(p *plan.Plan) {
			p.Mu, p.StepSize, p.Perturbations, p.Batch = 1e-5, 0.01, 1, 1
		})
		if field == "perturbations" || field == "batch" {
			p.StepSize = 0.03 // else the step hides what either does
		}
		var heard []string
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)),
			Fields: []string{field}, Progress: func(trial tune.Trial) {
				heard = append(heard, trial.Stage)
			}})
		if err != nil || len(heard) != len(r.Trials) {
			t.Fatalf("%s: %v, %q", field, err, heard)
		}
		got := *r.Plan
		changed := map[string]bool{"mu": got.Mu != p.Mu, "batch": got.Batch != p.Batch,
			"perturbations": got.Perturbations != p.Perturbations,
			"step":          got.StepSize != p.StepSize && field != "perturbations"}
		for name, is := range changed {
			if is != (name == field) {
				t.Errorf("tuning %s: %s changed: %v; %q", field, name, is, r.Reasons)
			}
		}
		got.Mu, got.StepSize, got.Perturbations, got.Batch = 1e-5, p.StepSize, 1, 1
		if !reflect.DeepEqual(&got, p) || !strings.HasPrefix(r.Reasons[0], field+"=") {
			t.Errorf("tuning %s: %+v, %q", field, got, r.Reasons)
		}
	}
}

// TestMu: Run finds the largest mu with little curvature, whatever the scale of the parameters.
func TestMu(t *testing.T) {
	for _, c := range []struct {
		scale float64
		want  float32
	}{{1, 1e-1}, {1e3, 1e2}, {1e-3, 1e-4}} {
		// f(s) = s + s^2 with s = x/scale: even part mu^2, odd part mu, in units of the scale.
		o := objective.Func(1, func(_ context.Context, x []float32, _ objective.Batch) (float64,
			error) {
			s := float64(x[0]) / c.scale
			return s + s*s, nil
		})
		p, err := preset.Unbound("decomfl", "run", 1)
		if err != nil {
			t.Fatal(err)
		}
		p.Distribution = plan.Rademacher // of length 1
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{o, o},
			Fields: []string{"mu"}})
		if err != nil || r.Plan.Mu != c.want {
			t.Errorf("scale %g: %v, mu %v, want %v: %q", c.scale, err, r.Plan.Mu, c.want, r.Reasons)
			continue
		}
		if !strings.Contains(r.Reasons[1], "signal to noise of a difference: ") {
			t.Errorf("scale %g: no signal to noise in %q", c.scale, r.Reasons)
		}
		for _, trial := range r.Trials[1:] {
			if want := float64(trial.Mu) / c.scale; trial.Stage != "mu" ||
				math.Abs(trial.Ratio-want) > 1e-3*want {
				t.Errorf("scale %g: %+v, want ratio %g", c.scale, trial, want)
			}
		}
	}
	flat := objective.Func(1, func(context.Context, []float32, objective.Batch) (float64, error) {
		return 1, nil
	})
	p, _ := preset.Unbound("decomfl", "run", 1)
	r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{flat},
		Fields: []string{"mu"}})
	if err != nil || r.Plan.Mu != p.Mu || !strings.Contains(r.Reasons[0], "stays") {
		t.Errorf("a flat loss: %v, %+v", err, r)
	}
}

// TestForms: Run judges a loss in each interface of package objective.
func TestForms(t *testing.T) {
	computes(t)
	mean := func(x []float32) (sum float64) {
		for _, v := range x {
			sum += (float64(v) - 1) * (float64(v) - 1) / 8
		}
		return sum
	}
	var losses []float64
	for _, o := range []objective.Objective{
		objective.Func(8, func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			return mean(x), nil
		}),
		objective.Stream(8, func(_ context.Context, x *objective.Point, _ objective.Batch) (float64,
			error) {
			block := make([]float32, 8)
			err := x.Read(block, 0)
			return mean(block), err
		}),
		objective.Many(8, func(_ context.Context, x *objective.Points, _ objective.Batch,
			losses []float64) error {
			blocks := make([][]float32, x.Len())
			for i := range blocks {
				blocks[i] = make([]float32, 8)
			}
			err := x.Read(blocks, 0)
			for i := range losses {
				losses[i] = mean(blocks[i])
			}
			return err
		}),
	} {
		p, err := preset.Unbound("decomfl", "run", 8)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{o}})
		if err != nil || r.Start != 1 || !(r.Loss < 1e-2) {
			t.Fatalf("%T: %v, %+v", o, err, r)
		}
		losses = append(losses, r.Loss)
	}
	if losses[0] != losses[1] || losses[0] != losses[2] {
		t.Errorf("losses %v, want the same", losses)
	}
}

// TestAuto: if devices find mu and the step by themselves, the search begins at their step, and the
// tuned plan leaves both to the devices.
func TestAuto(t *testing.T) {
	computes(t)
	p := testPlan(t, "decomfl", func(p *plan.Plan) {
		p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
		p.Mu, p.MuAuto, p.StepSize, p.StepAuto, p.Rounds = 0, 1, 0, 1, 300
	})
	for _, queries := range []uint64{0, 3000} {
		devices := task(5)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
			Queries: queries})
		if err != nil {
			t.Fatal(err)
		}
		if queries == 0 {
			queries = tune.Budget(p, 5)
		}
		stages := map[string]int{}
		for _, trial := range r.Trials {
			stages[trial.Stage]++
		}
		if r.Plan.Mu != 0 || r.Plan.StepSize != 0 || r.Plan.StepAuto != 1 || !(r.Loss < 0.9) ||
			r.Queries != asked(devices) || r.Queries > queries ||
			stages["survey"] != 1 || stages["refine"] < 3 || stages["line"]+stages["bracket"] > 0 {
			t.Errorf("mu %v, step %v, loss %v, %d of %d queries, %v, %q", r.Plan.Mu, r.Plan.StepSize,
				r.Loss, r.Queries, queries, stages, r.Reasons)
		}
		// Twice P takes 105 evaluations a round in place of 55.
		if why := strings.Join(r.Reasons, "\n"); (r.Plan.Perturbations == 20) != strings.Contains(why,
			"rounds=157: ") || (r.Plan.Perturbations == 20) != (r.Plan.Rounds == 157) {
			t.Errorf("P = %d: %s", r.Plan.Perturbations, why)
		}
	}
}
