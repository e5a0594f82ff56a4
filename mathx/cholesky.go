package mathx

import "math"

// droppedPivot: Cholesky drops a column if its pivot is at most this share of the largest squared
// norm of a column.
const droppedPivot = 1e-10

// Cholesky sets r to the upper triangular R of A = QR, given the Gram matrix of A's columns: R^T R
// = A^T A, with a positive diagonal. r and gram have the layout of [GramLen], and may be the same
// slice. Cholesky returns the rank: the number of columns that it keeps.
//
//	largest := the largest diagonal element of G
//	for j := range columns {
//		pivot := G[j][j]
//		for i := range j {
//			if dropped[i] {
//				continue // R[i][j] is 0
//			}
//			s := G[i][j]
//			for k := range i {
//				s -= float64(R[k][i] * R[k][j])
//			}
//			R[i][j] = s / R[i][i]
//			pivot -= float64(R[i][j] * R[i][j])
//		}
//		if pivot > float64(1e-10*largest) {
//			R[j][j] = math.Sqrt(pivot)
//		} else {
//			dropped[j] = true // column j of R is 0
//		}
//	}
//
// The pivot is a column's squared norm without its projections on the kept columns before it. If
// the pivot is at most 1e-10 of the largest squared norm, Cholesky drops the column: the column's
// row and column of R are zeros. So Cholesky drops columns of zeros, the later of two equal
// columns, and independent columns a hundred thousand times shorter than the longest one. If an
// element of the Gram matrix is NaN or infinite, as when a column diverged, Cholesky drops all
// columns. So R is always finite.
//
// Cholesky panics if the lengths differ, or are not GramLen(n) for an n of at most [MaxColumns].
func Cholesky(r, gram []float64) (rank int) {
	if len(r) != len(gram) {
		panic(badLength)
	}
	n := triangleColumns(len(r))
	largest, finite := survey(gram, n)
	if !finite {
		clear(r)
		return 0
	}
	enough := float64(droppedPivot * largest)
	copy(r, gram)
	for j := range n {
		column := r[GramLen(j):GramLen(j+1)]
		pivot := eliminate(column, r)
		if !(pivot > enough) {
			clear(column)
			continue
		}
		column[j] = math.Sqrt(pivot)
		rank++
	}
	return rank
}

// eliminate turns a column of the Gram matrix, except for its diagonal element, into the
// column of R, given the columns before it, and returns the pivot.
func eliminate(column, r []float64) (pivot float64) {
	j := len(column) - 1
	pivot = column[j]
	for i := range j {
		before := r[GramLen(i):GramLen(i+1)]
		if before[i] == 0 {
			column[i] = 0
			continue
		}
		s := column[i]
		for k, v := range before[:i] {
			s -= float64(v * column[k])
		}
		column[i] = s / before[i]
		pivot -= float64(column[i] * column[i])
	}
	return pivot
}

// survey returns the largest diagonal element, at least 0, and whether all
// elements are finite.
func survey(gram []float64, n int) (largest float64, finite bool) {
	for _, v := range gram {
		if v-v != 0 { // v-v is NaN if v is NaN or infinite
			return 0, false
		}
	}
	for j := range n {
		if v := gram[GramLen(j)+j]; v > largest {
			largest = v
		}
	}
	return largest, true
}

// triangleColumns is the inverse of GramLen.
func triangleColumns(length int) int {
	for n := range MaxColumns + 1 {
		if GramLen(n) == length {
			return n
		}
	}
	if length > GramLen(MaxColumns) {
		panic(tooManyColumns)
	}
	panic(badLength)
}
