package objective

import (
	"errors"
	"fmt"
)

// ErrRevoked says that the loss call is over for which the runtime made this [Point] or [Points].
var ErrRevoked = errors.New("objective: the loss call of this point is over")

// A Source supplies the parameters that points read. The runtime implements Source, and generates
// perturbed parameters during the read. An app needs no source of its own, see [NewPoint].
//
// The parameter call is the number of one loss call. Once that loss call is over, reads return
// [ErrRevoked]. Several goroutines may read at once.
type Source interface {
	// Dim is the number of parameters.
	Dim() int
	// Read writes parameters off, off+1, ... of the call's only point to dst. All of them lie within
	// Dim.
	Read(call uint64, dst []float32, off int) error
	// ReadAll writes n parameters, from off on, of every point i of the call to dst[i]. ReadAll leaves
	// out a dst[i] that is nil. All n parameters lie within Dim.
	ReadAll(call uint64, dst [][]float32, off, n int) error
}

// A Point is a parameter vector that a [Streaming] loss reads: x + mu z. The runtime generates the
// vector during the read. A Point is valid during the loss call that received it; after that call,
// Read returns [ErrRevoked].
type Point struct {
	source Source
	call   uint64

	index, count int32 // of this point among the step's points
}

// At returns the only point of a source's call. The returned point is also the only point of its
// step.
func At(s Source, call uint64) Point { return Point{s, call, 0, 1} }

// Numbered returns p as the point with this index, of count points of its step.
func (p Point) Numbered(index, count int) Point {
	p.index, p.count = int32(index), int32(count)
	return p
}

// NewPoint returns the point x, so that an app can test its own LossAt. The point reads x
// itself, not a copy, and is never revoked.
func NewPoint(x []float32) *Point { return &Point{fixed{x}, 0, 0, 1} }

// Index is the number of the point among the points of its local step, from 0, as in the [Points]
// of a [Batched] objective. The app receives the points of a step in this order.
func (p *Point) Index() int { return int(p.index) }

// Count is the number of points of the step, see [Points.Len].
func (p *Point) Count() int { return int(p.count) }

// Dim is the number of parameters.
func (p *Point) Dim() int { return p.source.Dim() }

// Read writes parameters off, off+1, ..., off+len(dst)-1 to dst. Read is fastest at offsets that
// are multiples of 4096. Long reads use as many goroutines as the client's Config.Workers says.
// Several goroutines of the app may read at once. The result is:
//
//	for i := range dst {
//		dst[i] = x[off+i] + mu*z[off+i]
//	}
func (p *Point) Read(dst []float32, off int) error {
	if err := within(p.source, off, len(dst)); err != nil {
		return err
	}
	return p.source.Read(p.call, dst, off)
}

// Points are the parameter vectors at which a local step takes losses. With central differences the
// points are x + mu z_0, x - mu z_0, x + mu z_1, and so on. With forward differences the points are
// x, x + mu z_0, x + mu z_1, and so on. With a surrogate the points are the step's local iterate,
// or the points around the iterate. The runtime generates the points during the read, by the rules
// of a [Point].
type Points struct {
	source Source
	call   uint64
	length int
}

// AllAt returns the length points of a source's call.
func AllAt(s Source, call uint64, length int) Points { return Points{s, call, length} }

// NewPoints returns the points x, so that an app can test its own LossesAt. All elements of x
// have the same length. The points read x itself, not a copy, and are never revoked.
func NewPoints(x ...[]float32) *Points { return &Points{fixed(x), 0, len(x)} }

// Len is the number of points: 2P in a round of P perturbations with central differences, 1+P with
// forward differences. With a surrogate, Len is 1 in the call for the iterate, and the number of
// queries in the call for the points around the iterate.
func (p *Points) Len() int { return p.length }

// Dim is the number of parameters.
func (p *Points) Dim() int { return p.source.Dim() }

// Read writes parameters off, off+1, ... of every point: dst[i][j] is parameter off+j of point i.
// dst has [Points.Len] elements of one length; Read skips a dst[i] that is nil. Read generates each
// direction once and loads x once, however many points dst asks for. Reads are fastest at offsets
// and lengths that are multiples of 4096: a read that begins within a block takes as long as a read
// of the whole block. Long reads use as many goroutines as Config.Workers of the client says.
// Several goroutines of the app may read at once. Concurrent reads are fastest if each goroutine
// reads block after block. The result is:
//
//	for i := range dst {
//		for j := range dst[i] {
//			dst[i][j] = x[off+j] + mu[i]*z[i][off+j]
//		}
//	}
func (p *Points) Read(dst [][]float32, off int) error {
	n, err := p.count(dst)
	if err != nil {
		return err
	}
	if err := within(p.source, off, n); err != nil {
		return err
	}
	return p.source.ReadAll(p.call, dst, off, n)
}

// count returns how many parameters of each point a read into dst writes.
func (p *Points) count(dst [][]float32) (n int, err error) {
	if len(dst) != p.length {
		return 0, fmt.Errorf(
			"objective: read of %d points of %d: give dst one element for each point, "+
				"nil to leave it out",
			len(dst), p.length)
	}
	first := -1
	for i, d := range dst {
		switch {
		case d == nil:
		case first < 0:
			first, n = i, len(d)
		case len(d) != n:
			return 0, fmt.Errorf(
				"objective: read of %d parameters of point %d and %d of point %d: "+
					"give all elements of dst the same length",
				n, first, len(d), i)
		}
	}
	return n, nil
}

// within checks that a read of n parameters from off on stays within Dim.
func within(s Source, off, n int) error {
	if dim := s.Dim(); off < 0 || n > dim-off {
		return fmt.Errorf("objective: read of parameters %d..%d of %d", off, off+n, dim)
	}
	return nil
}

// fixed is a source that reads vectors in memory. The calls of fixed never end, so fixed never
// returns ErrRevoked.
type fixed [][]float32

func (f fixed) Dim() int {
	if len(f) == 0 {
		return 0
	}
	return len(f[0])
}

func (f fixed) Read(_ uint64, dst []float32, off int) error {
	copy(dst, f[0][off:])
	return nil
}

func (f fixed) ReadAll(_ uint64, dst [][]float32, off, _ int) error {
	for i, x := range f {
		copy(dst[i], x[off:])
	}
	return nil
}
