package plan

// Phases returns the number of records that make up a round of the plan, 1 or 2.
func (p *Plan) Phases() int {
	if p.Control.point() || p.Estimator == Surrogate {
		return 2
	}
	return 1
}

// Phase returns the [Round.Phase] of the next record. point is the index of the last record if that
// record is a first phase whose second phase is still to come; otherwise point is 0.
func (p *Plan) Phase(point uint64) uint8 {
	switch {
	case p.Phases() == 1:
		return 0
	case point == 0:
		return 1
	}
	return 2
}

// Queries returns the loss evaluations of one device for K local steps with P perturbations: K(P+1)
// with Forward, 2KP with Central, P with NoDifference, with
// PerturbationsAuto one more, K(1+Active) with [Surrogate]. [Plan.PhaseQueries] returns the
// queries of each phase.
func (p *Plan) Queries(perturbations uint32) uint64 {
	return uint64(p.Steps) * p.stepQueries(perturbations)
}

// PhaseQueries returns the loss evaluations of one device for a record of a phase, [Round.Phase].
// With [ScaffoldPoint] and [SVRG], phase 1 makes one estimate, at the round's first point. With
// SVRG, each local step of phase 2 except the first estimates the gradient at two points. In the
// first step the two points are equal, and the estimates cancel without an evaluation. With
// [Surrogate], phase 2 evaluates the loss at and around the round's x. All other phases make the
// local steps.
func (p *Plan) PhaseQueries(phase uint8, perturbations uint32) uint64 {
	switch {
	case p.Estimator == Surrogate && phase == 2:
		return 1 + uint64(p.Around)
	case p.Control.point() && phase == 1:
		return p.stepQueries(perturbations)
	case p.Control == SVRG && phase == 2:
		return 2 * uint64(p.Steps-1) * p.stepQueries(perturbations)
	}
	return p.Queries(perturbations)
}

func (p *Plan) stepQueries(perturbations uint32) uint64 {
	switch {
	case p.Estimator == Surrogate:
		return 1 + uint64(p.Active)
	case p.Difference == Forward:
		return uint64(perturbations) + 1
	case p.Difference == NoDifference:
		return uint64(perturbations) + uint64(p.PerturbationsAuto)
	}
	return 2 * uint64(perturbations)
}

// StateVectors returns the number of vectors of d elements that every replica has: x, and the
// vectors of the rules. With [DenseVectors] the vectors of the local rule belong to the device and
// do not count.
func (p *Plan) StateVectors() int {
	n, dense := 1+p.ServerRule.Moments()+2*int(p.SubspaceMoves), p.SendsVectors()
	if p.ServerRule == ServerCMA {
		n += p.EvolutionVectors()
	}
	if p.Rule != SGD && !dense {
		n++
	}
	if p.Control == ScaffoldMean || p.Control != NoControl && dense {
		n++
	}
	return n
}

// BoxOf returns the box of a segment of [Plan.Layout], by index, and whether the segment has a box.
func (p *Plan) BoxOf(segment int) (Box, bool) {
	switch len(p.Boxes) {
	case 0:
		return Box{}, false
	case 1:
		return p.Boxes[0], true
	}
	return p.Boxes[segment], true
}
