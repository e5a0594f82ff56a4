package prng

import "math"

// signWords is the number of 64-bit outputs that a block of signs takes, eight of each lane.
const signWords = BlockLen / 64

// signs holds a block of signs: element i is bit i%64 of word i/64, and 1 means -1.
type signs [signWords]uint64

// load sets s to the signs of a block of z.
func (s *signs) load(z *Direction, block uint32) {
	var l lanes
	l.seed(z, block)
	for lane := range l {
		s0, s1 := l[lane][0], l[lane][1]
		for i := lane; i < signWords; i += lanesPerBlock {
			s[i], s0, s1 = next(s0, s1)
		}
	}
}

// fill sets dst, at most a block, to the signs.
func (s *signs) fill(dst []float32) {
	one := math.Float32bits(1)
	for i := range dst {
		bit := uint32(s[i/64%signWords]>>(i%64)) & 1
		dst[i] = math.Float32frombits(one | bit<<31)
	}
}

// axpy adds a times the signs to dst, at most a block.
func (s *signs) axpy(dst []float32, a float32) {
	bits := math.Float32bits(a)
	for _, word := range s {
		d := dst[:min(64, len(dst))]
		dst = dst[len(d):]
		for i := range d {
			d[i] += math.Float32frombits(bits ^ uint32(word)<<31)
			word >>= 1
		}
	}
}
