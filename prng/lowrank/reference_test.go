package lowrank_test

import (
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// These functions follow the specification one element at a time.

// refDirection returns direction z over a vector of segments of the given shapes.
func refDirection(shapes []lowrank.Shape, z prng.Direction) []float32 {
	z.Domain, z.Dist = 5, prng.Rademacher
	var all []float32
	var factors int
	for _, s := range shapes {
		factors += s.Rows + s.Columns
	}
	sign := make([]float32, factors)
	prng.Fill(sign, z, 0)
	for _, s := range shapes {
		if s.Rows == 0 {
			all, sign = append(all, sign[:s.Columns]...), sign[s.Columns:]
			continue
		}
		a, b := sign[:s.Rows], sign[s.Rows:][:s.Columns]
		for i := range a {
			for j := range b {
				all = append(all, a[i]*b[j])
			}
		}
		sign = sign[s.Rows+s.Columns:]
	}
	return all
}

// refSum adds to element i the terms a[k] times z[k][i], in groups of eight.
func refSum(x float32, i int, a []float32, z [][]float32) float32 {
	for len(a) > 0 {
		var v [8]float32
		n := min(8, len(a))
		for k := range n {
			v[k] = a[k] * z[k][i]
		}
		l := v[0] + v[1]
		l += v[2]
		l += v[3]
		h := v[4] + v[5]
		h += v[6]
		h += v[7]
		x += l + h
		a, z = a[n:], z[n:]
	}
	return x
}
