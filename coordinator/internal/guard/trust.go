package guard

import "math"

// full is the weight of a device that is trusted in full, in place of 1.
const full = 64

// agree updates the agreement of the round's contributors, and what they count.
func (g *Guard) agree() {
	scale, factors := g.scale(), make([]float64, len(g.held))
	for i := range g.held {
		factors[i] = g.factor(g.held[i].Values, scale)
	}
	middle := g.center(factors)
	agreements := make([]float64, len(g.held))
	for i := range g.held {
		s := g.slot(g.held[i].Slot)
		s.seen = min(s.seen+1, g.plan.Trust)
		s.agreement += (cosine(g.held[i].Values, middle) - s.agreement) / float64(s.seen)
		agreements[i] = s.agreement
	}
	usual := median(agreements)
	for i := range g.held {
		s := g.slot(g.held[i].Slot)
		s.share = 0
		if usual > 0 {
			s.share = 1 - min(max(s.agreement/usual, 0), 1)
		}
	}
}

// center returns the median of each scalar of the contributions, each times its factor: the mean of
// the middle two of an even number.
func (g *Guard) center(factors []float64) []float64 {
	if len(g.held) == 0 {
		return nil
	}
	middle, column := make([]float64, len(g.held[0].Values)), make([]float64, len(g.held))
	for p := range middle {
		for i := range g.held {
			column[i] = factors[i] * float64(g.held[i].Values[p])
		}
		low := median(column)
		middle[p] = (low + column[len(column)/2]) / 2
	}
	return middle
}

// cosine returns that of the angle between values and middle, 0 if either is zero.
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

// Weight returns what a contribution that would weigh so much counts, 0 if not at all.
func (g *Guard) Weight(slot uint32, weight uint32) uint32 {
	if g.plan.Trust == 0 {
		return weight
	}
	return weight * uint32(math.Round(full*(1-g.slot(slot).share)))
}
