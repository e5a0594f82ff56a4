package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
)

// A loop is an agent that runs.
type loop struct {
	*agent
	readings chan reading
	read     chan error // the source ended
	trained  chan error // the client did
	joined   bool
	refused  string    // why the client ended last
	told     time.Time // when that was told
	heard    time.Time // when the last reading came
	silent   bool      // that none comes was told
}

// run returns when ctx ends, the source fails, or a replay and the run are over.
func (l *loop) run(ctx context.Context) error {
	keep := time.NewTicker(l.cfg.Keep)
	defer keep.Stop()
	alive, stop := l.watchdog()
	defer stop()
	l.heard = time.Now()
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
			l.hear(time.Now())
			if slot, ended := l.station.add(r); ended {
				l.seen(slot)
				l.join(ctx)
			}
		case <-keep.C:
			l.miss(time.Now())
			if err := l.station.save(l.windows); err != nil {
				l.log.Warn("the window was not kept", "err", err)
			}
		case <-alive:
			l.tell("WATCHDOG=1")
		case err := <-l.read:
			if ctx.Err() != nil { // it was told to
				return nil
			}
			if l.read = nil; err != nil {
				return err
			}
			l.log.Info("the source has ended", "examples", l.station.examples())
		case err := <-l.trained:
			if ctx.Err() != nil { // it was told to
				l.joined = false
				return nil
			}
			if err != nil {
				l.joined = false // and nobody is to be awaited
				if l.ends(err) {
					return err
				}
				l.refuse(err, time.Now())
				continue
			}
			l.trained = nil
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

// ends says whether an error of the client ends the agent. Most are about the run's plan,
// or what the broker lets the device do: they may be cured elsewhere, and devices must
// not have to be visited for that. A replay has somebody who looks on.
func (l *loop) ends(err error) bool {
	return l.cfg.Source.Kind == "replay" || l.read == nil || errors.Is(err, bus.ErrClosed)
}

// refusedEvery is how long it is not told again why the device does not take part: it may
// have taken part since, and journals forget.
const refusedEvery = 24 * time.Hour

// refuse tells, now and then, why the device does not take part. It tries again with each
// slot.
func (l *loop) refuse(err error, now time.Time) {
	if text := err.Error(); text != l.refused || now.Sub(l.told) >= refusedEvery {
		l.log.Error("not taking part: trying again with each period", "err", err)
		l.refused, l.told = text, now
	}
}

func (l *loop) hear(now time.Time) {
	if l.silent {
		l.log.Info("readings come again", "after", now.Sub(l.heard).Round(time.Second))
	}
	l.heard, l.silent = now, false
}

// miss tells, once, that no reading came for long: the sensor hangs, or whatever writes
// the file stopped.
func (l *loop) miss(now time.Time) {
	if d := now.Sub(l.heard); !l.silent && l.read != nil && d > max(l.cfg.Keep, 3*l.cfg.Period) {
		l.log.Warn("no reading comes: look at the source", "source", l.cfg.Source.Path, "for", d.Round(time.Second))
		l.silent = true
	}
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
	if l.refused == "" {
		l.log.Info("joining", "run", l.cfg.Run, "parameters", l.objective.Dim(), "examples", l.station.examples())
	}
	trained := l.trained
	go func() { trained <- l.client.Run(ctx) }()
}

// await waits until nothing uses the stores any more. The source does not, and a sensor
// that hangs, as some buses do, would keep the window from its file.
func (l *loop) await() {
	if l.joined && l.trained != nil {
		<-l.trained
	}
}
