package replica

import (
	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/client/replica/internal/server"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A move is one round of DeComFL's Algorithm 4, lines 3-10: a number of local steps, each
// with the same number of terms. The terms of the correction come first.
type move struct {
	steps, terms int
	eta          float32
	round        uint64
	hasBasis     bool // directions have a part in the subspace

	factor      float32 // factor on Plan.ServerStep
	inverseRoot float64 // ServerNormalized: factor of m in a step

	older                 int     // terms of the correction
	inverse, contributors float32 // ScaffoldMean: 1/N before the round, and m
	local                 *Local  // for a device's own step; nil for a record
}

// A Local is a device's own model during a round.
type Local struct {
	X, M       []float32 // iterate and momentum; M is empty for a rule without momentum
	Correction []float32 // c - c_i as Correct sets it; empty with control=none
	Source     uint32    // of its directions
}

// Advance moves a local iterate by local step k of record n, along the scalars g that the device
// itself estimated and rounded: DeComFL, Algorithm 4, line 21, or (8)-(9), with FedProx's pull to
// Params (FZooS (89)) and the correction (6) if the plan has them. With shared directions and the
// mean scalars, Advance moves l as Apply moves the state.
//
// Advance panics unless X, M and Correction have the lengths that the plan requires. Advance also
// panics with transport=dense, where devices move along [Replica.Estimate].
func (r *Replica) Advance(l *Local, n uint64, k int, g []float32, eta float32) {
	switch {
	case r.dense():
		panic(denseStep)
	case !r.owns(l):
		panic(lengthMismatch)
	}
	for i, v := range g {
		r.addTerm(v/float32(len(g)), r.tempDirection(n, k, i, l.Source), i == 0)
	}
	r.moves = append(r.moves,
		move{steps: 1, terms: len(g), eta: eta, hasBasis: r.hasBasis(), local: l})
	r.move(l.X)
}

// owns reports whether a device's own model has the vectors that the plan needs.
func (r *Replica) owns(l *Local) bool {
	corrected := len(l.Correction) == len(r.x)
	if r.plan.Control == plan.NoControl {
		corrected = len(l.Correction) == 0
	}
	return corrected && len(l.X) == len(r.x) && len(l.M) == len(r.m)
}

// flush applies the pending moves to the state.
func (r *Replica) flush() {
	if len(r.moves) > 0 {
		r.move(r.x)
	}
}

// move applies the pending moves to x, block by block: elements do not depend on each other, so all
// moves run on one block while the block is in the CPU's cache.
func (r *Replica) move(x []float32) {
	r.allocateScratch()
	team := r.teamFor(uint64(len(x)) * uint64(len(r.terms)))
	r.generator.eachTile(team, blocksOf(len(x), prng.BlockLen), r.moveTask)
	r.moves, r.terms, r.coefs = r.moves[:0], r.terms[:0], r.coefs[:0]
}

// moveBlock applies the pending moves to one block.
func (r *Replica) moveBlock(worker, i int) {
	at, n := i*prng.BlockLen, prng.BlockLen
	b := parts{
		i: i, at: at, x: block(r.x, at, n), m: block(r.m, at, n), control: block(r.control, at, n),
		server: r.server.Block(at, min(at+n, len(r.x))),
	}
	if l := r.moves[0].local; l != nil {
		b.base, b.x, b.m, b.correction = b.x, block(l.X, at, n), block(l.M, at, n),
			block(l.Correction, at, n)
	}
	r.moveTile(worker, &b)
}

// moveTile applies the pending moves to a tile. A local move is the only one.
func (r *Replica) moveTile(worker int, b *parts) {
	b.scratch = r.scratch[worker].of(len(b.x))
	terms, coefs := r.terms, r.coefs
	for j := range r.moves {
		mv := &r.moves[j]
		if mv.local != nil {
			r.step(b, terms[:mv.terms], coefs, mv)
			return
		}
		r.moveRound(b, mv, terms, coefs)
		terms = terms[mv.older+mv.steps*mv.terms:]
		coefs = coefs[r.coefsOf(mv):]
	}
}

// coefsOf returns how many elements of coefs a move has.
func (r *Replica) coefsOf(mv *move) int {
	steps := mv.steps
	if mv.older > 0 {
		steps++
	}
	return steps * len(r.basis)
}

// parts is one tile of each vector of the state, and scratch: a block, or with plan.LowRank one of
// factors.tiles.
type parts struct {
	i, at         int // the number of the tile, and its first element
	x, m, control []float32
	server        server.State
	base          []float32 // x at the start of the round
	correction    []float32 // c minus the mean of the contributors' c_i
	scratch
}

// moveRound makes a round's local steps, and then applies the server rule and updates the trail.
func (r *Replica) moveRound(b *parts, mv *move, terms []prng.Term, coefs []float32) {
	tau := len(r.basis)
	if r.needsBase {
		copy(b.start, b.x)
		b.base = b.start
	}
	if r.plan.Control != plan.NoControl {
		b.correction = b.corrected
		r.correct(b.corrected, b.older, b.control, mv, terms, coefs, b.i)
		if terms = terms[mv.older:]; mv.older > 0 {
			coefs = coefs[tau:]
		}
	}
	if r.normalizes() {
		r.normalize(b, mv, terms[:mv.terms])
		return
	}
	for range mv.steps {
		r.step(b, terms[:mv.terms], coefs, mv)
		terms, coefs = terms[mv.terms:], coefs[tau:]
	}
	if mv.contributors > 0 {
		mathx.Axpy(b.control, -mv.contributors, b.older)
	}
	b.server.Move(&r.plan, mv.factor, b.x, b.base, b.v)
	if tau > 0 {
		trail := block(r.trail[(mv.round-1)%uint64(tau)], b.at, prng.BlockLen)
		mathx.Sub(trail, b.x, b.base)
	}
}

// step makes one local step: v = sum of terms + correction + prox (x - base) + decay x, and then
// the plan's rule.
func (r *Replica) step(b *parts, terms []prng.Term, coefs []float32, mv *move) {
	v := b.v
	r.sum(v, terms, coefs, mv.hasBasis, b.i)
	if mv.contributors > 0 {
		mathx.Axpy(b.control, mv.contributors/float32(mv.steps), v)
	}
	if len(b.correction) > 0 {
		mathx.Axpy(v, 1, b.correction)
	}
	if r.plan.Prox != 0 {
		mathx.Sub(b.drift, b.x, b.base)
		mathx.Axpy(v, r.plan.Prox, b.drift)
	}
	if r.plan.WeightDecay != 0 {
		mathx.Axpy(v, r.plan.WeightDecay, b.x)
	}
	gain := float32(1)
	if r.plan.Rule == plan.Momentum {
		gain -= r.plan.Beta
	}
	r.segments.Each(b.at, len(v), func(lo, hi int, span layout.Span) {
		if eta := float32(mv.eta * span.Step); r.plan.Rule == plan.SGD {
			mathx.Descend(b.x[lo:hi], eta, v[lo:hi])
		} else {
			mathx.MomentumStep(b.x[lo:hi], b.m[lo:hi], r.plan.Beta, gain, eta, v[lo:hi])
		}
	})
}

// sum sets v to block i of a sum of terms, with their part in the subspace.
func (r *Replica) sum(v []float32, terms []prng.Term, coefs []float32, hasBasis bool, i int) {
	clear(v)
	r.generator.sum(v, terms, uint32(i))
	if !hasBasis || len(terms) == 0 {
		return
	}
	for j, q := range r.basis {
		mathx.Axpy(v, coefs[j], block(q, i*prng.BlockLen, prng.BlockLen))
	}
}

// block returns n elements of v from start on, or all that are left, or nil if v is empty.
func block(v []float32, start, n int) []float32 {
	if len(v) == 0 {
		return nil
	}
	return v[start:min(start+n, len(v))]
}
