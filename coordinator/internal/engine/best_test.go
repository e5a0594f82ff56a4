package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A judged run has a log, and two devices that contribute and evaluate.
type judged struct {
	*Core
	t     *testing.T
	log   *runlog.Memory
	plan  *plan.Plan
	now   uint64
	epoch uint64
	lazy  bool     // the log stores no decisions
	best  []uint64 // records of the events Improved
}

func newJudged(t *testing.T, edit func(*plan.Plan)) *judged {
	t.Helper()
	p := chaintest.Plan(t)
	p.EvalEvery, p.EvalCount, p.Metrics = 1, 2, []string{"other", "acc"}
	p.Best = "acc"
	if edit != nil {
		edit(p)
	}
	j := &judged{t: t, log: &runlog.Memory{}, plan: p}
	if err := j.log.AddMembers(t.Context(), ids(2)); err != nil {
		t.Fatal(err)
	}
	j.restart()
	return j
}

// restart makes another coordinator take over.
func (j *judged) restart() {
	j.t.Helper()
	j.epoch++
	c, err := newCore(j.t.Context(), j.plan, j.log, j.epoch)
	if err != nil {
		j.t.Fatal(err)
	}
	j.Core = c
	j.perform(c.Start(j.now))
	for _, id := range ids(2) {
		j.do(joinOf(id))
	}
}

func (j *judged) do(in Input) {
	j.t.Helper()
	j.now++
	j.perform(j.Step(j.now, in))
}

// perform performs outputs in order, with what follows from them.
func (j *judged) perform(out []Output) {
	j.t.Helper()
	queue := slices.Clone(out)
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		switch {
		case o.Kind == OutAppend:
			if err := j.log.Append(j.t.Context(), o.N, o.Frame); err != nil {
				j.t.Fatal(err)
			}
			queue = append(queue, j.Step(j.now, Input{Kind: InAppended, N: o.N})...)
		case o.Kind == OutDecide && !j.lazy:
			queue = append(queue, j.Step(j.now, Input{Kind: InDecided,
				Err: j.log.Decide(j.t.Context(), *o.Decisions)})...)
		case o.Kind == OutEvent && o.Event.Kind == report.Improved:
			j.best = append(j.best, o.Event.Best.N)
		}
	}
}

// round has the devices contribute with a loss.
func (j *judged) round(loss float32) {
	j.t.Helper()
	n := j.N
	for _, id := range ids(2) {
		r := wire.Reply{Kind: wire.Contribution, N: n + 1, Tip: j.Hash.Tip(), Weight: 1, Loss: loss,
			Values: wire.AppendScalars(nil, 1, 2)}
		if j.N == n {
			j.do(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
		}
	}
	if j.N == n {
		j.t.Fatalf("no round after record %d: %+v", n, j.Status())
	}
}

// measure has devices report metrics of the present state.
func (j *judged) measure(values ...float32) {
	j.t.Helper()
	for i, v := range values {
		r := wire.Reply{Kind: wire.Evaluation, N: j.evaluation.N, Tip: j.evaluation.Tip, Weight: 1,
			Values: wire.AppendScalars(nil, -v, v)}
		j.do(Input{Kind: InReply, ID: ids(2)[i], Frame: r.Append(nil)})
	}
}

// is checks which record has the best model, with which value, how many evaluations ago.
func (j *judged) is(what string, n uint64, value float64, since uint32) {
	j.t.Helper()
	b := j.Status().Best
	if b == nil || b.N != n || b.Value != value || b.Since != since {
		j.t.Errorf("%s: the best is %+v, want record %d with %v, %d evaluations ago", what, b, n, value,
			since)
	}
}

// TestBest: the best record is that of the highest mean, and outlives coordinators, rollbacks, and
// a coordinator that ended before it stored what a rollback undid.
func TestBest(t *testing.T) {
	j := newJudged(t, nil)
	if j.Status().Best != nil {
		t.Errorf("before all evaluations: %+v", j.Status().Best)
	}
	j.measure(0.25, 0.75)
	j.is("of record 1", 1, 0.5, 0)
	for _, v := range []float32{0.75, 0.25, 0.875, 0.875} {
		j.round(1)
		j.measure(v, v)
	}
	j.is("a tie", 5, 0.875, 1)
	j.round(1)
	j.measure(1) // of one device of two: it counts, as half of them
	j.round(1)
	j.is("one device of two", 6, 1, 0)
	if want := []uint64{1, 2, 4, 5, 6}; !slices.Equal(j.best, want) {
		t.Errorf("it became better after records %v, want %v", j.best, want)
	}
	j.restart()
	j.is("another coordinator", 6, 1, 0)
	j.lazy = true
	j.do(Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindRollback, To: 4}})
	j.is("a rollback", 4, 0.875, 0)
	j.lazy = false
	j.restart()
	j.is("a rollback that the log does not know to undo it", 4, 0.875, 0)
	j.measure(0.9375, 0.9375)
	j.is("after it", 8, 0.9375, 0)
}

// A record that the log has lost, or has another in its place, is not the best.
func TestBestOfLostRecords(t *testing.T) {
	j := newJudged(t, nil)
	j.measure(0.5, 0.5)
	j.round(1)
	short := j.log.Last()
	j.measure(0.75, 0.75)
	j.round(1)
	j.measure(0.875, 0.875)
	d, err := j.log.Decisions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	j.is("before", 3, 0.875, 0)
	old := j.log
	j.log = &runlog.Memory{}
	if err := j.log.AddMembers(t.Context(), ids(2)); err != nil {
		t.Fatal(err)
	}
	err = old.Read(t.Context(), 1, func(n uint64, record []byte) bool {
		if n <= short {
			if err := j.log.Append(t.Context(), n, record); err != nil {
				t.Fatal(err)
			}
		}
		return n < short
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.log.Decide(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	j.restart()
	j.is("with two records left", 2, 0.75, 0)
	j.round(9) // another record 3
	if err := j.log.Decide(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	j.restart()
	j.is("with another record 3", 2, 0.75, 0)
}

// TestPatience: a run ends after as many evaluations as patience says without a better one.
// min_delta says how much better.
func TestPatience(t *testing.T) {
	j := newJudged(t, func(p *plan.Plan) {
		p.BestWhen, p.Patience, p.MinDelta = plan.Lowest, 3, 0.125
	})
	j.measure(0.5, 0.5)
	for _, v := range []float32{0.5, 0.4375, 0.25, 0.375, 0.1875} {
		j.round(1)
		j.measure(v, v)
		if j.End != nil {
			t.Fatalf("it ended at %v: %+v", v, j.End)
		}
	}
	j.is("min_delta", 4, 0.25, 2)
	j.restart() // the same state is measured again, and counts once
	j.measure(0.1875, 0.1875)
	j.round(1)
	j.measure(0.3125, 0.3125)
	if j.queue.end == nil && j.End == nil {
		t.Fatalf("it goes on: %+v", j.Status())
	}
	if j.End == nil || j.End.Reason != wire.EndPatience ||
		!strings.Contains(j.End.Text, "acc was best after record 4, 0.25") ||
		!strings.Contains(j.End.Text, "3 evaluations") {
		t.Errorf("it ended as %+v", j.End)
	}
	j.measure(0, 0) // of the model at the end
	j.is("the model at the end", j.N, 0, 0)
}

// An operator changes the patience of a run, and what is best.
func TestChangeBest(t *testing.T) {
	j := newJudged(t, nil)
	j.measure(0.5, 0.5)
	for range 3 {
		j.round(1)
		j.measure(0.25, 0.25)
	}
	change := &plan.Change{Fields: []uint64{116}, Values: *j.plan}
	change.Values.Best = "other"
	j.do(Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindChange, Change: change}})
	j.round(1)
	if b := j.Status().Best; b != nil {
		t.Errorf("another metric: %+v", b)
	}
	j.measure(0.25, 0.25)
	j.is("another metric", j.evaluation.N, -0.25, 0)
	change = &plan.Change{Fields: []uint64{116}}
	j.do(Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindChange, Change: change}})
	j.round(1)
	d, err := j.log.Decisions(t.Context())
	if j.Status().Best != nil || err != nil || d.Best != nil {
		t.Errorf("no metric: %+v, the log keeps %+v, %v", j.Status().Best, d.Best, err)
	}
}

// TestBestLoss: without a metric of that name, best=loss is the mean training loss of ten rounds.
func TestBestLoss(t *testing.T) {
	j := newJudged(t, func(p *plan.Plan) {
		p.EvalEvery, p.EvalCount, p.Metrics, p.Best, p.Patience = 0, 0, nil, plan.TrainingLoss, 2
	})
	play := func(rounds int, loss float32) {
		for range rounds {
			j.round(loss)
		}
	}
	play(9, 1)
	if j.Status().Best != nil {
		t.Errorf("after nine rounds: %+v", j.Status().Best)
	}
	play(1, 2)
	j.is("ten rounds", 11, 1.1, 0)
	play(5, 1)
	j.restart()
	play(5, 0) // it saw only half of these ten
	j.is("a restart", 11, 1.1, 0)
	play(10, 0.5)
	j.is("thirty rounds", 31, 0.5, 0)
	play(20, 0.75)
	if j.End == nil || j.End.Reason != wire.EndPatience {
		t.Errorf("it goes on, or ended as %+v", j.End)
	}
}

// One liar does not say which model is best where claims are bounded: the median of the devices
// does.
func TestBestOfMedian(t *testing.T) {
	j := newJudged(t, func(p *plan.Plan) { p.ClaimBound = 4 })
	j.measure(0.25, 1)
	j.is("the lower of two", 1, 0.25, 0)
}
