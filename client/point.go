package client

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/prng"
)

// ErrRevoked: the loss call that a [Point] or a [Pair] was made for is over.
var ErrRevoked = errors.New("client: the round of this point is over")

// A Point is a parameter vector x + mu z that exists only as it is read.
// It is valid during the loss call that it was made for; after that Read
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
	s.replica.Perturb(dst, s.x, off, s.step, s.z)
	return nil
}

// A Pair is both parameter vectors of a central difference, x + mu z and
// x - mu z, under the terms of a [Point].
type Pair struct{ v view }

// Dim is the number of parameters.
func (p *Pair) Dim() int { return p.v.source.dim }

// Read writes parameters off, off+1, ... of both vectors, and generates z once.
// plus and minus have one length. It is otherwise as [Point.Read].
//
//	for i := range plus {
//		v := mu*z[off+i]
//		plus[i], minus[i] = x[off+i]+v, x[off+i]-v
//	}
func (p *Pair) Read(plus, minus []float32, off int) error {
	if len(plus) != len(minus) {
		return fmt.Errorf("client: read of %d and %d parameters: give plus and minus one length", len(plus), len(minus))
	}
	s, err := p.v.open(len(plus), off)
	if err != nil {
		return err
	}
	defer s.mu.RUnlock()
	s.replica.PerturbPair(plus, minus, s.x, off, s.step, s.z)
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
	x       []float32
	step    float32 // mu
	z       prng.Direction

	// Of Run.
	calls  uint64
	points []Point // that no call has had
	pairs  []Pair
}

// viewsAtOnce are made with one allocation: 4 KiB.
const viewsAtOnce = 256

// point returns the point x + mu z[k,p] of record n, for one call.
func (s *source) point(r *replica.Replica, x []float32, mu float32, n uint64, k, p int) *Point {
	if len(s.points) == 0 {
		s.points = make([]Point, viewsAtOnce)
	}
	point := &s.points[0]
	s.points = s.points[1:]
	point.v = s.next(r, x, mu, n, k, p)
	return point
}

// pair returns the pair x + mu z[k,p] and x - mu z[k,p] of record n, for one call.
func (s *source) pair(r *replica.Replica, x []float32, mu float32, n uint64, k, p int) *Pair {
	if len(s.pairs) == 0 {
		s.pairs = make([]Pair, viewsAtOnce)
	}
	pair := &s.pairs[0]
	s.pairs = s.pairs[1:]
	pair.v = s.next(r, x, mu, n, k, p)
	return pair
}

// next begins a call.
func (s *source) next(r *replica.Replica, x []float32, mu float32, n uint64, k, p int) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.call, s.replica, s.x, s.step, s.z = s.calls, r, x, mu, r.Direction(n, k, p)
	return view{s, s.call}
}

// revoke ends the call; no read is under way when it returns.
func (s *source) revoke() {
	s.mu.Lock()
	s.call, s.replica, s.x = 0, nil, nil
	s.mu.Unlock()
}
