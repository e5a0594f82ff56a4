package surrogate

// An inverse has A^-1 and the inner products of the points, by slot. With these matrices, the trace
// of (8) takes n^2 operations for each candidate. With the factor alone it would take n^2 d.
//
// The first call of Uncertainty builds the inverse, and then every new point updates it. A Process
// discards the inverse when it computes the factor from scratch, once for every n points. So
// rounding errors do not accumulate, and a Process without calls of Uncertainty has no inverse.
type inverse struct {
	live bool
	a    triangle // A^-1

	center []float64
	x      []float64 // points minus center
	gram   triangle  // inner products of x

	w, v []float64 // scratch: a row by slot, by age
}

func newInverse(window, dim int) *inverse {
	return &inverse{
		a:      newTriangle(window),
		center: make([]float64, dim),
		x:      make([]float64, window*dim),
		gram:   newTriangle(window),
		w:      make([]float64, window),
		v:      make([]float64, window),
	}
}

// build computes the inverse for the points of a process. The center is the latest point.
// Candidates are near that point, so inner products relative to it lose few digits by cancellation.
func (v *inverse) build(p *Process) {
	v.invert(&p.sys)
	if n := p.sys.n; n > 0 {
		copy(v.center, p.point(p.sys.slot(n-1)))
	}
	for slot := range p.sys.n {
		v.place(slot, slot+1, p.point(slot))
	}
	v.live = true
}

// invert computes A^-1 from the factor, row by row: first by age, in the memory of gram,
// and then by slot.
func (v *inverse) invert(s *system) {
	for m := range s.n {
		w := v.v[:m]
		pivot := v.column(s, m)
		for i, c := range w {
			axpy(v.gram.row(i), c/pivot, w[:i+1])
		}
		row := v.gram.row(m)
		for j, c := range w {
			row[j] = -c / pivot
		}
		row[m] = 1 / pivot
	}
	for i := range s.n {
		for j, c := range v.gram.row(i) {
			v.a.set(s.slot(i), s.slot(j), c)
		}
	}
}

// column sets v.v to A^-1 a, for the m points before point m, where a is the row of point m in A.
// column returns the square of the factor's diagonal element of point m, which is 1/A^-1[m][m].
func (v *inverse) column(s *system, m int) (pivot float64) {
	row := s.l.l.row(m)
	copy(v.v, row[:m])
	s.l.solveUpper(v.v, m)
	return row[m] * row[m]
}

// append adds the row and column of the latest point to A^-1. With w and pivot from column, A^-1
// becomes
//
//	A^-1 + w w^T/pivot   -w/pivot
//	-w^T/pivot            1/pivot
func (v *inverse) append(s *system) {
	last := s.n - 1
	pivot := v.column(s, last)
	for i, c := range v.v[:last] {
		v.w[s.slot(i)] = c
	}
	slot := s.slot(last)
	v.w[slot] = 0
	v.rankOne(1/pivot, s.n)
	for j, c := range v.w[:s.n] {
		v.a.set(slot, j, -c/pivot)
	}
	v.a.set(slot, slot, 1/pivot)
}

// drop removes the point in a slot. The inverse for the other points is b - w w^T/a, where b is
// their part of A^-1 and (a, w) is the row of the removed point. append then fills that row.
func (v *inverse) drop(slot, n int) {
	for j := range n {
		v.w[j] = v.a.at(slot, j)
	}
	a := v.w[slot]
	v.w[slot] = 0
	v.rankOne(-1/a, n)
}

// rankOne adds c w w^T to A^-1.
func (v *inverse) rankOne(c float64, n int) {
	for i, wi := range v.w[:n] {
		axpy(v.a.row(i), c*wi, v.w[:i+1])
	}
}

// place stores a point in a slot, and its inner products with the points in the first n slots.
func (v *inverse) place(slot, n int, x []float64) {
	d := len(v.center)
	own := v.x[slot*d : (slot+1)*d]
	for i, c := range v.center {
		own[i] = x[i] - c
	}
	for j := range n {
		v.gram.set(slot, j, dot(own, v.x[j*d:(j+1)*d]))
	}
}
