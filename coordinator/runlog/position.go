package runlog

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

const continueOrNew = "leave the plan out to continue the log's run, or take another log"

// A Position is the state of a run after the last record of its log: everything that a coordinator
// knows of the run after a crash. [Position.Apply] computes it from the records alone. Only one
// goroutine may use a Position.
type Position struct {
	Chain
	Begins     uint64    // record after which the log begins, see [Base]; 0: with record 1
	FirstEpoch uint64    // of record 1
	LastEpoch  uint64    // of the last record
	Plan       plan.Plan // with all changes so far
	Rounds     uint64    // the number of the last round
	Point      Point     // the first phase of a round whose second phase is due
	LastStep   LastStep
	Failed     bool    // the last record is [NotFound]
	LastRound  uint64  // the last record of a round
	Squares    Squares // means of squared scalars, by which step=auto scales steps
	End        *wire.End
	history    history     // the state after each record
	vectors    vectorNames // names of the vectors that the log keeps
}

// A LastStep is the step of the last round in the log. A LastStep is zero if a record has changed
// the plan's step since that round, or if a rollback returned to another plan step.
type LastStep struct {
	Size  float32
	Round uint64
}

// A Point is the first phase of a round that has two, see [plan.Plan.Phases].
type Point struct {
	N             uint64 // its record; 0: the next record begins a round
	Perturbations uint32 // P, the number of its scalars
}

// Due returns the phase of the next round's record: 0, or 1 or 2 where rounds have two phases.
func (p *Position) Due() uint8 { return p.Plan.Phase(p.Point.N) }

// PlanAt returns the plan after record n, which the log must hold.
func (p *Position) PlanAt(n uint64) plan.Plan {
	plan, _, _ := p.history.at(n)
	return plan
}

// Apply moves p past the next record. An error matches [ErrCorrupt], and leaves p as it was.
func (p *Position) Apply(record []byte) (wire.Record, error) {
	end := p.Chain
	r, err := end.Follow(record)
	if err == nil && p.End != nil {
		err = fmt.Errorf("record %d: %w: the run ended with record %d", r.N, ErrCorrupt, p.N)
	}
	if err != nil {
		return r, err
	}
	plan, rounds, point, failed := p.Plan, p.Rounds, p.Point, false
	switch r.Kind {
	case wire.KindPlan:
		plan, p.FirstEpoch = *r.Plan, r.Epoch
	case wire.KindRound:
		if rounds, point, err = p.afterRound(&r); err != nil {
			return r, err
		}
	case wire.KindChange:
		failed = isNotFound(&p.Plan, r.Change)
		if plan, err = Changed(&p.Plan, r.Change); err != nil {
			return r, fmt.Errorf("record %d: %w: %w", r.N, ErrCorrupt, err)
		}
	case wire.KindRollback:
		if r.To < p.Begins {
			return r, fmt.Errorf("record %d: %w: it returns to record %d, and the log begins "+
				"after record %d", r.N, ErrCorrupt, r.To, p.Begins)
		}
		plan, rounds, point = p.history.at(r.To)
	}
	before := p.Plan.StepSize
	p.Chain, p.LastEpoch, p.Plan, p.Rounds, p.Point, p.End, p.Failed = end, r.Epoch, plan, rounds,
		point, r.End, failed
	p.step(&r, before)
	p.history.add(p, &r)
	p.retain(&r)
	return r, nil
}

// step notes the last step after a record. A rollback keeps the last step, because the run's
// experience with step sizes still holds. But a record that changes the plan's step drops the last
// step, because the last step is measured relative to the plan's step. A change to the step that
// the plan has, as a person reads it in six digits, changes nothing.
func (p *Position) step(r *wire.Record, before float32) {
	switch {
	case r.Kind == wire.KindRound:
		p.LastStep, p.LastRound = LastStep{r.Round.StepSize, r.Round.Round}, r.N
		p.Squares = p.Squares.After(&p.Plan, r.Round.Round, r.Round.Terms)
	case r.Kind == wire.KindRollback && p.Plan.StepSize != before:
		p.LastStep = LastStep{}
	case r.Kind == wire.KindChange && slices.Contains(r.Change.Fields, fieldStep) &&
		!(math.Abs(float64(p.Plan.StepSize/before)-1) < 1e-5):
		p.LastStep = LastStep{}
	}
}

// fieldStep is the number of step among [plan.Fields].
const fieldStep = 18

// afterRound returns the number of the last round and the point after a round record.
func (p *Position) afterRound(r *wire.Record) (rounds uint64, next Point, err error) {
	switch due := p.Due(); {
	case r.Round.Phase != due:
		return 0, next, fmt.Errorf("record %d: %w: it is phase %d of a round, phase %d is due",
			r.N, ErrCorrupt, r.Round.Phase, due)
	case hasVectors(&p.Plan) != (len(r.Round.Object) > 0):
		return 0, next, fmt.Errorf("record %d: %w: with transport=%v it names %d bytes of a digest",
			r.N, ErrCorrupt, p.Plan.Transport, len(r.Round.Object))
	case due == 1:
		return p.Rounds, Point{r.N, r.Round.Perturbations}, nil
	}
	return r.Round.Round, next, nil
}

// Changed returns the plan after a change, or the reason why that plan is invalid.
func Changed(p *plan.Plan, change *plan.Change) (plan.Plan, error) {
	plan := *p
	change.Apply(&plan)
	if valid.Plan(&plan) == nil {
		return plan, nil
	}
	return plan, plancheck.ValidateChange(&plan, change) // its error says why, and what to do
}

// Replay reads the records of a log once, up to record last. Replay calls each with every record,
// and returns the position after the last record.
func Replay(ctx context.Context, log Log, last uint64, each func(record []byte)) (Position, error) {
	var p Position
	var failed error
	if base := BaseOf(log); base != nil {
		if p, failed = base.Position(); failed != nil {
			return p, failed
		}
	}
	err := log.Read(ctx, p.N+1, func(n uint64, record []byte) bool {
		if n > last {
			return false
		}
		if _, failed = p.Apply(record); failed == nil {
			each(record)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err == nil && p.N != last {
		err = fmt.Errorf("record %d: %w: missing", p.N+1, ErrCorrupt)
	}
	return p, err
}

// SamePlan returns nil if the plans are equal, and otherwise an error that matches [ErrPlan] and
// names the first field that differs.
func SamePlan(logged, configured *plan.Plan) error {
	a, err := planValues(logged)
	if err != nil {
		return err
	}
	b, err := planValues(configured)
	if err != nil {
		return err
	}
	for _, f := range plan.Fields() {
		switch {
		case a[f.Name] == b[f.Name]:
		case f.Name == "run_key":
			return fmt.Errorf("%w: it has another run_key: %s", ErrPlan, continueOrNew)
		default:
			return fmt.Errorf("%w: its %s is %s, the configured one %s: %s",
				ErrPlan, f.Name, orUnset(a[f.Name]), orUnset(b[f.Name]), continueOrNew)
		}
	}
	return nil
}

// planValues returns the fields of a plan by name, as a plan file spells them.
func planValues(p *plan.Plan) (map[string]string, error) {
	list, err := planfile.Values(p)
	values := map[string]string{}
	for _, v := range list {
		values[v.Field.Name] = v.JSON
	}
	return values, err
}

func orUnset(v string) string {
	if v == "" {
		return "unset"
	}
	return v
}
