package coordinator

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/subjects"
)

// The interval that a coordinator counts in is the plan's Reannounce, within these bounds. It
// checks its connection twice in an interval, and gives the broker an interval for its answer.
const (
	pulseLeast = time.Second
	pulseMost  = wire.DefaultReannounce
)

// maxPulsePatience bounds the time that a broker has for its answer, which doubles as long as new
// connections do not help.
const maxPulsePatience = time.Minute

// A pulse checks a coordinator's connection: one that is dead but not closed would otherwise be
// noticed after minutes. It is noticed within 1.5 intervals and made anew, and the next
// announcement comes within 2.5.
type pulse struct {
	bus      bus.Bus
	log      *slog.Logger
	subject  string
	patience time.Duration
	failing  bool // the last check failed
}

// pulseInterval returns the interval for a plan's Reannounce in milliseconds.
func pulseInterval(reannounce uint32) time.Duration {
	return min(max(time.Duration(reannounce)*time.Millisecond, pulseLeast), pulseMost)
}

// run checks until ctx ends.
func (p *pulse) run(ctx context.Context, every func() time.Duration) {
	if _, ok := p.bus.(bus.Reconnector); !ok {
		return
	}
	for {
		t := time.NewTimer(every() / 2)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
			p.beat(ctx, every())
		}
	}
}

// beat checks the connection once, and drops it if the broker does not answer.
func (p *pulse) beat(ctx context.Context, every time.Duration) {
	p.patience = max(p.patience, every)
	limited, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	err := bus.Check(limited, p.bus, p.subject)
	switch {
	case ctx.Err() != nil, errors.Is(err, bus.ErrOffline), errors.Is(err, bus.ErrPermission):
		return // the connection is being made, or good
	case err == nil && p.failing:
		p.log.Info("the broker answers again")
	case errors.Is(err, context.DeadlineExceeded):
		p.log.Warn("the broker does not answer, connecting again", "after", p.patience)
		if err := bus.Reconnect(p.bus); err != nil {
			p.log.Warn("cannot connect again", "err", err)
		}
		if p.failing {
			p.patience = min(2*p.patience, maxPulsePatience)
		}
	}
	if p.failing = err != nil; !p.failing {
		p.patience = 0
	}
}

// interval is what the coordinator's pulse counts in.
func (c *Coordinator) interval() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return pulseInterval(c.core.Plan.Reannounce)
}

// watchConnection checks the connection until ctx ends.
func (c *Coordinator) watchConnection(ctx context.Context) {
	p := pulse{bus: c.cfg.Bus, log: c.cfg.Logger, subject: subjects.Announce(c.run, 0)}
	p.run(ctx, c.interval)
}

// lead makes the caller the log's coordinator. It may wait long, and checks the connection
// meanwhile: a log in JetStream is behind it.
func lead(ctx context.Context, cfg *Config) (epoch uint64, err error) {
	waiting, quit := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p := pulse{bus: cfg.Bus, log: cfg.Logger, subject: "zo"}
		p.run(waiting, func() time.Duration { return pulseMost })
	}()
	defer func() {
		quit()
		<-ended
	}()
	return cfg.Log.Begin(ctx)
}
