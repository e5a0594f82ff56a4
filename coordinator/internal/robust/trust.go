package robust

import (
	"cmp"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/median"
)

// full is the integer weight of a device that has lost no weight.
const full = 64

// enough is the share of the median agreement above which a device has full weight. The share is
// below 1 because honest devices with different data agree less than other devices.
const enough = 0.3

// alike is the median agreement above which contradiction proves a lie. Near the optimum, and where
// data differ much, honest devices contradict each other, and their agreement is about 0 or below.
const alike = 0.2

// agree updates the agreement of the round's contributors, and their weights.
func (g *Bounds) agree() {
	middle := g.center()
	agreements := make([]float64, len(g.held))
	others := make([]float64, len(middle))
	for i := range g.held {
		k := &g.held[i]
		s := g.slot(k.Slot)
		weight := s.weightOf(k.Values)
		for p, v := range k.Values {
			others[p] = middle[p] - float64(weight*float64(v))
		}
		s.seen = min(s.seen+1, g.plan.Trust)
		s.agreement += (cosine(k.Values, others) - s.agreement) / float64(s.seen)
		agreements[i] = s.agreement
	}
	usual := median.Lower(agreements)
	if usual < alike {
		return
	}
	for i := range g.held {
		s := g.slot(g.held[i].Slot)
		s.share = 1 - min(max(s.agreement/(enough*usual), 0), 1)
	}
}

// center returns the sum of the contributions, each scaled to length 1 and multiplied by its
// device's weight so far. center adds contributions in the order of slots, so that the order of
// arrival does not matter.
func (g *Bounds) center() []float64 {
	if len(g.held) == 0 {
		return nil
	}
	slices.SortFunc(g.held, func(a, b Contribution) int { return cmp.Compare(a.Slot, b.Slot) })
	middle := make([]float64, len(g.held[0].Values))
	for i := range g.held {
		weight := g.slot(g.held[i].Slot).weightOf(g.held[i].Values)
		for p, v := range g.held[i].Values {
			middle[p] += float64(weight * float64(v))
		}
	}
	return middle
}

// weightOf returns the factor by which center multiplies a contribution.
func (s *slot) weightOf(values []float32) float64 {
	length := lengthOf(values)
	if length == 0 {
		return 0
	}
	return (1 - s.share) / length
}

// cosine returns the cosine of the angle between values and middle, or 0 if either is zero.
func cosine(values []float32, middle []float64) float64 {
	var product, a, b float64
	for p, v := range values {
		product += float64(v) * middle[p]
		a += float64(v) * float64(v)
		b += middle[p] * middle[p]
	}
	if a == 0 || b == 0 {
		return 0
	}
	return product / math.Sqrt(a*b)
}

// Weight returns the weight of a contribution that claims a weight, or 0 if the contribution does
// not count.
func (g *Bounds) Weight(slot uint32, weight uint32) uint32 {
	switch {
	case g.plan.Trust == 0:
		return weight
	case g.rooted() && (g.middle == nil || g.vouched(slot)):
		return weight * full
	}
	s := g.slot(slot)
	return weight * uint32(math.Round(full*(1-s.share)*(1-s.noise)))
}
