package wire

// replicated is the number of vectors of d float32 that every replica has: its
// state, and the parameters that a pool begins with, where they cannot be made
// from seeds.
func (p *Plan) replicated() uint64 {
	n := uint64(p.Vectors())
	if p.Pool > 0 && p.Initial == Given {
		n++
	}
	return n
}

// local is the number of vectors that a device has besides while it works: where
// there is more than one step its own iterate and momentum, and its correction.
func (p *Plan) local() uint64 {
	if p.SendsVectors() {
		return p.localDense()
	}
	if p.Steps <= 1 {
		return 0
	}
	n := 1 + p.momenta()
	if p.Control != NoControl {
		n++
	}
	return n
}

// momenta is the number of vectors of the local rule.
func (p *Plan) momenta() uint64 {
	switch p.Rule {
	case Momentum, TorchMomentum:
		return 1
	case LocalAdam:
		return 2
	}
	return 0
}

// scratch is the blocks that a worker writes to: the estimate; where a round
// began, for what looks back; the pull; the correction and its terms.
func (p *Plan) scratch() uint64 {
	n := uint64(1)
	if p.SendsVectors() {
		return n // what its steps look back at are vectors
	}
	if p.Prox != 0 || p.ServerRule != ServerMean || p.Distribution == Subspace || p.Pool > 0 {
		n++
	}
	if p.Prox != 0 {
		n++
	}
	if p.Control != NoControl {
		n += 2
	}
	return n
}

// pooled is the bytes of a pool, float64 for each of its directions and for the
// first parameters: a coefficient of x, one of the momentum, a step's, where the
// round began, for prox, and the norm of a sphere's direction.
func (p *Plan) pooled() uint64 {
	if p.Pool == 0 {
		return 0
	}
	n := uint64(p.Pool)
	lists := 2 + p.momenta()
	if p.Prox != 0 {
		lists++
	}
	bytes := 8 * lists * (n + 1)
	if p.Distribution == Sphere {
		bytes += 8 * n
	}
	return bytes
}

// exactSumBytes is the size of a mathx.ExactSum, which this package does not
// import.
const exactSumBytes = 48

// held is the bytes in which a coordinator has the scalars of a round's
// contributors, so many of each: sums, or float32 where it keeps them.
func (p *Plan) held(scalars uint64) uint64 {
	if p.HoldsReplies() {
		return 4 * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}

// heldVariates is the bytes of sums of control variates: one sum for each record
// that they are of, which of ScaffoldPoint is one.
func (p *Plan) heldVariates(scalars uint64) uint64 {
	if p.Control == ScaffoldMean {
		return exactSumBytes * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}
