package replica

import (
	"sync"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// A generator is what a replica does in another way for directions of plan.LowRank.
type generator struct {
	// sum adds terms to a block of a vector, as [prng.Sum] does.
	sum func(dst []float32, terms []prng.Term, block uint32)
	// unit is what the place of a part that is probed at once is a multiple of.
	unit int

	moves, terms int // most pending ones, unless one round alone has more
}

// seeded is the generator of directions whose elements are all independent.
var seeded = generator{prng.Sum, prng.BlockLen, maxMoves, maxTerms}

// factors makes directions of plan.LowRank. It holds the signs of the pending terms, which load
// makes once for all blocks, and those of the directions of the last probes.
type factors struct {
	layout *lowrank.Layout
	tasks  func(worker, block int)

	pending []prng.Term // the terms whose signs are in steps
	steps   []factorStep
	used    int       // steps in use; the memory of the others is kept
	at      []int32   // at the first term of each step: its place in steps
	a       []float32 // scratch

	busy  sync.Mutex
	step  prng.Direction // the step whose directions known has, without the perturbation
	known map[prng.Direction][]uint64
}

// A factorStep has the terms of one sum.
type factorStep struct {
	z     []prng.Direction
	signs lowrank.Signs
	sums  lowrank.Sums
}

const (
	// signBytes bounds the signs of pending moves, unless one round alone has more: so much for the
	// groups of eight terms, and a third as much for what each step adds to fill its last group.
	signBytes = 24 << 20
	groupLen  = 8
)

func newFactors(p *plan.Plan) *factors {
	segments := p.Layout()
	shapes := make([]lowrank.Shape, len(segments))
	for i, s := range segments {
		shapes[i] = lowrank.Shape{Rows: int(s.Rows), Columns: int(s.Columns())}
	}
	f := &factors{layout: lowrank.New(shapes), known: map[prng.Direction][]uint64{}}
	f.tasks = f.loadBlock
	return f
}

// generator returns the generator of these directions.
func (f *factors) generator(p *plan.Plan) generator {
	groups := signBytes / f.layout.Factors()
	return generator{
		sum: f.sum, unit: 1,
		moves: min(maxMoves, max(1, groups/3/(int(p.Steps)+1))),
		terms: min(maxTerms, groups*groupLen),
	}
}

// load makes the signs of the pending terms. Without pending terms it reads and writes nothing, so
// probes may call it at the same time.
func (f *factors) load(r *Replica) {
	if len(r.terms) == 0 {
		return
	}
	f.pending, f.used = r.terms, 0
	if cap(f.at) < len(r.terms) {
		f.at = make([]int32, len(r.terms))
	}
	f.at = f.at[:len(r.terms)]
	if len(r.moves) == 0 {
		f.addStep(0, len(r.terms))
	}
	from := 0
	for i := range r.moves {
		mv := &r.moves[i]
		from = f.addStep(from, mv.older)
		for range mv.steps {
			from = f.addStep(from, mv.terms)
		}
	}
	team := r.team
	if f.layout.Factors()*len(r.terms) < signsFor*workFor {
		team = nil
	}
	team.Do(f.layout.Blocks(), f.tasks)
}

// addStep makes room for the signs of n pending terms, and returns the place of the term after
// them.
func (f *factors) addStep(from, n int) int {
	if n == 0 {
		return from
	}
	if f.used == len(f.steps) {
		f.steps = append(f.steps, factorStep{})
	}
	s := &f.steps[f.used]
	f.at[from] = int32(f.used)
	f.used++
	s.z, f.a = s.z[:0], f.a[:0]
	for i := range f.pending[from : from+n] {
		t := &f.pending[from+i]
		s.z, f.a = append(s.z, t.Z), append(f.a, t.A)
	}
	f.layout.Reset(&s.signs, n)
	s.sums.Set(f.a)
	return from + n
}

// loadBlock makes one block of the factors of all pending terms.
func (f *factors) loadBlock(_, block int) {
	for i := range f.steps[:f.used] {
		s := &f.steps[i]
		f.layout.LoadBlocks(&s.signs, s.z, block, block+1)
	}
}

// sum adds the terms of a step. The terms are a part of the pending ones up to their capacity,
// which tells where they begin.
func (f *factors) sum(dst []float32, terms []prng.Term, block uint32) {
	if len(terms) == 0 {
		return
	}
	s := &f.steps[f.at[cap(f.pending)-cap(terms)]]
	f.layout.Sum(dst, int(block)*prng.BlockLen, &s.signs, &s.sums)
}

// ofLowRank is tau of a direction of LowRank.
const ofLowRank = -1

// probe probes elements [at, to), which share one factor.
func (f *factors) probe(p *probe, at, to int, a float32) {
	x, plus, bits := p.x[at:to], p.plus[at-p.start:to-p.start], f.bits(p.z.z)
	if p.minus == nil {
		f.layout.Perturb(plus, x, at, a, bits)
	} else {
		f.layout.PerturbPair(plus, p.minus[at-p.start:to-p.start], x, at, a, bits)
	}
}

// bits returns the signs of the factors of z. It remembers those of the directions of one step,
// because a device probes a direction part by part.
func (f *factors) bits(z prng.Direction) []uint64 {
	f.busy.Lock()
	defer f.busy.Unlock()
	bits, ok := f.known[z]
	if ok {
		return bits
	}
	step := z
	if step.Perturbation = 0; step != f.step {
		clear(f.known)
		f.step = step
	}
	bits = f.layout.LoadOne(nil, z)
	f.known[z] = bits
	return bits
}

// Factors returns the signs of the factors of a direction, in the order of docs/prng.md: factor e
// is bit e%64 of word e/64, and 1 means -1. The plan has distribution=lowrank. The caller must not
// change the signs, and may keep them. Several goroutines may call Factors at once.
func (r *Replica) Factors(d *Direction) []uint64 { return r.factors.bits(d.z) }

// Fill sets dst to the elements of z from the start of a block on. z is one of the parts that
// [Replica.Parts] returned. Fill is [prng.Fill], except with distribution=lowrank. Several
// goroutines may call Fill and Dot at once.
func (r *Replica) Fill(dst []float32, z prng.Direction, block uint32) {
	if r.factors == nil {
		prng.Fill(dst, z, block)
		return
	}
	r.factors.layout.Fill(dst, int(block)*prng.BlockLen, r.factors.bits(z))
}

// Dot returns the inner product of g and the elements of z from the start of a block on, like
// [prng.Dot]. z is as for Fill.
func (r *Replica) Dot(g []float32, z prng.Direction, block uint32) float64 {
	if r.factors == nil {
		return prng.Dot(g, z, block)
	}
	return r.factors.layout.Dot(g, int(block)*prng.BlockLen, r.factors.bits(z))
}
