package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// direction returns all of z of record n, step k, perturbation p.
func direction(r *Replica, n uint64, k, p int) []float32 {
	z := make([]float32, len(r.Params()))
	prng.Fill(z, prng.Direction{
		Key: prng.RecordKey(r.Plan().RunKey, n), Step: uint16(k), Perturbation: uint16(p),
		Dist: prng.Distribution(r.Plan().Distribution),
	}, 0)
	return z
}

var layouts = map[string][]plan.Segment{
	"one": nil,
	"several": {
		{Name: "a", Len: 1, MuScale: 3}, {Name: "b", Len: 4094, StepScale: 2},
		{Name: "c", Len: 2, MuScale: 0.5},
		{Name: "d", Len: 4200, Fill: plan.NormalFill, Scale: 1},
		{Name: "e", Len: 703, MuScale: 7, StepScale: 0.25},
	},
}

// Probe writes x + mu S z for any range of elements, and does not change x.
func TestProbe(t *testing.T) {
	const dim = 9000
	for name, segments := range layouts {
		for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
			p := basePlan()
			p.Dim, p.Segments, p.Distribution = dim, segments, dist
			r, _ := begun(t, p, 0)
			x := make([]float32, dim)
			random := lcg(2)
			for i := range x {
				x[i] = random.float()
			}
			given := slices.Clone(x)
			const mu, n, k, pert = -0.01, 5, 2, 3
			z, want := direction(r, n, k, pert), make([]float32, dim)
			for i, at := 0, 0; i < len(p.Layout()); i++ {
				s := p.Layout()[i]
				for range s.Len {
					a := float32(mu) * s.MuScale
					want[at] = x[at] + float32(a*z[at])
					at++
				}
			}
			for _, off := range []int{0, 1, 2, 63, 64, 4094, 4095, 4096, 4097, 8191, 8192, 8999, 9000} {
				for _, length := range []int{0, 1, 2, 65, 4095, 4096, 4097, 8193, dim} {
					length = min(length, dim-off)
					guarded := make([]float32, length+2)
					guarded[0], guarded[length+1] = 42, 42
					r.Probe(guarded[1:length+1], x, off, mu, n, k, pert, prng.Shared)
					if !slices.Equal(guarded[1:length+1], want[off:off+length]) {
						t.Errorf("%s, %v: %d elements at %d differ from x + mu S z", name, dist, length, off)
					}
					if guarded[0] != 42 || guarded[length+1] != 42 {
						t.Errorf("%s, %v: %d elements at %d: wrote outside of dst", name, dist, length, off)
					}
				}
			}
			if !slices.Equal(x, given) {
				t.Errorf("%s, %v: x changed", name, dist)
			}
		}
	}
}

// Advance by every local step with the record's scalars gives the same bits as Apply.
func TestAdvanceIsApply(t *testing.T) {
	for name, segments := range layouts {
		for _, rule := range []plan.Rule{plan.SGD, plan.Momentum, plan.TorchMomentum} {
			for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
				t.Run(fmt.Sprint(name, rule, dist), func(t *testing.T) {
					p := basePlan()
					p.Dim, p.Segments, p.Steps, p.Rule, p.WeightDecay, p.Distribution = 9000,
						segments, 3, rule, 0.01, dist
					if rule != plan.SGD {
						p.Beta = 0.9
					}
					r, c := begun(t, p, 0)
					random := lcg(3)
					const perturbations, eta = 9, 0.02
					for round := range uint64(2) {
						x, m := slices.Clone(r.Params()), slices.Clone(r.Momentum())
						scalars := random.scalars(3 * perturbations)
						for k := range 3 {
							g := make([]float32, perturbations)
							for i := range g {
								g[i] = scalars.At(k*perturbations + i)
							}
							r.Advance(&Local{X: x, M: m}, r.N()+1, k, g, eta)
						}
						mustApply(t, r, c.round(round+1, eta, perturbations, scalars))
						if !slices.Equal(x, r.Params()) || !slices.Equal(m, r.Momentum()) {
							t.Errorf("round %d: Advance and Apply differ", round+1)
						}
					}
				})
			}
		}
	}
}

// TestStepByHand compares one step with a computation by hand, in the order of rounding of
// docs/replay.md.
func TestStepByHand(t *testing.T) {
	p := basePlan()
	p.Dim, p.WeightDecay = 5000, 0.5
	p.Segments = []plan.Segment{{Name: "a", Len: 4999, Fill: plan.UniformFill, Scale: 1},
		{Name: "b", Len: 1, StepScale: 4}}
	r, c := begun(t, p, 0)
	x := slices.Clone(r.Params())
	mustApply(t, r, c.round(1, 0.25, 2, wire.AppendScalars(nil, 3, -5)))
	z0, z1 := direction(r, 2, 0, 0), direction(r, 2, 0, 1)
	for i := range x {
		v := float32(1.5*z0[i]) + float32(-2.5*z1[i])
		v += float32(0.5 * x[i])
		eta := float32(0.25)
		if i == 4999 {
			eta = 1
		}
		if want := x[i] - float32(eta*v); r.Params()[i] != want {
			t.Fatalf("x[%d] = %v, want %v", i, r.Params()[i], want)
		}
	}
}

// Seeded parameters do not depend on how the model is divided into segments.
func TestSeededSegments(t *testing.T) {
	fill := func(lengths ...uint64) []float32 {
		p := basePlan()
		for i, n := range lengths {
			p.Segments = append(p.Segments,
				plan.Segment{Name: fmt.Sprint("s", i), Len: n, Fill: plan.NormalFill, Scale: 2})
		}
		p.Dim = 9000
		r, _ := begun(t, p, 0)
		return r.Params()
	}
	whole := fill(9000)
	if parts := fill(1, 4095, 1, 4000, 903); !slices.Equal(whole, parts) {
		t.Error("five segments have other parameters than one")
	}
	z := make([]float32, 9000)
	prng.Fill(z, prng.Direction{Key: prng.RecordKey(basePlan().RunKey, 0), Domain: prng.Initial,
		Dist: prng.Normal}, 0)
	for i := range z {
		if whole[i] != 2*z[i] {
			t.Fatalf("x[%d] = %v, want %v", i, whole[i], 2*z[i])
		}
	}
}

// TestDigestAsWritten follows the doc comment of Digest, byte by byte.
func TestDigestAsWritten(t *testing.T) {
	x := make([]float32, 4098)
	for i := range x {
		x[i] = float32(i) - 7
	}
	x[1] = float32(math.NaN())
	x[2] = float32(math.Copysign(0, -1))
	var leaves []byte
	for _, part := range [][]float32{x[:4096], x[4096:]} {
		var b []byte
		for _, v := range part {
			bits := math.Float32bits(v)
			if v != v {
				bits = 0x7fc00000
			}
			b = binary.LittleEndian.AppendUint32(b, bits)
		}
		leaves = append(leaves, sum(b)...)
	}
	root := []byte("zofl/1 state\x00\x02\x10\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00")
	if got, want := Digest(x, x),
		sum(slices.Concat(root, leaves, leaves)); !slices.Equal(got[:], want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func sum(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}
