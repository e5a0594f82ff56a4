package valid

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
)

var probeRules = []rule{
	{when: "transport!=dense", own: checkScalars},
	{when: "perturbation_schedule", own: checkPerturbations},
	{when: "sharing=per-client", needs: "roster=dense", at: "roster"},

	{when: "distribution=lowrank", but: func(p *plan.Plan) bool { return matrices(p.Segments) },
		what: "distribution=lowrank needs a segment with rows"},

	{when: "distribution=subspace", needs: "subspace_moves>0", at: "subspace_moves"},
	{when: "distribution=subspace", needs: "subspace_share>0 subspace_share<1",
		at: "subspace_share"},
	{when: "subspace_moves", needs: "distribution=subspace"},
	{when: "subspace_share", needs: "distribution=subspace"},

	{when: "pool", needs: "pool>1", what: "a pool needs 2 or more directions"},
	{when: "pool", needs: "rebase>0", at: "rebase"},
	{when: "rebase", needs: "pool>0"},
	{when: "pool", needs: "sharing=shared"},
	{when: "pool", needs: "distribution!=subspace"},
	{when: "pool", needs: "distribution!=lowrank"},
	{when: "pool", needs: "server_rule=mean"},
	{when: "pool", needs: "control=none"},
	{when: "pool", but: func(p *plan.Plan) bool {
		return p.WeightDecay == 0 && p.Prox == 0 || !scaled(p.Segments)
	}, what: "a pool with decay or prox needs equal step scales"},
}

// checkScalars returns an error if a reply could have more than plan.MaxScalars scalars.
func checkScalars(p *plan.Plan) error {
	most, limit := uint64(p.Steps)*uint64(p.MaxPerturbations()), uint64(plan.MaxScalars)
	if p.Control != plan.NoControl {
		limit /= 2 // a reply has a control variate too
	}
	if most <= limit {
		return nil
	}
	return fault("perturbations", p.MaxPerturbations(), fmt.Sprintf("with %d steps a reply would "+
		"have %d scalars: keep steps*perturbations at most %d", p.Steps, most, limit))
}

func checkPerturbations(p *plan.Plan) error {
	if n := len(p.PerturbationSchedule); n > plan.MaxPoints {
		return fault("perturbation_schedule", n,
			fmt.Sprintf("keep at most %d points", plan.MaxPoints))
	}
	last := uint64(0)
	for _, s := range p.PerturbationSchedule {
		if s.Round <= last || s.Round > plan.MaxRound ||
			s.Perturbations == 0 || s.Perturbations > math.MaxUint16 {
			return fault("perturbation_schedule", s,
				"rounds must ascend from 1, and perturbations must be 1..65535")
		}
		last = s.Round
	}
	return nil
}

// matrices reports whether some segment is a matrix.
func matrices(segments []plan.Segment) bool {
	return slices.ContainsFunc(segments, func(s plan.Segment) bool { return s.Rows > 0 })
}

// scaled reports whether some segment scales the step size.
func scaled(segments []plan.Segment) bool {
	return slices.ContainsFunc(segments,
		func(s plan.Segment) bool { return s.StepScale != 0 && s.StepScale != 1 })
}
