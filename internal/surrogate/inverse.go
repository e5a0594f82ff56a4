package surrogate

// An inverse has A^-1 and the inner products of the points, by slot. With them the trace
// of (8) costs n^2 for each candidate; with the factor alone it would cost n^2 d.
//
// It is built at the first query and updated with every point from then on. It is
// discarded when the factor is computed from scratch, once for every n points. So its
// rounding errors do not accumulate, and without queries it costs nothing.
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

// build computes the inverse for the points of a process. The center is the latest point,
// because queries are near it, so that little cancels in the inner products.
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

// column sets v.v to A^-1 a, for the m points before point m, where a is the row of point
// m in A. It returns the rest of its pivot, 1/A^-1[m][m].
func (v *inverse) column(s *system, m int) (pivot float64) {
	row := s.l.l.row(m)
	copy(v.v, row[:m])
	s.l.solveUpper(v.v, m)
	return row[m] * row[m]
}

// append gives A^-1 the row of the latest point: with w from column,
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

// drop removes the point of a slot from A^-1 of the other points: b - w w^T/a, where (a, w) is its
// row. append then fills that row.
func (v *inverse) drop(slot, n int) {
	for j := range n {
		v.w[j] = v.a.at(slot, j)
	}
	a := v.w[slot]
	v.w[slot] = 0
	v.rankOne(-1/a, n)
}

// rankOne adds c w w^T.
func (v *inverse) rankOne(c float64, n int) {
	for i, wi := range v.w[:n] {
		axpy(v.a.row(i), c*wi, v.w[:i+1])
	}
}

// place stores a point in a slot, and its inner products with n slots.
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
