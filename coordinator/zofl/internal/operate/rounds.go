package operate

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A Round is a round or a survey that the coordinator committed, in JSON.
type Round struct {
	N             uint64   `json:"n"` // its record; of a survey without one, the last record
	Round         uint64   `json:"round"`
	Survey        string   `json:"survey,omitempty"` // what it asked for in place of scalars
	Phase         uint8    `json:"phase,omitempty"`  // 1: the first phase of a round of two
	Loss          *float64 `json:"loss,omitempty"`   // of the contributors; nil: none, or not finite
	Step          float32  `json:"step"`
	Perturbations uint32   `json:"perturbations"`
	Attempt       uint32   `json:"attempt,omitempty"`
	Contributors  uint32   `json:"contributors"`
	Epsilon       float64  `json:"epsilon,omitempty"` // spent by here, of a device in every round
}

// roundsOf returns the rounds and surveys of a history, ascending by N.
func roundsOf(points []history.Point, marks []history.Mark) (list []Round) {
	surveys := func(before uint64) {
		for ; len(marks) > 0 && marks[0].N < before; marks = marks[1:] {
			if m := &marks[0]; m.Kind == history.Surveyed {
				list = append(list, Round{N: m.N, Round: m.Round, Survey: m.Survey, Attempt: m.Attempt,
					Contributors: m.Contributors, Epsilon: m.Epsilon})
			}
		}
	}
	for i := range points {
		p := &points[i]
		if surveys(p.N); p.IsRound() {
			list = append(list, Round{N: p.N, Round: p.Round, Phase: p.Phase, Loss: p.Loss, Step: p.Step,
				Perturbations: p.Perturbations, Attempt: p.Attempt, Contributors: p.Contributors,
				Epsilon: p.Epsilon})
		}
	}
	surveys(1<<64 - 1)
	return list
}

// A roundPage answers a request for rounds: the rounds after a record, as many as fit.
type roundPage struct {
	Rounds []Round `json:"rounds"`
	More   bool    `json:"more"`
}

// rounds returns the rounds after a record, in at most the given number of bytes, but at least one
// round.
func (w *Watch) rounds(after uint64, most int) roundPage {
	p, size, last := roundPage{Rounds: []Round{}}, 0, uint64(0)
	for _, r := range roundsOf(w.Rounds().Snapshot(after + 1)) {
		b, err := json.Marshal(r)
		// A survey without a record has the number of a round: a page has both, or none.
		if size += len(b) + 1; err != nil || size > most && len(p.Rounds) > 0 && r.N != last {
			p.More = true
			return p
		}
		p.Rounds, last = append(p.Rounds, r), r.N
	}
	return p
}

// Rounds returns the rounds of a run after a record, as its history holds them: all of the last
// thousands, and some of the earlier ones. It returns the errors of [Ask].
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

// A historyPage is the answer to a request for the history: points from a record on, and, once
// these have fit, marks.
type historyPage struct {
	Points []history.Point `json:"points"`
	Marks  []history.Mark  `json:"marks"`
	More   bool            `json:"more"`
}

// historyPage returns points from r.Since on, and all marks but the first r.Marks, in at most the
// given number of bytes, but at least one of them.
func (w *Watch) historyPage(r Request, most int) historyPage {
	p, size := historyPage{Points: []history.Point{}, Marks: []history.Mark{}}, 0
	full := func(entry any) bool {
		b, err := json.Marshal(entry)
		size += len(b) + 1
		return err != nil || size > most && len(p.Points)+len(p.Marks) > 0
	}
	h := w.Rounds()
	points, _ := h.Snapshot(r.Since)
	for i := range points {
		if p.More = full(&points[i]); p.More {
			return p
		}
		p.Points = append(p.Points, points[i])
	}
	_, marks := h.Snapshot(0)
	for i := min(max(r.Marks, 0), len(marks)); i < len(marks); i++ {
		if p.More = full(&marks[i]); p.More {
			return p
		}
		p.Marks = append(p.Marks, marks[i])
	}
	return p
}

// History returns the points of a run's history from a record on, and its marks since then. The
// error is as that of [Ask].
func History(ctx context.Context, nc *nats.Conn, run string, from uint64) ([]history.Point,
	[]history.Mark, error) {
	points, all, err := NewHistory(ctx, nc, run, from, 0)
	if err != nil {
		return nil, nil, err
	}
	marks := []history.Mark{}
	for _, m := range all {
		if m.N >= from {
			marks = append(marks, m)
		}
	}
	return points, marks, nil
}

// NewHistory returns the points of a run's history from a record on, and all its marks but the
// first marks. The error is as that of [Ask].
func NewHistory(ctx context.Context, nc *nats.Conn, run string, from uint64, seen int) (
	points []history.Point, marks []history.Mark, err error) {
	points = []history.Point{}
	for next := from; ; {
		var p historyPage
		r := Request{Since: next, Marks: seen + len(marks)}
		if err := exchange(ctx, nc, run, VerbHistory, r, &p); err != nil {
			return nil, nil, err
		}
		points, marks = append(points, p.Points...), append(marks, p.Marks...)
		if !p.More || len(p.Points)+len(p.Marks) == 0 {
			return points, marks, nil
		}
		if n := len(points); n > 0 {
			next = points[n-1].N + 1
		}
	}
}
