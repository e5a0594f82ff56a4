package reference

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// denseCombination returns a random plan with transport=dense.
func denseCombination(t *testing.T, random *rand.Rand) *plan.Plan {
	t.Helper()
	for range 10000 {
		p := presetPlan(t, []string{"fedzo-dense", "fzoos"}[random.UintN(2)], random)
		p.Preset = ""
		drawDense(p, random, func(n uint) bool { return random.UintN(n) == 0 })
		size(p)
		if valid.Plan(p) == nil {
			return p
		}
	}
	t.Fatal("no random combination is valid")
	return nil
}

// drawDense sets fields that combine with transport=dense.
func drawDense(p *plan.Plan, random *rand.Rand, one func(uint) bool) {
	p.Dim = 1 + random.Uint64N(40)
	p.Steps = 1 + random.Uint32N(4)
	surrogate := p.Estimator == plan.Surrogate
	if surrogate {
		drawSurrogate(p, random)
	} else {
		if one(8) {
			p.Dim, p.Rounds = blocks, 4
		}
		p.Perturbations = 1 + random.Uint32N(6)
		p.Distribution, p.Difference = plan.Distribution(1+random.UintN(3)),
			plan.Difference(1+random.UintN(2))
		p.Sharing = plan.Sharing(random.UintN(2))
		p.Control = plan.Control(random.UintN(3))
		if p.Control == plan.ScaffoldPoint {
			p.Cohort = uint8(p.Dim % 2)
		}
	}
	drawUpdate(p, random, one)
	if surrogate {
		p.PerturbationSchedule = nil
	}
	if p.Beta, p.Beta2, p.Epsilon = 0, 0, 0; one(3) {
		p.Rule, p.Beta, p.Beta2, p.Epsilon = plan.LocalAdam, 0.9, 0.99, 1 // see size
	} else if p.Rule != plan.SGD {
		p.Beta = 0.3 + 0.6*random.Float32()
	}
	if one(2) {
		p.Weights, p.MaxWeight = plan.BySamples, []uint32{plan.MaxWeight, 5}[random.UintN(2)]
	}
	if one(3) {
		drawSegments(p, random)
	}
	if !one(3) {
		drawBoxes(p, random)
	}
}

// drawSurrogate sets the fields of a surrogate.
func drawSurrogate(p *plan.Plan, random *rand.Rand) {
	p.Correction, p.CorrectionAt = plan.Correction(random.UintN(4)), plan.CorrectionAt(random.UintN(2))
	if p.Correction == plan.CorrectionTheory {
		p.Heterogeneity = 10
	}
	p.LengthScale = []float32{0.5, 1, 3}[random.UintN(3)]
	p.Prior, p.LengthFit = uint8(p.Dim%2), uint8(p.Dim/2%2)
	p.Active = random.Uint32N(4)
	p.Around = random.Uint32N(5)
	if p.Active == 0 {
		p.Around = max(1, p.Around) // one loss at a time shows no slope
	}
}

// drawBoxes bounds the parameters; some losses are lower outside the boxes.
func drawBoxes(p *plan.Plan, random *rand.Rand) {
	for range max(1, len(p.Segments)) {
		low := -0.5 * random.Float32()
		p.Boxes = append(p.Boxes, plan.Box{Low: low, High: low + 0.6 + 2*random.Float32()})
	}
}

// TestDenseCombinationsHaveEverything is like [TestCombinationsHaveEverything].
func TestDenseCombinationsHaveEverything(t *testing.T) {
	seen := map[string]int{}
	for seed := range *denseCombinations {
		p := denseCombination(t, rand.New(rand.NewPCG(seed, 5)))
		for _, v := range []any{p.Estimator, p.Sharing, p.Distribution, p.Difference, p.Rule,
			p.Control, p.Weights, p.Correction, p.CorrectionAt} {
			seen[fmt.Sprintf("%T %v", v, v)]++
		}
		for name, has := range map[string]bool{"boxes": len(p.Boxes) == 1,
			"boxes of segments": len(p.Boxes) > 1,
			"prox":              p.Prox > 0, "decay": p.WeightDecay > 0, "blocks": p.Dim == blocks,
			"partial":            p.Target < clients,
			"schedule of P":      len(p.PerturbationSchedule) > 0,
			"prior of mean 0":    p.Prior > 0,
			"fitted length":      p.LengthFit > 0,
			"no queries around":  p.Estimator == plan.Surrogate && p.Active == 0,
			"partial scaffold-1": p.Control == plan.ScaffoldPoint && p.Target < clients,
			"one cohort":         p.Cohort > 0 && p.Target < clients,
			"partial scaffold-2": p.Control == plan.ScaffoldMean && p.Target < clients} {
			if has {
				seen[name]++
			}
		}
	}
	t.Log(seen)
	for _, name := range []string{"boxes", "boxes of segments", "prox", "decay", "blocks",
		"partial", "schedule of P",
		"prior of mean 0", "fitted length", "no queries around", "partial scaffold-1",
		"partial scaffold-2", "one cohort"} {
		if seen[name] == 0 {
			t.Errorf("no plan has %s", name)
		}
		delete(seen, name)
	}
	if all := 2 + 2 + 3 + 2 + 4 + 3 + 2 + 4 + 2; len(seen) != all {
		t.Errorf("%d choices, want %d: %v", len(seen), all, seen)
	}
}
