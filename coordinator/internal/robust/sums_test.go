package robust

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A summed is a log of means, and what Sums make of it.
type summed struct {
	*Sums
	first []byte
	n     uint64
}

func newSummed(bound float32, scalars int) *summed {
	p := &plan.Plan{RobustFields: plan.RobustFields{Bound: bound},
		ProbeFields: plan.ProbeFields{Steps: 1, Perturbations: uint32(scalars)}}
	first := &wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}
	s := &summed{Sums: &Sums{}, first: first.Append(nil), n: 1}
	s.Note(s.first, s.first)
	return s
}

// round cuts means, stores them in the log, and returns their length.
func (s *summed) round(bound float32, means []float32) float64 {
	s.Cut(bound, means)
	s.n++
	r := &wire.Record{N: s.n, Kind: wire.KindRound, Round: &wire.Round{Round: s.n, StepSize: 1,
		Perturbations: uint32(len(means)), Contributors: 7,
		Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, means...)}}}}
	s.Note(s.first, r.Append(nil))
	return lengthOf(means)
}

func gauss(rng *rand.Rand, n int, scale float64) []float32 {
	means := make([]float32, n)
	for i := range means {
		means[i] = float32(scale * rng.NormFloat64())
	}
	return means
}

// TestMeansAreCut: whatever a device adds under its mask, and in however many rounds, a mean is at
// most the bound times as long as usual, and the usual length stays what it was.
func TestMeansAreCut(t *testing.T) {
	const bound = 8
	for every := 1; every <= 4; every++ { // rounds from one lie to the next
		rng, s := rand.New(rand.NewPCG(1, 2)), newSummed(bound, 20)
		for range 30 {
			s.round(bound, gauss(rng, 20, 3))
		}
		for i := range 400 {
			means := gauss(rng, 20, 3)
			if i%every == 0 {
				for j := range means {
					means[j] += 1 << 30
				}
			}
			if length := s.round(bound, means); !(length < bound*3*2) {
				t.Fatalf("one lie in %d rounds, round %d: length %v, usual 3", every, i, length)
			}
		}
		if want := uint64((400 + every - 1) / every); s.Cuts != want {
			t.Errorf("one lie in %d rounds: %d cuts, want %d", every, s.Cuts, want)
		}
	}
}

// TestCarefulLiar: a device that lies just below the limit raises it by less than a factor of 3 in
// 8 rounds.
func TestCarefulLiar(t *testing.T) {
	rng, s := rand.New(rand.NewPCG(1, 2)), newSummed(8, 20)
	for range 30 {
		s.round(8, gauss(rng, 20, 3))
	}
	before := s.usual()
	for range 8 {
		means := gauss(rng, 20, 1)
		scale := 7 * s.usual() / lengthOf(means)
		for i := range means {
			means[i] *= float32(scale)
		}
		s.round(8, means)
	}
	if after := s.usual(); after > 3*before || s.Cuts > 0 {
		t.Errorf("the usual length went from %v to %v, with %d cuts", before, after, s.Cuts)
	}
}

// TestHonestMeansAreNotCut: means of honest devices are not cut while they fall or rise by a factor
// of 1,000. With bound=8 that holds for few scalars and many, and for sudden steps by 2.5.
// With bound=3, the default, that holds from ten scalars on, and without steps.
func TestHonestMeansAreNotCut(t *testing.T) {
	for _, scalars := range []int{1, 2, 5, 10, 100} {
		for name, scale := range map[string]func(i int) float64{
			"level": func(int) float64 { return 1 },
			"fall":  func(i int) float64 { return math.Pow(1000, -float64(i)/200) },
			"rise":  func(i int) float64 { return math.Pow(1000, float64(i)/200) },
			"steps": func(i int) float64 { return math.Pow(2.5, float64(i/25)) },
		} {
			bounds := []float32{8}
			if scalars >= 10 && name != "steps" {
				bounds = append(bounds, 3)
			}
			for seed := range uint64(20) {
				for _, bound := range bounds {
					rng, s := rand.New(rand.NewPCG(seed, 2)), newSummed(bound, scalars)
					for i := range 200 {
						s.round(bound, gauss(rng, scalars, scale(i)))
					}
					if s.Cuts > 0 {
						t.Errorf("%s, %d scalars, seed %d: %d cuts with bound=%v", name, scalars, seed,
							s.Cuts, bound)
					}
				}
			}
		}
	}
}

// TestSumsOfALog: Sums that read a log again cut to the same bits. A change of the bound counts
// from its record on, and a plan that is no plan teaches nothing.
func TestSumsOfALog(t *testing.T) {
	rng, s := rand.New(rand.NewPCG(3, 4)), newSummed(8, 10)
	var log [][]byte
	note := func(r *wire.Record) {
		s.n++
		r.N = s.n
		log = append(log, r.Append(nil))
		s.Note(s.first, log[len(log)-1])
	}
	bound := float32(8)
	for i := range 60 {
		means := gauss(rng, 10, 1)
		if i%7 == 3 || i > 30 && i%3 > 0 {
			means = gauss(rng, 10, 1e6)
		}
		s.Cut(bound, means)
		note(&wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: s.n, StepSize: 1,
			Perturbations: 10, Contributors: 7,
			Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, means...)}}}})
		if i == 30 {
			bound = 3
			note(&wire.Record{Kind: wire.KindChange, Change: &plan.Change{Fields: []uint64{102},
				Values: plan.Plan{RobustFields: plan.RobustFields{Bound: 3}}}})
		}
	}
	again := &Sums{}
	again.Note(s.first, s.first)
	for _, record := range log {
		again.Note(s.first, record)
	}
	a, b := gauss(rng, 10, 1e6), make([]float32, 10)
	copy(b, a)
	s.Cut(bound, a)
	again.Cut(bound, b)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("scalar %d is %v, and %v after a restart", i, a[i], b[i])
		}
	}
	if got := lengthOf(a); got > 3*2 {
		t.Errorf("length %v with bound=3", got)
	}
	for _, bad := range [][]byte{nil, {1, 2, 3}, log[0]} {
		s := &Sums{}
		s.Note(bad, log[0])
		if s.usual() != 0 {
			t.Errorf("a log that begins with %x has a usual length", bad)
		}
	}
}
