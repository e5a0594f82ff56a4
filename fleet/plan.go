package fleet

import (
	"fmt"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/wire/survey"
)

// deadline is longer than any round: devices of one process do not go away.
const deadline = time.Hour

// Check returns the error that [Run] would return for a plan that cannot run on these devices.
func Check(pl *plan.Plan, devices []objective.Objective) error {
	p := *pl
	p.Quorum = min(p.Quorum, max(p.Members, 1)) // Run also limits the quorum to the members
	if err := plancheck.Validate(&p); err != nil {
		return err
	}
	if len(devices) == 0 || len(devices) > plan.MaxMembers {
		return fmt.Errorf("%d devices: give 1 to %d", len(devices), plan.MaxMembers)
	}
	for i, d := range devices {
		switch {
		case d == nil:
			return fmt.Errorf("device %d is nil: give it an objective", i)
		case uint64(d.Dim()) != pl.Dim:
			return &plan.Error{Field: "dim", Value: pl.Dim, Remedy: fmt.Sprintf(
				"the loss of device %d has %d parameters: set it to that", i, d.Dim())}
		}
	}
	return nil
}

// rehearsal returns the changed copy of a plan that the devices run.
func rehearsal(pl *plan.Plan, devices []objective.Objective, o *Options) (*plan.Plan, error) {
	if err := Check(pl, devices); err != nil {
		return nil, err
	}
	p := *pl
	p.Roster, p.Members = plan.ListedRoster, uint32(len(devices))
	Fit(&p)
	p.MaxAttempts = 1
	p.Deadline = uint32(deadline.Milliseconds())
	// The bus in memory loses no message, so the coordinator need not repeat announcements.
	p.Reannounce = uint32(time.Minute.Milliseconds())
	p.NoEvaluation()
	if o.Rounds > 0 {
		p.Rounds = o.Rounds
	}
	if o.Queries > 0 {
		fit := roundsWithin(&p, p.Rounds, o.Queries)
		if fit == 0 {
			return nil, &OptionError{Option: "Queries", Value: o.Queries, Remedy: fmt.Sprintf(
				"the first round alone takes up to %d: give more",
				RoundQueries(&p, 1, len(devices)))}
		}
		p.Rounds = fit
	}
	if p.Rounds == 0 {
		return nil, &plan.Error{Field: "rounds", Value: p.Rounds,
			Remedy: "say how many rounds to run, in the plan or in Options"}
	}
	return &p, plancheck.Validate(&p)
}

// Fit limits the number of devices that a round asks to the plan's members. If devices share
// directions in groups, a round asks only whole groups. If there are too few devices for a group,
// Fit makes the groups smaller. Groups that devices draw keep their number if possible.
func Fit(p *plan.Plan) {
	drawn, groups := grouping.Draws(p), grouping.Count(p)
	p.OverSample, p.Target = 1, min(p.Target, p.Members)
	if drawn {
		p.GroupSize = min(p.GroupSize, max(p.Target/max(groups, 1), 1))
	}
	if p.GroupSize > 0 {
		p.GroupSize = max(min(p.GroupSize, p.Target), 1)
		p.Target -= p.Target % p.GroupSize
	}
	p.Quorum = min(p.Quorum, p.Target)
}

// RoundQueries returns the largest number of loss evaluations that a round, counted from 1, takes
// from this many devices together. The number includes the evaluations of surveys before the round,
// in which all devices may take part. A survey of mu takes more evaluations only if the loss does
// not change along the survey's first direction ([survey.Mu]). With control=scaffold-1, a device
// that missed the first phase makes its estimate in the second.
func RoundQueries(p *plan.Plan, round uint64, devices int) uint64 {
	perturbations, asked := p.PerturbationsAt(round), min(uint64(p.Target), uint64(devices))
	surveyed := uint64(0)
	if round == 1 && (p.MuAuto > 0 && p.Mu == 0 || survey.Sigma(p)) {
		surveyed += asked * survey.Mu.Queries(p)
	}
	if round == 1 && p.Groups == grouping.Sketch {
		surveyed += uint64(devices) * survey.Sketch.Queries(p)
	}
	if round == survey.Before(p)+1 && p.StepAuto > 0 && p.StepSize == 0 &&
		p.ServerRule != plan.ServerCMA {
		surveyed += asked * survey.Step.Queries(p)
	}
	if p.Phases() == 1 {
		return surveyed + asked*p.PhaseQueries(0, perturbations)
	}
	first, second := p.PhaseQueries(1, perturbations), p.PhaseQueries(2, perturbations)
	if p.Control == plan.ScaffoldPoint && asked < uint64(devices) {
		second += first
	}
	return surveyed + asked*(first+second)
}

// roundsWithin returns how many rounds take at most queries loss evaluations together. The result
// is at most most; most = 0 means no limit.
func roundsWithin(p *plan.Plan, most, queries uint64) (rounds uint64) {
	for most == 0 || rounds < most {
		cost := RoundQueries(p, rounds+1, int(p.Members))
		if cost > queries {
			break
		}
		queries -= cost
		rounds++
	}
	return rounds
}
