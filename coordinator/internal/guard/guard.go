package guard

import (
	"math"
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/wire"
)

// A Guard is what a coordinator knows of its devices' contributions. The zero value knows nothing
// and limits nothing.
//
// Invariants:
//  1. held has contributions of the open round alone, none of which was added.
//  2. lengths and claims of the open round are in length and claim until Close.
type Guard struct {
	Cuts uint64 // contributions and control variates that were cut

	plan    *wire.Plan
	lengths track   // of rounds whose contributions this coordinator saw
	claims  track   // of samples
	told    float64 // scale that the log tells, 0 for none
	slots   []slot  // of a listed roster

	length, claim []float64 // of the open round's contributions
	held          []Contribution
	own           float64 // scale of the open round while there is no running one
}

// A slot is what is known of a member.
type slot struct {
	cuts      uint32
	agreement float64
	seen      uint32  // contributions in agreement
	share     float64 // of its weight that it lost in its last round
}

// A Contribution is held until its round closes.
type Contribution struct {
	Slot    uint32
	ID      string
	Reply   wire.Reply // Values and Rest are copies
	Values  []float32
	Control uint64 // record of the control variate, 0 for none
	Variate []float32
}

// Begin forgets the open round and begins the next one.
func (g *Guard) Begin(p *wire.Plan) {
	g.plan = p
	g.length, g.claim = g.length[:0], g.claim[:0]
	clear(g.held)
	g.held, g.own = g.held[:0], 0
}

// Holds says whether contributions have to wait until the round closes. Vectors never do: they have
// no length that would be known, and are too large to wait.
func (g *Guard) Holds() bool {
	if g.plan.Transport == wire.DenseVectors {
		return false
	}
	return g.plan.Trust > 0 || g.plan.Bound > 0 && g.lengths.n == 0
}

// See notes the scalars of a contribution, none for a vector, and the samples that it claims.
func (g *Guard) See(values []float32, claim uint32) {
	if g.plan.Bound > 0 && len(values) > 0 {
		g.length = append(g.length, lengthOf(values))
	}
	if g.plan.ClaimBound > 0 {
		g.claim = append(g.claim, float64(claim))
	}
}

// Hold keeps a copy of a contribution until the round closes.
func (g *Guard) Hold(k Contribution) {
	k.Reply.Values, k.Reply.Rest = slices.Clone(k.Reply.Values), slices.Clone(k.Reply.Rest)
	k.Values, k.Variate = slices.Clone(k.Values), slices.Clone(k.Variate)
	g.held = append(g.held, k)
}

// Close ends the round and returns the contributions that were held, in no particular order. They
// are valid until Begin.
func (g *Guard) Close() []Contribution {
	if g.lengths.n == 0 {
		if g.own = median(slices.Clone(g.length)); g.told > 0 {
			g.own = min(g.own, g.told)
		}
	}
	if g.plan.Trust > 0 {
		g.agree()
	}
	g.lengths.add(median(g.length))
	g.claims.add(median(g.claim))
	g.length, g.claim = g.length[:0], g.claim[:0]
	return g.held
}

// scale returns the length of a usual contribution to the open round, 0 if nobody knows.
func (g *Guard) scale() float64 {
	if g.own > 0 {
		return g.own
	}
	return g.lengths.median()
}

// Cut shortens a contribution that stands out, and returns by which factor: 1 if it does not.
func (g *Guard) Cut(slot uint32, values []float32) (factor float64) {
	return g.cut(slot, values, g.scale())
}

// CutVariate shortens a control variate that stands out.
func (g *Guard) CutVariate(slot uint32, values []float32) {
	g.cut(slot, values, max(g.scale(), g.lengths.most))
}

func (g *Guard) cut(slot uint32, values []float32, scale float64) float64 {
	factor := g.factor(values, scale)
	if factor == 1 {
		return 1
	}
	g.Cuts++
	if s := g.slot(slot); s != nil {
		s.cuts++
	}
	for i, v := range values {
		values[i] = float32(float32(factor) * v)
	}
	return factor
}

// factor returns what values are multiplied by.
func (g *Guard) factor(values []float32, scale float64) float64 {
	most, length := float64(g.plan.Bound)*scale, lengthOf(values)
	if most == 0 || !(length > most) {
		return 1
	}
	return most / length
}

// lengthOf returns the root of the mean square.
func lengthOf(values []float32) float64 {
	if len(values) == 0 {
		return 0
	}
	return mathx.Norm(values) / math.Sqrt(float64(len(values)))
}

// Samples returns how many samples of a claim count.
func (g *Guard) Samples(claim uint32) uint32 {
	if g.plan.ClaimBound == 0 {
		return claim
	}
	most := float64(g.plan.ClaimBound) * g.claims.median()
	return uint32(min(float64(claim), max(most, 1)))
}

// slot returns what is known of a member; nil on an open roster.
func (g *Guard) slot(n uint32) *slot {
	if g.plan == nil || g.plan.Roster == wire.OpenRoster {
		return nil
	}
	for uint64(len(g.slots)) <= uint64(n) {
		g.slots = append(g.slots, slot{})
	}
	return &g.slots[n]
}

// Member returns how many contributions and variates of a member were cut, and the share of its
// weight that it has lost.
func (g *Guard) Member(n uint32) (cuts uint32, lost float64) {
	if uint64(n) >= uint64(len(g.slots)) {
		return 0, 0
	}
	return g.slots[n].cuts, g.slots[n].share
}
