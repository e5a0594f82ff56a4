package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/zofl/zofl/client"
)

// logEvery is the number of rounds between two lines about rounds.
const logEvery = 500

// A recorder logs the events of a client that an operator wants to know, each once.
type recorder struct {
	log   *slog.Logger
	state client.State
	begun bool
	waits bool              // it waits for the broker or the coordinator, and logged that
	went  map[string]uint64 // last record at which each problem was logged
}

// Record implements [client.Recorder].
func (r *recorder) Record(p client.Progress) error {
	r.waits = r.waits && p.State == client.Joining
	switch {
	case p.Declined != 0:
		if text := p.Declined.String(); r.news(p, "declined: "+text) {
			r.log.Warn("declining a round", "record", p.N+1, "reason", text, "err", p.Err)
		}
	case p.State == client.Joining && p.Err != nil: // at each attempt
		if !r.waits {
			r.log.Info("waiting for the run", "err", p.Err)
		}
		r.waits = true
		return nil
	case p.Err != nil && r.news(p, p.Err.Error()):
		r.log.Warn("continuing after an error", "record", p.N, "err", p.Err)
	case p.Contributed:
		if p.Round > 0 && p.Round%logEvery == 0 {
			r.log.Info("training", "record", p.N, "round", p.Round, "loss", round(p.Loss))
		}
	}
	if r.begun && p.State == r.state || p.State == client.Working || p.State == client.Waiting &&
		r.state == client.Working {
		return nil
	}
	r.begun, r.state = true, p.State
	r.log.Info("run", "state", p.State.String(), "record", p.N, "reason", p.Reason)
	return nil
}

// news reports whether a problem was not logged within the last logEvery records. A device
// that is slower than the others loses most rounds, and the journal is on flash too.
func (r *recorder) news(p client.Progress, text string) bool {
	if n, ok := r.went[text]; ok && p.N >= n && p.N-n < logEvery {
		return false
	}
	if r.went == nil || len(r.went) >= 16 { // texts may contain numbers, so the map could grow
		r.went = map[string]uint64{}
	}
	r.went[text] = p.N
	return true
}

// warnEvery is the time within which the agent does not log the same warning of the client again.
const warnEvery = 10 * time.Minute

// warnings is a handler for the client's warnings. The handler passes the same message on at most
// once in warnEvery. The recorder logs the other events that an operator needs.
type warnings struct {
	slog.Handler
	history *history
}

type history struct {
	mu sync.Mutex
	at map[string]time.Time // by message
}

func newWarnings(h slog.Handler) warnings {
	return warnings{h, &history{at: map[string]time.Time{}}}
}

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	w.history.mu.Lock()
	at, ok := w.history.at[r.Message]
	again := ok && r.Time.Sub(at).Abs() < warnEvery
	if !again {
		w.history.at[r.Message] = r.Time
	}
	w.history.mu.Unlock()
	if again {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs), w.history}
}

func (w warnings) WithGroup(name string) slog.Handler {
	return warnings{w.Handler.WithGroup(name), w.history}
}
