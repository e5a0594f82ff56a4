//go:build !race

package ccore

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

var times = flag.Int("times", 1, "how many times as many seeds as the checks try")

// count returns the numbers of seeds.
func count(seeds int) uint64 { return uint64(seeds * *times) }

// A gen makes plans, records and damage, the same for the same seed.
type gen struct{ *rand.Rand }

func newGen(seed uint64) *gen { return &gen{rand.New(rand.NewPCG(seed, 42))} }

// one returns one of a list.
func one[T any](g *gen, list ...T) T { return list[g.IntN(len(list))] }

// chance is true once in n.
func (g *gen) chance(n int) bool { return g.IntN(n) == 0 }

// edges are bytes where msgpack changes its form, or a number its length.
var edges = []byte{0, 1, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc4, 0xc5, 0xc6, 0xca,
	0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xff}

// damaged returns a copy with some damage.
func (g *gen) damaged(b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + g.IntN(3) {
		if len(b) == 0 {
			return []byte{byte(g.IntN(256))}
		}
		i := g.IntN(len(b))
		if g.chance(2) {
			i = g.IntN(min(len(b), 40)) // most fields are in front
		}
		switch g.IntN(7) {
		case 0:
			b[i] ^= 1 << g.IntN(8)
		case 1:
			b[i] = edges[g.IntN(len(edges))]
		case 2:
			b[i] += byte(g.IntN(5) - 2)
		case 3:
			b = b[:i]
		case 4:
			b = append(b[:i], append([]byte{edges[g.IntN(len(edges))]}, b[i:]...)...)
		case 5:
			b = append(b[:i], b[i+1:]...)
		default:
			k := i + 1 + g.IntN(min(len(b)-i, 12))
			b = append(b[:k:k], b[i:]...)
		}
	}
	return b
}

// odd are numbers at the edges of float32.
var odd = []float32{0, 1e-45, -1e-45, 5e-39, -1.17549435e-38, 3.4e38, -3.4e38,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 65504, 65520, 1, -1}

// scalars returns blocks of scalars as frames hold them, now and then some that are odd.
func (g *gen) scalars(v plan.Precision, blocks, n int) wire.Scalars {
	var s wire.Scalars
	strange := g.chance(12)
	scale := one(g, 1e-42, 1e-20, 1e-3, 1, 1, 1, 100)
	for range blocks {
		block := make([]float32, n)
		for i := range block {
			block[i] = float32(g.NormFloat64() * scale)
			if strange && g.chance(3) && !v.Quantized() {
				block[i] = one(g, odd...)
			}
		}
		s = v.Append(s, block...)
	}
	return s
}

var secret = bytes.Repeat([]byte{9}, 32)

// plan returns a plan of the core's profile.
func (g *gen) plan() *plan.Plan {
	for {
		p := g.draft()
		if valid.Plan(p) == nil {
			return p
		}
	}
}

func (g *gen) draft() *plan.Plan {
	p := &plan.Plan{
		Run: one(g, "golden", "r", "a-run-with_a_name_of_32_letters_"), Scheme: prng.Scheme,
		RunKey: bytes.Repeat([]byte{byte(g.IntN(256))}, 32),
		Dim:    uint64(one(g, 1, 2, 5, 63, 64, 65, 100, 511, 513, 1000, 4095, 4096, 4097, 8200)),
		ProbeFields: plan.ProbeFields{
			Distribution: one(g, plan.Normal, plan.Rademacher), Mu: 1e-3,
			Difference: one(g, plan.Central, plan.Forward),
			Steps:      one[uint32](g, 1, 1, 2, 3), Perturbations: uint32(1 + g.IntN(20)),
		},
		LocalFields: plan.LocalFields{
			Rule: one(g, plan.SGD, plan.SGD, plan.Momentum, plan.TorchMomentum), StepSize: 0.01},
		AggregateFields: plan.AggregateFields{
			MaxWeight: 1, MaxScalar: 65504,
			Precision: one(g, plan.Single, plan.Single, plan.Half),
		},
		RoundsFields: plan.RoundsFields{
			Members: 9, Target: 3, OverSample: 1, Quorum: 1, Deadline: 1000, MaxAttempts: 1,
			Reannounce: 1000, Shards: 1,
		},
	}
	var settings []string
	maybe := func(often int, setting string) {
		if g.chance(often) {
			settings = append(settings, setting)
		}
	}
	if g.chance(3) {
		p.Rule, p.Steps = plan.SGD, 1
		settings = append(settings, "server_rule=normalized")
		maybe(2, "server_decay="+one(g, "0.1", "0.5"))
		maybe(2, "server_beta1="+one(g, "0.5", "0.9"))
		maybe(2, "server_beta2="+one(g, "0.5", "0.999"))
		maybe(6, "loss_unit=0.001")
	}
	if p.Rule != plan.SGD {
		maybe(1, "beta="+one(g, "0.5", "0.9", "0.999"))
	}
	if p.Steps > 1 {
		maybe(3, "prox="+one(g, "0.1", "3"))
	}
	if g.chance(2) {
		settings = append(settings, "transport=relay", "sharing=per-client")
		if g.chance(2) {
			settings = append(settings, "sharing=groups", "groups=random", "group_size=2", "target=8",
				"regroup=10")
		}
		maybe(2, "precision="+one(g, "int8", "int4", "int2"))
		if g.chance(3) {
			settings = append(settings, "weights=samples", "max_weight=1000")
		}
	}
	if g.chance(3) {
		settings = append(settings, "rounds=20",
			"step_decay="+one(g, "cosine", "inverse-sqrt", "slow-sqrt"))
	}
	maybe(3, "weight_decay="+one(g, "0.01", "0.5", "1e-30"))
	maybe(4, "late=3")
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if err := planfile.Set(p, name, value); err != nil {
			panic(err)
		}
	}
	if g.chance(8) {
		g.evolution(p)
	}
	if g.chance(3) {
		g.segments(p)
	}
	if p.Distribution == plan.Rademacher && g.chance(2) {
		g.matrices(p)
	}
	if g.chance(4) {
		p.SetSecret(secret)
	}
	if p.Initial == plan.Seeded && !filled(p) && g.chance(3) {
		p.Initial = plan.Given
		p.InitialDigest = replica.InitialDigest(initial(p.Dim))
	}
	return p
}

// evolution makes p a plan of server_rule cma.
func (g *gen) evolution(p *plan.Plan) {
	p.Dim = uint64(one(g, 1, 2, 5, 17, 100, 600))
	p.Transport, p.Rule, p.Sharing, p.Steps = plan.Mean, plan.SGD, 0, 1
	p.ServerRule, p.Difference, p.Mu, p.StepSize = plan.ServerCMA, plan.NoDifference, 0, 0.3
	p.Distribution, p.Perturbations = plan.Normal, uint32(4+g.IntN(20))
	p.Beta, p.Prox, p.Late, p.WeightDecay, p.StepDecay = 0, 0, 0, 0, 0
	p.ServerDecay, p.ServerBeta1, p.ServerBeta2, p.LossUnit = 0, 0, 0, 0
	p.Weights, p.MaxWeight = plan.Equal, 1
	if p.Precision.Quantized() {
		p.Precision = plan.Single
	}
	if p.Dim > 40 {
		planfile.Set(p, "covariance", "limited")
	}
}

func (g *gen) segments(p *plan.Plan) {
	for left := p.Dim; left > 0 && len(p.Segments) < 7; {
		n := 1 + g.Uint64N(left)
		if len(p.Segments) == 6 {
			n = left
		}
		s := plan.Segment{Name: string(rune('a' + len(p.Segments))), Len: n,
			Fill: one(g, plan.ZeroFill, plan.UniformFill, plan.NormalFill)}
		if s.Fill != plan.ZeroFill {
			s.Scale = one[float32](g, 1, 0.3, 1e-40)
		}
		if g.chance(2) {
			s.MuScale, s.StepScale = one[float32](g, 0.5, 3), one[float32](g, 0.25, 10)
		}
		p.Segments, left = append(p.Segments, s), left-n
	}
}

// matrices gives segments rows, and the plan directions of rank 1, if a segment can be a matrix.
func (g *gen) matrices(p *plan.Plan) {
	for i := range p.Segments {
		s := &p.Segments[i]
		rows := one[uint64](g, 2, 3, 5, 20, 64)
		for 2*rows <= s.Len && s.Len%rows > 0 {
			rows++
		}
		if 2*rows <= s.Len {
			s.Rows, p.Distribution = rows, plan.LowRank
		}
	}
}

// initial returns given parameters, the same for each device.
func initial(dim uint64) []float32 {
	x := make([]float32, dim)
	for i := range x {
		x[i] = float32(i%13) - 6
	}
	return x
}

// filled says whether a segment's fill is not zeros.
func filled(p *plan.Plan) bool {
	for _, s := range p.Segments {
		if s.Fill != plan.ZeroFill {
			return true
		}
	}
	return false
}
