package reference

import "math"

// ZOFedHT is Algorithm 1 of the ZOFedHT paper, with directions sampled as in section III-B: v =
// sqrt(1-alpha) v1 + sqrt(alpha) Q v2. Direction returns v1, of n elements. With Alpha = 0,
// ZOFedHT is one of the paper's baselines: ZOFedAvg-SGD if Loss is over minibatches, ZOFedAvg-GD
// if Loss is over all of a client's data.
type ZOFedHT struct {
	Problem
	K, P    int // the paper has P = 1
	Mu, Eta float64
	Tau     int
	Alpha   float64
	// Coordinates returns v2: Tau elements, one for each column of Q.
	Coordinates func(client int, at At, p int) []float64
}

// A Trajectory is the server's state between rounds.
type Trajectory struct {
	X     []float64
	Moves [][]float64 // Delta_{r-1}, Delta_{r-2}, ...: at most Tau
	Q     [][]float64 // columns; nil: C = I
}

// Round executes lines 3-21 of Algorithm 1 for round r, from 0, whose record is n. The step size
// is eta_r = Eta / sqrt(r+1), as in the paper's experiments.
func (h *ZOFedHT) Round(s *Trajectory, r int, n uint64, sampled []int) {
	if h.Alpha > 0 && r >= h.Tau && r%h.Tau == 0 {
		s.Q = QR(s.Moves) // lines 5-6
	}
	eta := h.Eta / math.Sqrt(float64(r+1))
	var locals [][]float64
	for _, client := range sampled {
		w := clone(s.X)
		for k := range h.K { // lines 12-17
			at, g := At{n, k}, make([]float64, h.Dim)
			for p := range h.P {
				v := h.direction(s.Q, client, at, p)
				add(g, h.central(client, at, w, v, h.Mu)/float64(h.P), v)
			}
			add(w, -eta, g)
		}
		locals = append(locals, w)
	}
	next := mean(locals...) // line 20
	s.Moves = append([][]float64{along(next, -1, s.X)}, s.Moves...)
	s.Moves = s.Moves[:min(len(s.Moves), max(h.Tau, 1))]
	s.X = next
}

// direction is line 13 of Algorithm 1.
func (h *ZOFedHT) direction(q [][]float64, client int, at At, p int) []float64 {
	v1 := h.Direction(client, at, p)
	if q == nil {
		return v1
	}
	return combine(h.Alpha, v1, q, h.Coordinates(client, at, p))
}

// combine returns sqrt(1-alpha) v1 + sqrt(alpha) Q v2.
func combine(alpha float64, v1 []float64, q [][]float64, v2 []float64) []float64 {
	v := make([]float64, len(v1))
	add(v, math.Sqrt(1-alpha), v1)
	for j, column := range q {
		add(v, math.Sqrt(alpha)*v2[j], column)
	}
	return v
}

// QR returns the columns of Q of the thin QR factorization whose R has a positive diagonal. This
// factorization exists if no column is a linear combination of the others.
//
// QR applies Gram-Schmidt twice, which gives columns as orthogonal as those of Householder's
// method.
func QR(columns [][]float64) [][]float64 { return factor(columns, 0) }

// DroppingQR is QR, but it sets a column of Q to 0 if the distance of the given column from the
// span of the previous columns is at most 1e-5 times the norm of the longest column. The paper
// has no such rule.
func DroppingQR(columns [][]float64) [][]float64 { return factor(columns, 1e-10) }

// factor is QR, but it drops a column if the squared norm of the column's part orthogonal to the
// previous columns is at most share times the squared norm of the longest column.
func factor(columns [][]float64, share float64) [][]float64 {
	longest := 0.0
	for _, a := range columns {
		longest = max(longest, dot(a, a))
	}
	q := make([][]float64, len(columns))
	for j, a := range columns {
		v := clone(a)
		for range 2 {
			for _, before := range q[:j] {
				add(v, -dot(before, v), before)
			}
		}
		q[j] = make([]float64, len(a))
		if square := dot(v, v); square > share*longest {
			add(q[j], 1/math.Sqrt(square), v)
		}
	}
	return q
}
