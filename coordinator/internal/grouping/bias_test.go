package grouping

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/prng"
)

// TestSketchBias has the figures of docs/found.md: how far the weights of groups=sketch move the
// mean gradient, and how much noise they save. Of 12 devices each has two of four classes, and the
// gradients of the classes are independent.
func TestSketchBias(t *testing.T) {
	const devices, classes, d, size, trials, regroups = 12, 4, 100, 4, 60, 10
	rng := rand.New(rand.NewPCG(41, 3))
	var bias, noise, plain []float64
	for range trials {
		class := make([][]float64, classes)
		for c := range class {
			class[c] = normals(rng, d)
		}
		gradients, slots, rows := make([][]float64, devices), make([]uint32, devices),
			make([][]float32, devices)
		directions := make([][]float64, 64)
		for j := range directions {
			directions[j] = normals(rng, d)
		}
		mean := make([]float64, d)
		for i := range gradients {
			has := rng.Perm(classes)[:2]
			slots[i], gradients[i] = uint32(i), sum(0.5, class[has[0]], class[has[1]])
			for _, z := range directions {
				rows[i] = append(rows[i], float32(dot(z, gradients[i])))
			}
			mean = sum(1, mean, scaledBy(gradients[i], 1.0/devices))
		}
		s, estimate := equalSketches(slots, rows), make([]float64, d)
		weighted, equal := 0.0, 0.0
		for range regroups {
			const groups = devices / size
			for _, members := range s.split(slots, size, &dice{key: prng.Key(rng.Uint64())}) {
				w := s.weights(members, slices.Repeat([]uint32{1}, size))
				h, total := make([]float64, d), 0.0
				same := make([]float64, d)
				for k, slot := range members {
					h = sum(1, h, scaledBy(gradients[slot], float64(w[k])))
					same = sum(1, same, scaledBy(gradients[slot], 1.0/size))
					total += float64(w[k])
				}
				h = scaledBy(h, 1/total)
				estimate = sum(1, estimate, scaledBy(h, 1.0/(groups*regroups)))
				weighted += dot(h, h) / dot(mean, mean) / (groups * regroups)
				equal += dot(same, same) / dot(mean, mean) / (groups * regroups)
			}
		}
		off := sum(1, estimate, scaledBy(mean, -1))
		bias = append(bias, math.Sqrt(dot(off, off)/dot(mean, mean)))
		noise, plain = append(noise, weighted), append(plain, equal)
	}
	slices.Sort(bias)
	t.Logf("bias: median %.3f, 90 %%: %.3f; noise %.3f |g|^2, without weights %.3f", bias[trials/2],
		bias[9*trials/10], median(noise), median(plain))
	if bias[trials/2] > 0.1 || bias[trials/2] < 0.005 || median(noise) > median(plain) {
		t.Errorf("bias %.3f, noise %.3f, without weights %.3f", bias[trials/2], median(noise),
			median(plain))
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

func scaledBy(v []float64, by float64) []float64 {
	v = slices.Clone(v)
	scale(v, by)
	return v
}

// sum returns by times the sum of two vectors.
func sum(by float64, a, b []float64) []float64 {
	v := slices.Clone(a)
	for i := range v {
		v[i] = by * (a[i] + b[i])
	}
	return v
}
