package probe

import (
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
)

var _ objective.RaySource = (*source)(nil)

// Rays implements [objective.RaySource].
func (s *source) Rays(call uint64) (rays objective.Rays, ok bool, err error) {
	if err := s.open(call); err != nil {
		return rays, false, err
	}
	defer s.mu.RUnlock()
	if !s.onRays() {
		return rays, false, nil
	}
	p := &s.points
	if !p.Central {
		rays.Scales, rays.Signs = append(rays.Scales, 0), append(rays.Signs, nil)
	}
	for i := range p.Z {
		signs := s.replica.Factors(&p.Z[i])
		rays.Scales, rays.Signs = append(rays.Scales, p.Mu), append(rays.Signs, signs)
		if p.Central {
			rays.Scales, rays.Signs = append(rays.Scales, -p.Mu), append(rays.Signs, signs)
		}
	}
	rays.X = nameOf(s.replica, p.X)
	return rays, true, nil
}

// ReadX implements [objective.RaySource].
func (s *source) ReadX(call uint64, dst []float32, off int) error {
	if err := s.open(call); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	if !s.onRays() {
		return objective.ErrNoRays
	}
	copy(dst, s.points.X[off:])
	return nil
}

// onRays says whether the points of the call are those of a step along directions of rank 1. The
// caller has opened the source.
func (s *source) onRays() bool {
	return len(s.given)+len(s.lengths) == 0 && s.replica.Plan().OnRays()
}

// nameOf returns a name of x, if x is the model after a record: the record's hash names it. With
// transport=dense the model may lack vectors of that record, and the iterate of a later local step
// is another vector: these have no name.
func nameOf(r *replica.Replica, x []float32) string {
	if params := r.Params(); &x[0] != &params[0] || r.Plan().Transport == plan.DenseVectors {
		return ""
	}
	hash := r.Hash()
	return string(hash[:])
}
