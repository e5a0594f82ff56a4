package lowrank

// Sums holds the sums of groups for all patterns of signs. The zero value holds none. Its memory is
// used again.
type Sums struct {
	tables []table
}

// table holds the sum of a group for each byte of Signs.
type table [1 << groupLen]float32

// Set sets t to the sums of terms with coefficients a, in order.
func (t *Sums) Set(a []float32) {
	t.tables = t.tables[:0]
	for len(a) > 0 {
		var group [groupLen]float32
		a = a[copy(group[:], a):]
		t.tables = append(t.tables, table{})
		t.tables[len(t.tables)-1].set(&group)
	}
}

// half returns ((±c0 ± c1) ± c2) ± c3 for the signs in the four low bits of b.
func half(c []float32, b int) float32 {
	s := negative(c[0], b&1)
	s += negative(c[1], b>>1&1)
	s += negative(c[2], b>>2&1)
	s += negative(c[3], b>>3&1)
	return s
}

func negative(c float32, sign int) float32 {
	if sign == 1 {
		return -c
	}
	return c
}

// set sets t to the sums of a group.
func (t *table) set(c *[groupLen]float32) {
	var low, high [1 << (groupLen / 2)]float32
	for b := range low {
		at := byte(fold(uint64(b)))
		low[at], high[at] = half(c[:4], b), half(c[4:], b)
	}
	for b := range t {
		t[b] = low[b&15] + high[b>>4]
	}
}

// Sum adds the sum of terms to a part of a vector: to element at+i, in order, those of each group
// of eight consecutive terms, the last filled with coefficients of 0 and signs of +. The terms have
// the directions of s and the coefficients of t. With ±c meaning c or -c by the sign of the
// element:
//
//	l = ((±c0 ± c1) ± c2) ± c3
//	h = ((±c4 ± c5) ± c6) ± c7
//	dst[i] += l + h
//
// Sum forms groups from the first term on. So the caller must pass the terms of a step in one call,
// or in calls of which all but the last have a multiple of eight. Sum panics if s and t do not have
// the same number of groups.
func (l *Layout) Sum(dst []float32, at int, s *Signs, t *Sums) {
	if s.groups != len(t.tables) {
		panic(lengthMismatch)
	}
	l.check(at, len(dst))
	l.bands(at, len(dst), func(p piece, rows, width, off int) {
		for r := range rows {
			x := dst[off+r*width:][:width]
			for g := range t.tables {
				signs := s.bytes[g*s.stride:]
				a := byte(0)
				if !p.plain {
					a = signs[p.a+p.row+r]
				}
				t.tables[g].add(x, signs[p.b+p.from:][:width], a)
			}
		}
	})
}

// add adds to each element the sum that its byte of b, exclusive or a, selects.
func (t *table) add(x []float32, b []byte, a byte) {
	b = b[:len(x)]
	for i := range x {
		x[i] += t[a^b[i]]
	}
}
