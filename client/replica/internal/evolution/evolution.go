// Package evolution replays [plan.ServerCMA]: the records' losses rank candidates around x, and the
// rule moves x, its path, the rows of its covariance, and sigma. docs/replay.md lists the
// operations in their order.
//
// The arithmetic is float64, each operation is rounded, and no two are fused: products are
// converted before they are added. Vectors are rounded to float32 once, at the end of a record.
package evolution

import (
	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A State is what the rule keeps beside x, and its scratch.
type State struct {
	// Sigma is the distance of the candidates, and Records the number of records so far, which only a
	// limited covariance keeps.
	Sigma   float64
	Records uint64

	x, p     []float32   // x is the replica's
	unfolded []float32   // with boxes: x in the coordinates of its box, before it is folded into it
	rows     [][]float32 // full: row j is column j of M; limited: V
	limited  bool
	spans    layout.Spans

	rates
	order []int     // candidates by rank
	v     []float64 // weights by rank, with the norms of z in negative ones

	// Scratch. With a full covariance z and y have a vector for each candidate of a record, by rank;
	// with a limited one they have a vector each.
	z               [][]float32
	y               [][]float64
	zw, yw, path    []float64
	product         []float64   // M p
	row, factors    [][]float64 // one for each worker
	team            *parallel.Team
	direction       prng.Direction
	shapes, renewal func(worker, i int) // tasks of the team
}

// New returns the state of a plan before its first round. x belongs to the replica, and moves with
// the records. The workers of the team share the work of large models.
func New(p *plan.Plan, x []float32, team *parallel.Team) *State {
	d := len(x)
	s := &State{
		Sigma: float64(p.StepSize), x: x, p: make([]float32, d), spans: layout.Of(p), team: team,
		limited: p.Covariance == plan.LimitedCovariance,
		zw:      make([]float64, d), yw: make([]float64, d), path: make([]float64, d),
	}
	for range p.CovarianceRows() {
		s.rows = append(s.rows, make([]float32, d))
	}
	if len(p.Boxes) > 0 {
		s.unfolded = make([]float32, d)
		s.unfold()
	}
	if s.shapes, s.renewal = s.shapeOne, s.renew; !s.limited {
		s.product = make([]float64, d)
		s.row, s.factors = make([][]float64, team.Workers()), make([][]float64, team.Workers())
		for i := range s.row {
			s.row[i] = make([]float64, d)
		}
		for j := range s.rows {
			s.rows[j][j] = 1
		}
	}
	return s
}

// Vectors returns the vectors of the state beside x, in the order of the digest.
func (s *State) Vectors() [][]float32 {
	list := [][]float32{s.p}
	if s.unfolded != nil {
		list = [][]float32{s.unfolded, s.p}
	}
	return append(list, s.rows...)
}

// Candidate sets dst to a candidate of the next record. z is the candidate's direction.
func (s *State) Candidate(dst []float32, z prng.Direction) {
	s.reserve(1)
	prng.Fill(s.z[0], z, 0)
	s.shape(s.y[0], s.z[0])
	s.place(dst, s.y[0])
}

// Apply applies a record with the losses of its candidates. z is the direction of the first, and
// candidates the plan's number of candidates.
func (s *State) Apply(z prng.Direction, candidates uint32, losses []float32) {
	s.rates.set(len(losses), len(s.x), s.limited)
	s.rank(losses)
	s.direction = z
	clear(s.zw)
	clear(s.yw)
	if s.limited {
		s.applyLimited(candidates)
	} else {
		s.applyFull()
	}
}

// advance moves x and p, and returns the squared norm of p. path holds p, not rounded.
func (s *State) advance() (square float64) {
	if s.unfolded == nil {
		s.place(s.x, s.yw)
	} else {
		s.fold()
	}
	keep, gain := 1-s.cs, s.gain(s.cs)
	for i, z := range s.zw {
		p := float64(keep*float64(s.p[i])) + float64(gain*z)
		s.path[i] = p
		square += float64(p * p)
	}
	return square
}

// reserve makes room for the vectors of n candidates.
func (s *State) reserve(n int) {
	for len(s.z) < n {
		s.z, s.y = append(s.z, make([]float32, len(s.x))), append(s.y, make([]float64, len(s.x)))
	}
}

// round sets dst to the elements of v, rounded.
func round(dst []float32, v []float64) {
	for i, e := range v {
		dst[i] = float32(e)
	}
}
