package wire

// replicated is the number of vectors of d float32 that make the state, in the
// order of its digest: x, local momentum, the sum of control variates, the
// server's m, v and largest v, the subspace's basis and its recent moves.
func (p *Plan) replicated() uint64 {
	n := uint64(1) + p.momenta()
	if p.Control == ScaffoldMean {
		n++
	}
	if p.ServerRule.hasMoment() {
		n++
	}
	if p.ServerRule.adaptive() {
		n++
	}
	if p.ServerRule == ServerAMSGrad {
		n++
	}
	return n + 2*uint64(p.SubspaceMoves)
}

// local is the number of vectors that a device has besides while it works: its
// own iterate and momentum where there is more than one step, and its correction.
func (p *Plan) local() uint64 {
	n := uint64(0)
	if p.Steps > 1 {
		n += 1 + p.momenta()
	}
	if p.Control != NoControl {
		n++
	}
	return n
}

// momenta is the number of vectors of the local rule.
func (p *Plan) momenta() uint64 {
	if p.Rule == Momentum || p.Rule == TorchMomentum {
		return 1
	}
	return 0
}

// registers is the bytes of a pool's coefficients: 8 for each direction and for
// the first parameters, and as many again for the momentum.
func (p *Plan) registers() uint64 {
	if p.Pool == 0 {
		return 0
	}
	return 8 * (uint64(p.Pool) + 1) * (1 + p.momenta())
}

// exactSumBytes is the size of a mathx.ExactSum, which this package does not
// import.
const exactSumBytes = 48

// held is the bytes in which a coordinator has the scalars of a round's
// contributors, so many of each.
func (p *Plan) held(scalars uint64) uint64 {
	if p.Transport == Relay || p.Aggregator == Median || p.Aggregator == TrimmedMean {
		return uint64(p.Precision.Width()) * scalars * uint64(p.Target)
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
