package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zofl/zofl/client/replica"
)

// ErrRevoked: the loss call that a [Point] or [Points] were made for is over.
var ErrRevoked = errors.New("client: the round of this point is over")

// A Point is a parameter vector x + mu z that exists only as it is read, or of a surrogate
// one that was chosen. It is valid during the loss call that it was made for; after that Read
// returns [ErrRevoked].
type Point struct{ v view }

// Dim is the number of parameters.
func (p *Point) Dim() int { return p.v.source.dim }

// Read writes parameters off, off+1, ..., off+len(dst)-1 to dst. Offsets that
// are multiples of 4096 are the fastest; long reads use [Config].Workers. Several
// goroutines of the app may read at once.
//
//	for i := range dst {
//		dst[i] = x[off+i] + mu*z[off+i]
//	}
func (p *Point) Read(dst []float32, off int) error {
	s, err := p.v.open(len(dst), off)
	if err != nil {
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

// A view is what a call may read: the source's vectors, while that is of the
// same call.
type view struct {
	source *source
	call   uint64
}

// open locks the source for a read of n parameters from off on: the caller
// releases it.
func (v *view) open(n, off int) (*source, error) {
	s := v.source
	if off < 0 || n > s.dim-off {
		return nil, fmt.Errorf("client: read of parameters %d..%d of %d", off, off+n, s.dim)
	}
	s.mu.RLock()
	if s.call != v.call {
		s.mu.RUnlock()
		return nil, ErrRevoked
	}
	return s, nil
}

// A place names the directions of a local step.
type place struct {
	n      uint64 // record
	k      int    // local step
	source uint32 // all devices', or this one's own
}

// A source is where the views of all calls read.
//
// Invariants:
//  1. Nothing is read but by the view of the call under way: no two calls have the
//     same number, and call is 0 between them.
//  2. No view is used twice, as an app may keep it.
type source struct {
	dim int

	mu      sync.RWMutex // guards what follows, and the replica while a call is under way
	call    uint64       // 0: none
	replica *replica.Replica
	points  replica.Points // of one point: mu may be 0 or less, and has one direction
	chosen  [][]float32    // vectors that are the points; none: those along directions are

	// Of Run.
	calls uint64
	ones  []Point // that no call has had
	alls  []Points
}

// viewsAtOnce are made with one allocation, of some 4 KiB.
const viewsAtOnce = 256

// point returns x + mu z[p] of a step, for one call.
func (s *source) point(r *replica.Replica, x []float32, mu float32, at place, p int) *Point {
	return s.one(s.next(r, replica.Points{X: x, Mu: mu}, at, p, p+1))
}

// vector returns a vector as a point, for one call.
func (s *source) vector(x []float32) *Point { return s.one(s.choose(x)) }

// one makes a point of a view.
func (s *source) one(v view) *Point {
	if len(s.ones) == 0 {
		s.ones = make([]Point, viewsAtOnce)
	}
	point := &s.ones[0]
	s.ones = s.ones[1:]
	point.v = v
	return point
}

// all returns the points of a step with that many perturbations, for one call.
func (s *source) all(r *replica.Replica, step replica.Points, at place, perturbations int) *Points {
	v := s.next(r, step, at, 0, perturbations)
	return s.many(v, s.points.Len())
}

// vectors returns vectors as points, for one call.
func (s *source) vectors(x [][]float32) *Points { return s.many(s.choose(x...), len(x)) }

// many makes points of a view.
func (s *source) many(v view, length int) *Points {
	if len(s.alls) == 0 {
		s.alls = make([]Points, viewsAtOnce)
	}
	points := &s.alls[0]
	s.alls = s.alls[1:]
	points.v, points.length = v, length
	return points
}

// next begins a call that reads along perturbations [from, to).
func (s *source) next(r *replica.Replica, points replica.Points, at place, from, to int) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	points.Z = r.Directions(s.points.Z[:0], at.n, at.k, from, to, at.source)
	s.call, s.replica, s.points = s.calls, r, points
	return view{s, s.call}
}

// choose begins a call that reads vectors.
func (s *source) choose(x ...[]float32) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.call, s.chosen = s.calls, append(s.chosen[:0], x...)
	return view{s, s.call}
}

// revoke ends the call; no read is under way when it returns.
func (s *source) revoke() {
	s.mu.Lock()
	s.call, s.replica, s.points.X, s.chosen = 0, nil, nil, s.chosen[:0]
	s.mu.Unlock()
}
