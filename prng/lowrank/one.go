package lowrank

import "github.com/zofl/zofl/prng"

const (
	wordLen        = 64
	lengthMismatch = "lowrank: length mismatch"
)

// LoadOne returns the factors of z, a bit for each: factor e is bit e%64 of word e/64, and 1 means
// -1. LoadOne uses the memory of bits if it is large enough. It ignores the domain and the
// distribution of z.
func (l *Layout) LoadOne(bits []uint64, z prng.Direction) []uint64 {
	const blockWords = prng.BlockLen / wordLen
	z = factorsOf(z)
	n := l.Blocks() * blockWords
	if cap(bits) < n {
		bits = make([]uint64, n)
	}
	bits = bits[:n]
	for block := range l.Blocks() {
		(*prng.Signs)(bits[block*blockWords:]).Load(z, uint32(block))
	}
	return bits
}

// factorsOf returns the address of the factors of z.
func factorsOf(z prng.Direction) prng.Direction {
	z.Domain, z.Dist = prng.Factors, prng.Rademacher
	return z
}

// Fill sets dst to the elements from at on of the direction whose factors bits has.
//
//	for i := range dst {
//		dst[i] = z[at+i]
//	}
func (l *Layout) Fill(dst []float32, at int, bits []uint64) {
	clear(dst)
	l.Perturb(dst, dst, at, 1, bits)
}

// Perturb sets dst to x plus a multiple of a part of a direction. dst may be x, but must not
// overlap x in another way. Perturb panics if the lengths differ.
//
//	for i := range dst {
//		dst[i] = x[i] + a*z[at+i]
//	}
func (l *Layout) Perturb(dst, x []float32, at int, a float32, bits []uint64) {
	if len(dst) != len(x) {
		panic(lengthMismatch)
	}
	l.eachBlock(at, len(x), bits, func(s *prng.Signs, i, end int) {
		s.Perturb(dst[i:end], x[i:end], a)
	})
}

// PerturbPair computes both points of a central difference. plus or minus may be x; otherwise the
// three slices must not overlap. PerturbPair panics if the lengths differ.
//
//	for i := range x {
//		v := a * z[at+i]
//		plus[i], minus[i] = x[i]+v, x[i]-v
//	}
func (l *Layout) PerturbPair(plus, minus, x []float32, at int, a float32, bits []uint64) {
	if len(plus) != len(x) || len(minus) != len(x) {
		panic(lengthMismatch)
	}
	l.eachBlock(at, len(x), bits, func(s *prng.Signs, i, end int) {
		s.PerturbPair(plus[i:end], minus[i:end], x[i:end], a)
	})
}

// Dot returns the inner product of g and a part of a direction. Like [prng.Dot] it may differ in
// its last bits between machines and between divisions into parts, so no replica may use it.
//
//	for i := range g {
//		sum += float64(g[i]) * float64(z[at+i])
//	}
func (l *Layout) Dot(g []float32, at int, bits []uint64) (sum float64) {
	l.eachBlock(at, len(g), bits, func(s *prng.Signs, i, end int) { sum += s.Dot(g[i:end]) })
	return sum
}

// eachBlock calls f for each part of elements [at, at+n), of at most a block, with the signs of
// elements [at+i, at+end).
func (l *Layout) eachBlock(at, n int, bits []uint64, f func(s *prng.Signs, i, end int)) {
	l.check(at, n)
	var s prng.Signs
	for i := 0; i < n; {
		end := min(i+prng.BlockLen, n)
		l.signs(&s, at+i, end-i, bits)
		f(&s, i, end)
		i = end
	}
}

// signs sets s to the signs of elements [at, at+n), at most a block.
func (l *Layout) signs(s *prng.Signs, at, n int, bits []uint64) {
	l.bands(at, n, func(p piece, rows, width, off int) {
		for r := range rows {
			flip := uint64(0)
			if !p.plain {
				flip = -bit(bits, p.a+p.row+r)
			}
			put(s[:], off, width, bits, p.b+p.from, flip)
			off += width
		}
	})
}

// bit returns bit i of bits.
func bit(bits []uint64, i int) uint64 { return bits[i/wordLen] >> (i % wordLen) & 1 }

// put sets n bits of dst from bit `to` on to the bits of src from bit from on, exclusive or flip.
// It leaves the bits before them, and sets the bits after them in the last word that it writes to
// anything.
func put(dst []uint64, to, n int, src []uint64, from int, flip uint64) {
	for end := to + n; to < end; {
		shift := to % wordLen
		k := min(wordLen-shift, end-to)
		word := (window(src, from) ^ flip) << shift
		w := &dst[to/wordLen]
		*w = *w&(1<<shift-1) | word
		to, from = to+k, from+k
	}
}

// window returns 64 bits of src from bit i on. Bits after the last word are 0.
func window(src []uint64, i int) uint64 {
	word, shift := i/wordLen, i%wordLen
	w := src[word] >> shift
	if word+1 < len(src) {
		w |= src[word+1] << (wordLen - shift) // nothing for a shift of 0
	}
	return w
}
