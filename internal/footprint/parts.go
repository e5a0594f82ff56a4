package footprint

import "github.com/zofl/zofl/plan"

// localScalars returns the number of further vectors that a device needs while it finds scalars:
// with more than one step, its own iterate, momentum and correction.
func localScalars(p *plan.Plan) uint64 {
	if p.Steps <= 1 {
		return 0
	}
	n := 1 + momenta(p)
	if p.Control != plan.NoControl {
		n++
	}
	return n
}

// momenta returns the number of vectors of the local rule.
func momenta(p *plan.Plan) uint64 {
	switch p.Rule {
	case plan.Momentum, plan.TorchMomentum:
		return 1
	case plan.LocalAdam:
		return 2
	}
	return 0
}

// scratchScalars returns the number of blocks that a worker writes to: the estimate; the
// round's first point, if something refers to it; the proximal pull; the correction and
// its terms.
func scratchScalars(p *plan.Plan) uint64 {
	n := uint64(1)
	if p.Prox != 0 || p.ServerRule.Steps() || p.Distribution == plan.Subspace || p.Pool > 0 {
		n++
	}
	if p.Prox != 0 {
		n++
	}
	if p.Control != plan.NoControl {
		n += 2
	}
	return n
}

// poolBytes returns the bytes of a pool. For each of its directions and for the initial parameters
// it has a float64 coefficient of x, of the step and of the momentum, and with prox of the round's
// first point. With Sphere it also has the norm of each direction.
func poolBytes(p *plan.Plan) uint64 {
	if p.Pool == 0 {
		return 0
	}
	n := uint64(p.Pool)
	lists := 2 + momenta(p)
	if p.Prox != 0 {
		lists++
	}
	bytes := 8 * lists * (n + 1)
	if p.Distribution == plan.Sphere {
		bytes += 8 * n
	}
	return bytes
}

// localDense returns the number of vectors of d float32 that a device's local steps take
// with DenseVectors: the iterate, which it sends; the estimate; the rule's; with control
// variates c - c_i and c_i; with ScaffoldMean also the next c_i; with SVRG c.
func localDense(p *plan.Plan) uint64 {
	if p.Estimator == plan.Surrogate {
		// In float64 the iterate, the round's first point, the gradient, its correction,
		// a point to be added, and the rule's; in float32 a point and the vector to send.
		return 2*(5+momenta(p)) + 2
	}
	n := 2 + momenta(p)
	switch p.Control {
	case plan.SVRG:
		n++
	case plan.ScaffoldPoint:
		n += 2
	case plan.ScaffoldMean:
		n += 3
	}
	return n
}

// transitBytes returns the bytes of a vector that a device is sending or fetching: the longest.
func transitBytes(p *plan.Plan) uint64 {
	return 4 * max(p.Object(0), p.Object(1), p.Object(2))
}

// surrogateBytes returns the bytes of a surrogate as package internal/surrogate stores it,
// with M features and n points of d coordinates. It counts
//
//   - three pairs of triangles: matrix and factor of the process; inverse and inner
//     products, for its uncertainty; and those of the fit of w;
//   - with LengthFit another pair: distances, and the factor of the length that is tried;
//   - the points, twice;
//   - the features at each point, their v and b, and three w: the fleet's, this device's,
//     and their difference;
//   - the candidates that are judged together, and the points to be queried.
func surrogateBytes(p *plan.Plan) uint64 {
	if p.Estimator != plan.Surrogate {
		return 0
	}
	const atOnce = 32
	n, d, m := uint64(p.Window), p.Dim, uint64(p.Features)
	numbers := 3*n*(n+1) + 2*n*d + n*m + 2*m
	if p.LengthFit > 0 {
		numbers += n * (n + 1)
	}
	if p.Candidates > 0 {
		numbers += atOnce * d
	}
	return 8*numbers + 4*(m*d+2*m) + 4*d*uint64(max(p.Active, p.Around))
}
