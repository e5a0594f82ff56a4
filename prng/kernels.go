package prng

// Fill sets dst to a part of z, dst[i] = z[block*BlockLen + i].
func Fill(dst []float32, z Direction, block uint32) {
	checkBlocks(block, len(dst))
	switch z.Dist {
	case Normal:
		fillChunks(dst, &z, block, false)
	case Rademacher:
		var s signs
		for ; len(dst) > 0; block++ {
			n := min(BlockLen, len(dst))
			s.load(&z, block)
			s.fill(dst[:n])
			dst = dst[n:]
		}
	default:
		panic(unknownDistribution)
	}
}

// Uniform sets dst[i] = float32(int32(w)) * 2^-31, w being the word that makes element
// block*BlockLen + i of a normal z: uniform in [-1, 1]. It ignores z.Dist.
func Uniform(dst []float32, z Direction, block uint32) {
	checkBlocks(block, len(dst))
	fillChunks(dst, &z, block, true)
}

// Axpy adds a multiple of a part of z to dst, dst[i] += float32(a * z[block*BlockLen + i]).
func Axpy(dst []float32, a float32, z Direction, block uint32) {
	checkBlocks(block, len(dst))
	perturb(dst, dst, a, &z, block)
}

// Perturb sets dst[i] = x[i] + float32(a * z[block*BlockLen + i]). dst may be x; it must not
// overlap x otherwise. It panics if the lengths differ.
func Perturb(dst, x []float32, a float32, z Direction, block uint32) {
	if len(dst) != len(x) {
		panic(lengthMismatch)
	}
	checkBlocks(block, len(dst))
	perturb(dst, x, a, &z, block)
}

func perturb(dst, x []float32, a float32, z *Direction, block uint32) {
	switch z.Dist {
	case Normal:
		perturbChunks(dst, x, a, z, block)
	case Rademacher:
		var s signs
		for ; len(dst) > 0; block++ {
			n := min(BlockLen, len(dst))
			s.load(z, block)
			s.perturb(dst[:n], x[:n], a)
			dst, x = dst[n:], x[n:]
		}
	default:
		panic(unknownDistribution)
	}
}

// fillChunks sets dst to uniforms or else normals, chunk by chunk.
func fillChunks(dst []float32, z *Direction, block uint32, uniform bool) {
	var l lanes
	for i := 0; len(dst) > 0; i = (i + chunkLen) % BlockLen {
		if i == 0 {
			l.seed(z, block)
			block++
		}
		if len(dst) < chunkLen {
			var last [chunkLen]float32
			fillChunk(&last, &l, uniform)
			copy(dst, last[:])
			return
		}
		fillChunk((*[chunkLen]float32)(dst), &l, uniform)
		dst = dst[chunkLen:]
	}
}

func fillChunk(dst *[chunkLen]float32, l *lanes, uniform bool) {
	if uniform {
		fillUniform(dst, l)
	} else {
		fillNormal(dst, l)
	}
}

func perturbChunks(dst, x []float32, a float32, z *Direction, block uint32) {
	var l lanes
	for i := 0; len(dst) > 0; i = (i + chunkLen) % BlockLen {
		if i == 0 {
			l.seed(z, block)
			block++
		}
		if len(dst) < chunkLen {
			var last [chunkLen]float32
			copy(last[:], x)
			perturbNormal(&last, &last, a, &l)
			copy(dst, last[:])
			return
		}
		perturbNormal((*[chunkLen]float32)(dst), (*[chunkLen]float32)(x), a, &l)
		dst, x = dst[chunkLen:], x[chunkLen:]
	}
}
