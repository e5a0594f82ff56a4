package dp

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
)

// A Budget is the privacy of a device that a run has spent: the run has (Epsilon, Delta)
// differential privacy.
type Budget struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

func (b *Budget) String() string {
	return fmt.Sprintf("epsilon %.3g at delta %.3g, at most", b.Epsilon, b.Delta)
}

// curveOf returns the curve that bounds what the releases of a plan spend: the exact one, unless
// devices round what they add to a sum.
func curveOf(p *plan.Plan) curve {
	if p.DPOf == dpnoise.OfSum {
		return renyi
	}
	return gaussian
}

// Spent returns how much privacy a log of n records has spent, for a device that contributed to
// each record. Spent returns nil for a plan without noise. A record that was rolled back counts,
// because the run has published the record. Records that are no rounds count too. With dp_by=device
// the contribution to the open record n+1 counts as well.
func Spent(p *plan.Plan, n uint64) *Budget {
	device, coordinator := p.Noisy()
	releases := max(n, 1) - 1
	switch {
	case device:
		releases = n
	case !coordinator:
		return nil
	}
	delta := float64(p.DPDelta)
	return &Budget{curveOf(p).epsilon(float64(p.DPNoise), releases, delta), delta}
}

// Planned returns how much privacy the rounds of a plan will spend if the log has only records of
// rounds. Planned returns nil for a plan without noise or without a number of rounds.
func Planned(p *plan.Plan) *Budget {
	if p.DPClip == 0 || p.Rounds == 0 {
		return nil
	}
	delta := float64(p.DPDelta)
	return &Budget{curveOf(p).epsilon(float64(p.DPNoise), p.Rounds, delta), delta}
}

// others is how many records of a complete log are no rounds if nobody changes the run: the plan,
// and the end.
const others = 2

// NoiseFor returns the least dp_noise, to six digits and rounded up, with which a log of the plan,
// all its rounds and the end spends at most epsilon, as [Spent] counts. Other records, such as
// changes and rollbacks, spend more. NoiseFor is infinite for a plan without a number of rounds, or
// if epsilon or dp_delta is not above 0.
func NoiseFor(p *plan.Plan, epsilon float64) float32 {
	if p.Rounds == 0 {
		return float32(math.Inf(1))
	}
	want := curveOf(p).noise(epsilon, p.Rounds+others, float64(p.DPDelta))
	noise := float32(want)
	if float64(noise) < want {
		noise = math.Nextafter32(noise, float32(math.Inf(1)))
	}
	return noise
}
