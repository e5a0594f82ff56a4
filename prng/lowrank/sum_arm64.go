//go:build !purego

package lowrank

// unit is the number of columns of which the assembly takes multiples.
const unit = 4

// addRowNEON adds the sums of groups to columns elements: a multiple of 4, at least 4. A group's
// signs are the bytes at a, of rows, and at b, of columns; those of the next group are aNext and
// bNext bytes on.
//
//go:noescape
func addRowNEON(dst *float32, stride, columns, groups int, a *uint8, aNext int, b *uint8,
	bNext int, sums *[2][8]float32)

// addFourNEON does the same for four rows, stride bytes apart.
//
//go:noescape
func addFourNEON(dst *float32, stride, columns, groups int, a *uint8, aNext int, b *uint8,
	bNext int, sums *[2][8]float32)

// addRows adds to columns elements of 1, 2 or 4 rows, stride elements apart.
func (t *Sums) addRows(x []float32, rows, stride, columns int, s *Signs, p piece) {
	if rows == 4 {
		a, next, b, sums := t.pointers(s, p, 0)
		addFourNEON(&x[0], 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
		return
	}
	for r := range rows {
		a, next, b, sums := t.pointers(s, p, r)
		addRowNEON(&x[r*stride], 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
	}
}

func clearNegativeZeros(x []float32) { clearEachNegativeZero(x) }

// addStrips has no assembly.
func (t *Sums) addStrips([]float32, int, *Signs, piece) int { return 0 }
