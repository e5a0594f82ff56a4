package coordinator

import (
	"bytes"
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
	wrote  uint64    // epoch of the last record
	plan   wire.Plan // with all changes so far
	rounds uint64    // number of the last round
	ended  *wire.End
}

// apply moves p past the next record.
func (p *position) apply(record []byte) (wire.Record, error) {
	r, err := p.follow(record)
	if err != nil {
		return r, err
	}
	p.wrote = r.Epoch
	switch r.Kind {
	case wire.KindPlan:
		p.plan = *r.Plan
	case wire.KindRound:
		p.rounds = r.Round.Round
	case wire.KindChange:
		r.Change.Apply(&p.plan)
	case wire.KindEnd:
		p.ended = r.End
	}
	return r, nil
}

// replay returns the position after record last of a log, which it reads once.
func replay(log Log, last uint64, each func(record []byte)) (position, error) {
	var p position
	var h history
	var failed error
	err := log.Read(1, func(n uint64, record []byte) bool {
		if n > last {
			return false
		}
		var r wire.Record
		if r, failed = p.apply(record); failed == nil {
			h.add(&p, &r)
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

// A history is what rollbacks need of a log: what it came to after each record.
type history struct {
	plans []wire.Plan
	after []moment // entry n-1 is of record n
}

// A moment is what a log came to after a record; plan is an index of
// history.plans, because few records change it.
type moment struct {
	rounds uint64
	plan   int
}

// add notes what p is after record r. A rollback, which is to an earlier record,
// gives p what the log came to then, but not its place.
func (h *history) add(p *position, r *wire.Record) {
	switch r.Kind {
	case wire.KindPlan, wire.KindChange:
		h.plans = append(h.plans, p.plan)
	case wire.KindRollback:
		to := h.after[r.To-1]
		p.plan, p.rounds = h.plans[to.plan], to.rounds
		h.after = append(h.after, to)
		return
	}
	h.after = append(h.after, moment{p.rounds, len(h.plans) - 1})
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
