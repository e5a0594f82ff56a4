package mathx

// MaxColumns is how many columns [Gram], [Cholesky] and [Orthonormalize] take at
// most.
const MaxColumns = 64

const tooManyColumns = "mathx: more than 64 columns"

// GramLen returns the length of the upper triangle of a matrix of so many
// columns, which [Gram] and [Cholesky] hold column by column: the element of
// row i and column j >= i is at GramLen(j)+i. So the triangle of the first
// columns is a prefix.
func GramLen(columns int) int { return columns * (columns + 1) / 2 }

// Gram sets dst to the upper triangle of A^T A in float64, A being the matrix of
// these columns: each element is [Dot] of two of them.
//
//	for j := range columns {
//		for i := range j + 1 {
//			dst[GramLen(j)+i] = Dot(columns[i], columns[j])
//		}
//	}
//
// A caller that sees one block of 4096 elements at a time gets the same bits by
// [AddGram] of each block's, from zero and in ascending order; blocks can be
// computed in any order and place. No element of finite columns overflows. It
// panics if the lengths of columns differ, that of dst is not GramLen, or there
// are more columns than MaxColumns.
func Gram(dst []float64, columns [][]float32) {
	checkColumns(dst, columns)
	clear(dst)
	if len(columns) == 0 {
		return
	}
	for n, at := len(columns[0]), 0; at < n; at += block {
		for j := range columns {
			addGramColumn(dst[GramLen(j):GramLen(j+1)], columns, at, min(at+block, n))
		}
	}
}

// AddGram adds the triangle of a block to the sum over those before it.
//
//	for i := range dst {
//		dst[i] += part[i]
//	}
//
// It panics if the lengths differ.
func AddGram(dst, part []float64) {
	if len(part) != len(dst) {
		panic(badLength)
	}
	for i, v := range part {
		dst[i] += v
	}
}

// addGramColumn adds to dst the inner products, within a block, of the last
// column that it has an element for and those up to it. It takes four at a time:
// an addition waits for the one before it, but not for those of other columns.
func addGramColumn(dst []float64, columns [][]float32, at, end int) {
	last := len(dst) - 1
	x := columns[last][at:end]
	for i := 0; i <= last; i += 4 {
		// Beyond the last column, the last again.
		t := dotFourColumns(x, columns[i][at:end], columns[min(i+1, last)][at:end],
			columns[min(i+2, last)][at:end], columns[min(i+3, last)][at:end])
		for k := range min(4, last+1-i) {
			dst[i+k] += t[k]
		}
	}
}

// dotFourColumns returns the inner products of x with four columns, each
// ascending.
func dotFourColumns(x, a, b, c, d []float32) [4]float64 {
	a, b, c, d = a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
	var t0, t1, t2, t3 float64
	for i, v := range x {
		w := float64(v)
		t0 += float64(w * float64(a[i]))
		t1 += float64(w * float64(b[i]))
		t2 += float64(w * float64(c[i]))
		t3 += float64(w * float64(d[i]))
	}
	return [4]float64{t0, t1, t2, t3}
}

// checkColumns panics unless the triangle is one of these columns, which are of
// one length.
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
