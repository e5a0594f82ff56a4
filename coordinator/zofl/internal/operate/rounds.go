package operate

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A Round is a round or a survey that the coordinator committed.
type Round struct {
	N             uint64   // its record, or the last record before it
	Survey        string   // what the survey asked for; "" for a round
	Phase         uint8    // 1: the first phase of a round of two phases
	Loss          *float64 // mean of the contributors; nil: unknown or not finite
	RoundStep     float32  // eta
	Perturbations uint32
	Attempt       uint32
	Contributors  uint32
	Epsilon       float64 // spent up to here by a device that took part in every round
}

// roundsOf returns the rounds and surveys of a history, ascending by N.
func roundsOf(points []history.Point, marks []history.Mark) (list []Round) {
	surveys := func(before uint64) {
		for ; len(marks) > 0 && marks[0].N < before; marks = marks[1:] {
			if m := &marks[0]; m.Kind == history.Surveyed {
				list = append(list, Round{N: m.N, Survey: m.Survey, Attempt: m.Attempt,
					Contributors: m.Contributors, Epsilon: m.Epsilon})
			}
		}
	}
	for i := range points {
		p := &points[i]
		if surveys(p.N); p.IsRound() {
			list = append(list, Round{N: p.N, Phase: p.Phase, Loss: p.Loss, RoundStep: p.RoundStep,
				Perturbations: p.Perturbations, Attempt: p.Attempt, Contributors: p.Contributors,
				Epsilon: p.Epsilon})
		}
	}
	surveys(1<<64 - 1)
	return list
}

// Rounds returns the rounds and surveys of a run after a record, from its history. A history has
// all of the last thousands of rounds, and some earlier rounds. Rounds returns the errors of [Ask].
func Rounds(ctx context.Context, nc *nats.Conn, run string, after uint64) ([]Round, error) {
	points, marks, err := History(ctx, nc, run, after+1)
	return roundsOf(points, marks), err
}

// A historyPage is the answer to a request for the history: points from a record on and, if all
// these points fit in the page, marks.
type historyPage struct {
	Points []history.Point `json:"points"`
	Marks  []history.Mark  `json:"marks"`
	More   bool            `json:"more"`
}

// historyPage returns points from r.Since on, and all marks but the first r.Marks, in at most most
// bytes, but at least one point or mark.
func (w *Watch) historyPage(r Request, most int) historyPage {
	h := w.Rounds()
	points, _ := h.Snapshot(r.Since)
	n := fitting(points, most/2)
	p := historyPage{Points: points[:n], Marks: []history.Mark{}, More: n < len(points)}
	if !p.More {
		_, marks := h.Snapshot(0)
		marks = marks[min(max(r.Marks, 0), len(marks)):]
		n = fitting(marks, most/2)
		p.Marks, p.More = marks[:n], n < len(marks)
	}
	return p
}

// fitting returns how many entries from the beginning of a list have together at most the given
// number of bytes of JSON. fitting returns at least 1 if the list is not empty.
func fitting[T any](list []T, most int) int {
	size := 0
	for i := range list {
		b, err := json.Marshal(&list[i])
		if size += len(b) + 1; err != nil || size > most && i > 0 {
			return i
		}
	}
	return len(list)
}

// History returns the points of a run's history from a record on, and its marks since then. History
// returns the errors of [Ask].
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
// first seen marks. NewHistory returns the errors of [Ask].
func NewHistory(ctx context.Context, nc *nats.Conn, run string, from uint64, seen int) (
	points []history.Point, marks []history.Mark, err error) {
	points = []history.Point{}
	pages := newReader(nc, run)
	for next := from; ; {
		var p historyPage
		r := Request{Since: next, Marks: seen + len(marks)}
		if err := pages.get(ctx, VerbHistory, r, &p); err != nil {
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
