package robust

import (
	"cmp"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/median"
)

// oppose is how far below 0 the agreement with the roots must be before a device has weight 0.
// oppose is about two standard deviations of the agreement of a device whose 10 scalars a round
// agree with the roots' scalars only by chance, over 50 rounds.
const oppose = 0.05

// rooted says whether the plan compares devices with roots.
func (g *Bounds) rooted() bool { return g.plan.Trust > 0 && len(g.plan.Roots) > 0 }

// vouched says whether the operator trusts a member as a root.
func (g *Bounds) vouched(slot uint32) bool { return g.rooted() && g.Root != nil && g.Root(slot) }

// Vouched says whether a root has contributed to the open round. Vouched returns true without
// roots.
func (g *Bounds) Vouched() bool {
	return !g.rooted() ||
		slices.ContainsFunc(g.held, func(k Contribution) bool { return g.vouched(k.Slot) })
}

// compare updates the agreement of the round's contributors with the roots, the contributors'
// weights, and how far from the roots' mean a contribution may be.
func (g *Bounds) compare() {
	g.middle, g.reach = g.rootMean(), 0
	if g.middle == nil {
		return
	}
	var away []float64
	scale, keep := g.scale(), 1-1/float64(g.plan.Trust)
	for i := range g.held {
		k := &g.held[i]
		if g.vouched(k.Slot) {
			continue
		}
		factor := g.factor(k.Values, scale)
		product, most, distance := against(k.Values, factor, g.middle)
		s := g.slot(k.Slot)
		s.help, s.most = keep*s.help+product, keep*s.most+most
		s.share = 0
		if s.most > 0 {
			s.share = min(max(-s.help/s.most/oppose, 0), 1)
		}
		away = append(away, distance)
	}
	g.reach = median.Lower(away)
	g.weigh(scale)
}

// weigh updates which share of their weight the round's contributors lose because they send noise.
func (g *Bounds) weigh(scale float64) {
	if !(scale > 0) {
		return
	}
	var slots []uint32
	var shares [][]float64
	for i := range g.held {
		if k := &g.held[i]; !g.vouched(k.Slot) && k.Slot < mostFitted {
			slots = append(slots, k.Slot)
			shares = append(shares, scaled(k.Values, 1/max(scale, lengthOf(k.Values))))
		}
	}
	for _, share := range shares {
		for p := range share {
			share[p] /= float64(len(shares))
		}
	}
	g.fit.fade(1 - 1/float64(g.plan.Trust))
	g.fit.add(scaled(g.middle, 1/scale), slots, shares)
	s := g.fit.solve(func(slot int) bool { return g.slots[slot].share < 1 })
	for _, slot := range slots {
		g.slots[slot].noise = 0
		if s > 0 {
			g.slots[slot].noise = 1 - g.fit.weights[slot]/s
		}
	}
}

// rootMean returns the mean contribution of the roots, or nil if no root contributed.
func (g *Bounds) rootMean() []float64 {
	slices.SortFunc(g.held, func(a, b Contribution) int { return cmp.Compare(a.Slot, b.Slot) })
	var mean []float64
	n := 0.0
	for i := range g.held {
		if k := &g.held[i]; g.vouched(k.Slot) {
			if n++; mean == nil {
				mean = make([]float64, len(k.Values))
			}
			for p, v := range k.Values {
				mean[p] += (float64(v) - mean[p]) / n
			}
		}
	}
	return mean
}

// against compares factor times values with middle: it returns their product, the largest product
// of vectors with these two lengths, and the distance between the two.
func against[T float32 | float64](values []float32, factor float64, middle []T) (product, most,
	distance float64) {
	var a, b float64
	for p, v := range values {
		x, y := factor*float64(v), float64(middle[p])
		product += float64(x * y)
		a += float64(x * x)
		b += float64(y * y)
		distance += float64((x - y) * (x - y))
	}
	return product, math.Sqrt(a * b), math.Sqrt(distance)
}

// draw moves a contribution that is farther from the roots' mean than the median contribution
// towards that mean, to the median distance. Without a root's contribution draw sets values to 0,
// because such a round must not move the model.
func (g *Bounds) draw(slot uint32, values []float32) {
	if !g.rooted() || g.vouched(slot) {
		return
	}
	if g.middle == nil {
		clear(values)
		return
	}
	_, _, distance := against(values, 1, g.middle)
	if !(distance > g.reach) {
		return
	}
	near := g.reach / distance
	for p, v := range values {
		values[p] = float32(g.middle[p] + float64(near*(float64(v)-g.middle[p])))
	}
}
