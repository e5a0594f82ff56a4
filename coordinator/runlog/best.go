package runlog

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Best is what is known of a run's best model. A value of the plan's best belongs to the state
// after a record: either a metric that devices measured, or the mean training loss of [LossRounds]
// rounds. Values count as they are, without smoothing. Of equal values the last is the best,
// because its model has trained for longer. An evaluation counts if it has at least half as many
// devices as the largest so far, because the value of a few devices may be luck.
type Best struct {
	Metric string `json:"metric"`
	Lowest bool   `json:"lowest,omitempty"` // the lowest value is the best; else the highest
	Since  uint32 `json:"since,omitempty"`  // values that counted since one became better
	Most   uint32 `json:"most,omitempty"`   // devices of the largest evaluation
	At     uint64 `json:"at,omitempty"`     // the record of the last value

	// Records ascend by record, and none is worse than the one before, so that the run still knows
	// its best model after a rollback. Of equal values Records has the first and the last. Only the
	// last mostBest are kept.
	Records []BestRecord `json:"records,omitempty"`
}

// A BestRecord is a record after which no value before was better.
type BestRecord struct {
	Record  Claim   `json:"record"`
	Round   uint64  `json:"round"` // the last round up to the record
	Value   float64 `json:"value"`
	Devices uint32  `json:"devices"` // whose mean the value is
}

const mostBest = 64

// NewBest returns what is known of the best model before the first value.
func NewBest(p *plan.Plan) *Best { return &Best{Metric: p.Best, Lowest: p.LowestIsBest()} }

// Of says whether b is of the metric that a plan names.
func (b *Best) Of(p *plan.Plan) bool {
	return b.Metric == p.Best && b.Lowest == p.LowestIsBest()
}

// Last returns the best record; nil: there is none.
func (b *Best) Last() *BestRecord {
	if b == nil || len(b.Records) == 0 {
		return nil
	}
	return &b.Records[len(b.Records)-1]
}

// Take takes a value, and says whether it counts, and whether it is the best now: better than all
// before by more than delta, or equal to the best of them. A value does not count if it is not
// finite, or if a value of the same or a later record was taken.
func (b *Best) Take(r BestRecord, delta float64) (counts, best bool) {
	r.Value = short(r.Value)
	if b.Most = max(b.Most, r.Devices); r.Devices < b.least() || r.Record.N <= b.At ||
		math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
		return false, false
	}
	b.At = r.Record.N
	b.Records = slices.DeleteFunc(b.Records, func(r BestRecord) bool { return r.Devices < b.least() })
	b.Since++
	switch last := b.Last(); {
	case last == nil || b.beats(r.Value, last.Value, delta):
		b.Since = 0
	case r.Value != last.Value:
		return true, false
	}
	if n := len(b.Records); n > 1 && b.Records[n-2].Value == r.Value {
		b.Records = b.Records[:n-1]
	}
	b.Records = append(b.Records, r)
	b.Records = b.Records[max(len(b.Records)-mostBest, 0):]
	return true, true
}

// short returns the shortest decimal number that has the float32 of a value.
func short(value float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', -1, 32), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// least is the number of devices from which on an evaluation counts.
func (b *Best) least() uint32 { return b.Most - b.Most/2 }

func (b *Best) beats(value, best, delta float64) bool {
	if b.Lowest {
		return value < best-delta
	}
	return value > best+delta
}

// Keep drops the records for which on returns false, because a rollback undid them or the log lost
// them. last is the last record that was not undone. If Keep drops a record or a value, the run's
// patience begins anew.
func (b *Best) Keep(last uint64, on func(Claim) bool) {
	all := len(b.Records)
	b.Records = slices.DeleteFunc(b.Records, func(r BestRecord) bool { return !on(r.Record) })
	if b.At > last || len(b.Records) < all {
		b.At, b.Since = min(b.At, last), 0
	}
}

// Check drops the records that a log does not have, or that a rollback undid. p is the position at
// the end of the log, and tip returns the tips of its records.
func (b *Best) Check(p *Position, tip func(n uint64) (wire.Tip, bool)) {
	path := p.Path()
	b.Keep(p.N, func(c Claim) bool {
		found, ok := tip(c.N)
		return ok && c.N > 0 && c.N <= p.N && path[c.N-1] && found == c.Tip
	})
}

// Ends says why a run with a plan ends by its patience, or returns "".
func (b *Best) Ends(p *plan.Plan) string {
	last := b.Last()
	if p.Patience == 0 || b.Since < p.Patience || last == nil {
		return ""
	}
	return fmt.Sprintf("%s was best after record %d, %.4g, and has not become better in %d "+
		"evaluations", b.Metric, last.Record.N, last.Value, b.Since)
}

// Clone returns a copy.
func (b *Best) Clone() *Best {
	if b == nil {
		return nil
	}
	c := *b
	c.Records = slices.Clone(b.Records)
	return &c
}

// LossRounds is the number of rounds whose mean training loss is one value of best. The loss of one
// round is that of a few minibatches.
const LossRounds = 10

// A LossMean makes values of best of the training losses of rounds. The zero value is ready to use.
type LossMean struct {
	sum   float64
	count uint64
}

// Add takes the loss of a round, counted from 1. After every LossRounds rounds it returns the mean
// of their losses. ok is false in between, and if some of these rounds were not seen.
func (m *LossMean) Add(round uint64, loss float32) (mean float64, ok bool) {
	m.sum += float64(loss)
	m.count++
	if round%LossRounds > 0 {
		return 0, false
	}
	mean, ok = m.sum/LossRounds, m.count == LossRounds
	*m = LossMean{}
	return mean, ok
}
