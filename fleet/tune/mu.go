package tune

import (
	"context"
	"math"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire/survey"
)

// decades are the exponents of 10 that give the tried values of mu.
var decades = [...]int{-6, -5, -4, -3, -2, -1, 0, 1, 2}

// mostRatio is the largest acceptable even part of a difference, relative to its odd part.
const mostRatio = 0.2

// tuneMu chooses mu by the curvature of each device's loss along one direction.
func (t *tuning) tuneMu(ctx context.Context) error {
	auto := t.plan.MuAuto > 0 && t.plan.Mu == 0
	switch {
	case !t.tunes("mu") && !auto:
		return nil
	case t.plan.Estimator == plan.Surrogate:
		t.because("mu stays: a surrogate has none.")
		return nil
	case t.plan.Difference == plan.NoDifference:
		t.because("mu stays: candidates have none.")
		return nil
	}
	values := muValues(t.plan)
	parts, bits, measured, err := t.parts(ctx, values)
	if err != nil {
		return err
	}
	chosen, ratio := t.straightest(values, parts, bits, measured)
	switch {
	case chosen < 0 && auto: // a run would find no mu either, and pause
		return &plan.Error{Field: "mu", Value: "auto", Remedy: "no difference of finite losses " +
			"across the first parameters is other than 0, from 1e-6 to 100 away: begin at random " +
			"weights where parameters multiply each other, as in matrix factors, or give a number"}
	case chosen < 0:
		t.because("mu stays %g: the loss did not change along the directions that were tried.",
			t.plan.Mu)
		return nil
	case ratio > mostRatio:
		t.because("mu=%g: the even part of its differences is %.2g of the odd part, which is the "+
			"least; at most %g would be good, so the loss may be too noisy or too coarse.",
			values[chosen], ratio, mostRatio)
	default:
		t.because("mu=%g: the largest whose differences have an even part of at most %g of the odd "+
			"part (%.2g).", values[chosen], mostRatio, ratio)
	}
	t.plan.Mu = values[chosen]
	signal := signalAt(parts, chosen, bits, t.plan.Difference)
	t.because("signal to noise of a difference: %s.", signal.Price())
	if signal.Warning != "" {
		t.because("Warning: %s.", signal.Warning)
	}
	unit := survey.LossUnit(t.plan, slopeAt(parts, chosen)/float64(values[chosen]))
	if unit > 0 {
		t.plan.LossUnit = unit
	}
	if auto {
		t.because("With mu=auto a run finds mu by itself, so this one is for the trials only.")
		return nil
	}
	if t.result.Plan.Mu = values[chosen]; unit > 0 {
		t.result.Plan.LossUnit = unit
		t.because("loss_unit=%g: at these slopes 16 bits would not do.", unit)
	}
	return nil
}

// straightest notes a trial for each mu. It returns the number of the largest with an even part of
// at most mostRatio of the odd part, or else of the one with the least, and that ratio; -1 if the
// loss does not change.
func (t *tuning) straightest(values []float32, parts [][]float64, bits int, measured uint64) (
	chosen int, least float64) {
	chosen, least = -1, math.Inf(1)
	for k := range values {
		trial, ratio := t.settings("mu", t.plan), ratioAt(parts, k)
		trial.Mu, trial.Ratio, trial.Queries = values[k], ratio, 2*measured
		signal := signalAt(parts, k, bits, t.plan.Difference)
		trial.SignalToNoise, trial.LossesFactor = signal.SignalToNoise, signal.LossesFactor
		if k == 0 {
			trial.Queries += uint64(len(parts))
		}
		t.note(trial)
		if ratio <= mostRatio || ratio < least {
			chosen, least = k, ratio
		}
	}
	return chosen, least
}

// slopeAt returns the root mean square of the devices' odd parts at mu number k.
func slopeAt(parts [][]float64, k int) float64 {
	odd := 0.0
	for _, row := range parts {
		odd += row[k] * row[k] / float64(len(parts))
	}
	return math.Sqrt(odd)
}

// signalAt returns how much of a difference at mu number k is a slope's, and a warning if that is
// little. Even parts count as their root mean square over the devices.
func signalAt(parts [][]float64, k, bits int, difference plan.Difference) (r survey.Result) {
	noise, most := make([]float64, k+1), 0.0
	for i := range noise {
		even := 0.0
		for _, row := range parts {
			even += row[len(row)/2+i] * row[len(row)/2+i] / float64(len(parts))
		}
		most = max(most, math.Sqrt(even))
		noise[i] = most
	}
	wrong := survey.ErrorAt(noise, k, difference)
	if odd := slopeAt(parts, k); odd > 0 && odd <= math.MaxFloat64 && wrong <= math.MaxFloat64 {
		r.Bits = bits
		r.SetSignal(odd, wrong)
	}
	return r
}

// muValues returns the tried values of mu. A normal direction has length sqrt(d), but a direction
// on the sphere only 1. So for the sphere the values are larger by about sqrt(d).
func muValues(p *plan.Plan) []float32 {
	shift := 0
	if p.Distribution == plan.Sphere {
		shift = int(math.Round(math.Log10(float64(p.Dim)) / 2))
	}
	values := make([]float32, len(decades))
	for k, e := range decades {
		values[k] = float32(math.Pow10(e + shift))
	}
	return values
}

// parts returns for each device the odd parts of the differences at all mu, then the even parts. A
// device measures along its first direction with a slope, as in a survey of a run: a jump beside x
// is no slope. If none of the directions that the budget allows has one, the parts are of the first
// along which the loss changes at all. bits are those of losses of 16 bits, or 0. measured counts
// directions over all devices.
func (t *tuning) parts(ctx context.Context, values []float32) (
	parts [][]float64, bits int, measured uint64, err error) {
	devices := uint64(len(t.cfg.Devices))
	t.spend(devices * uint64(1+2*len(values)))
	bases, err := t.each(ctx, func(ctx context.Context, i int) ([]float64, error) {
		base, err := lossOf(ctx, t.cfg.Devices[i], t.x, t.batch(i, muSeed))
		return []float64{base}, err
	})
	if err != nil {
		return nil, 0, 0, err
	}
	rows := make([]bends, devices)
	for p := range survey.Directions {
		left := uint64(0)
		for i := range rows {
			if !rows[i].sides.Sloped() || p == 0 {
				left++
			}
		}
		more := left * uint64(2*len(values))
		if left == 0 || p > 0 && !t.budget.spare(more, t.cfg.Rounds) {
			break
		}
		if measured += left; p > 0 {
			t.result.Queries += more
		}
		if err := t.bend(ctx, p, values, bases, rows); err != nil {
			return nil, 0, 0, err
		}
	}
	devicesBits := make([]int, len(rows))
	for i := range rows {
		parts, devicesBits[i] = append(parts, rows[i].parts), rows[i].bits
	}
	return parts, survey.Coarse(devicesBits), measured, nil
}

// bends are what a device's losses along a direction say: the odd and the even parts of their
// differences.
type bends struct {
	parts []float64
	sides survey.Sides // of the last direction
	found bool         // the loss changes along the direction of parts
	bits  int          // of the losses, if they have 16
}

// bend measures along direction p for the devices that have no slope yet.
func (t *tuning) bend(ctx context.Context, p int, values []float32, bases [][]float64,
	rows []bends) error {
	// Only one goroutine may use a replica's directions.
	directions := make([]func(dst []float32, mu float32), len(rows))
	for i := range directions {
		z := t.replica.Direction(2, 0, p, prng.Slot(uint32(i)))
		directions[i] = func(dst []float32, mu float32) { t.replica.Perturb(dst, t.x, 0, mu, &z) }
	}
	_, err := t.each(ctx, func(ctx context.Context, i int) ([]float64, error) {
		if p > 0 && rows[i].sides.Sloped() {
			return nil, nil
		}
		device, b, x := t.cfg.Devices[i], t.batch(i, muSeed), make([]float32, len(t.x))
		row, sides := make([]float64, 2*len(values)), survey.Sides{}
		losses := []float64{bases[i][0]}
		for k, mu := range values {
			var side [2]float64
			for s, signed := range []float32{mu, -mu} {
				directions[i](x, signed)
				var err error
				if side[s], err = lossOf(ctx, device, x, b); err != nil {
					side[s] = math.Inf(1) // so far away a loss may fail
				}
			}
			row[k] = (side[0] - side[1]) / 2
			row[len(values)+k] = (side[0]+side[1])/2 - bases[i][0]
			sides = append(sides, survey.Side(side[0], side[1]))
			losses = append(losses, side[:]...)
		}
		rows[i].bits = survey.Bits(losses)
		rows[i].take(row, sides)
		return nil, nil
	})
	return err
}

// take keeps the parts along a direction with a slope, or else along the first that changes.
func (b *bends) take(row []float64, sides survey.Sides) {
	if b.sides = sides; b.parts == nil || sides.Sloped() || !b.found && sides.Change() {
		b.parts, b.found = row, sides.Change()
	}
}

// ratioAt returns the even part of the loss divided by the odd part at distance number k. Each part
// is a root mean square over the devices. The ratio is infinite if the odd part is 0 for more than
// half of the devices.
func ratioAt(parts [][]float64, k int) float64 {
	odd, even, moved := 0.0, 0.0, 0
	for _, row := range parts {
		a, b := row[k], row[len(row)/2+k]
		odd += a * a
		even += b * b
		if a != 0 {
			moved++
		}
	}
	if r := math.Sqrt(even / odd); 2*moved >= len(parts) && !math.IsNaN(r) {
		return r
	}
	return math.Inf(1)
}
