package footprint

import "github.com/zofl/zofl/plan"

// localScalars returns the number of further vectors that a device needs while it measures scalars.
// If the plan has more than one local step, these are the device's own iterate, momentum and
// correction.
// With ServerCMA they are a candidate.
func localScalars(p *plan.Plan) uint64 {
	switch {
	case p.ServerRule == plan.ServerCMA:
		return 1
	case p.Steps <= 1:
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

// scratchScalars returns the number of blocks that each worker needs as work space, for the
// estimate; the round's first point, if the plan's settings use it; the proximal term; the
// correction and its terms.
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

// poolBytes returns the bytes of a pool. For each direction of the pool and for the initial
// parameters, a pool has a float64 coefficient of x, of the step and of the momentum, and with prox
// also of the round's first point. With Sphere a pool also has the norm of each direction.
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
		// In float64: the iterate, the round's first point, the gradient, its correction, the point to
		// add next, and the vectors of the local rule. In float32: a point and the vector to send.
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

// transitBytes returns the bytes of the longest vector that a device sends or fetches.
func transitBytes(p *plan.Plan) uint64 {
	return 4 * max(p.Object(0), p.Object(1), p.Object(2))
}

// surrogateBytes returns the bytes of a surrogate as package internal/surrogate stores it,
// with M features and n points of d coordinates. It counts
//
//   - three pairs of triangles: matrix and factor of the process; inverse and inner
//     products, for its uncertainty; and those of the fit of w;
//   - with LengthFit another pair: the distances, and the factor for the length scale that is being
//     tried;
//   - the points, twice;
//   - the features at each point, their v and b, and three w: the fleet's, this device's,
//     and their difference;
//   - the candidates that the device compares at a time, and the points at which it will evaluate
//     the loss.
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

// evolutionBytes returns the bytes of the scratch of ServerCMA: z in float32 and y in float64 of a
// candidate, or with a full covariance of all candidates of a record; in float64 their sums and the
// path, and with a full covariance M p and a row for each worker.
func evolutionBytes(p *plan.Plan, d Device) uint64 {
	if p.ServerRule != plan.ServerCMA {
		return 0
	}
	candidates, vectors := uint64(1), uint64(3)
	if p.Covariance == plan.FullCovariance {
		candidates, vectors = p.MaxCandidates(), 4+uint64(max(d.Workers, 1))
	}
	return (12*candidates + 8*vectors) * p.Dim
}

// signBytes returns the bytes of the signs of LowRank: a byte for each factor and eight terms of
// the moves that a replica applies at once, and a bit for each factor of a step's directions. A
// replica bounds the former by 32 MiB, unless one round alone has more.
func signBytes(p *plan.Plan) uint64 {
	if p.Distribution != plan.LowRank {
		return 0
	}
	const most, moves, terms, groupLen = 32 << 20, 64, 4096, 8
	factors := uint64(8) // padding
	for _, s := range p.Segments {
		factors += s.Rows + s.Columns()
	}
	steps, perturbations := uint64(p.Steps), uint64(p.MaxPerturbations())
	round := perturbations
	if p.Transport == plan.Relay {
		round *= uint64(p.Target)
	}
	round = steps * ((round + groupLen - 1) / groupLen) * factors
	batch := min(most, (terms/groupLen+moves*(steps+1))*factors)
	return max(round, batch) + perturbations*factors/8
}
