//go:build 386 || arm || mips || mipsle

package prng

// halves is the state of a lane, s0 and s1, in 32-bit halves: x0 and x1 are the low halves, y0 and
// y1 the high halves.
type halves struct{ x0, y0, x1, y1 uint32 }

func (l *lanes) halves(i int) halves {
	s0, s1 := l[0][i], l[1][i]
	return halves{uint32(s0), uint32(s0 >> 32), uint32(s1), uint32(s1 >> 32)}
}

func (l *lanes) setHalves(i int, s halves) {
	l[0][i] = uint64(s.x0) | uint64(s.y0)<<32
	l[1][i] = uint64(s.x1) | uint64(s.y1)<<32
}

func (s halves) output() uint64 {
	s0 := uint64(s.x0) | uint64(s.y0)<<32
	sum := s0 + (uint64(s.x1) | uint64(s.y1)<<32)
	return (sum<<17 | sum>>47) + s0
}

func (s halves) next() halves {
	s.x0, s.y0, s.x1, s.y1 = after32(s.x0, s.y0, s.x0^s.x1, s.y0^s.y1)
	return s
}

// after32 is after on 32-bit halves. after32 needs fewer instructions than the compiler's code for
// 64-bit shifts.
func after32(x0, y0, x, y uint32) (_, _, _, _ uint32) {
	return x ^ x<<21 ^ y0<<17 ^ x0>>15, y ^ y<<21 ^ x>>11 ^ x0<<17 ^ y0>>15, x<<28 | y>>4,
		y<<28 | x>>4
}

// loadLane sets every eighth word of s, from word i on, to the next outputs of a lane.
func (s *signs) loadLane(i int, l halves) {
	for {
		s[i%signWords] = l.output()
		if i += lanesPerBlock; i >= signWords {
			return
		}
		l.x0, l.y0, l.x1, l.y1 = after32(l.x0, l.y0, l.x0^l.x1, l.y0^l.y1)
	}
}

// fill sets s to the signs of a block whose lanes start in l.
func (s *signs) fill(l *lanes) {
	for i := range lanesPerBlock {
		s.loadLane(i, l.halves(i))
	}
}
