package evolution

import (
	"math"
	"slices"

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
	addProducts(s.product, s.path, s.rows)
	for i := range s.factors {
		s.factors[i] = slices.Grow(s.factors[i][:0], s.lambda)[:s.lambda]
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
	addProducts(y, z, s.rows)
}

type float interface{ float32 | float64 }

// addProducts adds each row times its factor to y, in order. Four rows in one pass read and write y
// once.
func addProducts[F, R float](y []float64, factors []F, rows [][]R) {
	for ; len(rows) >= 4; factors, rows = factors[4:], rows[4:] {
		a, b, c, d := float64(factors[0]), float64(factors[1]), float64(factors[2]), float64(factors[3])
		r, s, t, u := rows[0][:len(y)], rows[1][:len(y)], rows[2][:len(y)], rows[3][:len(y)]
		for i, v := range y {
			v += float64(a * float64(r[i]))
			v += float64(b * float64(s[i]))
			v += float64(c * float64(t[i]))
			y[i] = v + float64(d*float64(u[i]))
		}
	}
	for j, row := range rows {
		a := float64(factors[j])
		for i, e := range row {
			y[i] += float64(a * float64(e))
		}
	}
}

// renew computes row j of the next M.
func (s *State) renew(worker, j int) {
	half, rate := float64(s.c1/2), float64(s.cw/2)
	keep := 1 - half - float64(rate*s.sum)
	row, old := s.row[worker], s.rows[j]
	a := float64(half * s.path[j])
	for i, t := range old {
		row[i] = float64(keep*float64(t)) + float64(a*s.product[i])
	}
	factors := s.factors[worker]
	for r, v := range s.v {
		factors[r] = float64(float64(rate*v) * float64(s.z[r][j]))
	}
	addProducts(row, factors, s.y[:s.lambda])
	round(old, row)
}
