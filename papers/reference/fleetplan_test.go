package reference

import (
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// fleetOf returns the fleet that a plan describes, and its directions and precision. Client
// i has slots[i].
func fleetOf(p *plan.Plan, slots []uint32) (*Fleet, *planned) {
	d := &planned{p: p, slots: slots, key: p.RunKey}
	if p.Private() {
		d.key = secret
	}
	f := &Fleet{
		Problem: Problem{Dim: int(p.Dim), Loss: loss, Direction: d.of},
		Clients: clients, K: int(p.Steps), Mu: float64(p.Mu),
		Central: p.Difference == plan.Central, Gain: 1,
		Beta: float64(p.Beta), Torch: p.Rule == plan.TorchMomentum, Decay: float64(p.WeightDecay),
		Prox:    float64(p.Prox),
		Control: Control(p.Control),
		Server: Server{
			Rule: Rule(p.ServerRule), Alpha: float64(p.ServerStep),
			Beta1: float64(p.ServerBeta1), Beta2: float64(p.ServerBeta2),
			Epsilon: float64(p.ServerEpsilon), V0: float64(p.ServerV0),
			Decay: float64(p.ServerDecay),
		},
		Tau: int(p.SubspaceMoves), Alpha: float64(p.SubspaceShare), Coordinates: d.coordinates,
		Clip: float64(p.Clip), Relayed: p.Transport == plan.Relay,
	}
	if p.Distribution == plan.Sphere {
		f.Gain = float64(p.Dim)
	}
	for _, s := range p.Layout() {
		f.MuScale = append(f.MuScale, slices.Repeat([]float64{float64(s.MuScale)}, int(s.Len))...)
		f.StepScale = append(f.StepScale, slices.Repeat([]float64{float64(s.StepScale)}, int(s.Len))...)
	}
	if p.Precision == plan.Half {
		f.Travel = d.halves
	}
	if p.Precision.Quantized() {
		f.Block = d.quantize
	}
	if p.Transport == plan.DenseVectors {
		frameOf(p).in(f)
		f.Dense, f.Beta, f.Local = true, 0, localOf(p)
	}
	switch p.Aggregator {
	case plan.Median:
		f.Aggregate = Median
	case plan.TrimmedMean:
		f.Aggregate = func(g []float64) float64 { return TrimmedMean(g, float64(p.Trim)) }
	}
	return f, d
}

// planned has the directions of a plan, by production's addresses, and its precision.
type planned struct {
	p     *plan.Plan
	slots []uint32
	key   []byte

	longest  float64 // longest scalar that traveled
	doubtful bool    // a scalar may have been rounded to the other half
	edge     bool    // a scalar may have been given the code beside its own
}

// doubt is the largest error of any scalar, relative to the largest scalar. Neighboring halves of
// small scalars are this close to each other.
const doubt = 4e-6

// halves rounds a scalar to a half.
func (d *planned) halves(g float64) float64 {
	d.longest = max(d.longest, math.Abs(g))
	off := doubt * d.longest
	v := []float32{float32(g - off), float32(g), float32(g + off)}
	plan.Half.Round(v)
	d.doubtful = d.doubtful || float64(v[2]-v[0]) > 4*off
	return float64(v[1])
}

// quantize rounds the scalars of a step as precision int8, int4 and int2 define it.
func (d *planned) quantize(g []float64) {
	bits, step := 8, 1.0/32
	switch d.p.Precision {
	case plan.Int4:
		bits, step = 4, 5.0/16
	case plan.Int2:
		bits, step = 2, 255.0/256
	}
	most := math.Ldexp(1, bits-1)
	for _, s := range g {
		d.longest = max(d.longest, math.Abs(s))
	}
	r := d.halves(math.Sqrt(dot(g, g) / float64(len(g))))
	for p, s := range g {
		if r == 0 {
			g[p] = 0
			continue
		}
		q := s / (step * r)
		edge := math.Abs(q - math.Round(q))
		d.edge = d.edge || math.Abs(q) < most && edge*step*r < blockDoubt*d.longest
		g[p] = step * r * (min(max(math.Floor(q), -most), most-1) + 0.5)
	}
	d.edge = d.edge || d.doubtful
}

// blockDoubt is doubt for the edge between two codes, after some rounds.
const blockDoubt = 3e-5

func (d *planned) address(client int, at At, q int) prng.Direction {
	z := prng.Direction{
		Key: prng.RecordKey(d.key, at.N), Step: uint16(at.K), Perturbation: uint16(q),
		Source: prng.Shared, Domain: prng.Directions, Dist: d.p.Distribution.Elements(),
	}
	if d.p.Sharing == plan.PerClient {
		z.Source = prng.Slot(d.slots[client])
	}
	if d.p.Pool > 0 {
		word := prng.Philox([4]uint32{uint32(at.K)<<16 | uint32(q), 0, 0, 0x706f6f6c}, z.Key)[0]
		s := uint64(word) * uint64(d.p.Pool) >> 32
		z.Key, z.Domain = prng.RecordKey(d.key, 0), prng.Pool
		z.Step, z.Perturbation = uint16(s>>16), uint16(s)
	}
	return z
}

// of returns v1 of a subspace, and z of other distributions.
func (d *planned) of(client int, at At, q int) []float64 {
	z := fill(d.address(client, at, q), int(d.p.Dim))
	if d.p.Distribution == plan.Sphere {
		return along(make([]float64, len(z)), 1/math.Sqrt(dot(z, z)), z)
	}
	return z
}

// coordinates returns v2.
func (d *planned) coordinates(client int, at At, q int) []float64 {
	z := d.address(client, at, q)
	z.Domain = prng.Subspace
	return fill(z, int(d.p.SubspaceMoves))
}

func fill(z prng.Direction, n int) []float64 {
	v := make([]float32, n)
	prng.Fill(v, z, 0)
	return widen(v)
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// contributors returns the clients that a plan asks for record n, drawn for record draw, and their
// weights, restricted to the named slots if there are any.
func contributors(p *plan.Plan, slots []uint32, n, draw uint64, named []uint32) *Round {
	cohort := wire.Cohort{Sampled: uint64(p.Sampled(clients)), Members: clients}
	r := &Round{N: n}
	for i := range clients {
		if !cohort.Has(p.Run, draw, 0, slots[i], id(i)) ||
			named != nil && !slices.Contains(named, slots[i]) {
			continue
		}
		r.Clients = append(r.Clients, i)
		if p.Weights == plan.BySamples {
			r.Weights = append(r.Weights, float64(min(samples(i), p.MaxWeight)))
		}
	}
	return r
}

// named returns the slots in a record.
func named(p *plan.Plan, r *wire.Round) (slots []uint32) {
	if p.Transport != plan.Relay {
		return r.Slots
	}
	for _, term := range r.Terms {
		slots = append(slots, term.Source-1)
	}
	return slots
}

// samples returns the number of samples that a client reports.
func samples(client int) uint32 { return uint32(1 + 3*client) }
