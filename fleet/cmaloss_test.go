package fleet_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
)

// wants returns devices whose losses are (x - want)^2, times what grow says of a record.
func wants(list []float64, grow func(n uint64) float64) (devices []objective.Objective) {
	for _, want := range list {
		devices = append(devices, objective.Func(1,
			func(_ context.Context, x []float32, b objective.Batch) (float64, error) {
				return (float64(x[0]) - want) * (float64(x[0]) - want) * grow(b.N), nil
			}))
	}
	return devices
}

// TestCMAOfManyMinds: a run whose devices want different models goes on to the best for all, and
// shows that it got better: though each device's best candidate was better for that device when
// candidates were far apart, and though the model gets worse for most devices where most want about
// the same.
func TestCMAOfManyMinds(t *testing.T) {
	for _, minds := range [][]float64{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		{0, 32},
		{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 30, 32},
	} {
		devices, best := wants(minds, func(uint64) float64 { return 1 }), 0.0
		for _, want := range minds {
			best += want / float64(len(minds))
		}
		for seed := range byte(10) {
			p := cmaPlan(t, len(devices), 1, 0, seed)
			result, err := fleet.Run(t.Context(), p, devices, fleet.Options{Rounds: 40})
			if err != nil {
				t.Fatalf("%v, seed %d: %v", minds, seed, err)
			}
			first, last := result.Rounds[0].Loss, result.Rounds[len(result.Rounds)-1].Loss
			if got := float64(result.Params[0]); math.Abs(got-best) > 0.3 || last > first {
				t.Errorf("%v, seed %d: model %v, want %v; loss %v at first, then %v", minds, seed, got,
					best, first, last)
			}
		}
	}
}

// TestCMADiverges: a run whose devices want different models pauses where all losses grow.
func TestCMADiverges(t *testing.T) {
	devices := wants([]float64{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 30, 32}, func(n uint64) float64 {
		return math.Pow(1.5, max(float64(n)-20, 0))
	})
	for seed := range byte(5) {
		p := cmaPlan(t, len(devices), 1, 0, seed)
		_, err := fleet.Run(t.Context(), p, devices, fleet.Options{Rounds: 60})
		if err == nil || !strings.Contains(err.Error(), "diverged") {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestCMALuckyCandidate: a run goes on though its first candidates had one that is almost right, so
// that no later round is as good for long.
func TestCMALuckyCandidate(t *testing.T) {
	loss := objective.Func(1,
		func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			return (float64(x[0]) - 3) * (float64(x[0]) - 3), nil
		})
	for _, n := range []int{1, 3} {
		for seed := range byte(40) {
			p := cmaPlan(t, n, 1, 0, seed)
			devices := slices.Repeat([]objective.Objective{loss}, n)
			if _, err := fleet.Run(t.Context(), p, devices, fleet.Options{Rounds: 20}); err != nil {
				t.Errorf("%d devices, seed %d: %v", n, seed, err)
			}
		}
	}
}

// TestCMALuckyStart: one of the first candidates may be the best for many rounds. That is no
// divergence, and a first sigma from a flat direction does not become one that is far too long.
func TestCMALuckyStart(t *testing.T) {
	for seed := range byte(30) {
		e := newEllipsoid(rand.New(rand.NewPCG(uint64(seed), 5)), 2)
		p := cmaPlan(t, 3, 2, 0, seed)
		p.Rounds = 40
		device := objective.Func(2, func(_ context.Context, x []float32, _ objective.Batch) (float64,
			error) {
			return e.at(x), nil
		})
		r, err := fleet.Run(t.Context(), p, []objective.Objective{device, device, device},
			fleet.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if left := e.at(r.Params) / e.at(make([]float32, 2)); left > 1e-3 {
			t.Errorf("seed %d: %.1e of the first loss is left", seed, left)
		}
	}
}
