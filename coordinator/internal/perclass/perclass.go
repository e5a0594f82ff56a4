// Package perclass combines contributions that have scalars for each class of a device's minibatch,
// for plans with classes. The package knows the scalars of each device, but no frames and no clock.
package perclass

import (
	"maps"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// mostClasses is how many classes a plan has at most.
const mostClasses = 64

// Read decodes a contribution into the memory of dst, and returns the largest |v| as [gather.Read]
// does. A contribution has a block of P scalars for each of its classes. ok is false if s has
// another form.
func Read(dst *[]float32, plan *plan.Plan, s wire.Scalars, p int) (largest float32, ok bool) {
	var room [mostClasses]perclass.Part
	parts, ok := perclass.Parts(room[:0], plan, s, p)
	values := (*dst)[:0]
	for _, part := range parts {
		at := len(values)
		values = slices.Grow(values, p)[:at+p]
		plan.Precision.Decode(values[at:], part.Scalars, 0)
	}
	*dst = values
	return gather.LargestOf(values), ok
}

// Sketches says whether values can be a device's sketch. In plans with classes, a sketch consists
// of the shares of the classes.
func Sketches(plan *plan.Plan, values []float32) bool {
	return plan.Classes == 0 || perclass.AreShares(plan, values)
}

// Held holds the contributions of a round.
//
// Invariant: row i has values[i*size:(i+1)*size].
type Held struct {
	rows   []row
	values []float32
	size   int
	parts  []perclass.Part
}

// A row is what a device sent about one class.
type row struct{ slot, class, count uint32 }

// Reset forgets all contributions. Later contributions have p scalars for each class.
func (h *Held) Reset(p int) { h.rows, h.values, h.size = h.rows[:0], h.values[:0], p }

// Add copies a contribution: s are the bytes as they came, and values the decoded scalars, which
// may have been scaled down since.
func (h *Held) Add(slot uint32, plan *plan.Plan, s wire.Scalars, values []float32) {
	h.parts, _ = perclass.Parts(h.parts[:0], plan, s, h.size)
	for _, part := range h.parts {
		h.rows = append(h.rows, row{slot, part.Class, part.Count})
	}
	h.values = append(h.values, values...)
}

// weightUnit is the weight 1 of a class in a group, as a whole number.
const weightUnit = 1 << 24

// Groups say which group each member has, and give the share of each class in all samples.
type Groups interface {
	// Of returns the group of a slot, if it has one.
	Of(slot uint32) (group uint32, ok bool)
	// Shares returns the share of each of n classes; nil means equal shares.
	Shares(classes int) []float64
}

// Terms returns a term for each group that has contributions. A group's term is along the
// directions of the slot with the group's number. Let n_ic be the samples of class c in the
// minibatch of device i, as far as [Held.believed] counts them, and share_c the class's share of
// all samples. Then
//
//	h_p = sum_ic W_ic c_icp / sum_ic W_ic,  W_ic = share_c n_ic / sum_i n_ic
//
// over the devices i of the group and the classes c that they sent. The mean is exact except for
// the weights, which are multiples of 2^-24, and rounded once. Terms leaves out a slot without a
// group.
func (h *Held) Terms(plan *plan.Plan, groups Groups) (terms []wire.Term) {
	shares, precision := groups.Shares(int(plan.Classes)), plan.TermPrecision()
	samples := h.believed(plan)
	for group := range grouping.Count(plan) {
		rows, counts := h.rowsOf(groups.Of, group, samples)
		if len(rows) == 0 {
			continue
		}
		var sum gather.Tally
		sum.Reset(h.size)
		for _, i := range rows {
			share := 1.0
			if shares != nil {
				share = shares[h.rows[i].class]
			}
			weight := share * samples[i] / counts[h.rows[i].class] * weightUnit
			sum.Add(h.values[i*h.size:(i+1)*h.size], uint32(max(math.Round(weight), 1)))
		}
		scalars := precision.Append(make(wire.Scalars, 0, precision.Bytes(h.size)), sum.Means()...)
		terms = append(terms, wire.Term{Source: prng.Slot(group), Scalars: scalars})
	}
	return terms
}

// believed returns how many samples of each row count. A device's samples count in full up to
// ClaimBound times the median of the devices' samples; of an even number, the lower middle value.
// If a device has more, believed multiplies the samples of all of its rows by the same factor.
func (h *Held) believed(plan *plan.Plan) []float64 {
	all, most := map[uint32]float64{}, math.Inf(1)
	for _, r := range h.rows {
		all[r.slot] += float64(r.count)
	}
	if plan.ClaimBound > 0 && len(all) > 0 {
		sorted := slices.Sorted(maps.Values(all))
		most = float64(plan.ClaimBound) * sorted[(len(sorted)-1)/2]
	}
	samples := make([]float64, len(h.rows))
	for i, r := range h.rows {
		samples[i] = float64(r.count) * min(1, most/all[r.slot])
	}
	return samples
}

// rowsOf returns the rows of a group, and how many samples each class has in these rows.
func (h *Held) rowsOf(of func(slot uint32) (uint32, bool), group uint32, samples []float64) (
	rows []int, counts map[uint32]float64) {
	counts = map[uint32]float64{}
	for i, r := range h.rows {
		if g, ok := of(r.slot); ok && g == group {
			rows = append(rows, i)
			counts[r.class] += samples[i]
		}
	}
	return rows, counts
}
