package evolution

import (
	"math"

	"github.com/zofl/zofl/prng"
)

// applyFull is Apply with a full covariance: MA-ES with the negative weights of CMA-ES.
func (s *State) applyFull() {
	s.reserve(s.lambda)
	team := s.teamFor(s.lambda)
	team.Do(s.lambda, s.shapes)
	s.weigh()
	square := s.advance()
	clear(s.product)
	for j, a := range s.path {
		addProduct(s.product, a, s.rows[j])
	}
	team.Do(len(s.rows), s.renewal)
	round(s.p, s.path)
	s.grow(float64(s.cs / s.damp * (math.Sqrt(square)/s.length - 1)))
}

// shapeOne draws the candidate of a rank.
func (s *State) shapeOne(_, r int) {
	s.draw(s.z[r], s.order[r])
	s.shape(s.y[r], s.z[r])
}

func (s *State) draw(z []float32, k int) {
	at := s.direction
	at.Perturbation = uint16(k)
	prng.Fill(z, at, 0)
}

// weigh sums z and y of the better half, and divides the negative weights by the squared norm of z.
func (s *State) weigh() {
	s.v = append(s.v[:0], s.w...)
	for r, w := range s.w {
		z, y := s.z[r], s.y[r]
		switch {
		case r < s.better:
			add(s.zw, s.yw, w, z, y)
		case w != 0:
			n := 0.0
			for _, e := range z {
				n += float64(float64(e) * float64(e))
			}
			s.v[r] = float64(w*float64(len(z))) / n
		}
	}
}

// add adds w z and w y to the sums.
func add(zw, yw []float64, w float64, z []float32, y []float64) {
	for i, e := range z {
		zw[i] += float64(w * float64(e))
		yw[i] += float64(w * y[i])
	}
}

// shape sets y to M z, or with a limited covariance to its shaped z.
func (s *State) shape(y []float64, z []float32) {
	if s.limited {
		s.shapeLimited(y, z)
		return
	}
	clear(y)
	for j, e := range z {
		addProduct(y, float64(e), s.rows[j])
	}
}

// addProduct adds a row times a to y.
func addProduct(y []float64, a float64, row []float32) {
	for i, t := range row {
		y[i] += float64(float64(t) * a)
	}
}

// renew computes row j of the next M.
func (s *State) renew(worker, j int) {
	half, rate := s.c1/2, s.cw/2
	keep := 1 - half - float64(rate*s.sum)
	row, old := s.row[worker], s.rows[j]
	a := float64(half * s.path[j])
	for i, t := range old {
		row[i] = float64(keep*float64(t)) + float64(a*s.product[i])
	}
	for r, v := range s.v {
		b := float64(float64(rate*v) * float64(s.z[r][j]))
		for i, e := range s.y[r] {
			row[i] += float64(b * e)
		}
	}
	round(old, row)
}
