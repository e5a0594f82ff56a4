package prng

// Dot returns the inner product of g and a part of z. Products are exact, and the sum is in
// float64. Machines may add in different orders and get different last bits, so no replica may use
// Dot.
//
//	for i := range g {
//		sum += float64(g[i]) * float64(z[block*BlockLen+i])
//	}
func Dot(g []float32, z Direction, block uint32) (sum float64) {
	checkBlocks(block, len(g))
	checkDist(z.Dist)
	for ; len(g) > 0; block++ {
		n := min(BlockLen, len(g))
		if z.Dist == Rademacher {
			sum += dotSignsBlock(g[:n], &z, block)
		} else {
			sum += dotBlock(g[:n], &z, block)
		}
		g = g[n:]
	}
	return sum
}

// dotBlockGeneric returns the inner product of g and the first normals of a block of z.
func dotBlockGeneric(g []float32, z *Direction, block uint32) (sum float64) {
	var l lanes
	l.start(z, block)
	var x [chunkLen]float32
	for len(g) > 0 {
		n := min(chunkLen, len(g))
		l.normals(&x)
		sum += dotChunk(g[:n], x[:n])
		g = g[n:]
	}
	return sum
}

// dotSignsBlock returns the inner product of g and the first signs of a block of z.
func dotSignsBlock(g []float32, z *Direction, block uint32) float64 {
	var s signs
	s.load(z, block)
	return s.dot(g)
}

// dotGeneric returns the inner product of g and the first signs.
func (s *signs) dotGeneric(g []float32) float64 {
	var x [BlockLen]float32
	s.perturb(x[:len(g)], x[:len(g)], 1)
	return dotChunk(g, x[:len(g)])
}

// dotChunk returns the inner product of two short vectors. dotChunk adds to four sums in turn,
// because each addition to a single sum would wait for the addition before.
func dotChunk(g, x []float32) float64 {
	x = x[:len(g)]
	var s0, s1, s2, s3 float64
	for len(g) >= 4 && len(x) >= 4 {
		s0 += float64(float64(g[0]) * float64(x[0]))
		s1 += float64(float64(g[1]) * float64(x[1]))
		s2 += float64(float64(g[2]) * float64(x[2]))
		s3 += float64(float64(g[3]) * float64(x[3]))
		g, x = g[4:], x[4:]
	}
	for i, v := range g {
		s0 += float64(float64(v) * float64(x[i]))
	}
	return s0 + s1 + (s2 + s3)
}
