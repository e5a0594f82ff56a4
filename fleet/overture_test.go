package fleet_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/preset"
)

// TestFewEvaluations: with few parameters a run has nine tenths of what there is to gain after some
// hundred evaluations of a device, also if devices share them.
func TestFewEvaluations(t *testing.T) {
	for _, tt := range []struct {
		dim, devices int
		most         float64 // evaluations of a device, median of the seeds
	}{{2, 1, 60}, {6, 1, 100}, {6, 4, 100}} {
		var all []float64
		for seed := range uint64(31) {
			all = append(all, untilTenth(t, tt.dim, tt.devices, seed))
		}
		slices.Sort(all)
		t.Logf("%d parameters, %d devices: %v evaluations", tt.dim, tt.devices, all)
		if got := all[len(all)/2]; got > tt.most {
			t.Errorf("%d parameters, %d devices: %v evaluations until a tenth is left, want %v at most",
				tt.dim, tt.devices, got, tt.most)
		}
	}
}

// untilTenth returns after how many evaluations of a device a tenth of the loss is left: of a bowl
// that is 1,000 times as steep along one axis as along another, and askew.
func untilTenth(t *testing.T, dim, devices int, seed uint64) float64 {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(dim)))
	mirror, optimum := make([]float64, dim), make([]float64, dim)
	square := 0.0
	for i := range mirror {
		mirror[i], optimum[i] = rng.NormFloat64(), rng.NormFloat64()
		square += mirror[i] * mirror[i]
	}
	loss := func(x []float32) (f float64) {
		along := 0.0
		for i, v := range mirror {
			along += 2 * v * (float64(x[i]) - optimum[i]) / square
		}
		for i, v := range mirror {
			at := float64(x[i]) - optimum[i] - along*v
			f += math.Pow(1000, float64(i)/float64(dim-1)-1) * at * at
		}
		return f
	}
	p, err := preset.New("zofl", "few", uint64(dim))
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Rounds = uint32(devices), uint32(devices), 1, 1000
	p.RunKey = make([]byte, 32)
	p.RunKey[0] = byte(seed)
	device := objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (float64,
		error) {
		return loss(x), nil
	})
	spent, first := math.Inf(1), loss(make([]float32, dim))
	_, err = fleet.Run(t.Context(), p, slices.Repeat([]objective.Objective{device}, devices),
		fleet.Options{Progress: func(r fleet.Round) error {
			if r.Loss > first/10 { // at the round's beginning, so that its own evaluations do not count
				spent = float64(r.Queries) / float64(devices)
				return nil
			}
			return fleet.ErrStop
		}})
	if err != nil {
		t.Fatal(err)
	}
	return spent
}
