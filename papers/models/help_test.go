package models

import (
	"math/rand/v2"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func random(n int, seed uint64) []float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(0.05 * rng.NormFloat64())
	}
	return out
}

// noise returns n images of any shape: uniform pixels and labels.
func noise(n, rows, cols, classes int) *data.Images {
	rng := rand.New(rand.NewPCG(9, 9))
	im := &data.Images{Rows: rows, Cols: cols, Classes: classes,
		Pixels: make([]uint8, n*rows*cols), Labels: make([]uint8, n)}
	for i := range im.Pixels {
		im.Pixels[i] = uint8(rng.Uint32())
	}
	for i := range im.Labels {
		im.Labels[i] = uint8(rng.IntN(classes))
	}
	return im
}
