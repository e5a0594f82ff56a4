package objective

import "errors"

// ErrNoRays says that points lie on no [Rays].
var ErrNoRays = errors.New("objective: these points lie on no rays")

// Rays say how the points of a step lie around a vector x with distribution=lowrank:
//
//	point i = x + Scales[i] * z[i]
//
// Element (r, c) of a matrix of z is the sign of row r times the sign of column c; other elements
// have a sign each. An engine that adds z by these signs holds x alone in memory, and no point.
type Rays struct {
	// Scales has the scale of each point; 0 is x itself.
	Scales []float32
	// Signs has the signs of each point's direction, those of x itself are nil. Sign e is bit e%64 of
	// word e/64, and 1 means -1. For each segment of the plan the signs of its rows come first, and
	// then those of its columns; a segment without rows has a sign for each parameter. Points on two
	// sides of x share their signs. Do not change them.
	Signs [][]uint64
	// X is a name of x. Vectors of one name are equal, on all devices. "" is no name.
	X string
}

// A RaySource is a [Source] that can tell of [Rays].
type RaySource interface {
	Source
	// Rays returns the rays of the call's points, or false if they lie on none.
	Rays(call uint64) (Rays, bool, error)
	// ReadX writes elements off, off+1, ... of the x of the call's rays to dst. All of them lie within
	// Dim.
	ReadX(call uint64, dst []float32, off int) error
}

// Rays returns the rays on which the points lie. It returns false for points that lie on none:
// those of other distributions, of a plan with boxes or with a mu_scale, and some of surveys.
func (p *Points) Rays() (r Rays, ok bool, err error) {
	if s, has := p.source.(RaySource); has {
		return s.Rays(p.call)
	}
	return Rays{}, false, nil
}

// ReadX writes elements off, off+1, ... of the x of [Points.Rays] to dst.
func (p *Points) ReadX(dst []float32, off int) error {
	if err := within(p.source, off, len(dst)); err != nil {
		return err
	}
	s, has := p.source.(RaySource)
	if !has {
		return ErrNoRays
	}
	return s.ReadX(p.call, dst, off)
}
