package prng

// chunkLen is the number of elements that the normal and uniform kernels generate at a time, 64
// rows of 16. These elements stay in a level-1 cache of 16 KiB while all eight lanes write them.
const chunkLen = 1024

// A bitwise OR with odd makes both 32-bit words of an output odd.
const odd = 1<<32 | 1

// fillChunk, perturbChunk, perturbPairChunk and uniformChunk generate the next elements of the
// lanes. The files normal64_generic.go and normal32_generic.go define them for 64-bit and 32-bit
// processors.

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
		perturbPairChunk((*[chunkLen]float32)(plus), (*[chunkLen]float32)(minus),
			(*[chunkLen]float32)(x), a, &l)
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
