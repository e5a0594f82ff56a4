package prng

// normBlocks is the number of blocks whose squares SquaredNorm adds at the same time. The order of
// additions within a block is fixed, so one block alone would leave the processor waiting for each
// addition.
const normBlocks = 4

// SquaredNorm returns the sum of squares of the first d elements of z in float64. SquaredNorm adds
// the squares in each block, in ascending order, and then the sums of the blocks, in ascending
// order. SquaredNorm panics if d exceeds MaxBlocks*BlockLen.
func SquaredNorm(z Direction, d uint64) float64 {
	if d > MaxBlocks*BlockLen {
		panic(blockOutOfRange)
	}
	if z.Dist == Rademacher {
		return float64(d)
	}
	checkDist(z.Dist)
	var total float64
	for block := uint32(0); d > 0; block += normBlocks {
		n := min(d, normBlocks*BlockLen)
		if n <= BlockLen {
			return total + squaresOfBlock(&z, block, int(n))
		}
		for _, sum := range squaresOfBlocks(&z, block, int(n)) {
			total += sum // 0 for a block that does not exist
		}
		d -= n
	}
	return total
}

// squaresOfBlock returns the sum of squares of the first n elements of a block.
func squaresOfBlock(z *Direction, block uint32, n int) (sum float64) {
	var l lanes
	l.start(z, block)
	var x [chunkLen]float32
	for ; n > 0; n -= chunkLen {
		l.normals(&x)
		for _, v := range x[:min(n, chunkLen)] {
			sum += float64(float64(v) * float64(v))
		}
	}
	return sum
}

// squaresOfBlocks returns the sums of squares of the first n elements of normBlocks blocks.
// squaresOfBlocks processes one chunk of each block in turn. Elements beyond n are 0 and do not
// change the sums.
func squaresOfBlocks(z *Direction, block uint32, n int) (sums [normBlocks]float64) {
	var states [normBlocks]lanes
	for j := range states {
		if j*BlockLen < n {
			states[j].start(z, block+uint32(j))
		}
	}
	var x [normBlocks][chunkLen]float32
	for first := 0; first < BlockLen; first += chunkLen {
		for j := range x {
			left := n - j*BlockLen - first
			if left > 0 {
				states[j].normals(&x[j])
			}
			if left < chunkLen {
				clear(x[j][max(0, left):])
			}
		}
		addSquares(&sums, &x)
	}
	return sums
}

// addSquares adds the squares of a chunk of each block.
func addSquares(sums *[normBlocks]float64, x *[normBlocks][chunkLen]float32) {
	s0, s1, s2, s3 := sums[0], sums[1], sums[2], sums[3]
	for i := range chunkLen {
		v0, v1, v2, v3 := float64(x[0][i]), float64(x[1][i]), float64(x[2][i]), float64(x[3][i])
		s0 += float64(v0 * v0)
		s1 += float64(v1 * v1)
		s2 += float64(v2 * v2)
		s3 += float64(v3 * v3)
	}
	sums[0], sums[1], sums[2], sums[3] = s0, s1, s2, s3
}
