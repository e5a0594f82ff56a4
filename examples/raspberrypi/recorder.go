package main

import (
	"context"
	"log/slog"

	"github.com/zofl/zofl/client"
)

// logEvery is how many rounds there are from one line about them to the next.
const logEvery = 500

// A recorder tells what an operator wants to know of a client, each once.
type recorder struct {
	log     *slog.Logger
	state   client.State
	begun   bool
	refused string // the last reason to sit a round out
	waits   bool   // for the broker or the coordinator, and that was told
}

// Record implements [client.Recorder].
func (r *recorder) Record(p client.Progress) error {
	r.waits = r.waits && p.State == client.Joining
	switch {
	case p.Declined != 0:
		if text := p.Declined.String(); text != r.refused {
			r.log.Warn("sitting a round out", "record", p.N+1, "reason", text, "err", p.Err)
			r.refused = text
		}
	case p.State == client.Joining && p.Err != nil: // at each attempt
		if !r.waits {
			r.log.Info("waiting for the run", "err", p.Err)
		}
		r.waits = true
		return nil
	case p.Err != nil:
		r.log.Warn("going on", "record", p.N, "err", p.Err)
	case p.Contributed:
		r.refused = ""
		if p.Round > 0 && p.Round%logEvery == 0 {
			r.log.Info("training", "record", p.N, "round", p.Round, "loss", round(p.Loss))
		}
	}
	if r.begun && p.State == r.state || p.State == client.Working || p.State == client.Waiting && r.state == client.Working {
		return nil
	}
	r.begun, r.state = true, p.State
	r.log.Info("run", "state", p.State.String(), "record", p.N, "reason", p.Reason)
	return nil
}

// warnings is a handler of what an operator has to know of the client: the rest its
// recorder tells, once.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
