package cost

import "github.com/zofl/zofl/wire"

// replicated returns the number of vectors of d float32 that every replica has: its
// state, and with a pool the initial parameters, if they cannot be regenerated from
// seeds.
func replicated(p *wire.Plan) uint64 {
	n := uint64(p.StateVectors())
	if p.Pool > 0 && p.Initial == wire.Given {
		n++
	}
	return n
}

// localScalars returns the number of further vectors that a device has while it finds
// scalars: with more than one step its own iterate, momentum and correction.
func localScalars(p *wire.Plan) uint64 {
	if p.Steps <= 1 {
		return 0
	}
	n := 1 + momenta(p)
	if p.Control != wire.NoControl {
		n++
	}
	return n
}

// momenta returns the number of vectors of the local rule.
func momenta(p *wire.Plan) uint64 {
	switch p.Rule {
	case wire.Momentum, wire.TorchMomentum:
		return 1
	case wire.LocalAdam:
		return 2
	}
	return 0
}

// scratch returns the number of blocks that a worker writes to: the estimate; the
// round's first point, if something refers to it; the proximal pull; the correction and
// its terms.
func scratch(p *wire.Plan) uint64 {
	n := uint64(1)
	if p.Prox != 0 || p.ServerRule.Steps() || p.Distribution == wire.Subspace || p.Pool > 0 {
		n++
	}
	if p.Prox != 0 {
		n++
	}
	if p.Control != wire.NoControl {
		n += 2
	}
	return n
}

// poolBytes returns the bytes of a pool: for each of its directions and for the initial
// parameters a float64 coefficient of x, of the step and of the momentum, with prox of
// the round's first point; with Sphere also the norm of each direction.
func poolBytes(p *wire.Plan) uint64 {
	if p.Pool == 0 {
		return 0
	}
	n := uint64(p.Pool)
	lists := 2 + momenta(p)
	if p.Prox != 0 {
		lists++
	}
	bytes := 8 * lists * (n + 1)
	if p.Distribution == wire.Sphere {
		bytes += 8 * n
	}
	return bytes
}

// exactSumBytes is the size of a mathx.ExactSum, which this package does not
// import.
const exactSumBytes = 48

// scalarBytes returns the coordinator's bytes for contributions of so many scalars each:
// sums, or where it holds replies all their float32.
func scalarBytes(p *wire.Plan, scalars uint64) uint64 {
	if p.HoldsReplies() {
		return 4 * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}

// controlBytes returns the coordinator's bytes for control variates: one sum for each
// record along whose directions they lie, which with ScaffoldPoint is one record.
func controlBytes(p *wire.Plan, scalars uint64) uint64 {
	if p.Control == wire.ScaffoldMean {
		return exactSumBytes * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}
