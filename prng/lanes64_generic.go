//go:build !(386 || arm || mips || mipsle)

package prng

// fill sets s to the signs of a block whose lanes start in l.
func (s *signs) fill(l *lanes) {
	for i := 0; i < lanesPerBlock-1; i += 2 {
		s.fillTwo(i, l.two(i))
	}
}

// fillTwo sets every eighth word of s, from i and i+1 on, to the next outputs of two lanes.
func (s *signs) fillTwo(i int, l twoLanes) {
	for ; uint(i) < signWords-1; i += lanesPerBlock {
		s[i], l.s0, l.s1 = next(l.s0, l.s1)
		s[i+1], l.u0, l.u1 = next(l.u0, l.u1)
	}
}

// twoLanes holds the states of two neighboring lanes, s and u.
type twoLanes struct{ s0, s1, u0, u1 uint64 }

func (l *lanes) two(i int) twoLanes { return twoLanes{l[0][i], l[1][i], l[0][i+1], l[1][i+1]} }

func (l *lanes) setTwo(i int, s twoLanes) {
	l[0][i], l[1][i], l[0][i+1], l[1][i+1] = s.s0, s.s1, s.u0, s.u1
}
