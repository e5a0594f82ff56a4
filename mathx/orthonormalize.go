package mathx

// Orthonormalize sets dst to the columns of Q = A R^-1, given the columns of A, and R from
// [Cholesky]; dst[j] may be columns[j]. The rows of Q are independent, so a caller that processes
// the columns in parts gets the same bits. Orthonormalize computes in float64 and rounds once to
// float32:
//
//	for e := range dst[0] {
//		for j := range columns {
//			if R[j][j] == 0 {
//				q[j] = 0
//			} else {
//				t := float64(columns[j][e])
//				for i := range j {
//					t -= float64(R[i][j] * q[i])
//				}
//				q[j] = t / R[j][j]
//			}
//			dst[j][e] = float32(q[j])
//		}
//	}
//
// A column that Cholesky dropped becomes zeros. The other columns become orthonormal, and span the
// same subspace as before. Elements of Q^T Q differ from those of the identity by the rounding to
// float32, and by some 1e-16 times the square of the condition number of the kept columns: by 1e-8
// if the columns are well separated, by a few 1e-5 if Cholesky nearly dropped most of them.
// Orthonormalize panics in the same cases as [Gram].
func Orthonormalize(dst, columns [][]float32, r []float64) {
	checkColumns(r, columns)
	checkColumns(r, dst)
	if len(columns) == 0 {
		return
	}
	if len(dst[0]) != len(columns[0]) {
		panic(badLength)
	}
	var q [MaxColumns][chunk]float64
	for n, at := len(columns[0]), 0; at < n; at += chunk {
		end := min(at+chunk, n)
		for j := range columns {
			column := r[GramLen(j):GramLen(j+1)]
			if column[j] == 0 {
				clear(dst[j][at:end]) // q[j] stays zero, so no other column changes
				continue
			}
			widen(&q[j], columns[j][at:end])
			substitute(&q[j], &q, column)
			narrow(dst[j][at:end], &q[j])
		}
	}
}

// substituteGeneric turns t, a column of A, into the column of Q. substituteGeneric subtracts the
// components along the earlier columns of Q, and divides by the diagonal element of R. r is the
// column of R.
func substituteGeneric(t *[chunk]float64, q *[MaxColumns][chunk]float64, r []float64) {
	last := len(r) - 1
	for i, c := range r[:last] {
		x := &q[i]
		for e := range t {
			t[e] -= float64(c * x[e])
		}
	}
	for e := range t {
		t[e] /= r[last]
	}
}
