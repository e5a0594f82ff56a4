package prng

// signWords is the number of 64-bit outputs that a block of signs takes: eight outputs of each
// lane.
const signWords = BlockLen / 64

// signs is a block of signs: element i is bit i%64 of word i/64, and 1 means -1.
type signs [signWords]uint64

// fillSignsBlock sets dst to the first len(dst) signs of a block of z.
func fillSignsBlock(dst []float32, z *Direction, block uint32) {
	clear(dst)
	perturbSignsBlock(dst, dst, 1, z, block)
}

func perturbSignsBlock(dst, x []float32, a float32, z *Direction, block uint32) {
	var s signs
	s.load(z, block)
	s.perturb(dst, x, a)
}

func perturbPairSignsBlock(plus, minus, x []float32, a float32, z *Direction, block uint32) {
	var s signs
	s.load(z, block)
	s.perturbPair(plus, minus, x, a)
}
