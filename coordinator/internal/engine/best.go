package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// The log keeps, among its decisions, after which record the plan's best had its best value. So
// this outlives the coordinator, and an export without a coordinator knows the record.

// bests follows the values of the plan's best.
type bests struct {
	core   *Core
	losses runlog.LossMean
	now    *report.Best // nil: there is none
}

// begin takes over what an earlier coordinator has stored, the first time that the plan has a best.
// That coordinator may have ended between a rollback and what follows from it, and the log may have
// lost records. It returns true.
func (b *bests) begin(c *Core) bool {
	if b.core != nil {
		return true
	}
	b.core = c
	if stored := c.halt.Best; stored != nil && stored.Of(&c.Plan) {
		stored.Check(&c.Position, c.Tip)
	}
	b.show()
	return true
}

// known returns what is known of the best model by the plan's metric.
func (b *bests) known() *runlog.Best {
	c := b.core
	if c.halt.Best == nil || !c.halt.Best.Of(&c.Plan) {
		c.halt.Best = runlog.NewBest(&c.Plan)
	}
	return c.halt.Best
}

// Moved takes the loss of a round if best is the training loss. A rollback undoes values.
func (b *bests) Moved(_ []byte, r wire.Record) {
	c := b.core
	switch {
	case c.Plan.Best == "":
		c.halt.Best = nil
		b.store()
	case r.Kind == wire.KindRollback:
		b.losses = runlog.LossMean{}
		b.known().Keep(r.To, func(claim runlog.Claim) bool { return claim.N <= r.To })
		b.store()
	case r.Kind == wire.KindChange:
		b.known()
		b.show()
	case r.Kind != wire.KindRound || r.Round.Phase == 1 || !c.Plan.BestOfTraining():
	default:
		mean, ok := b.losses.Add(r.Round.Round, c.watch.last.Loss)
		if !ok {
			return
		}
		at := runlog.Claim{N: c.N, Tip: c.Hash.Tip()}
		text := b.take(runlog.BestRecord{Record: at, Value: mean, Devices: r.Round.Contributors})
		if text != "" && c.queue.end == nil {
			c.queue.end = &wire.End{Reason: wire.EndPatience, Text: text}
		}
	}
}

// evaluated takes the plan's metric from the evaluation that is complete. It may end the run.
func (c *Core) evaluated() {
	e := &c.evaluation
	i := slices.Index(c.Plan.Metrics, c.Plan.Best)
	if i < 0 {
		return // best is the training loss
	}
	text := c.bests.take(runlog.BestRecord{Record: runlog.Claim{N: e.N, Tip: e.Tip},
		Value: e.Value(i, c.Plan.LowestIsBest()), Devices: e.last.Count})
	if text != "" {
		c.end(wire.End{Reason: wire.EndPatience, Text: text})
	}
}

// take takes a value, and says why the run ends by its patience, or returns "".
func (b *bests) take(r runlog.BestRecord) (ends string) {
	c := b.core
	_, r.Round, _ = c.At(r.Record.N)
	k := b.known()
	counts, best := k.Take(r, float64(c.Plan.MinDelta))
	if !counts {
		return ""
	}
	b.store()
	if best {
		c.emitEvent(report.Event{Kind: report.Improved, Best: b.now})
	}
	return k.Ends(&c.Plan)
}

// store has the log keep what is known.
func (b *bests) store() {
	now := b.core.halt.Decisions
	now.Best = now.Best.Clone()
	b.core.emit(Output{Kind: OutDecide, Decisions: &now})
	b.show()
}

// show prepares the status.
func (b *bests) show() {
	if b.now = nil; b.core.halt.Best != nil && b.core.halt.Best.Of(&b.core.Plan) {
		b.now = report.BestOf(b.core.halt.Best)
	}
}
