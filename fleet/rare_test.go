package fleet_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// An alarm is a logistic regression with 20 features. It must find the 2 % of samples with a label.
type alarm struct {
	features [][20]float64
	labels   []float64
}

// newAlarm returns n samples. The labeled samples are the last, so the last device gets all of
// them.
func newAlarm(n int) *alarm {
	rng, a := rand.New(rand.NewPCG(5, 6)), &alarm{}
	for i := range n {
		var x [20]float64
		label := 0.0
		if i >= n-n/50 {
			label = 1
		}
		for j := range x {
			x[j] = rng.NormFloat64() + label*0.4
		}
		a.features, a.labels = append(a.features, x), append(a.labels, label)
	}
	return a
}

// loss returns the mean loss of some samples.
func (a *alarm) loss(x []float32, rows []int) (sum float64) {
	for _, i := range rows {
		z := float64(x[20])
		for j, v := range a.features[i] {
			z += float64(x[j]) * v
		}
		sum += math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - z*a.labels[i]
	}
	return sum / float64(len(rows))
}

// devices returns n devices, each with an equal part of the samples.
func (a *alarm) devices(n int) (list []objective.Objective) {
	part := len(a.labels) / n
	for d := range n {
		list = append(list, objective.Func(21, func(_ context.Context, x []float32,
			b objective.Batch) (float64, error) {
			rng, rows := rand.New(rand.NewPCG(b.Seed, 1)), make([]int, 50)
			for i := range rows {
				rows[i] = d*part + rng.IntN(part)
			}
			return a.loss(x, rows), nil
		}))
	}
	return list
}

// TestRareLabel trains with the default preset, with no field changed. One device of eight has all
// samples of a rare label. The other devices soon have nothing to learn: the scalars that they send
// are nearly 0, and their losses fall whatever the step is. The device with the label must still
// have an effect. A model that gives every sample a probability of 2 % has a loss of 0.098.
func TestRareLabel(t *testing.T) {
	learns(t)
	a := newAlarm(8 * 750)
	all := make([]int, len(a.labels))
	for i := range all {
		all[i] = i
	}
	for _, key := range []byte{0, 2, 5} {
		plan, err := preset.New("zofl", "rare", 21)
		if err != nil {
			t.Fatal(err)
		}
		plan.RunKey = append(make([]byte, 31), key)
		for field, value := range map[string]string{"members": "8", "rounds": "200"} {
			if err := planfile.Set(plan, field, value); err != nil {
				t.Fatal(err)
			}
		}
		preset.Few(plan)
		r, err := fleet.Run(t.Context(), plan, a.devices(8), fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		loss := a.loss(r.Params, all)
		if t.Logf("run %d: loss %.3f of 0.693", key, loss); !(loss < 0.2) {
			t.Errorf("run %d: loss %.3f, want at most 0.2", key, loss)
		}
	}
}
