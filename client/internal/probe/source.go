package probe

import (
	"sync"

	"github.com/zofl/zofl/client/internal/directional"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
)

// A place says to which local step directions belong.
type place struct {
	n      uint64 // record
	k      int    // local step
	source uint32 // prng.Shared, or this device's slot
}

// A source supplies the parameters of all points of a prober; see [objective.Source]. The goroutine
// of Run, or the job for which Run waits, begins and ends calls. The app reads from any goroutine.
//
// Invariants:
//  1. The app can read only the points of the present call: no two calls have the same number, and
//     call is 0 between calls.
//  2. The source uses no point twice, because an app may keep a point.
type source struct {
	dim     int
	tangent *directional.Projector // not nil: a point is the direction alone, for a slope

	mu      sync.RWMutex // guards what follows, and the replica during a call
	call    uint64       // 0: none
	replica *replica.Replica
	points  replica.Points // a single point has one direction, and mu may be 0 or negative
	given   [][]float32    // vectors that are the points; empty: no vectors
	lengths []float32      // of moves along the momentum that end at the points; empty: none

	// For the job only.
	calls      uint64
	unused     []objective.Point
	unusedSets []objective.Points
}

var _ objective.Source = (*source)(nil)

// pointsAtOnce is how many points the source makes with one allocation of about 8 KiB.
const pointsAtOnce = 256

// Dim implements [objective.Source].
func (s *source) Dim() int { return s.dim }

// Read implements [objective.Source].
func (s *source) Read(call uint64, dst []float32, off int) error {
	if err := s.open(call); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	switch {
	case len(s.given) > 0:
		copy(dst, s.given[0][off:])
		return nil
	case len(s.lengths) > 0:
		s.replica.Ahead(dst, off, s.lengths[0])
		return nil
	}
	if s.tangent != nil {
		s.tangent.Tangent(dst, off, s.replica, &s.points.Z[0])
		return nil
	}
	s.replica.Perturb(dst, s.points.X, off, s.points.Mu, &s.points.Z[0])
	return nil
}

// ReadAll implements [objective.Source].
func (s *source) ReadAll(call uint64, dst [][]float32, off, n int) error {
	if err := s.open(call); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	for i, a := range s.lengths {
		if dst[i] != nil {
			s.replica.Ahead(dst[i], off, a)
		}
	}
	if len(s.given)+len(s.lengths) == 0 {
		s.replica.PerturbAll(dst, off, n, &s.points)
		return nil
	}
	for i, x := range s.given {
		if dst[i] != nil {
			copy(dst[i], x[off:])
		}
	}
	return nil
}

// open locks the source for a read of a call. The caller must unlock the source.
func (s *source) open(call uint64) error {
	s.mu.RLock()
	if s.call != call {
		s.mu.RUnlock()
		return objective.ErrRevoked
	}
	return nil
}

// point begins a call and returns its point, x + mu z[p] of the step.
func (s *source) point(
	r *replica.Replica, x []float32, mu float32, at place, p int,
) *objective.Point {
	return s.newPoint(s.beginStep(r, replica.Points{X: x, Mu: mu}, at, p, p+1))
}

// vector begins a call whose only point is x, and returns the point.
func (s *source) vector(x []float32) *objective.Point {
	return s.newPoint(s.beginVectors(x))
}

// newPoint makes the point of a call.
func (s *source) newPoint(call uint64) *objective.Point {
	if len(s.unused) == 0 {
		s.unused = make([]objective.Point, pointsAtOnce)
	}
	point := &s.unused[0]
	s.unused = s.unused[1:]
	*point = objective.At(s, call)
	return point
}

// all begins a call and returns its points: those along perturbations [from, to) of a step.
func (s *source) all(
	r *replica.Replica, step replica.Points, at place, from, to int,
) *objective.Points {
	call := s.beginStep(r, step, at, from, to)
	return s.newPoints(call, s.points.Len())
}

// vectors begins a call whose points are the vectors x, and returns the points.
func (s *source) vectors(x [][]float32) *objective.Points {
	return s.newPoints(s.beginVectors(x...), len(x))
}

// newPoints makes the points of a call.
func (s *source) newPoints(call uint64, length int) *objective.Points {
	if len(s.unusedSets) == 0 {
		s.unusedSets = make([]objective.Points, pointsAtOnce)
	}
	points := &s.unusedSets[0]
	s.unusedSets = s.unusedSets[1:]
	*points = objective.AllAt(s, call, length)
	return points
}

// beginStep begins a call that reads points along perturbations [from, to) of a step.
func (s *source) beginStep(
	r *replica.Replica, points replica.Points, at place, from, to int,
) (call uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	points.Z = r.Directions(s.points.Z[:0], at.n, at.k, from, to, at.source)
	s.call, s.replica, s.points = s.calls, r, points
	return s.call
}

// beginVectors begins a call that reads vectors.
func (s *source) beginVectors(x ...[]float32) (call uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.call, s.given = s.calls, append(s.given[:0], x...)
	return s.call
}

// ahead begins a call that reads the ends of moves along the momentum.
func (s *source) ahead(r *replica.Replica, lengths []float32) (call uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.call, s.replica, s.lengths = s.calls, r, append(s.lengths[:0], lengths...)
	return s.call
}

// revoke ends the call, after the reads under way.
func (s *source) revoke() {
	s.mu.Lock()
	s.call, s.replica, s.points.X = 0, nil, nil
	s.given, s.lengths = s.given[:0], s.lengths[:0]
	s.mu.Unlock()
}
