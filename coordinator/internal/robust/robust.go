package robust

import (
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/median"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Bounds hold what a coordinator knows about its devices' contributions. The zero value of Bounds
// knows no contributions and limits none.
//
// Invariants:
//  1. held has only contributions of the open round, and none of them was passed on yet.
//  2. Until Close, lengths and claims have the lengths and claims of the open round.
type Bounds struct {
	Cuts uint64 // contributions and control variates that were cut
	// Root says whether a member is one of Plan.Roots; nil: none is.
	Root func(slot uint32) bool

	plan  *plan.Plan
	past  *Past
	slots []slot // of a listed roster

	lengths []float64 // of the open round's contributions
	scalars int       // of each
	claims  []float64 // of samples
	held    []Contribution
	numbers []float32 // that held refers to
	frames  []byte    // likewise
	own     length    // of the last round that closed, by its contributions
	count   int       // of these contributions
	claim   float64   // likewise

	together float64 // of candidates' losses: the sum of their lengths, see counted

	middle []float64 // mean contribution of the closed round's roots, nil without one
	reach  float64   // how far from it another may be
	fit    fit       // of the others to it

	usual   median.Running // lengths of the rounds that this coordinator closed
	longest float64        // largest median of these, and what the log showed when it began
	reports []uint32       // slots, see Reports
}

// A slot holds what Bounds know about a member.
type slot struct {
	cuts      uint32
	agreement float64
	seen      uint32  // contributions in agreement
	share     float64 // of its weight that it lost in its last round
	help      float64 // sum of its products with the roots, less from round to round
	most      float64 // what that would be if it were along with them each time
	noise     float64 // of its weight that it lost in its last round as noise
	conduct   conduct
}

// A Contribution is a contribution that Bounds hold until its round closes.
type Contribution struct {
	Slot    uint32
	Reply   wire.Reply // without Rest
	Values  []float32
	Control uint64 // record of the control variate, 0 for none
	Variate []float32
	length  float64 // as the device sent it
}

// Remember gives the memory of the log's records, which a plan with a bound needs.
func (g *Bounds) Remember(past *Past) {
	if g.past = past; past != nil {
		g.longest = max(g.longest, past.most)
	}
}

// Begin forgets the open round and begins the next one.
func (g *Bounds) Begin(p *plan.Plan) {
	g.plan = p
	g.lengths, g.claims = g.lengths[:0], g.claims[:0]
	clear(g.held)
	g.held, g.numbers, g.frames = g.held[:0], g.numbers[:0], g.frames[:0]
	g.middle = nil
}

// Rest notes a round without bounds. After such a round, Bounds forget the usual length and claim
// of the last round with bounds.
func (g *Bounds) Rest() { g.own, g.claim = length{}, 0 }

// Hold keeps copies of a contribution and its control variate until the round closes. control is
// the record of the control variate, 0 for none.
func (g *Bounds) Hold(slot uint32, r *wire.Reply, values []float32, control uint64,
	variate []float32) {
	k := Contribution{Slot: slot, Reply: *r, Values: keep(&g.numbers, values), Control: control,
		Variate: keep(&g.numbers, variate)}
	k.Reply.Values, k.Reply.Rest = keep(&g.frames, r.Values), nil
	k.length = lengthOf(values)
	g.held = append(g.held, k)
	g.lengths, g.scalars = append(g.lengths, k.length), len(values)
	g.claims = append(g.claims, float64(r.Weight))
}

// Sent notes how long the contribution that Hold kept last was before other stages changed it.
func (g *Bounds) Sent(length float64) { g.held[len(g.held)-1].length = length }

// keep appends a copy of v to all, and returns that copy.
func keep[T any, S ~[]T](all *[]T, v S) S {
	at := len(*all)
	*all = append(*all, v...)
	return S((*all)[at:len(*all):len(*all)])
}

// Close ends the round and returns the held contributions, in no particular order. The returned
// contributions are valid until Begin.
func (g *Bounds) Close() []Contribution {
	below := (len(g.lengths) + 1) / 2
	g.own, g.count = length{median.Lower(g.lengths), below * g.scalars}, len(g.lengths)
	switch {
	case g.rooted():
		g.compare()
	case g.plan.Trust > 0:
		g.agree()
	}
	g.watch()
	if g.plan.Difference == plan.NoDifference {
		g.sum()
	}
	g.claim = median.Lower(g.claims)
	g.lengths, g.claims = g.lengths[:0], g.claims[:0]
	return g.held
}

// sum adds up the round's lengths, in an order that does not depend on who came first.
func (g *Bounds) sum() {
	slices.Sort(g.lengths)
	g.together = 0
	for _, l := range g.lengths {
		g.together += counted(l, g.limited())
	}
}

// room is the factor by which the usual contribution may become shorter than in the run's steepest
// rounds before longer contributions are scaled down. When most devices have learned all of their
// own data, their contributions are nearly 0. Without room, a device with something left to learn
// would then be scaled down to almost nothing.
const room = 4

// scale returns the length of a usual contribution, or 0 if that length is unknown. scale is the
// present length, and at least a quarter of the length in the run's steepest rounds.
func (g *Bounds) scale() float64 { return max(g.lately(), g.past.steepest/room) }

// lately returns the length of a usual contribution in the last round that closed, and at most the
// length that the log shows.
func (g *Bounds) lately() float64 {
	own, told := g.own.safe(), g.past.told()
	switch {
	case own == 0:
		return told
	case told == 0 || g.clipped(told):
		return own
	}
	return min(own, told)
}

// clipped says whether devices' contributions of a length that the log shows were clipped before.
func (g *Bounds) clipped(rms float64) bool {
	norm := rms * math.Sqrt(float64(g.scalars))
	return g.plan.Aggregator == plan.ClippedMean && norm > float64(g.plan.Clip)/2
}

// Cut scales down a contribution of unusual length, and returns the factor: 1 if the length is
// usual. With roots, Cut then moves a contribution that is far from the roots' mean towards that
// mean.
func (g *Bounds) Cut(slot uint32, values []float32) (factor float64) {
	factor = g.cut(slot, values, 0)
	g.draw(slot, values)
	return factor
}

// CutVariate scales down a control variate of unusual length.
func (g *Bounds) CutVariate(slot uint32, values []float32) {
	if g.plan.Bound > 0 {
		g.cut(slot, values, g.past.most)
	}
	if usual := g.limited(); usual > 0 {
		Shorten(values, most(g.count)*max(usual, g.past.most))
	}
}

// cut scales values down to Plan.Bound times the usual length. A usual length below least counts as
// least.
func (g *Bounds) cut(slot uint32, values []float32, least float64) float64 {
	if g.plan.Bound == 0 {
		return 1
	}
	factor := g.factor(values, max(g.scale(), least))
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

// factor returns the factor by which cut multiplies values.
func (g *Bounds) factor(values []float32, scale float64) float64 {
	most, length := float64(g.plan.Bound)*scale, lengthOf(values)
	if most == 0 || !(length > most) {
		return 1
	}
	return most / length
}

// Length returns the root of the mean square of values.
func Length(values []float32) float64 { return lengthOf(values) }

// lengthOf returns the root of the mean square of values.
func lengthOf(values []float32) float64 {
	if len(values) == 0 {
		return 0
	}
	return mathx.Norm(values) / math.Sqrt(float64(len(values)))
}

// Samples returns how many of the claimed samples count.
func (g *Bounds) Samples(claim uint32) uint32 {
	return median.Samples(g.plan.ClaimBound, g.claim, claim)
}

// slot returns what Bounds know about a member, or nil on an open roster.
func (g *Bounds) slot(n uint32) *slot {
	if g.plan == nil || g.plan.Roster == plan.OpenRoster {
		return nil
	}
	for uint64(len(g.slots)) <= uint64(n) {
		g.slots = append(g.slots, slot{})
	}
	return &g.slots[n]
}

// Member returns how many contributions and control variates of a member were cut, and the share of
// its weight that the member has lost.
func (g *Bounds) Member(n uint32) (cuts uint32, lost float64) {
	if uint64(n) >= uint64(len(g.slots)) {
		return 0, 0
	}
	s := &g.slots[n]
	return s.cuts, s.lost()
}

// lost returns the share of its weight that the member lost in its last round.
func (s *slot) lost() float64 { return 1 - float64((1-s.share)*(1-s.noise)) }
