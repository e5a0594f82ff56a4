package replica

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// secret is the run key of private runs.
var secret = bytes.Repeat([]byte{9}, 32)

// A script makes the records of a run, of every kind that the plan allows. The scalars come from
// the script's own generator of random numbers.
type script struct {
	cfg     Config
	plan    *plan.Plan
	records [][]byte
	chain   *chain
	random  lcg
	scale   float32           // of scalars; 0 is 1
	silent  bool              // scalars are 0
	last    map[uint32]uint64 // ScaffoldMean: the last record of each slot
	counts  map[uint64]int    // ScaffoldMean: the number of scalars of each record
	objects map[[wire.ObjectLen]byte][]byte
	seeds   map[[wire.ObjectLen]byte]lcg // the generator's state before it made an object
}

// planOf returns basePlan with the settings of a golden run.
func planOf(t testing.TB, settings string) *plan.Plan {
	t.Helper()
	p := basePlan()
	if err := json.Unmarshal([]byte(settings), (*planfile.Plan)(p)); err != nil {
		t.Fatalf("%s: %v", settings, err)
	}
	if p.Private() {
		p.RunKey = nil
	}
	return p
}

func scriptOf(t testing.TB, g golden) *script {
	t.Helper()
	s := newScript(planOf(t, g.settings))
	s.scale = g.scale
	for i := range g.rounds {
		s.silent = g.silent > 0 && i >= g.silent
		s.round(uint64(i + 1))
	}
	return s
}

// newScript begins a run with its plan record.
func newScript(p *plan.Plan) *script {
	s := &script{plan: p, chain: newChain(p.Run), random: 1, last: map[uint32]uint64{},
		counts: map[uint64]int{}}
	s.objects = map[[wire.ObjectLen]byte][]byte{}
	s.seeds = map[[wire.ObjectLen]byte]lcg{}
	given := make([]float32, p.Dim)
	for i := range given {
		given[i] = s.random.float()
	}
	if p.Initial == plan.Given {
		p.InitialDigest = InitialDigest(given)
	}
	s.cfg = Config{Run: p.Run, Dim: p.Dim, Initial: given}
	if p.Private() {
		s.cfg.RunKey = secret
	}
	s.records = [][]byte{s.chain.plan(p)}
	return s
}

func (s *script) add(r wire.Round) {
	s.records = append(s.records, s.chain.add(wire.Record{Kind: wire.KindRound, Round: &r}))
}

// change adds a change record.
func (s *script) change(field, value string) {
	var c plan.Change
	if err := planfile.SetChange(&c, field, value); err != nil {
		panic(err)
	}
	s.records = append(s.records, s.chain.add(wire.Record{Kind: wire.KindChange, Change: &c}))
}

// round adds the records of a round.
func (s *script) round(n uint64) {
	p := s.plan
	perturbations := p.PerturbationsAt(n)
	scalars := func(steps uint32) wire.Scalars { return s.scalars(steps, perturbations) }
	r := wire.Round{Round: n, StepSize: p.StepSizeAt(n), Perturbations: perturbations, Contributors: 1,
		Factor: p.FactorAt(n)}
	switch {
	case p.Transport == plan.DenseVectors:
		s.dense(r)
		return
	case p.Transport == plan.Relay:
		s.relay(&r, scalars)
	case p.Control == plan.ScaffoldPoint, p.Control == plan.SVRG:
		first, back := r, uint64(1)
		first.Phase, first.Terms = 1, []wire.Term{{Scalars: scalars(1)}}
		s.add(first)
		if n == 2 { // something between the phases
			s.change("diverge", "2")
			back++
		}
		r.Phase, r.Terms = 2, []wire.Term{{Scalars: scalars(p.Steps)}, {Back: back, Scalars: scalars(1)}}
		if p.Control == plan.SVRG {
			r.Terms = r.Terms[:1]
		}
	case p.Control == plan.ScaffoldMean:
		r.Terms = []wire.Term{{Scalars: scalars(p.Steps)}}
		s.variates(&r)
	default:
		r.Terms = []wire.Term{{Scalars: scalars(p.Steps)}}
	}
	if p.Late > 0 {
		s.late(&r)
	}
	s.add(r)
}

// scalars returns a block of scalars for each step.
func (s *script) scalars(steps, perturbations uint32) (blocks wire.Scalars) {
	for range steps {
		blocks = append(blocks, s.block(s.plan.TermPrecision(), int(perturbations))...)
	}
	return blocks
}

// block returns a block of n scalars.
func (s *script) block(precision plan.Precision, n int) wire.Scalars {
	if s.scale == 0 && !s.silent {
		return s.random.travel(precision, n)
	}
	block := make([]float32, n)
	for i := range block {
		if block[i] = s.random.float() * s.scale; s.silent {
			block[i] = 0
		}
	}
	return precision.Append(nil, block...)
}

// late gives a round late contributions to some of the last three records.
func (s *script) late(r *wire.Round) {
	n := s.chain.n + 1
	s.counts[n] = int(s.plan.Steps * r.Perturbations)
	for back := uint64(1); back <= 3 && back+2 <= n; back++ {
		slot := uint32(0)
		for range s.random.below(3) {
			if s.counts[n-back] == 0 {
				break // a change
			}
			t := wire.Term{Back: back,
				Scalars: s.random.travel(s.plan.Precision, s.counts[n-back])}
			if s.plan.Transport == plan.Relay {
				slot += 1 + s.random.below(3)
				t.Source = prng.Slot(slot)
			}
			r.Terms = append(r.Terms, t)
			r.Contributors++
			if s.plan.RelaysWeights() {
				r.Weights = append(r.Weights, 1+s.random.below(plan.MaxWeight))
			}
			if s.plan.Transport == plan.Mean {
				break
			}
		}
	}
}

// dense adds the records of a round, and makes their objects.
func (s *script) dense(r wire.Round) {
	for i := range s.plan.Phases() {
		if r.Phase = uint8(i); s.plan.Phases() == 2 {
			r.Phase++
		}
		r.Object = s.object(s.plan.Object(r.Phase))
		s.add(r)
		if r.Round == 2 && r.Phase == 1 { // something between the phases
			s.change("diverge", "2")
		}
	}
}

// object makes a vector and returns its digest.
func (s *script) object(elements uint64) plan.Bytes {
	var data []byte
	seed := s.random
	for range elements {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(s.random.float()))
	}
	digest := wire.HashObject(data)
	s.objects[digest], s.seeds[digest] = data, seed
	return digest[:]
}

// apply applies a record and supplies its object.
func (s *script) apply(t testing.TB, r *Replica, record []byte) {
	t.Helper()
	mustApply(t, r, record)
	s.supply(t, r)
}

// supply supplies all missing objects.
func (s *script) supply(t testing.TB, r *Replica) {
	t.Helper()
	for _, o := range r.Missing() {
		if err := r.Supply(o.Digest, s.objects[o.Digest]); err != nil {
			t.Fatalf("the object of record %d: %v", o.N, err)
		}
	}
}

// relay gives a round the terms of a few slots.
func (s *script) relay(r *wire.Round, scalars func(uint32) wire.Scalars) {
	r.Contributors = 1 + s.random.below(4)
	slot := uint32(0)
	for range r.Contributors {
		slot += s.random.below(3)
		r.Slots = append(r.Slots, slot)
		r.Terms = append(r.Terms, wire.Term{Source: prng.Slot(slot), Scalars: scalars(s.plan.Steps)})
		if slot++; s.plan.Weights == plan.BySamples {
			r.Weights = append(r.Weights, 1+s.random.below(plan.MaxWeight))
		}
	}
}

// variates gives a round a few contributors of a growing fleet, and the terms of the contributors
// that contributed before.
func (s *script) variates(r *wire.Round) {
	n := s.chain.n + 1
	r.Population, r.Contributors = uint32(r.Round)+2, 1+s.random.below(3)
	var older []uint64
	for range r.Contributors {
		slot := s.random.below(r.Population)
		if before := s.last[slot]; before > 0 && before < n && !slices.Contains(older, before) {
			older = append(older, before)
		}
		s.last[slot] = n
	}
	slices.Sort(older)
	slices.Reverse(older) // by ascending Back
	for _, before := range older {
		r.Terms = append(r.Terms,
			wire.Term{Back: n - before, Scalars: s.random.travel(s.plan.Precision, s.counts[before])})
	}
	s.counts[n] = int(s.plan.Steps * r.Perturbations)
}
