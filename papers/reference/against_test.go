package reference

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

const presetPlans = 3 // for each preset

// small returns n, or with -short an eighth of n.
func small(n uint64) uint64 {
	if testing.Short() {
		return (n + 7) / 8
	}
	return n
}

var (
	combinations      = flag.Uint64("combinations", 128, "random plans to compare beside the presets")
	denseCombinations = flag.Uint64("combinations.dense", 64,
		"random plans besides whose devices send vectors")
)

// TestPresetsAgainstReference runs production clients and a coordinator on each preset, at
// random sizes, and compares the model after each record with the reference.
func TestPresetsAgainstReference(t *testing.T) {
	for _, info := range preset.List() {
		for seed := range small(presetPlans) {
			t.Run(fmt.Sprint(info.Name, "/", seed), func(t *testing.T) {
				t.Parallel()
				against(t, presetPlan(t, info.Name, rand.New(rand.NewPCG(seed, 2))))
			})
		}
	}
}

// TestCombinationsAgainstReference compares production with the reference on random combinations
// of fields.
func TestCombinationsAgainstReference(t *testing.T) {
	for seed := range small(*combinations) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, combination(t, rand.New(rand.NewPCG(seed, 3))))
		})
	}
}

// TestDenseCombinationsAgainstReference compares production with the reference on random plans
// with transport=dense.
func TestDenseCombinationsAgainstReference(t *testing.T) {
	for seed := range small(*denseCombinations) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, denseCombination(t, rand.New(rand.NewPCG(seed, 5))))
		})
	}
}

// TestBitsAgainstReference compares production with the reference on relayed scalars of few bits.
// The comparison ends when a scalar is so near the edge between two codes that both codes are
// right.
func TestBitsAgainstReference(t *testing.T) {
	var compared, clipped atomic.Int64
	t.Run("plans", func(t *testing.T) {
		for seed := range small(96) {
			p := bitsPlan(t, rand.New(rand.NewPCG(seed, 7)), plan.Int8+plan.Precision(seed%3))
			t.Run(fmt.Sprint(seed, " ", p.Precision), func(t *testing.T) {
				t.Parallel()
				rounds := int64(against(t, p))
				compared.Add(rounds)
				if p.Aggregator == plan.ClippedMean {
					clipped.Add(rounds)
				}
			})
		}
	})
	if compared.Load() < int64(small(96)) || clipped.Load() == 0 {
		t.Errorf("%d rounds were compared, %d of them clipped", compared.Load(), clipped.Load())
	}
}

// TestNormalizedAgainstReference compares production with the reference on plans with the rule
// normalized and random values of the fields that this rule allows.
func TestNormalizedAgainstReference(t *testing.T) {
	seen := map[string]bool{}
	for seed := range small(64) {
		p := normalizedPlan(t, rand.New(rand.NewPCG(seed, 6)))
		seen[p.Transport.String()], seen[p.StepDecay.String()] = true, true
		seen[p.Distribution.String()], seen[p.Aggregator.String()] = true, true
		seen[p.Weights.String()], seen[p.Precision.String()] = true, true
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, p)
		})
	}
	if all := 2 + 4 + 3 + 4 + 2 + 2; len(seen) != all && !testing.Short() {
		t.Errorf("%d choices, want %d: %v", len(seen), all, seen)
	}
}

// TestEvolutionAgainstReference compares production with the reference on plans of evolution
// strategies.
func TestEvolutionAgainstReference(t *testing.T) {
	seen := map[string]bool{}
	for seed := range small(24) {
		p := evolutionPlan(t, rand.New(rand.NewPCG(seed, 8)))
		seen[p.Covariance.String()], seen[p.Aggregator.String()] = true, true
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, p)
		})
	}
	if len(seen) != 2+4 && !testing.Short() {
		t.Errorf("%d choices: %v", len(seen), seen)
	}
}

// TestSchedulesAgainstReference compares production with the reference on plans in which the step
// size of each rule decays.
func TestSchedulesAgainstReference(t *testing.T) {
	for seed := range small(32) {
		random := rand.New(rand.NewPCG(seed, 7))
		p := combination(t, random)
		drawSchedule(p, random)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, p)
		})
	}
}

// TestHalvesAgainstReference takes long steps in one dimension. There a client that moves
// along its unrounded scalars, which nobody else reads, would compute other scalars.
func TestHalvesAgainstReference(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := presetPlan(t, "decomfl", rand.New(rand.NewPCG(seed, 4)))
			p.Dim, p.Steps, p.Perturbations, p.StepSize = 1, 4, 1, 2
			p.Distribution, p.Precision, p.MaxScalar = plan.Rademacher, plan.Half, 6e4
			against(t, p)
		})
	}
}

// TestSignAgainstReference compares production with the reference on plans with rule=sign. The
// test uses only seeds for which no element is so near 0 that rounding decides its sign.
func TestSignAgainstReference(t *testing.T) {
	for seed := range uint64(12) {
		p := denseCombination(t, rand.New(rand.NewPCG(seed, 9)))
		if p.Estimator == plan.Surrogate {
			continue
		}
		p.Rule, p.Beta, p.Beta2, p.Epsilon, p.StepSize = plan.LocalSign, 0, 0, 0, 0.01
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, p)
		})
	}
}

// TestSVRGAgainstReference compares production with the reference on plans with control=svrg:
// with scalars from losses, scalars from gradients, and whole vectors.
func TestSVRGAgainstReference(t *testing.T) {
	seen := map[string]bool{}
	for seed := range small(48) {
		dense := seed%3 == 2
		p := svrgPlan(t, rand.New(rand.NewPCG(seed, 10)), dense)
		for _, v := range []any{p.Transport, p.Distribution, p.Difference, p.Cohort, p.Rule} {
			seen[fmt.Sprintf("%T %v", v, v)] = true
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if r := produceBy(t, p, seed%5 == 4 && !dense); !t.Failed() {
				r.agree(t)
				r.restore(t)
				r.follow(t)
			}
		})
	}
	if all := 2 + 4 + 2 + 2 + 4; len(seen) < all && !testing.Short() {
		t.Errorf("%d choices, want %d: %v", len(seen), all, seen)
	}
}

// TestProjectionAgainstReference compares production with the reference where clients give
// gradients: DeComFL's Algorithm 5, combined with other options for scalars.
func TestProjectionAgainstReference(t *testing.T) {
	for seed := range small(24) {
		random := rand.New(rand.NewPCG(seed, 8))
		p := presetPlan(t, "decomfl", random)
		if seed%3 > 0 {
			p = combination(t, random)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if r := produceBy(t, p, true); !t.Failed() {
				r.agree(t)
				r.follow(t)
			}
		})
	}
}
