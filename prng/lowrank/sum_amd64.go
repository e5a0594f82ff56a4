//go:build !purego

package lowrank

//go:generate go -C ../../internal/asm run ./lowrank -out ../../prng/lowrank/vector_amd64.s -stubs ../../prng/lowrank/vector_stubs_amd64.go -pkg lowrank

// vectors tells whether there is assembly.
const vectors = true

// tile is the number of elements that stay in the first cache while groups pass over them.
const tile = 4096

// addHalves adds to rows of width elements the sums of the groups that have halves.
func (t *Sums) addHalves(x []float32, width int, s *Signs, p piece) {
	clearNegativeZeros(x)
	for r := 0; len(x) > 0; {
		rows := 4
		for len(x) < rows*width {
			rows /= 2
		}
		for from := 0; from < width; from += tile / rows {
			columns := min(tile/rows, width-from)
			t.addRows(&x[from], rows, width, columns, s, piece{p.segment, p.row + r, p.from + from})
		}
		x, r = x[rows*width:], r+rows
	}
}

// addRows adds to columns elements of 1, 2 or 4 rows, stride elements apart.
func (t *Sums) addRows(x *float32, rows, stride, columns int, s *Signs, p piece) {
	g := len(t.tables)
	a, next := s.rowSigns(g, p, 0)
	b := &s.bytes[g*s.stride+p.b+p.from]
	sums := (*[2][8]float32)(&t.halves[0])
	switch rows {
	case 1:
		addRowAVX2(x, 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
	case 2:
		addPairAVX2(x, 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
	default:
		addFourAVX2(x, 4*stride, columns, len(t.halves), a, next, b, s.stride, sums)
	}
}

// clearNegativeZeros makes each -0 a +0, as a group does whose coefficients are not all zero.
func clearNegativeZeros(x []float32) {
	n := len(x) &^ 7
	if n > 0 {
		positiveZerosAVX2(&x[0], n/8)
	}
	for i := n; i < len(x); i++ {
		x[i] += 0
	}
}
