package run

import (
	"context"
	"errors"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A work counts the losses and gradients that the clients computed for the records of a log.
//
// In a round of two phases, a client of the second phase that was not in the first also makes the
// estimate of the first phase, on a minibatch of the first phase's record. With surrogates no
// client does so, because the phases of a surrogate's round serve different purposes.
type work struct {
	plan    *plan.Plan
	ids     []string
	queries uint64   // loss evaluations of all clients
	batches []uint64 // minibatches of each client

	slopes            []bool // clients that give gradients instead of losses; nil: none
	gradients, spared uint64

	first []bool // clients of the first phase; nil: none is pending
	point uint64 // its record; 0: none
	p     uint32 // P of the first phase
}

func newWork(cfg *Config) work {
	p := cfg.Plan
	w := work{plan: p, ids: ids(int(p.Members)), batches: make([]uint64, p.Members)}
	if cfg.Differentiates != nil && p.Estimator == plan.Differences && p.Classes == 0 {
		for slot := range w.ids {
			w.slopes = append(w.slopes, cfg.Differentiates(slot))
		}
	}
	return w
}

// count sets the counts of a point to the counts of the records so far.
func (w *work) count(p *Point) {
	p.Queries, p.Gradients, p.Spared = w.queries, w.gradients, w.spared
}

// did counts the queries of a client. For a client that uses gradients, did counts one gradient a
// step instead.
func (w *work) did(slot int, queries, steps uint64) {
	if w.slopes != nil && w.slopes[slot] {
		w.gradients += steps
		w.spared += queries
		return
	}
	w.queries += queries
}

// surveys holds, for each field that a record may change, the kind of survey that led to the
// change. In a simulation only surveys change a plan.
var surveys = map[string]survey.Kind{"step": survey.Step, "mu": survey.Mu}

// surveyed counts the losses of a survey that led to the change in record r. A survey asks as
// many devices as a round, and each device takes one minibatch.
func (w *work) surveyed(r *wire.Record) {
	changed, err := planfile.Changed(r.Change)
	if err != nil || len(changed) == 0 {
		return // no survey
	}
	for slot, was := range w.asked(r, 0) {
		if was {
			w.batches[slot]++
			w.queries += uint64(surveys[changed[0].Field.Name].Values())
		}
	}
}

// add counts the losses and gradients of one record.
func (w *work) add(r *wire.Record) {
	if r.Kind == wire.KindChange {
		w.surveyed(r)
	}
	if r.Kind != wire.KindRound {
		return
	}
	asked, first := w.asked(r, r.Round.Attempt), w.first
	queries := w.plan.PhaseQueries(r.Round.Phase, r.Round.Perturbations)
	if w.slopes == nil {
		w.queries += uint64(r.Round.Contributors) * queries
		queries = 0 // of each client
	}
	steps, surrogate := uint64(w.plan.Steps), w.plan.Estimator == plan.Surrogate
	w.first, w.point = nil, 0
	switch {
	case r.Round.Phase == 1 && !surrogate:
		w.first, w.point, w.p, steps = asked, r.N, r.Round.Perturbations, 1
	case r.Round.Phase == 2 && surrogate:
		steps = 1
	}
	for slot, was := range asked {
		if !was {
			continue
		}
		w.batches[slot] += steps
		w.did(slot, queries, steps)
		if first != nil && !first[slot] {
			w.batches[slot]++
			w.did(slot, w.plan.PhaseQueries(1, w.p), 1)
		}
	}
}

// asked returns for each client whether any attempt of a record, up to the last, asked it.
func (w *work) asked(r *wire.Record, last uint32) []bool {
	p := w.plan
	list := make([]bool, len(w.ids))
	for slot, id := range w.ids {
		for a := range last + 1 {
			sampled := min(uint64(p.Sampled(p.Members))<<min(a, 32), uint64(p.Members))
			cohort := wire.Cohort{Sampled: sampled, Members: p.Members}
			if cohort.Has(p.Run, p.Draw(r.N, w.point), a, uint32(slot), id) {
				list[slot] = true
				break
			}
		}
	}
	return list
}

// taken returns how many minibatches each client has taken for the rounds of a log.
func taken(ctx context.Context, log runlog.Log, cfg *Config) ([]uint64, error) {
	w := newWork(cfg)
	var failed error
	err := log.Read(ctx, 1, func(_ uint64, record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if failed = err; err == nil {
			w.add(&r)
		}
		return failed == nil
	})
	return w.batches, errors.Join(err, failed)
}
