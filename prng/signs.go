package prng

// Signs holds the signs of a block of Rademacher elements: element i is bit i%64 of word i/64, and
// 1 means -1. The kernels take at most BlockLen elements, from element 0 on.
type Signs [signWords]uint64

// Load sets s to the signs of a block of z. Load takes z as Rademacher.
func (s *Signs) Load(z Direction, block uint32) {
	checkBlocks(block, 1)
	(*signs)(s).load(&z, block)
}

// Perturb sets dst to x plus a times the signs. dst may be x, but must not overlap x in another
// way. Perturb panics if the lengths differ or exceed a block.
func (s *Signs) Perturb(dst, x []float32, a float32) {
	if len(dst) != len(x) || len(x) > BlockLen {
		panic(lengthMismatch)
	}
	(*signs)(s).perturb(dst, x, a)
}

// PerturbPair sets plus to x plus and minus to x minus a times the signs. plus or minus may be x;
// otherwise the three slices must not overlap. PerturbPair panics if the lengths differ or exceed a
// block.
func (s *Signs) PerturbPair(plus, minus, x []float32, a float32) {
	if len(plus) != len(x) || len(minus) != len(x) || len(x) > BlockLen {
		panic(lengthMismatch)
	}
	(*signs)(s).perturbPair(plus, minus, x, a)
}

// Dot returns the inner product of g and the signs, as [Dot] does. Dot panics if g exceeds a block.
func (s *Signs) Dot(g []float32) float64 {
	if len(g) > BlockLen {
		panic(lengthMismatch)
	}
	return (*signs)(s).dot(g)
}
