package run

import (
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// corners are points of a square. Points near two opposite corners are of one class, so that no
// linear model does better than guessing.
func corners(n int, seed uint64) *models.MLP {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := &tables.Table{Features: 2, Classes: 2}
	for range n {
		x, y := rng.Float64() < 0.5, rng.Float64() < 0.5
		sign := map[bool]float64{true: 1, false: -1}
		for _, v := range []float64{sign[x], sign[y]} {
			t.Values = append(t.Values, float32(2*v+0.3*rng.NormFloat64()))
		}
		t.Labels = append(t.Labels, map[bool]uint8{true: 1, false: 0}[x == y])
	}
	return models.NewMLP(models.TableSamples(t), 8)
}

// TestLayers: a network learns from the weights of --segments, and not from zeros.
func TestLayers(t *testing.T) {
	for layers, learns := range map[string]bool{"": false, "sigmoid:2x8,8x1": true} {
		train, test := corners(400, 1), corners(200, 2)
		shares, err := data.IID(train.Len(), 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Plan("decomfl", "corners", 7, train.Dim(), 4, 4)
		if err == nil && layers != "" {
			err = planfile.SetLayers(p, layers)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Difference, p.Rule, p.Beta, p.StepSize = plan.Central, plan.TorchMomentum, 0.9, 0.05
		p.Rounds = 150
		r := mustTrain(t, Config{Task: Classifier(train, test, 1), Plan: p, Shares: shares,
			Measure: func(round uint64) bool { return round == p.Rounds }})
		accuracy := r.Curve.At(Accuracy, p.Rounds)
		if learns != (accuracy > 0.95) || !learns && accuracy > 0.8 {
			t.Errorf("%q: accuracy %v, want it to learn: %v", layers, accuracy, learns)
		}
	}
}
