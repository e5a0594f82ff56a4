package main

import (
	"context"
	"fmt"
	"time"
)

// A loop is an agent that runs.
type loop struct {
	*agent
	readings chan reading
	read     chan error // the source ended
	trained  chan error // the client did
	joined   bool
}

// run returns when ctx ends, the source fails, or a replay and the run are over.
func (l *loop) run(ctx context.Context) error {
	keep := time.NewTicker(l.cfg.Keep)
	defer keep.Stop()
	alive, stop := l.watchdog()
	defer stop()
	l.tell("READY=1")
	l.join(ctx)
	if !l.joined {
		l.log.Info("reading: there is too little to join with", "examples", l.station.examples(), "least", l.cfg.Least)
	}
	for l.read != nil || l.joined && l.trained != nil {
		select {
		case <-ctx.Done():
			return nil
		case r := <-l.readings:
			if slot, ended := l.station.add(r); ended {
				l.seen(slot)
				l.join(ctx)
			}
		case <-keep.C:
			if err := l.station.save(l.windows); err != nil {
				l.log.Warn("the window was not kept", "err", err)
			}
		case <-alive:
			l.tell("WATCHDOG=1")
		case err := <-l.read:
			if l.read = nil; err != nil {
				return err
			}
			l.log.Info("the source has ended", "examples", l.station.examples())
		case err := <-l.trained:
			if l.trained = nil; err != nil {
				return err
			}
			l.log.Info("the run has ended: forecasting by its model")
			if l.read != nil {
				l.measured()
			}
		}
	}
	if !l.joined {
		return fmt.Errorf("the source ended with %d examples, and the device joins with %d: set least, or window", l.station.examples(), l.cfg.Least)
	}
	l.measured()
	return nil
}

// watchdog ticks when systemd wants to hear that the loop goes round.
func (l *loop) watchdog() (<-chan time.Time, func()) {
	every, ok := watchdog()
	if !ok {
		return nil, func() {}
	}
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// join takes part, once there is enough to learn from: a device that has nothing to
// say would hold the others up.
func (l *loop) join(ctx context.Context) {
	if l.joined || l.station.examples() < l.cfg.Least {
		return
	}
	l.joined = true
	l.log.Info("joining", "run", l.cfg.Run, "parameters", l.objective.Dim(), "examples", l.station.examples())
	trained := l.trained
	go func() {
		err := l.client.Run(ctx)
		if ctx.Err() != nil {
			err = nil // it was told to
		}
		trained <- err
	}()
}

// await waits until nothing uses the stores any more.
func (l *loop) await() {
	if l.joined && l.trained != nil {
		<-l.trained
	}
	if l.read != nil {
		<-l.read
	}
}
