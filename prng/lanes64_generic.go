//go:build !(386 || arm || mips || mipsle)

package prng

// fill sets s to the signs of a block whose lanes start in l, two lanes at a time.
func (s *signs) fill(l *lanes) {
	for lane := 0; lane < lanesPerBlock-1; lane += 2 {
		s0, s1 := l[0][lane], l[1][lane]
		u0, u1 := l[0][lane+1], l[1][lane+1]
		for i := lane; i < signWords-1; i += lanesPerBlock {
			s[i], s0, s1 = next(s0, s1)
			s[i+1], u0, u1 = next(u0, u1)
		}
	}
}
