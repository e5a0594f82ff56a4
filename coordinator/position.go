package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// ErrPlan: the log is of another plan than the configured one. Continue with
// the log's plan (leave Config.Plan nil), or start another log.
var ErrPlan = errors.New("plan differs from the log's")

const continueOrNew = "leave Plan nil to continue the log's run, or open another log"

// A position is what a log comes to, as far as a coordinator cares: everything
// that it knows of a run after a crash.
type position struct {
	link
	wrote   uint64    // epoch of the last record
	plan    wire.Plan // with all changes so far
	rounds  uint64    // number of the last round
	ended   *wire.End
	history history // what it was after each record
}

// apply moves p past the next record. After an error p is what it was; the
// error matches [ErrCorrupt].
func (p *position) apply(record []byte) (wire.Record, error) {
	end := p.link
	r, err := end.follow(record)
	if err == nil && p.ended != nil {
		err = fmt.Errorf("record %d: %w: the run ended with record %d", r.N, ErrCorrupt, p.n)
	}
	if err != nil {
		return r, err
	}
	plan, rounds := p.plan, p.rounds
	switch r.Kind {
	case wire.KindPlan:
		plan = *r.Plan
	case wire.KindRound:
		rounds = r.Round.Round
	case wire.KindChange:
		if plan, err = changed(&p.plan, r.Change); err != nil {
			return r, fmt.Errorf("record %d: %w: %w", r.N, ErrCorrupt, err)
		}
	case wire.KindRollback:
		plan, rounds = p.history.at(r.To)
	}
	p.link, p.wrote, p.plan, p.rounds, p.ended = end, r.Epoch, plan, rounds, r.End
	p.history.add(p, r.Kind)
	return r, nil
}

// changed returns the plan as a change makes it, if it can run.
func changed(p *wire.Plan, change *wire.Change) (wire.Plan, error) {
	plan := *p
	change.Apply(&plan)
	return plan, plan.Validate()
}

// replay returns the position after record last of a log, which it reads once.
func replay(ctx context.Context, log Log, last uint64, each func(record []byte)) (position, error) {
	var p position
	var failed error
	err := log.Read(ctx, 1, func(n uint64, record []byte) bool {
		if n > last {
			return false
		}
		if _, failed = p.apply(record); failed == nil {
			each(record)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err == nil && p.n != last {
		err = fmt.Errorf("record %d: %w: missing", p.n+1, ErrCorrupt)
	}
	return p, err
}

// samePlan returns nil if the plans are equal, and otherwise an error that names
// the first field that differs.
func samePlan(logged, configured *wire.Plan) error {
	a, err := planValues(logged)
	if err != nil {
		return err
	}
	b, err := planValues(configured)
	if err != nil {
		return err
	}
	for _, f := range wire.Fields() {
		switch {
		case bytes.Equal(a[f.Name], b[f.Name]):
		case f.Name == "run_key":
			return fmt.Errorf("%w: it has another run_key: %s", ErrPlan, continueOrNew)
		default:
			return fmt.Errorf("%w: its %s is %s, the configured one %s: %s",
				ErrPlan, f.Name, orUnset(a[f.Name]), orUnset(b[f.Name]), continueOrNew)
		}
	}
	return nil
}

// planValues are the fields of a plan as a plan file has them.
func planValues(p *wire.Plan) (map[string]json.RawMessage, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var values map[string]json.RawMessage
	return values, json.Unmarshal(b, &values)
}

func orUnset(v json.RawMessage) string {
	if v == nil {
		return "unset"
	}
	return string(v)
}
