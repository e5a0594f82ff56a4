package replica

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/client/replica/internal/digest"
	"github.com/zofl/zofl/client/replica/internal/evolution"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// evolutionTransport: a round holds the mean losses of the candidates of [plan.ServerCMA].
type evolutionTransport struct{}

// fewest is the least number of candidates that [plan.ServerCMA] ranks.
const fewest = 4

func (evolutionTransport) check(r *Replica, n uint64, round *wire.Round) error {
	switch candidates := uint64(round.Perturbations); {
	case candidates < fewest || candidates > r.plan.MaxCandidates():
		return fmt.Errorf("%d candidates, want %d to %d: %w",
			candidates, fewest, r.plan.MaxCandidates(), wire.ErrValue)
	case round.StepSize != r.plan.StepSize:
		return fmt.Errorf("step %v, the plan has %v: %w", round.StepSize, r.plan.StepSize,
			wire.ErrValue)
	}
	return r.checkScalars(n, round, false)
}

func (evolutionTransport) add(r *Replica, n uint64, round *wire.Round) {
	losses := r.block(round, &round.Terms[0], 0)
	r.evolution.Apply(r.address(n, 0, 0, prng.Shared), r.plan.Perturbations, losses)
	r.rounds = round.Round
}

// Candidate sets dst to candidate k of record n, counted from 0: the point where a device of
// server_rule=cma evaluates its loss. Candidates of record N+1 are those of the next round. dst has
// d elements. Candidate uses the replica's scratch, so no other method may run at the same time.
//
//	y = M z for the normal z at perturbation k, or z pulled along the rows of a limited covariance
//	dst[i] = x[i] + sigma y[i], within its box
func (r *Replica) Candidate(dst []float32, n uint64, k int) {
	if r.evolution == nil || len(dst) != len(r.x) {
		panic("replica: Candidate needs server_rule=cma and d elements")
	}
	r.evolution.Candidate(dst, r.address(n, 0, k, prng.Shared))
}

// Sigma returns the distance of the candidates from x after the last record, in the scales of the
// segments and the sides of the boxes. It is 0 while devices have still to find it, and with other
// server rules than cma.
func (r *Replica) Sigma() float64 {
	if r.evolution == nil {
		return 0
	}
	return r.evolution.Sigma
}

// evolve makes the state of server_rule=cma.
func (r *Replica) evolve() {
	r.evolution = evolution.New(&r.plan, r.x, r.team)
	r.learned = r.evolution.Vectors()
}

// resize sets sigma to a step that a change names.
func (r *Replica) resize(c *plan.Change) {
	step, _ := plan.FieldNamed("step")
	if slices.Contains(c.Fields, step.Number) && r.plan.StepSize > 0 {
		r.evolution.Sigma = float64(r.plan.StepSize)
	}
}

// evolutionRegisters returns sigma, and with a limited covariance the number of records.
func (r *Replica) evolutionRegisters() []uint64 {
	list := []uint64{digest.Bits64(r.evolution.Sigma)}
	if r.plan.Covariance == plan.LimitedCovariance {
		list = append(list, r.evolution.Records)
	}
	return list
}

// restoreEvolution sets what evolutionRegisters returned.
func (r *Replica) restoreEvolution(list []uint64) bool {
	e := r.evolution
	e.Sigma = math.Float64frombits(list[0])
	if len(list) > 1 {
		e.Records = list[1]
	}
	return !(e.Sigma < 0) && digest.Bits64(e.Sigma) == list[0] && e.Records < r.n
}
