package fleet_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/wire"
)

// prices returns flats with some features, and their prices. The features have the scales that an
// app would have.
func prices(device, n int) (x [][3]float64, y []float64) {
	rng := rand.New(rand.NewPCG(8, uint64(device)))
	for range n {
		rooms, area := 1+float64(rng.IntN(6)), 40+100*rng.Float64()
		x = append(x, [3]float64{1, rooms, area})
		y = append(y, 20000+15000*rooms+900*area+15000*rng.NormFloat64())
	}
	return x, y
}

// squares returns a device whose square loss is multiplied by a factor.
func squares(device int, factor float64) objective.Objective {
	x, y := prices(device, 200)
	return objective.Func(3,
		func(_ context.Context, w []float32, _ objective.Batch) (sum float64, _ error) {
			for i := range x {
				sum += square(w, x[i], y[i])
			}
			return factor * sum / float64(len(x)), nil
		})
}

func square(w []float32, x [3]float64, y float64) float64 {
	e := -y
	for k, v := range x {
		e += v * float64(w[k])
	}
	return e * e
}

// An untuned plan works with losses, and so slopes, of any size, although devices send scalars of 8
// bits with a half-precision scale. Slopes here go from 1e-17 to 1e23. Without a unit of losses,
// devices would decline rounds with the largest slopes, and replicas would read the smallest as 0.
func TestScaleOfLosses(t *testing.T) {
	learns(t)
	x, y := prices(99, 1000)
	mean := func(w []float32) (sum float64) {
		for i := range x {
			sum += square(w, x[i], y[i]) / float64(len(x))
		}
		return math.Sqrt(sum)
	}
	for _, factor := range []float64{1e15, 1, 1e-8, 1e-25} {
		t.Run(fmt.Sprint(factor), func(t *testing.T) {
			p := newPlan(t, "zofl", 3, 150)
			p.Members, p.Target, p.Quorum = 4, 4, 2
			var devices []objective.Objective
			for i := range 4 {
				devices = append(devices, squares(i, factor))
			}
			r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			start, end := mean(make([]float32, 3)), mean(r.Params)
			if unit := unitOf(t, r.Log); (unit > 0) != (factor != 1e-8) {
				t.Errorf("loss_unit is %v", unit)
			}
			if end > start/4 {
				t.Errorf("prices are %.0f wrong, and were %.0f", end, start)
			}
		})
	}
}

// unitOf returns the unit of losses that a run found.
func unitOf(t *testing.T, log *runlog.Memory) (unit float32) {
	t.Helper()
	err := log.Read(t.Context(), 1, func(_ uint64, record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if err != nil {
			t.Error(err)
		} else if r.Kind == wire.KindChange {
			unit = max(unit, r.Change.Values.LossUnit)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return unit
}
