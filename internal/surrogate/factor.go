package surrogate

import "math"

// A factor is the lower triangle L of A = L L^T. Its rows belong to points in the order of their
// age: drop removes the first row, of the oldest point, and append adds a last row, for the latest
// point.
type factor struct {
	l triangle
	n int       // rows
	x []float64 // scratch of drop: the removed column
	c []float64 // its rotations
	s []float64
}

func newFactor(window int) factor {
	return factor{
		l: newTriangle(window),
		x: make([]float64, window),
		c: make([]float64, window),
		s: make([]float64, window),
	}
}

// append adds a row: a has the elements of A left of the diagonal, and pivot is the diagonal
// element. If pivot - |L[n][:n]|^2 is less than least, append returns false and leaves the factor
// unchanged.
//
//	L[n][:n] = L^-1 a
//	L[n][n] = sqrt(pivot - |L[n][:n]|^2)
func (f *factor) append(a []float64, pivot, least float64) bool {
	row := f.l.row(f.n)
	f.solveLower(row[:f.n], a)
	rest := pivot - dot(row[:f.n], row[:f.n])
	if !(rest >= least) || rest <= 0 {
		return false
	}
	row[f.n] = math.Sqrt(rest)
	f.n++
	return true
}

// solveLower sets z to L^-1 b; z and b may be the same slice.
func (f *factor) solveLower(z, b []float64) {
	for i := range f.n {
		row := f.l.row(i)
		z[i] = (b[i] - dot(row[:i], z[:i])) / row[i]
	}
}

// solveUpper sets the first n elements of z to L^-T z, where L is the factor.
func (f *factor) solveUpper(z []float64, n int) {
	for i := n - 1; i >= 0; i-- {
		row := f.l.row(i)
		z[i] /= row[i]
		axpy(z[:i], -z[i], row[:i])
	}
}

// drop removes the first row and column of A. Let l be the first column of L. drop turns the other
// rows and columns of L into the factor of L L^T + l l^T, by one rotation for each column. In the
// packed triangle, row i+1 without its first element directly follows row i.
func (f *factor) drop() {
	f.n--
	for i := range f.n {
		f.x[i] = f.l.row(i + 1)[0]
	}
	i := 0
	for ; i+4 <= f.n; i += 4 {
		f.rotateFour(i)
		for j := range 4 {
			f.rotate(i+j, i)
		}
	}
	for ; i < f.n; i++ {
		f.rotate(i, 0)
	}
}

// rotate computes the new row i from the old row i+1, from column start on.
func (f *factor) rotate(i, start int) {
	to, from := f.l.row(i), f.l.row(i + 1)[1:]
	x := f.x[i]
	for k := start; k < i; k++ {
		t := from[k]
		to[k] = f.c[k]*t + f.s[k]*x
		x = f.c[k]*x - f.s[k]*t
	}
	r := math.Hypot(from[i], x)
	f.c[i], f.s[i] = from[i]/r, x/r
	to[i] = r
}

// rotateFour computes the first i columns of rows i to i+3 at the same time. Within one row each
// column depends on the column before, so a single row would leave the processor waiting.
func (f *factor) rotateFour(i int) {
	c, s := f.c[:i], f.s[:i]
	r1, r2, r3 := f.l.row(i + 1)[:i+1], f.l.row(i + 2)[:i+1], f.l.row(i + 3)[:i+1]
	r0, r4 := f.l.row(i)[:i], f.l.row(i + 4)[:i+1]
	x0, x1, x2, x3 := f.x[i], f.x[i+1], f.x[i+2], f.x[i+3]
	for k, ck := range c {
		sk := s[k]
		t0, t1, t2, t3 := r1[k+1], r2[k+1], r3[k+1], r4[k+1]
		r0[k], x0 = ck*t0+sk*x0, ck*x0-sk*t0
		r1[k], x1 = ck*t1+sk*x1, ck*x1-sk*t1
		r2[k], x2 = ck*t2+sk*x2, ck*x2-sk*t2
		r3[k], x3 = ck*t3+sk*x3, ck*x3-sk*t3
	}
	f.x[i], f.x[i+1], f.x[i+2], f.x[i+3] = x0, x1, x2, x3
}
