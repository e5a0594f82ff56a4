package book

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
	"github.com/zofl/zofl/wire"
)

// discount is the discount s(age) as the paper defines it.
func discount(age int) float64 { return math.Pow(1+float64(age), -0.5) }

// withLate returns the contributions that a round counts, to its own record and to older records,
// each contribution once. on is how many contributions are to the round's own record.
func (b *Book) withLate(r *wire.Record, p *plan.Plan) (counted []answer, on int, err error) {
	discounts := make([]float64, len(r.Round.Terms))
	for i := range r.Round.Terms {
		if discounts[i], err = b.ages(r, p, r.Round.Terms[i].Back); err != nil {
			return nil, 0, err
		}
	}
	counted, err = b.lateMeans(r, p, discounts)
	if p.Transport == plan.Relay {
		counted, err = b.lateRelayed(r, p, discounts)
	}
	for _, a := range counted {
		if a.n == r.N {
			on++
		}
	}
	if err == nil && len(counted) != int(r.Round.Contributors) {
		err = fmt.Errorf("it counts %d contributions, and says %d", len(counted),
			r.Round.Contributors)
	}
	return counted, on, err
}

// ages returns the discount of a term of record r that is back records old.
func (b *Book) ages(r *wire.Record, plan *plan.Plan, back uint64) (float64, error) {
	if back == 0 {
		return 1, nil
	}
	n, age := r.N-back, 1
	left := b.left(uint64(len(b.chain)))
	for i := n + 1; i < r.N; i++ {
		if left[i] && b.chain[i-1].record.Kind == wire.KindRound {
			age++
		}
	}
	switch {
	case n < 2 || !left[n]:
		return 0, fmt.Errorf("it has late work on record %d, which is not on its path", n)
	case age > int(plan.Late):
		return 0, fmt.Errorf("it has late work on record %d, of age %d", n, age)
	case b.chain[n-1].record.Epoch != r.Epoch:
		return 0, fmt.Errorf("it is of epoch %d, and has late work on record %d of epoch %d",
			r.Epoch, n, b.chain[n-1].record.Epoch)
	}
	b.world.Count("late work")
	if age > 1 {
		b.world.Count("late work of old")
	}
	if plan.Async > 0 {
		b.world.Count("late work, async")
	}
	return discount(age), nil
}

// answerTo is a device's contribution to record n.
func (b *Book) answerTo(device int, n uint64) answer {
	return answer{device: scenario.DeviceName(device), n: n, tip: b.chain[n-2].hash.Tip()}
}

// lateRelayed finds the contributions of a round whose record has each contributor's scalars.
func (b *Book) lateRelayed(r *wire.Record, p *plan.Plan, discounts []float64) (
	counted []answer, err error) {
	s := b.scenario
	for i := range r.Round.Terms {
		t := &r.Round.Terms[i]
		if t.Source == 0 || int(t.Source) > len(b.members) {
			return nil, fmt.Errorf("term %d has source %d, of %d members", i, t.Source,
				len(b.members))
		}
		d := 0
		for d < s.Devices-1 && scenario.DeviceName(d) != b.members[t.Source-1] {
			d++
		}
		_, err := b.term(r, p, t, func(v float64) ([]int, bool) {
			want := s.Slope(d) * discounts[i]
			return []int{d}, math.Abs(v-want) < 1e-3*want
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.members[t.Source-1], err)
		}
		if p.Weights == plan.BySamples && r.Round.Weights[i] != s.Weights[d] {
			return nil, fmt.Errorf("weights %d, that of %s is %d", r.Round.Weights, scenario.DeviceName(d),
				s.Weights[d])
		}
		counted = append(counted, b.answerTo(d, r.N-t.Back))
	}
	b.world.Count("late relay")
	return counted, nil
}

// lateMeans finds the contributions of a round of means. Only these contributions have weights that
// add up to the divisor of the round's sums.
func (b *Book) lateMeans(r *wire.Record, plan *plan.Plan, discounts []float64) (
	counted []answer, err error) {
	most := int(slices.Max(b.scenario.Weights)) * int(r.Round.Contributors)
	for total := int(r.Round.Contributors); total <= most; total++ {
		counted = counted[:0]
		weight := 0
		for i := range r.Round.Terms {
			t := &r.Round.Terms[i]
			var found []int
			found, err = b.term(r, plan, t, func(v float64) ([]int, bool) {
				return b.scenario.AnyDigits(v / discounts[i] * float64(total))
			})
			if err != nil {
				break
			}
			for _, d := range found {
				counted = append(counted, b.answerTo(d, r.N-t.Back))
				weight += int(b.scenario.Weights[d])
			}
		}
		if err == nil && weight == total && len(counted) == int(r.Round.Contributors) {
			return counted, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%d contributions are not made of devices' slopes, each once",
			r.Round.Contributors)
	}
	return nil, err
}

// once checks that no other record of the log counts a contribution that record r counts.
func (b *Book) once(r *wire.Record, counted []answer) {
	for i := range b.chain {
		for _, a := range counted {
			if slices.Contains(b.chain[i].counted, a) {
				b.world.Find("no contribution is counted twice",
					"records %d and %d count what %s contributed to record %d",
					i+1, r.N, a.device, a.n)
			}
		}
	}
}
