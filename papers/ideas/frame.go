package ideas

import (
	"math/bits"
	"math/rand/v2"

	"github.com/zofl/zofl/prng"
)

// A frame holds the directions of a round.
type frame struct {
	key     prng.Key
	p       int // of a step
	steps   int
	devices int
	d       int
	shared  bool // all devices have the same directions
	// columns, unless nil, makes all directions of the round orthogonal: with r one vector of signs
	// and h a Walsh matrix, element i of direction j is r[i] h[j][columns[i]]. Apart from the few
	// elements that are left over, columns contains each number equally often.
	columns []uint8
	signs   []float32
}

// walshLen is the largest number of directions that a frame can make orthogonal.
const walshLen = 256

func newFrame(key prng.Key, a *Arm, p, devices, d int) *frame {
	f := &frame{key: key, p: p, steps: max(a.K, 1), devices: devices, d: d, shared: a.Other.shares()}
	if !a.Orthogonal {
		return f
	}
	size := 1 << bits.Len(uint(p*f.steps*devices-1))
	if size > walshLen {
		panic("ideas: too many directions to be orthogonal")
	}
	f.columns, f.signs = make([]uint8, d), make([]float32, d)
	prng.Fill(f.signs, f.direction(0, 0, 0), 0)
	for i := range f.columns {
		f.columns[i] = uint8(i % size)
	}
	rng := rand.New(rand.NewPCG(uint64(key), 1))
	rng.Shuffle(d, func(i, j int) { f.columns[i], f.columns[j] = f.columns[j], f.columns[i] })
	return f
}

func (f *frame) direction(device, step, p int) prng.Direction {
	if f.shared {
		device = 0
	}
	return prng.Direction{Key: f.key, Step: uint16(step), Perturbation: uint16(p),
		Source: prng.Slot(uint32(device)), Dist: prng.Rademacher}
}

// row returns the Walsh row of a direction.
func (f *frame) row(device, step, p int) int { return (device*f.steps+step)*f.p + p }

// walsh returns an element of the Walsh matrix.
func walsh(row int, column uint8) float64 {
	return float64(1 - 2*(bits.OnesCount(uint(row)&uint(column))&1))
}

// project returns the slopes of g along the directions of a device's step.
func (f *frame) project(g []float32, device, step int) []float32 {
	c := make([]float32, f.p)
	var sums [walshLen]float64
	for i, column := range f.columns {
		sums[column] += float64(g[i] * f.signs[i])
	}
	for p := range c {
		if f.columns == nil {
			c[p] = float32(prng.Dot(g, f.direction(device, step, p), 0))
			continue
		}
		row, sum := f.row(device, step, p), 0.0
		for column, v := range sums {
			sum += v * walsh(row, uint8(column))
		}
		c[p] = float32(sum)
	}
	return c
}

// A summand holds the directions of a device's step, with a coefficient for each.
type summand struct {
	f            *frame
	device, step int
	c            []float32
}

// sum returns factor times the sum of all directions, each multiplied by its coefficient.
func sum(d int, factor float64, list []summand) []float32 {
	out := make([]float32, d)
	var terms []prng.Term
	for _, s := range list {
		if s.f.columns != nil {
			s.addWalsh(out, factor)
			continue
		}
		for p, c := range s.c {
			terms = append(terms,
				prng.Term{A: float32(factor * float64(c)), Z: s.f.direction(s.device, s.step, p)})
		}
	}
	prng.Sum(out, terms, 0)
	return out
}

func (s *summand) addWalsh(out []float32, factor float64) {
	var by [walshLen]float32
	for column := range by {
		v := 0.0
		for p, c := range s.c {
			v += float64(c) * walsh(s.f.row(s.device, s.step, p), uint8(column))
		}
		by[column] = float32(v * factor)
	}
	for i, column := range s.f.columns {
		out[i] += s.f.signs[i] * by[column]
	}
}
