package probe

import (
	"sync"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
)

// A place names the directions of a local step.
type place struct {
	n      uint64 // record
	k      int    // local step
	source uint32 // shared by all devices, or this device's own
}

// A source is where the points of all calls read; see [objective.Source].
//
// Run's goroutine, or the job that it waits for, begins and ends calls. The app reads from
// any goroutine.
//
// Invariants:
//  1. Only the points of the call under way can be read: no two calls have the same
//     number, and call is 0 between calls.
//  2. No point is used twice, because an app may keep it.
type source struct {
	dim int

	mu      sync.RWMutex // guards what follows, and the replica while a call is under way
	call    uint64       // 0: none
	replica *replica.Replica
	points  replica.Points // of a single point: mu may be 0 or negative, with one direction
	chosen  [][]float32    // vectors that are the points; none: points along directions

	// Of the job.
	calls uint64
	ones  []objective.Point // that no call has had
	alls  []objective.Points
}

var _ objective.Source = (*source)(nil)

// pointsAtOnce points are made with one allocation, of some 4 KiB.
const pointsAtOnce = 256

// Dim implements [objective.Source].
func (s *source) Dim() int { return s.dim }

// Read implements [objective.Source].
func (s *source) Read(call uint64, dst []float32, off int) error {
	if err := s.open(call); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	if len(s.chosen) > 0 {
		copy(dst, s.chosen[0][off:])
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
	if len(s.chosen) == 0 {
		s.replica.PerturbAll(dst, off, n, &s.points)
		return nil
	}
	for i, x := range s.chosen {
		if dst[i] != nil {
			copy(dst[i], x[off:])
		}
	}
	return nil
}

// open locks the source for a read of a call. The caller releases it.
func (s *source) open(call uint64) error {
	s.mu.RLock()
	if s.call != call {
		s.mu.RUnlock()
		return objective.ErrRevoked
	}
	return nil
}

// point returns x + mu z[p] of a step, for one call.
func (s *source) point(
	r *replica.Replica, x []float32, mu float32, at place, p int,
) *objective.Point {
	return s.one(s.next(r, replica.Points{X: x, Mu: mu}, at, p, p+1))
}

// vector returns a vector as a point, for one call.
func (s *source) vector(x []float32) *objective.Point { return s.one(s.choose(x)) }

// one makes the point of a call.
func (s *source) one(call uint64) *objective.Point {
	if len(s.ones) == 0 {
		s.ones = make([]objective.Point, pointsAtOnce)
	}
	point := &s.ones[0]
	s.ones = s.ones[1:]
	*point = objective.At(s, call)
	return point
}

// all returns the points of a step with that many perturbations, for one call.
func (s *source) all(
	r *replica.Replica, step replica.Points, at place, perturbations int,
) *objective.Points {
	call := s.next(r, step, at, 0, perturbations)
	return s.many(call, s.points.Len())
}

// vectors returns vectors as points, for one call.
func (s *source) vectors(x [][]float32) *objective.Points { return s.many(s.choose(x...), len(x)) }

// many makes the points of a call.
func (s *source) many(call uint64, length int) *objective.Points {
	if len(s.alls) == 0 {
		s.alls = make([]objective.Points, pointsAtOnce)
	}
	points := &s.alls[0]
	s.alls = s.alls[1:]
	*points = objective.AllAt(s, call, length)
	return points
}

// next begins a call that reads along perturbations [from, to).
func (s *source) next(
	r *replica.Replica, points replica.Points, at place, from, to int,
) (call uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	points.Z = r.Directions(s.points.Z[:0], at.n, at.k, from, to, at.source)
	s.call, s.replica, s.points = s.calls, r, points
	return s.call
}

// choose begins a call that reads vectors.
func (s *source) choose(x ...[]float32) (call uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.call, s.chosen = s.calls, append(s.chosen[:0], x...)
	return s.call
}

// revoke ends the call; no read is under way when it returns.
func (s *source) revoke() {
	s.mu.Lock()
	s.call, s.replica, s.points.X, s.chosen = 0, nil, nil, s.chosen[:0]
	s.mu.Unlock()
}
