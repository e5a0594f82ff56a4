package prng

// chunkLen is the number of elements that the normal and uniform kernels make at a time, 64 rows
// of 16: few enough that a level-1 cache of 16 KiB keeps them over the passes of the eight lanes.
const chunkLen = 1024

// fillBlockGeneric sets dst to the first len(dst) normals of a block of z.
func fillBlockGeneric(dst []float32, z *Direction, block uint32) {
	var l lanes
	l.seedGeneric(z, block)
	for ; len(dst) >= chunkLen; dst = dst[chunkLen:] {
		fillChunk((*[chunkLen]float32)(dst), &l)
	}
	if len(dst) > 0 {
		var last [chunkLen]float32
		fillChunk(&last, &l)
		copy(dst, last[:])
	}
}

// perturbBlockGeneric sets dst to x plus a times the first normals of a block of z.
func perturbBlockGeneric(dst, x []float32, a float32, z *Direction, block uint32) {
	var l lanes
	l.seedGeneric(z, block)
	for ; len(dst) >= chunkLen; dst, x = dst[chunkLen:], x[chunkLen:] {
		perturbChunk((*[chunkLen]float32)(dst), (*[chunkLen]float32)(x), a, &l)
	}
	if len(dst) > 0 {
		var last [chunkLen]float32
		copy(last[:], x)
		perturbChunk(&last, &last, a, &l)
		copy(dst, last[:])
	}
}

// perturbPairBlockGeneric sets plus and minus to x plus and minus a times the first normals of a
// block of z.
func perturbPairBlockGeneric(plus, minus, x []float32, a float32, z *Direction, block uint32) {
	var l lanes
	l.seedGeneric(z, block)
	for ; len(x) >= chunkLen; plus, minus, x = plus[chunkLen:], minus[chunkLen:], x[chunkLen:] {
		perturbPairChunk((*[chunkLen]float32)(plus), (*[chunkLen]float32)(minus), (*[chunkLen]float32)(x), a, &l)
	}
	if len(x) > 0 {
		var last, below [chunkLen]float32
		copy(last[:], x)
		perturbPairChunk(&last, &below, &last, a, &l)
		copy(plus, last[:])
		copy(minus, below[:])
	}
}

// uniformBlockGeneric sets dst to the first len(dst) uniforms of a block of z.
func uniformBlockGeneric(dst []float32, z *Direction, block uint32) {
	var l lanes
	l.seedGeneric(z, block)
	for ; len(dst) >= chunkLen; dst = dst[chunkLen:] {
		uniformChunk((*[chunkLen]float32)(dst), &l)
	}
	if len(dst) > 0 {
		var last [chunkLen]float32
		uniformChunk(&last, &l)
		copy(dst, last[:])
	}
}

// fillChunk sets dst to the next normals.
func fillChunk(dst *[chunkLen]float32, l *lanes) {
	_ = dst[0] // check for nil here rather than in the loop
	for lane := range lanesPerBlock {
		s0, s1 := l[0][lane], l[1][lane]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			dst[i] = normalOf(int32(w) | 1)
			dst[i+1] = normalOf(int32(w>>32) | 1)
		}
		l[0][lane], l[1][lane] = s0, s1
	}
}

// perturbChunk sets dst to x plus a times the next normals.
func perturbChunk(dst, x *[chunkLen]float32, a float32, l *lanes) {
	_, _ = dst[0], x[0] // check for nil here rather than in the loop
	for lane := range lanesPerBlock {
		s0, s1 := l[0][lane], l[1][lane]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			dst[i] = x[i] + float32(a*normalOf(int32(w)|1))
			dst[i+1] = x[i+1] + float32(a*normalOf(int32(w>>32)|1))
		}
		l[0][lane], l[1][lane] = s0, s1
	}
}

// perturbPairChunk sets plus and minus to x plus and minus a times the next normals.
func perturbPairChunk(plus, minus, x *[chunkLen]float32, a float32, l *lanes) {
	_, _, _ = plus[0], minus[0], x[0] // check for nil here rather than in the loop
	for lane := range lanesPerBlock {
		s0, s1 := l[0][lane], l[1][lane]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			v0, v1 := float32(a*normalOf(int32(w)|1)), float32(a*normalOf(int32(w>>32)|1))
			x0, x1 := x[i], x[i+1]
			plus[i], plus[i+1] = x0+v0, x1+v1
			minus[i], minus[i+1] = x0-v0, x1-v1
		}
		l[0][lane], l[1][lane] = s0, s1
	}
}

// uniformChunk sets dst to the next uniforms.
func uniformChunk(dst *[chunkLen]float32, l *lanes) {
	_ = dst[0] // check for nil here rather than in the loop
	for lane := range lanesPerBlock {
		s0, s1 := l[0][lane], l[1][lane]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			dst[i] = float32(int32(w)) * (1.0 / (1 << 31))
			dst[i+1] = float32(int32(w>>32)) * (1.0 / (1 << 31))
		}
		l[0][lane], l[1][lane] = s0, s1
	}
}
