// Package keepalive checks a coordinator's connection: one that is dead but not closed would
// otherwise be noticed after minutes. It is noticed within 1.5 intervals and made anew, and the
// next announcement comes within 2.5.
package keepalive

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/plan"
)

// The interval that a coordinator counts in is the plan's Reannounce, within these bounds. It
// checks its connection twice in an interval, and gives the broker an interval for its answer.
const (
	least = time.Second
	most  = plan.DefaultReannounce
)

// maxPatience bounds the time that a broker has for its answer, which doubles as long as new
// connections do not help.
const maxPatience = time.Minute

// A Pulse checks a connection. Its fields are set once.
type Pulse struct {
	Bus     bus.Bus
	Logger  *slog.Logger
	Subject string // for the check; any will do
	Every   func() time.Duration

	patience time.Duration
	failing  bool // the last check failed
}

// Interval returns the interval for a plan's Reannounce in milliseconds.
func Interval(reannounce uint32) time.Duration {
	return min(max(time.Duration(reannounce)*time.Millisecond, least), most)
}

// Run checks until ctx ends. It does nothing where the bus has no connection to make anew.
func (p *Pulse) Run(ctx context.Context) {
	if _, ok := p.Bus.(bus.Reconnector); !ok {
		return
	}
	for {
		t := time.NewTimer(p.Every() / 2)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
			p.beat(ctx, p.Every())
		}
	}
}

// beat checks the connection once, and drops it if the broker does not answer.
func (p *Pulse) beat(ctx context.Context, every time.Duration) {
	p.patience = max(p.patience, every)
	limited, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	err := bus.Check(limited, p.Bus, p.Subject)
	switch {
	case ctx.Err() != nil, errors.Is(err, bus.ErrOffline), errors.Is(err, bus.ErrPermission):
		return // the connection is being made, or good
	case err == nil && p.failing:
		p.Logger.Info("the broker answers again")
	case errors.Is(err, context.DeadlineExceeded):
		p.Logger.Warn("the broker does not answer, connecting again", "after", p.patience)
		if err := bus.Reconnect(p.Bus); err != nil {
			p.Logger.Warn("cannot connect again", "err", err)
		}
		if p.failing {
			p.patience = min(2*p.patience, maxPatience)
		}
	}
	if p.failing = err != nil; !p.failing {
		p.patience = 0
	}
}
