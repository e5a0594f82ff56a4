package prng

// loadGeneric sets s to the signs of a block of z.
func (s *signs) loadGeneric(z *Direction, block uint32) {
	var l lanes
	l.seedGeneric(z, block)
	s.fill(&l)
}

// perturbGeneric sets dst, at most a block, to x plus a times the signs.
func (s *signs) perturbGeneric(dst, x []float32, a float32) {
	signed := [2]float32{a, -a}
	i := 0
	for ; len(dst) >= 64; i++ {
		perturbWord((*[64]float32)(dst), (*[64]float32)(x), &signed, s[i%signWords])
		dst, x = dst[64:], x[64:]
	}
	if len(dst) > 0 {
		var last [64]float32
		copy(last[:], x)
		perturbWord(&last, &last, &signed, s[i%signWords])
		copy(dst, last[:])
	}
}

func perturbWord(dst, x *[64]float32, signed *[2]float32, word uint64) {
	for i := 0; i < 64-3; i += 4 {
		dst[i] = x[i] + signed[word&1]
		dst[i+1] = x[i+1] + signed[word>>1&1]
		dst[i+2] = x[i+2] + signed[word>>2&1]
		dst[i+3] = x[i+3] + signed[word>>3&1]
		word >>= 4
	}
}

// perturbPairGeneric sets plus and minus, at most a block, to x plus and minus a times the signs.
func (s *signs) perturbPairGeneric(plus, minus, x []float32, a float32) {
	signed := [2]float32{a, -a}
	for i := range x {
		v, xi := signed[s[i/64%signWords]>>(i%64)&1], x[i]
		plus[i], minus[i] = xi+v, xi-v
	}
}
