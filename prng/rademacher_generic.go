package prng

// loadGeneric sets s to the signs of a block of z.
func (s *signs) loadGeneric(z *Direction, block uint32) {
	var l lanes
	l.seedGeneric(z, block)
	s.fill(&l)
}

// signed holds, for each pattern of four signs, the four values a or -a.
type signed [16][4]float32

func (v *signed) set(a float32) {
	v[0] = [4]float32{a, a, a, a}
	for bit := range 4 {
		n := 1 << bit
		for i := range n {
			v[n+i] = v[i]
			v[n+i][bit] = -a
		}
	}
}

// perturbGeneric sets dst to x plus a times the signs. dst has at most the length of a block.
func (s *signs) perturbGeneric(dst, x []float32, a float32) {
	var v signed
	v.set(a)
	i := 0
	for ; len(dst) >= 64; i++ {
		v.perturb((*[64]float32)(dst), (*[64]float32)(x), s[i%signWords])
		dst, x = dst[64:], x[64:]
	}
	if len(dst) > 0 {
		var last [64]float32
		copy(last[:], x)
		v.perturb(&last, &last, s[i%signWords])
		copy(dst, last[:])
	}
}

// perturb sets dst to x plus a times the signs in word, lowest first.
func (v *signed) perturb(dst, x *[64]float32, word uint64) {
	_, _, _ = v[0], dst[0], x[0] // check for nil here rather than in the loop
	for i := 0; i < 64-7; i += 8 {
		d, x := (*[8]float32)(dst[i:]), (*[8]float32)(x[i:])
		x0, x1, x2, x3, x4, x5, x6, x7 := x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
		low, high := &v[word&15], &v[word>>4&15]
		word >>= 8
		d[0], d[1], d[2], d[3] = x0+low[0], x1+low[1], x2+low[2], x3+low[3]
		d[4], d[5], d[6], d[7] = x4+high[0], x5+high[1], x6+high[2], x7+high[3]
	}
}

// perturbPairGeneric sets plus and minus to x plus and minus a times the signs. The slices have at
// most the length of a block.
func (s *signs) perturbPairGeneric(plus, minus, x []float32, a float32) {
	var v signed
	v.set(a)
	i := 0
	for ; len(x) >= 64; i++ {
		v.perturbPair((*[64]float32)(plus), (*[64]float32)(minus), (*[64]float32)(x),
			s[i%signWords])
		plus, minus, x = plus[64:], minus[64:], x[64:]
	}
	if len(x) > 0 {
		var last, below [64]float32
		copy(last[:], x)
		v.perturbPair(&last, &below, &last, s[i%signWords])
		copy(plus, last[:])
		copy(minus, below[:])
	}
}

// perturbPair sets plus and minus to x plus and minus a times the signs in word, lowest first.
func (v *signed) perturbPair(plus, minus, x *[64]float32, word uint64) {
	_, _, _, _ = v[0], plus[0], minus[0], x[0] // check for nil here rather than in the loop
	for i := 0; i < 64-3; i += 4 {
		p, m, x := (*[4]float32)(plus[i:]), (*[4]float32)(minus[i:]), (*[4]float32)(x[i:])
		v := &v[word&15]
		word >>= 4
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		v0, v1, v2, v3 := v[0], v[1], v[2], v[3]
		p[0], p[1], p[2], p[3] = x0+v0, x1+v1, x2+v2, x3+v3
		m[0], m[1], m[2], m[3] = x0-v0, x1-v1, x2-v2, x3-v3
	}
}
