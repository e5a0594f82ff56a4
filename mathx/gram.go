package mathx

// MaxColumns is the largest number of columns that [Gram], [Cholesky] and
// [Orthonormalize] accept.
const MaxColumns = 64

const tooManyColumns = "mathx: more than 64 columns"

// GramLen returns the length of the upper triangle of a square matrix with that many
// columns. [Gram] and [Cholesky] store it column by column: the element of row i and
// column j >= i is at GramLen(j)+i. So the triangle of the first columns is a prefix.
func GramLen(columns int) int { return columns * (columns + 1) / 2 }

// Gram sets dst to the upper triangle of A^T A in float64, where A is the matrix of the
// columns: each element is the [Dot] of two of them.
//
//	for j := range columns {
//		for i := range j + 1 {
//			dst[GramLen(j)+i] = Dot(columns[i], columns[j])
//		}
//	}
//
// A caller that has one block of 4096 elements at a time gets the same bits in this way: it calls
// Gram for each block, in any order, and adds the triangles with [AddGram] to zero, in ascending
// order of blocks. For finite columns no element overflows. Gram panics if columns differ in
// length, if the length of dst is not GramLen, or if there are more columns than MaxColumns.
func Gram(dst []float64, columns [][]float32) {
	checkColumns(dst, columns)
	clear(dst)
	if len(columns) == 0 {
		return
	}
	var g gramBlock
	for n, at := len(columns[0]), 0; at < n; at += block {
		g.add(dst, columns, at, min(at+block, n))
	}
}

// AddGram adds the triangle of a block to the sum over earlier blocks.
//
//	for i := range dst {
//		dst[i] += part[i]
//	}
//
// AddGram panics if the lengths differ.
func AddGram(dst, part []float64) {
	if len(part) != len(dst) {
		panic(badLength)
	}
	for i, v := range part {
		dst[i] += v
	}
}

// A gramBlock is work space for the Gram matrix of a block. The work is split into tiles of four
// rows and four columns, so that the processor can add to 16 elements at the same time.
//
// Invariants:
//  1. Padding columns, up to a multiple of four, are zeros.
//  2. A partial chunk is padded with zeros. Adding products of zeros changes no sum, because no sum
//     is -0.
type gramBlock struct {
	wide [MaxColumns / 4][4][chunk]float64 // the columns' elements
	sums [gramTiles][4][4]float64          // tile (i, j >= i) at GramLen(j)+i, transposed
}

// gramTiles is the number of tiles of MaxColumns columns.
const gramTiles = MaxColumns / 4 * (MaxColumns/4 + 1) / 2

// add adds the inner products within a block to dst.
func (g *gramBlock) add(dst []float64, columns [][]float32, at, end int) {
	groups := (len(columns) + 3) / 4
	clear(g.sums[:GramLen(groups)])
	for ; at < end; at += chunk {
		for j, c := range columns {
			widen(&g.wide[j/4][j%4], c[at:min(at+chunk, end)])
		}
		for j := range groups {
			for i := range j + 1 {
				addTile(&g.sums[GramLen(j)+i], &g.wide[j], &g.wide[i], min(4, len(columns)-4*j))
			}
		}
	}
	for j := range columns {
		for i := range j + 1 {
			dst[GramLen(j)+i] += g.sums[GramLen(j/4)+i/4][j%4][i%4]
		}
	}
}

// addTileGeneric adds the inner product of x[j] and y[i] to sums[j][i], in ascending order of
// elements, for all i and for j < rows.
func addTileGeneric(sums *[4][4]float64, x, y *[4][chunk]float64, rows int) {
	for j := range rows {
		s := &sums[j]
		t0, t1, t2, t3 := s[0], s[1], s[2], s[3]
		for e, v := range &x[j] {
			t0 += float64(v * y[0][e])
			t1 += float64(v * y[1][e])
			t2 += float64(v * y[2][e])
			t3 += float64(v * y[3][e])
		}
		s[0], s[1], s[2], s[3] = t0, t1, t2, t3
	}
}

// checkColumns panics unless the columns have the same length and the triangle has the length
// GramLen(len(columns)).
func checkColumns(triangle []float64, columns [][]float32) {
	if len(columns) > MaxColumns {
		panic(tooManyColumns)
	}
	if len(triangle) != GramLen(len(columns)) {
		panic(badLength)
	}
	for _, c := range columns {
		if len(c) != len(columns[0]) {
			panic(badLength)
		}
	}
}
