// Package keepalive checks a coordinator's connection: a coordinator would otherwise notice only
// after minutes that its connection is dead but not closed. With the checks, the coordinator
// connects again within 1.5 intervals, and the next announcement comes within 2.5 intervals.
package keepalive

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/plan"
)

// The interval of the checks is the plan's Reannounce, within these bounds. A coordinator checks
// its connection twice in an interval, and gives the broker one interval to answer.
const (
	least = time.Second
	most  = plan.DefaultReannounce
)

// maxPatience bounds the time that the broker has to answer. That time doubles as long as new
// connections do not help.
const maxPatience = time.Minute

// A Checker checks a connection. The caller sets the exported fields once.
type Checker struct {
	Bus     bus.Bus
	Logger  *slog.Logger
	Subject string // for the check; any will do
	Every   func() time.Duration
	Denied  func(error) // called if the broker denies the subject; may be nil

	patience time.Duration
	failing  bool // the last check failed
}

// Interval returns the interval for a plan's Reannounce in milliseconds.
func Interval(reannounce uint32) time.Duration {
	return min(max(time.Duration(reannounce)*time.Millisecond, least), most)
}

// Run checks the connection until ctx ends. The Bus must be a [bus.Reconnector].
func (c *Checker) Run(ctx context.Context) {
	for {
		t := time.NewTimer(c.Every() / 2)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
			c.check(ctx, c.Every())
		}
	}
}

// check checks the connection once, and connects again if the broker does not answer.
func (c *Checker) check(ctx context.Context, every time.Duration) {
	c.patience = max(c.patience, every)
	limited, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	err := bus.Check(limited, c.Bus, c.Subject)
	switch {
	case c.Denied != nil && errors.Is(err, bus.ErrPermission):
		c.Denied(err)
		return
	case ctx.Err() != nil, errors.Is(err, bus.ErrOffline), errors.Is(err, bus.ErrPermission):
		return // the connection is being made, or good
	case err == nil && c.failing:
		c.Logger.Info("the broker answers again")
	case errors.Is(err, context.DeadlineExceeded):
		c.Logger.Warn("the broker does not answer, connecting again", "after", c.patience)
		if err := bus.Reconnect(c.Bus); err != nil {
			c.Logger.Warn("cannot connect again", "err", err)
		}
		if c.failing {
			c.patience = min(2*c.patience, maxPatience)
		}
	}
	if c.failing = err != nil; !c.failing {
		c.patience = 0
	}
}
