package tune

import (
	"context"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestShare: the directions of a round are P for all devices, for each group, or for each device.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		sharing plan.Sharing
		want    float64
	}{
		{plan.SharedDirections, 4. / (4 + 100)},
		{plan.GroupDirections, 8. / (8 + 100)},
		{plan.PerClient, 40. / (40 + 100)},
	} {
		p := &plan.Plan{
			Dim:          99,
			ProbeFields:  plan.ProbeFields{Sharing: c.sharing},
			RoundsFields: plan.RoundsFields{Target: 10, OverSample: 1},
		}
		if c.sharing == plan.GroupDirections {
			p.Groups, p.GroupSize, p.Regroup = grouping.Random, 5, 10
		}
		if got := share(p, 4); got != c.want {
			t.Errorf("%v: %v, want %v", c.sharing, got, c.want)
		}
	}
}

// TestSmallerBatch: Run takes a quarter of the batch if the gain is not smaller, and says why. The
// batch stays if a quarter changes no loss, as with devices that have few samples.
func TestSmallerBatch(t *testing.T) {
	for _, c := range []struct {
		samples int // the most of a minibatch
		batch   uint32
		why     []string
	}{
		{100, 2, []string{"batch=2: ", "a quarter of the work"}},
		{2, 8, []string{"batch=8 stays: with 2 all losses are the same"}},
	} {
		p, err := preset.Unbound("decomfl", "run", 2)
		if err != nil {
			t.Fatal(err)
		}
		p.Batch, p.StepSize = 8, 0.01
		o := objective.Func(2, func(_ context.Context, x []float32, b objective.Batch) (float64,
			error) {
			u, v := float64(x[0])-3, float64(x[1])+1
			return u*u + v*v + 1e-9*float64(min(b.Size, c.samples)), nil
		})
		r, err := Run(t.Context(), Config{Plan: p, Devices: []objective.Objective{o, o},
			Fields: []string{"batch"}})
		if err != nil || r.Plan.Batch != c.batch {
			t.Fatalf("%d samples: %v, %+v", c.samples, err, r)
		}
		for _, want := range c.why {
			if !strings.Contains(r.Reasons[0], want) {
				t.Errorf("%d samples: %q lacks %q", c.samples, r.Reasons[0], want)
			}
		}
	}
}

// TestWhy: if a field stays, the reason says whether Run tried other values.
func TestWhy(t *testing.T) {
	run := &tuning{result: &Result{Trials: []Trial{{Stage: "batch"}}}}
	if why := run.why("batch"); !strings.HasPrefix(why, "no other value that was tried gains enough") {
		t.Error(why)
	}
	if why := run.why("perturbations"); !strings.HasPrefix(why, "nothing else was tried") {
		t.Error(why)
	}
}

// TestFitRounds: with another P, the plan gets as many rounds as take the same evaluations as
// before. If the plan would have fewer rounds than a trial, Run only reports the number.
func TestFitRounds(t *testing.T) {
	p, err := preset.Unbound("decomfl", "run", 2)
	if err != nil {
		t.Fatal(err)
	}
	p.Steps, p.Perturbations, p.Difference, p.Rounds = 1, 10, plan.Forward, 200
	half := *p
	half.Perturbations = 5
	for _, c := range []struct {
		change func(*plan.Plan)
		rounds uint64
		why    string
	}{
		{func(*plan.Plan) {}, 367, "rounds=367: a round takes 12 evaluations in place of 22, so these " +
			"rounds take as many as 200 rounds took before."},
		{func(p *plan.Plan) { p.Rounds = 0 }, 0, ""},
		{func(p *plan.Plan) { p.Rounds = 20 }, 20, "The plan keeps its 20 rounds; rounds=37 would take " +
			"as many evaluations as these took before."},
	} {
		given := *p
		c.change(&given)
		tuned := given
		run := &tuning{cfg: &Config{Plan: &given, Rounds: 50, Devices: make([]objective.Objective, 2)},
			result: &Result{Plan: &tuned}}
		run.fitRounds(p, &half)
		if why := strings.Join(run.result.Reasons, " "); tuned.Rounds != c.rounds ||
			!strings.Contains(why, c.why) || c.why == "" && why != "" {
			t.Errorf("%d rounds, %q: want %d, %q", tuned.Rounds, why, c.rounds, c.why)
		}
	}
}
