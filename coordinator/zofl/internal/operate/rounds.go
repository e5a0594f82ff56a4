package operate

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/report"
)

// A Round is a round or a survey that the coordinator committed, in JSON.
type Round struct {
	N             uint64   `json:"n"` // its record; of a survey without one, the last record
	Round         uint64   `json:"round"`
	Survey        string   `json:"survey,omitempty"` // what it asked for in place of scalars
	Phase         uint8    `json:"phase,omitempty"`  // 1: the first phase of a round of two
	Loss          *float32 `json:"loss,omitempty"`   // of the contributors; nil: none, or not finite
	Step          float32  `json:"step"`
	Perturbations uint32   `json:"perturbations"`
	Attempt       uint32   `json:"attempt,omitempty"`
	Contributors  uint32   `json:"contributors"`
	Epsilon       float64  `json:"epsilon,omitempty"` // spent by here, of a device in every round
}

// mostRounds is how many rounds a Watch remembers.
const mostRounds = 4096

// remember adds a round to the history. A rollback erases nothing. The caller holds mu.
func (w *Watch) remember(e *report.Event) {
	r := Round{N: e.N, Round: e.Round, Step: e.Step, Perturbations: e.Perturbations,
		Attempt: e.Attempt, Contributors: e.Contributors}
	if e.Privacy != nil {
		r.Epsilon = e.Privacy.Epsilon
	}
	switch e.Kind {
	case report.RoundDone:
	case report.PhaseDone:
		r.Phase = 1
	case report.Surveyed:
		r.Survey = e.Survey.Kind
	default:
		return
	}
	if loss := float64(e.Loss); r.Survey == "" && !math.IsNaN(loss) && !math.IsInf(loss, 0) {
		r.Loss = &e.Loss
	}
	if len(w.history) >= 2*mostRounds {
		w.history = slices.Clone(w.history[mostRounds:])
	}
	w.history = append(w.history, r)
}

// A roundPage is the answer to a request for rounds: those after a record, as many as fit.
type roundPage struct {
	Rounds []Round `json:"rounds"`
	More   bool    `json:"more"`
}

// rounds returns the rounds after a record, in at most so many bytes, but one round at least.
func (w *Watch) rounds(after uint64, most int) roundPage {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, size, last := roundPage{Rounds: []Round{}}, 0, uint64(0)
	for _, r := range w.history {
		if r.N <= after {
			continue
		}
		b, err := json.Marshal(r)
		// A survey has the number of the record before it: a page has both, or none.
		if size += len(b) + 1; err != nil || size > most && len(p.Rounds) > 0 && r.N != last {
			p.More = true
			return p
		}
		p.Rounds, last = append(p.Rounds, r), r.N
	}
	return p
}

// Rounds returns the rounds of a run after a record, as its coordinator saw them: not those before
// it began, and at most some thousands. The error is as that of [Ask].
func Rounds(ctx context.Context, nc *nats.Conn, run string, after uint64) ([]Round, error) {
	var list []Round
	for {
		var p roundPage
		if err := exchange(ctx, nc, run, VerbRounds, Request{After: after}, &p); err != nil {
			return nil, err
		}
		list = append(list, p.Rounds...)
		if !p.More || len(p.Rounds) == 0 {
			return list, nil
		}
		after = list[len(list)-1].N
	}
}
