// Package runlist finds runs and their histories: those whose logs are in a directory, and those
// whose coordinators answer on a broker.
package runlist

import (
	"context"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A Run is a run in a list.
type Run struct {
	Key   string    `json:"key"`  // names the run to its source
	Name  string    `json:"name"` // for people
	State string    `json:"state"`
	Round uint64    `json:"round"`
	Loss  *float64  `json:"loss"`          // of the last round; nil: none or not finite
	Time  time.Time `json:"time,omitzero"` // of the last round or event in the history
	Tags  []string  `json:"tags,omitempty"`
	Led   bool      `json:"led,omitempty"`  // by this process
	Live  bool      `json:"live,omitempty"` // its coordinator answers
}

// A Source has runs. Any goroutine may call its methods.
type Source interface {
	// List returns the runs, the last used first.
	List(ctx context.Context) []Run
	// History returns what the history of a run keeps. ok is false if the source has no such run.
	History(ctx context.Context, key string) (points []history.Point, marks []history.Mark, ok bool)
}

// Describe fills in what a history says of its run.
func Describe(r *Run, h *history.History) {
	r.Tags = h.Tags()
	if round, _ := h.Last(); round != nil {
		r.Round, r.Loss, r.Time = round.Round, round.Loss, round.Time
	}
}

// stateOf returns the state in which a history leaves its run.
func stateOf(marks []history.Mark) string {
	for i := len(marks) - 1; i >= 0; i-- {
		switch m := &marks[i]; m.Kind {
		case history.Ended:
			return "ended: " + m.Text
		case history.Paused, history.Diverged:
			return "paused"
		case history.Resumed, history.Began, history.RolledBack:
			return "not ended"
		}
	}
	return "not ended"
}
