package lowrank

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/zofl/zofl/internal/isa"
)

// Sums holds the sums of groups for all patterns of signs. The zero value holds none. Its memory is
// used again.
//
// The first groups have tables of all sums, which are right to the bit, also for zeros. The groups
// after them have halves, which assembly uses, see [Sums.Set].
type Sums struct {
	tables []table
	halves []halves
}

// table holds the sum of a group for each byte of Signs.
type table [1 << groupLen]float32

// halves holds l and h of a group, see [Layout.Sum], for the eight patterns of signs in which the
// last sign is +.
type halves [2][1 << (groupLen/2 - 1)]float32

// Set sets t to the sums of terms with coefficients a, in order.
//
// Assembly takes a half whose last sign is - as the negative of the half with all signs inverted.
// These are the same number but for the sign of a zero. That sign matters only where all
// coefficients of a group are zero and the element is -0, and no element is -0 after a group that
// has another coefficient. So groups before such a one keep tables.
func (t *Sums) Set(a []float32) {
	t.tables, t.halves = t.tables[:0], t.halves[:0]
	fast := vectors && isa.Current() != isa.Generic
	for len(a) > 0 {
		var group [groupLen]float32
		a = a[copy(group[:], a):]
		if fast && (len(t.halves) > 0 || !allZero(&group)) {
			t.halves = append(t.halves, halves{})
			t.halves[len(t.halves)-1].set(&group)
		} else {
			t.tables = append(t.tables, table{})
			t.tables[len(t.tables)-1].set(&group)
		}
	}
}

func allZero(c *[groupLen]float32) bool {
	return !slices.ContainsFunc(c[:], func(v float32) bool { return v != 0 })
}

// half returns ((±c0 ± c1) ± c2) ± c3 for the signs in the four low bits of b.
func half(c []float32, b int) float32 {
	s := signed(c[0], b&1)
	s += signed(c[1], b>>1&1)
	s += signed(c[2], b>>2&1)
	s += signed(c[3], b>>3&1)
	return s
}

func signed(c float32, sign int) float32 {
	if sign == 1 {
		return -c
	}
	return c
}

// set sets t to the sums of a group.
func (t *table) set(c *[groupLen]float32) {
	var low, high [1 << (groupLen / 2)]float32
	for b := range low {
		at := fold(uint64(b))
		low[at], high[at] = half(c[:4], b), half(c[4:], b)
	}
	for b := range t {
		t[b] = low[b&15] + high[b>>4]
	}
}

func (t *halves) set(c *[groupLen]float32) {
	for b := range t[0] {
		t[0][b], t[1][b] = half(c[:4], b), half(c[4:], b)
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
	t.check(s)
	l.check(at, len(dst))
	l.bands(at, len(dst), func(p piece, rows, width, off int) {
		t.add(dst[off:off+rows*width], width, s, p)
	})
}

// check panics if s and t do not have the same number of groups.
func (t *Sums) check(s *Signs) {
	if s.groups != len(t.tables)+len(t.halves) {
		panic(lengthMismatch)
	}
}

// add adds the sums of all groups to rows of width elements, from p on.
func (t *Sums) add(x []float32, width int, s *Signs, p piece) {
	t.addTables(x, width, s, p)
	if len(t.halves) > 0 {
		t.addHalves(x, width, s, p)
	}
}

// noSign is the sign of the row of a segment that is no matrix.
var noSign uint8

// rowSigns returns the first byte of row r, and the distance to those of the next group.
func (s *Signs) rowSigns(g int, p piece, r int) (signs *uint8, next int) {
	if p.plain {
		return &noSign, 0
	}
	return &s.bytes[g*s.stride+p.a+p.row+r], s.stride
}

// addTables adds to rows of width elements the sums of the groups that have tables.
func (t *Sums) addTables(x []float32, width int, s *Signs, p piece) {
	for r := 0; len(x) > 0; r++ {
		for g := range t.tables {
			a, _ := s.rowSigns(g, p, r)
			t.tables[g].add(x[:width], s.bytes[g*s.stride+p.b+p.from:][:width], *a)
		}
		x = x[width:]
	}
}

// add adds to each element the sum that its byte of b, exclusive or a, selects.
func (t *table) add(x []float32, b []byte, a byte) {
	every := uint64(a) * (math.MaxUint64 / 0xff) // a in each byte
	_ = t[0]                                     // check for nil here rather than in the loop
	for len(x) >= 8 && len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b) ^ every
		lo, hi := uint32(w), uint32(w>>32)
		d := (*[8]float32)(x)
		x0, x1, x2, x3 := d[0]+t[lo&255], d[1]+t[lo>>8&255], d[2]+t[lo>>16&255], d[3]+t[lo>>24]
		x4, x5, x6, x7 := d[4]+t[hi&255], d[5]+t[hi>>8&255], d[6]+t[hi>>16&255], d[7]+t[hi>>24]
		d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = x0, x1, x2, x3, x4, x5, x6, x7
		x, b = x[8:], b[8:]
	}
	for i := range x {
		x[i] += t[a^b[i]]
	}
}
