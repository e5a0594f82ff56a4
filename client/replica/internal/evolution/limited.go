package evolution

// applyLimited is Apply with a limited covariance: LM-MA-ES. Only the better half of the candidates
// counts.
func (s *State) applyLimited(candidates uint32) {
	s.reserve(1)
	z, y := s.z[0], s.y[0]
	for r, w := range s.w[:s.better] {
		s.draw(z, s.order[r])
		s.shapeLimited(y, z)
		add(s.zw, s.yw, w, z, y)
	}
	square, d := s.advance(), float64(len(s.x))
	power := 1.0
	for _, v := range s.rows {
		rate := min(1, float64(candidates)/float64(power*d))
		keep, gain := 1-rate, s.gain(rate)
		for i, e := range v {
			v[i] = float32(float64(keep*float64(e)) + float64(gain*s.zw[i]))
		}
		power *= 4
	}
	round(s.p, s.path)
	s.grow(float64(s.cs / 2 * (square/d - 1)))
	s.Records++
}

// shapeLimited sets y to z, pulled along the rows that records have filled so far.
func (s *State) shapeLimited(y []float64, z []float32) {
	for i, e := range z {
		y[i] = float64(e)
	}
	power, d := 1.0, float64(len(z))
	for _, v := range s.rows[:min(s.Records, uint64(len(s.rows)))] {
		q := 1 / float64(power*d)
		power *= 1.5
		dot := 0.0
		for i, e := range v {
			dot += float64(float64(e) * y[i])
		}
		keep, b := 1-q, float64(q*dot)
		for i, e := range v {
			y[i] = float64(keep*y[i]) + float64(b*float64(e))
		}
	}
}
