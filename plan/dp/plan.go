package dp

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/plan"
)

// A Budget is how much of a device's privacy was spent.
type Budget struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

func (b *Budget) String() string {
	return fmt.Sprintf("epsilon %.3g at delta %.3g, at most", b.Epsilon, b.Delta)
}

// Spent returns how much a log of n records has spent of the privacy of a device that contributed
// to each. It returns nil for a plan without noise. A record that was rolled back counts, because
// it was published, and so does each record that is no round. With dp_by=device the answer to the
// open record n+1 counts too.
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
	return &Budget{Epsilon(float64(p.DPNoise), releases, delta), delta}
}

// Planned returns how much the rounds of a plan will spend if no record of another kind comes
// between. It returns nil for a plan without noise, or without an end.
func Planned(p *plan.Plan) *Budget {
	if p.DPClip == 0 || p.Rounds == 0 {
		return nil
	}
	delta := float64(p.DPDelta)
	return &Budget{Epsilon(float64(p.DPNoise), p.Rounds, delta), delta}
}

// others is how many records are not rounds in a log that holds only a plan's rounds: the plan, and
// the end.
const others = 2

// NoiseFor returns the least dp_noise, to six digits and rounded up, with which a log of the plan
// and all its rounds spends at most epsilon, as [Spent] counts at its end. Other records, such as
// changes and rollbacks, spend more. It is infinite for a plan without an end, or without epsilon
// or delta.
func NoiseFor(p *plan.Plan, epsilon float64) float32 {
	if p.Rounds == 0 {
		return float32(math.Inf(1))
	}
	want := Noise(epsilon, p.Rounds+others, float64(p.DPDelta))
	noise := float32(want)
	if float64(noise) < want {
		noise = math.Nextafter32(noise, float32(math.Inf(1)))
	}
	return noise
}
