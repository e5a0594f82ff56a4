package wire

// Phases is how many records a round of the plan is, 1 or 2.
func (p *Plan) Phases() int {
	if p.Control == ScaffoldPoint || p.Estimator == Surrogate {
		return 2
	}
	return 1
}

// Phase returns that of the round's record that follows, [Round.Phase]: point is the
// record of a first phase whose second is still to come, 0 if there is none.
func (p *Plan) Phase(point uint64) uint8 {
	switch {
	case p.Phases() == 1:
		return 0
	case point == 0:
		return 1
	}
	return 2
}

// Queries returns the loss evaluations of one device for K local steps with P
// perturbations: K(P+1) forward, 2KP central; of [Surrogate] K(1+Active).
// [Plan.PhaseQueries] has those of each phase.
func (p *Plan) Queries(perturbations uint32) uint64 {
	return uint64(p.Steps) * p.stepQueries(perturbations)
}

// PhaseQueries returns the loss evaluations of one device for a record of a
// phase, [Round.Phase]. Of [ScaffoldPoint] phase 1 looks once, at the round's first
// point; of [Surrogate] phase 2 looks at and around the round's x. All others are
// the local steps.
func (p *Plan) PhaseQueries(phase uint8, perturbations uint32) uint64 {
	switch {
	case p.Estimator == Surrogate && phase == 2:
		return 1 + uint64(p.Around)
	case p.Control == ScaffoldPoint && phase == 1:
		return p.stepQueries(perturbations)
	}
	return p.Queries(perturbations)
}

func (p *Plan) stepQueries(perturbations uint32) uint64 {
	switch {
	case p.Estimator == Surrogate:
		return 1 + uint64(p.Active)
	case p.Difference == Forward:
		return uint64(perturbations) + 1
	}
	return 2 * uint64(perturbations)
}

// Vectors returns how many vectors of d elements every replica has: x and what
// the rules keep. Of [DenseVectors] a local rule's are the device's own.
func (p *Plan) Vectors() int {
	n := 1 + p.ServerRule.Moments() + 2*int(p.SubspaceMoves)
	if p.Rule != SGD && !p.SendsVectors() {
		n++
	}
	if p.Control == ScaffoldMean || p.Control != NoControl && p.SendsVectors() {
		n++
	}
	return n
}

// BoxOf returns the box of a segment of [Plan.Layout]; false: it has none.
func (p *Plan) BoxOf(segment int) (Box, bool) {
	switch len(p.Boxes) {
	case 0:
		return Box{}, false
	case 1:
		return p.Boxes[0], true
	}
	return p.Boxes[segment], true
}
