package prng

import "math"

// These functions compute scheme 1 one element at a time, as in the specification.

// refOutput returns output r of a lane of a block of z.
func refOutput(z Direction, block uint32, lane, r int) uint64 {
	w := Philox([4]uint32{
		8*block + uint32(lane), uint32(z.Step)<<16 | uint32(z.Perturbation), z.Source,
		uint32(z.Domain),
	}, z.Key)
	s0, s1 := uint64(w[0])|uint64(w[1])<<32, uint64(w[2])|uint64(w[3])<<32
	rotl := func(x uint64, k int) uint64 { return x<<k | x>>(64-k) }
	for ; ; r-- {
		out := rotl(s0+s1, 17) + s0
		if r == 0 {
			return out
		}
		s1 ^= s0
		s0 = rotl(s0, 49) ^ s1 ^ s1<<21
		s1 = rotl(s1, 28)
	}
}

// refWord returns the word of element i of a block of a normal or uniform direction.
func refWord(z Direction, block uint32, i int) uint32 {
	return uint32(refOutput(z, block, i/2%8, i/16) >> (32 * (i % 2)))
}

func refNormal(word uint32) float32 {
	f := float32(int32(word | 1))
	k := math.Float32bits(float32(math.Abs(float64(f))))>>(23-segmentBits) - 127<<segmentBits
	c1, c0 := math.Float32frombits(tableBits[k][0]), math.Float32frombits(tableBits[k][1])
	if f < 0 {
		return -(float32(c1*-f) + c0)
	}
	return float32(c1*f) + c0
}

func refElement(z Direction, block uint32, i int) float32 {
	block, i = block+uint32(i/BlockLen), i%BlockLen
	if z.Dist == Normal {
		return refNormal(refWord(z, block, i))
	}
	if refOutput(z, block, i/64%8, i/512)>>(i%64)&1 == 1 {
		return -1
	}
	return 1
}

// refFill returns the first n elements of z from block on.
func refFill(z Direction, block uint32, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = refElement(z, block, i)
	}
	return all
}

func refUniform(z Direction, block uint32, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		word := refWord(z, block+uint32(i/BlockLen), i%BlockLen)
		all[i] = float32(float32(int32(word)) / (1 << 31))
	}
	return all
}

// refPerturb returns x[i] + float32(a*z[i]).
func refPerturb(x, z []float32, a float32) []float32 {
	all := make([]float32, len(x))
	for i := range all {
		all[i] = x[i] + float32(a*z[i])
	}
	return all
}

// refSum returns x plus the terms, whose directions are given by their elements z[term].
func refSum(x []float32, terms []Term, z [][]float32) []float32 {
	x = append([]float32(nil), x...)
	for j := 0; j < len(terms); {
		group := 1
		if refGroup(terms[j:]) {
			group = 8
		}
		for i := range x {
			sum := float32(terms[j].A * z[j][i])
			for k := j + 1; k < j+group; k++ {
				sum += float32(terms[k].A * z[k][i])
			}
			x[i] += sum
		}
		j += group
	}
	return x
}

func refGroup(terms []Term) bool {
	n := 0
	for n < len(terms) && terms[n].Z.Dist == Rademacher {
		n++
	}
	return n >= 8
}
