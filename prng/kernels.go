package prng

// Fill sets dst to a part of z.
//
//	for i := range dst {
//		dst[i] = z[block*BlockLen+i]
//	}
func Fill(dst []float32, z Direction, block uint32) {
	checkBlocks(block, len(dst))
	checkDist(z.Dist)
	for ; len(dst) > 0; block++ {
		n := min(BlockLen, len(dst))
		if z.Dist == Rademacher {
			fillSignsBlock(dst[:n], &z, block)
		} else {
			fillBlock(dst[:n], &z, block)
		}
		dst = dst[n:]
	}
}

// Uniform sets dst to uniform numbers in [-1, 1]. Here w is the word that element block*BlockLen +
// i would take if z.Dist were Normal. Uniform ignores z.Dist.
//
//	for i := range dst {
//		dst[i] = float32(int32(w)) * 2^-31
//	}
func Uniform(dst []float32, z Direction, block uint32) {
	checkBlocks(block, len(dst))
	for ; len(dst) > 0; block++ {
		n := min(BlockLen, len(dst))
		uniformBlock(dst[:n], &z, block)
		dst = dst[n:]
	}
}

// Axpy adds a multiple of a part of z to dst.
//
//	for i := range dst {
//		dst[i] += float32(a * z[block*BlockLen+i])
//	}
func Axpy(dst []float32, a float32, z Direction, block uint32) {
	checkBlocks(block, len(dst))
	perturb(dst, dst, a, &z, block)
}

// Perturb sets dst to x plus a multiple of a part of z. dst may be x, but must not overlap x in
// another way. Perturb panics if the lengths differ.
//
//	for i := range dst {
//		dst[i] = x[i] + float32(a*z[block*BlockLen+i])
//	}
func Perturb(dst, x []float32, a float32, z Direction, block uint32) {
	if len(dst) != len(x) {
		panic(lengthMismatch)
	}
	checkBlocks(block, len(dst))
	perturb(dst, x, a, &z, block)
}

func perturb(dst, x []float32, a float32, z *Direction, block uint32) {
	checkDist(z.Dist)
	for ; len(dst) > 0; block++ {
		n := min(BlockLen, len(dst))
		if z.Dist == Rademacher {
			perturbSignsBlock(dst[:n], x[:n], a, z, block)
		} else {
			perturbBlock(dst[:n], x[:n], a, z, block)
		}
		dst, x = dst[n:], x[n:]
	}
}

// PerturbPair computes both points of a central difference, and generates z only once. plus or
// minus may be x; otherwise the three slices must not overlap. PerturbPair panics if the lengths
// differ.
//
//	for i := range x {
//		v := float32(a * z[block*BlockLen+i])
//		plus[i], minus[i] = x[i]+v, x[i]-v
//	}
func PerturbPair(plus, minus, x []float32, a float32, z Direction, block uint32) {
	if len(plus) != len(x) || len(minus) != len(x) {
		panic(lengthMismatch)
	}
	checkBlocks(block, len(x))
	checkDist(z.Dist)
	for ; len(x) > 0; block++ {
		n := min(BlockLen, len(x))
		if z.Dist == Rademacher {
			perturbPairSignsBlock(plus[:n], minus[:n], x[:n], a, &z, block)
		} else {
			perturbPairBlock(plus[:n], minus[:n], x[:n], a, &z, block)
		}
		plus, minus, x = plus[n:], minus[n:], x[n:]
	}
}
