//go:build !purego

package lowrank

//go:generate go -C ../../internal/asm run ./lowrank -out ../../prng/lowrank/vector_amd64.s -stubs ../../prng/lowrank/vector_stubs_amd64.go -pkg lowrank

// unit is the number of columns of which the assembly takes multiples: any.
const unit = 1

// addRows adds to columns elements of 1, 2 or 4 rows, stride elements apart.
func (t *Sums) addRows(x []float32, rows, stride, columns int, s *Signs, p piece) {
	a, next, b, sums := t.pointers(s, p, 0)
	switch rows {
	case 1:
		addRowAVX2(&x[0], 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
	case 2:
		addPairAVX2(&x[0], 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
	default:
		addFourAVX2(&x[0], 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
	}
}

// clearNegativeZeros makes each -0 a +0, as a group does whose coefficients are not all zero.
func clearNegativeZeros(x []float32) {
	n := len(x) &^ 7
	if n > 0 {
		positiveZerosAVX2(&x[0], n/8)
	}
	clearEachNegativeZero(x[n:])
}
