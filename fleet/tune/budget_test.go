package tune_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// TestBudget: Run never exceeds a budget. It refuses a budget that is too small, and names the
// smallest possible budget.
func TestBudget(t *testing.T) {
	computes(t)
	p := testPlan(t, "decomfl", nil)
	_, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)), Queries: 1})
	if err == nil || !strings.Contains(err.Error(), "tune: Queries = 1:") {
		t.Fatal(err)
	}
	// 4 minibatches at the start, mu, the line and a round; three trials of 2 rounds, judged.
	const least = 5*(4+19+18+11) + 3*(2*55+20)
	if budget := tune.Budget(p, 5); least != 650 || budget != 5*(4+19+18+11)+400*55 ||
		!strings.Contains(err.Error(), "give 650 or more: ") ||
		!strings.Contains(err.Error(), "of 5 devices; the default is 22260") {
		t.Errorf("%v; want %d, and %d", err, least, budget)
	}
	devices := task(5)
	if r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
		Queries: least - 1}); err == nil || r != nil || asked(devices) > 0 {
		t.Errorf("one too few: %v", err)
	}
	p.PerturbationSchedule = []plan.PerturbationPoint{{Round: 2, Perturbations: 15}}
	for _, queries := range []uint64{900, 2000} {
		devices := task(5)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
			Queries: queries})
		if err != nil || asked(devices) > queries ||
			!strings.Contains(strings.Join(r.Reasons, "\n"), "no single P") {
			t.Errorf("with a schedule of P: %v, %d asked of %d, %q", err, asked(devices), queries, r.Reasons)
		}
	}
	p.PerturbationSchedule = nil
	for _, queries := range []uint64{least, least + 1, 777, 1500, 3000, 6000, 12000, 50000} {
		devices := task(5)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
			Queries: queries})
		if err != nil || asked(devices) > queries || r.Queries != asked(devices) {
			t.Errorf("%d queries: %v, %d asked", queries, err, asked(devices))
		}
		if queries >= 3000 && !(r.Loss < 0.6) {
			t.Errorf("%d queries: loss %v", queries, r.Loss)
		}
	}
}

// TestBudgetOfSketches: each trial of a plan with groups=sketch begins with sketches, and Run never
// exceeds its budget.
func TestBudgetOfSketches(t *testing.T) {
	computes(t)
	for _, auto := range []bool{true, false} {
		p := testPlan(t, "zofl", func(p *plan.Plan) {
			p.Groups, p.GroupSize, p.Regroup, p.Target = grouping.Sketch, 3, 5, 6
			if !auto {
				p.StepAuto, p.StepSize, p.MuAuto, p.Mu = 0, 0.1, 0, 1e-3
			}
		})
		_, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(6)), Queries: 1})
		var refused *fleet.OptionError
		if !errors.As(err, &refused) {
			t.Fatal(err)
		}
		var least uint64
		if _, err := fmt.Sscanf(refused.Remedy, "give %d or more", &least); err != nil {
			t.Fatal(refused.Remedy)
		}
		if sketches := uint64(4 * 6 * 65); least < sketches {
			t.Errorf("%d or more, and sketches alone take %d", least, sketches)
		}
		for _, more := range []uint64{0, 1, 200, 500, 1000, 2000, 5000, 10000} {
			devices := task(6)
			r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
				Queries: least + more})
			if err != nil || asked(devices) > least+more || r.Queries != asked(devices) {
				t.Errorf("auto %v, %d queries: %v, %d asked", auto, least+more, err, asked(devices))
			}
		}
	}
}

// TestTuneNoise: Run tunes a plan with noise without the field diverge, because noise excludes that
// field.
func TestTuneNoise(t *testing.T) {
	computes(t)
	p := testPlan(t, "decomfl", func(p *plan.Plan) {
		p.DPClip, p.DPNoise, p.DPDelta, p.Diverge, p.Rounds = 5, 0.01, 1e-5, 0, 60
		p.Weights, p.Bound, p.ClaimBound = plan.Equal, 0, 0
	})
	devices := task(5)
	r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices)})
	if err != nil || r.Plan.Diverge != 0 || !(r.Loss < 0.9*r.Start) || r.Queries != asked(devices) {
		t.Errorf("%v: loss %v of %v, %d queries, %d asked", err, r.Loss, r.Start, r.Queries,
			asked(devices))
	}
}
