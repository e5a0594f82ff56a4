package replica

import (
	"sync"

	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// A generator is what a replica does in another way for directions of plan.LowRank.
type generator struct {
	// each calls a task for each block of the model, and eachTile for each tile, which moves pass at
	// once. The task may sum pending terms.
	each, eachTile func(team *parallel.Team, n int, task func(worker, i int))
	// sum adds terms to the block or the tile of the task, as [prng.Sum] does.
	sum func(dst []float32, terms []prng.Term, i uint32)
	// unit is what the place of a part that is probed at once is a multiple of.
	unit int
	tile int // number of elements of a tile, or the most
}

// seeded is the generator of directions whose elements are all independent.
var seeded = generator{
	(*parallel.Team).Do, (*parallel.Team).Do, prng.Sum, prng.BlockLen, prng.BlockLen,
}

// factors makes directions of plan.LowRank. While tasks run, it holds the signs that the pending
// terms have for a range of these. It also holds those of the directions of the last probes.
type factors struct {
	layout *lowrank.Layout
	crew   *crew // has the pending terms

	pending []prng.Term // the terms whose signs are in steps
	steps   []factorStep
	used    int       // steps in use; the memory of the others is kept
	groups  int       // of all steps in use
	at      []int32   // at the first term of each step: its place in steps
	a       []float32 // scratch

	tiles  []lowrank.Tile
	most   int            // elements of the largest tile
	packed [][8][]float32 // of each worker, for the vectors of a tile

	tiled bool            // tasks are tiles, not blocks
	limit int             // bytes of signs, unless one task alone takes more
	part  *lowrank.Layout // of the range of tasks at present
	first int             // task of the range
	task  func(worker, i int)

	loadTask, rangeTask func(worker, i int) // created once, because a new method value allocates

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
	signBytes = 32 << 20 // limit of the signs of pending moves
	groupLen  = 8

	// Tiles have up to tileBlocks blocks: a few vectors of so many elements fit in the second cache.
	// Each worker has tilesEach tiles or more.
	tileBlocks = 3
	tilesEach  = 8
)

func newFactors(p *plan.Plan, of *crew) *factors {
	segments := p.Layout()
	shapes := make([]lowrank.Shape, len(segments))
	for i, s := range segments {
		shapes[i] = lowrank.Shape{Rows: int(s.Rows), Columns: int(s.Columns())}
	}
	f := &factors{layout: lowrank.New(shapes), crew: of, limit: signBytes,
		known: map[prng.Direction][]uint64{}}
	blocks := f.layout.Len() / prng.BlockLen / (tilesEach * of.team.Workers())
	f.tiles = f.layout.Tiles(min(max(1, blocks), tileBlocks) * prng.BlockLen)
	for i := range f.tiles {
		f.most = max(f.most, f.tiles[i].Len())
	}
	f.packed = make([][8][]float32, of.team.Workers())
	f.loadTask, f.rangeTask = f.loadBlock, f.runTask
	return f
}

// generator returns the generator of these directions.
func (f *factors) generator() generator {
	return generator{f.eachBlock, f.eachTile, f.sum, 1, max(f.most, prng.BlockLen)}
}

func (f *factors) eachBlock(team *parallel.Team, n int, task func(worker, i int)) {
	f.tiled = false
	f.each(team, n, task)
}

func (f *factors) eachTile(team *parallel.Team, _ int, task func(worker, i int)) {
	f.tiled = true
	f.each(team, len(f.tiles), task)
}

// each makes the signs of the pending terms, and calls task n times. If all signs would take
// too much memory, as those of one round with very many terms, each goes from one range of tasks
// to the next: a range of rows takes the signs of these rows, and of the columns.
func (f *factors) each(team *parallel.Team, n int, task func(worker, i int)) {
	if len(f.crew.terms) == 0 {
		team.Do(n, task)
		return
	}
	f.arrange()
	f.task = task
	for f.first = 0; f.first < n; {
		some := f.choose(n - f.first)
		f.load(team)
		team.Do(some, f.rangeTask)
		f.first += some
	}
	f.task = nil // what it uses belongs to the app
}

// runTask calls the task for one of the range.
func (f *factors) runTask(worker, i int) { f.task(worker, f.first+i) }

// arrange divides the pending terms into the steps that sum them.
func (f *factors) arrange() {
	terms, moves := f.crew.terms, f.crew.moves
	f.pending, f.used, f.groups = terms, 0, 0
	if cap(f.at) < len(terms) {
		f.at = make([]int32, len(terms))
	}
	f.at = f.at[:len(terms)]
	if len(moves) == 0 {
		f.addStep(0, len(terms))
	}
	from := 0
	for i := range moves {
		mv := &moves[i]
		from = f.addStep(from, mv.older)
		for range mv.steps {
			from = f.addStep(from, mv.terms)
		}
	}
}

// choose sets the part of the layout for a range that begins with task first, and returns how many
// tasks the range has.
func (f *factors) choose(left int) int {
	if f.part = f.layout; f.first == 0 && f.fits(f.layout.Factors()) {
		return left
	}
	n := 1
	for n < left {
		next := min(2*n, left)
		if at, end := f.elements(next); !f.fits(f.layout.PartFactors(at, end-at)) {
			break
		}
		n = next
	}
	at, end := f.elements(n)
	f.part = f.layout.Part(at, end-at)
	return n
}

// elements returns the elements that n tasks from first on have.
func (f *factors) elements(n int) (at, end int) {
	if f.tiled {
		at, _ = f.tiles[f.first].Span()
		_, end = f.tiles[f.first+n-1].Span()
		return at, end
	}
	return f.first * prng.BlockLen, min((f.first+n)*prng.BlockLen, f.layout.Len())
}

// fits says whether the signs of so many factors are within the limit.
func (f *factors) fits(count int) bool { return f.groups*(count+groupLen) <= f.limit }

// load makes the signs of the range.
func (f *factors) load(team *parallel.Team) {
	for i := range f.steps[:f.used] {
		s := &f.steps[i]
		f.part.Reset(&s.signs, len(s.z))
	}
	if f.part.Factors()*len(f.pending) < signsFor*workFor {
		team = nil
	}
	team.Do(f.part.Blocks(), f.loadTask)
}

// addStep adds a step of n pending terms, and returns the place of the term after them.
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
	s.sums.Set(f.a)
	f.groups += (n + groupLen - 1) / groupLen
	return from + n
}

// loadBlock makes what one block of factors has of the signs of all pending terms.
func (f *factors) loadBlock(_, block int) {
	for i := range f.steps[:f.used] {
		s := &f.steps[i]
		f.part.LoadBlocks(&s.signs, s.z, block, block+1)
	}
}

// sum adds the terms of a step. The terms are a part of the pending ones up to their capacity,
// which tells where they begin.
func (f *factors) sum(dst []float32, terms []prng.Term, i uint32) {
	if len(terms) == 0 {
		return
	}
	s := &f.steps[f.at[cap(f.pending)-cap(terms)]]
	if f.tiled {
		f.part.SumTile(dst, &f.tiles[i], &s.signs, &s.sums)
	} else {
		f.part.Sum(dst, int(i)*prng.BlockLen, &s.signs, &s.sums)
	}
}

// moveFactored applies the pending moves to one tile. It packs rows that are apart, so that all
// vectors of the tile stay in the cache while all moves pass.
func (r *Replica) moveFactored(worker, i int) {
	t, whole := &r.factors.tiles[i], r.moving()
	b := whole
	b.i, b.at = i, t.At()
	from, to := whole.vectors(), b.vectors()
	for k, v := range from {
		switch {
		case len(*v) == 0:
		case t.Contiguous():
			*to[k] = (*v)[b.at : b.at+t.Len()]
		default:
			*to[k] = r.factors.room(worker, k)[:t.Len()]
			t.Pack(*to[k], *v)
		}
	}
	r.moveTile(worker, &b)
	for k, v := range from[:written] {
		if len(*v) > 0 && !t.Contiguous() {
			t.Unpack(*v, *to[k])
		}
	}
}

// moving returns all elements of the vectors that the pending moves use.
func (r *Replica) moving() parts {
	if l := r.moves[0].local; l != nil {
		return parts{x: l.X, m: l.M, base: r.x, correction: l.Correction}
	}
	return parts{x: r.x, m: r.m, control: r.control, server: r.server}
}

// vectors returns the vectors of a move. It may write the first ones, so many.
func (b *parts) vectors() [8]*[]float32 {
	s := &b.server
	return [...]*[]float32{&b.x, &b.m, &b.control, &s.Moment, &s.Second, &s.Peak, &b.base,
		&b.correction}
}

const written = 6

// room returns a worker's room for a tile of vector k.
func (f *factors) room(worker, k int) []float32 {
	room := &f.packed[worker][k]
	if *room == nil {
		*room = make([]float32, f.most)
	}
	return *room
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
