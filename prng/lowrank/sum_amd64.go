//go:build !purego

package lowrank

import (
	"unsafe"

	"github.com/zofl/zofl/internal/isa"
)

//go:generate go -C ../../internal/asm run ./lowrank -out ../../prng/lowrank/vector_amd64.s -stubs ../../prng/lowrank/vector_stubs_amd64.go -pkg lowrank

// unit is the number of columns of which the assembly takes multiples: any.
const unit = 1

// A strip is stripLen columns of up to stripRows rows.
const (
	stripLen  = 16
	stripRows = 256
)

// leastRows is the number of rows from which on a strip pays for its tables.
const leastRows = 24

// A stripScratch has room for the groups that pass over a strip together. It fits in the first
// cache.
type stripScratch struct {
	tables [8][2][16][stripLen]float32
	signs  [8][2][stripRows]uint8
}

// A stripRoom has room for a stripScratch at the start of a cache line: loads that span two lines
// take longer.
type stripRoom [unsafe.Sizeof(stripScratch{}) + lineLen - 1]byte

const lineLen = 64

func (r *stripRoom) scratch() *stripScratch {
	p := unsafe.Pointer(r)
	return (*stripScratch)(unsafe.Add(p, -uintptr(p)%lineLen))
}

// tileStrips is the number of strips of a tile. It is odd, so that the lines of a strip are in all
// sets of the first cache.
const tileStrips = 3

// tileOf returns the shape of tiles of strips in a matrix, or zeros where strips do not pay.
func tileOf(rows, columns, most int) (r, c int) {
	if rows < leastRows || columns < stripLen || isa.Current() != isa.AVX2 {
		return 0, 0
	}
	slabs := (rows + stripRows - 1) / stripRows
	r = (rows + slabs - 1) / slabs
	return r, stripLen * min(tileStrips, most/(r*stripLen))
}

// copyRows is copyEachRow.
func copyRows(dst []float32, dstNext int, src []float32, srcNext, columns int) {
	if columns%stripLen > 0 || isa.Current() < isa.AVX2 {
		copyEachRow(dst, dstNext, src, srcNext, columns)
		return
	}
	rows := (len(dst)-columns)/dstNext + 1
	copyRowsAVX2(&dst[0], 4*dstNext, &src[0], 4*srcNext, rows, columns/stripLen)
}

// addStrips adds to rows of width elements all that it can in strips, and returns the number of
// columns in these.
func (t *Sums) addStrips(x []float32, width int, s *Signs, p piece) (columns int) {
	rows := len(x) / width
	columns = width &^ (stripLen - 1)
	if rows < leastRows || columns == 0 || isa.Current() != isa.AVX2 {
		return 0
	}
	var room stripRoom
	scratch := room.scratch()
	for r := 0; r < rows; r += stripRows {
		n := min(stripRows, rows-r)
		for g := 0; g < len(t.halves); g += len(scratch.tables) {
			groups := min(len(scratch.tables), len(t.halves)-g)
			at := (len(t.tables) + g) * s.stride
			stripSignsAVX2(&scratch.signs[0], &s.bytes[at+p.a+p.row+r], s.stride, n, groups)
			sums := (*[2][8]float32)(&t.halves[g])
			for from := 0; from < columns; from += stripLen {
				stripTablesAVX2(&scratch.tables[0], groups, &s.bytes[at+p.b+p.from+from], s.stride, sums)
				addStripAVX2(&x[r*width+from], 4*width, n, groups, &scratch.signs[0],
					&scratch.tables[0])
			}
		}
	}
	return columns
}

// addRows adds to columns elements of 1, 2 or 4 rows, stride elements apart.
func (t *Sums) addRows(x []float32, rows, stride, columns int, s *Signs, p piece) {
	a, next, b, sums := t.pointers(s, p, 0)
	n, wide := len(t.halves), isa.Current() >= isa.AVX512
	switch {
	case wide && rows == 1:
		addRowAVX512(&x[0], 4*stride, columns, n, a, next, b, s.stride, sums)
	case wide && rows == 2:
		addPairAVX512(&x[0], 4*stride, columns, n, a, next, b, s.stride, sums)
	case wide:
		addFourAVX512(&x[0], 4*stride, columns, n, a, next, b, s.stride, sums)
	case rows == 1:
		addRowAVX2(&x[0], 4*stride, columns, n, a, next, b, s.stride, sums)
	case rows == 2:
		addPairAVX2(&x[0], 4*stride, columns, n, a, next, b, s.stride, sums)
	default:
		addFourAVX2(&x[0], 4*stride, columns, n, a, next, b, s.stride, sums)
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
