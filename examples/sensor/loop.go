package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
)

// keepEvery is the time between saves of the window, long enough to spare flash.
const keepEvery = 10 * time.Minute

// A loop is a running agent.
type loop struct {
	*agent
	readings    chan reading
	sourceDone  chan error // result of the source
	clientDone  chan error // result of the client
	joined      bool
	refusal     string    // the client's last error
	refusalTime time.Time // when it was logged
	lastReading time.Time // when the last reading came
	silent      bool      // the lack of readings was logged
}

// run returns when ctx ends, when the source fails, or when a replay and the run are over.
func (l *loop) run(ctx context.Context) error {
	keep := time.NewTicker(keepEvery)
	defer keep.Stop()
	alive, stop := l.watchdog()
	defer stop()
	l.lastReading = time.Now()
	l.tell("READY=1")
	l.join(ctx)
	if !l.joined {
		l.log.Info("collecting readings: too few examples to join",
			"examples", l.station.examples(), "least", l.cfg.Least)
	}
	for l.sourceDone != nil || l.joined && l.clientDone != nil {
		select {
		case <-ctx.Done():
			return nil
		case r := <-l.readings:
			l.hear(time.Now())
			if slot, ended := l.station.add(r); ended {
				l.observe(slot)
				l.join(ctx)
			}
		case <-keep.C:
			l.miss(time.Now())
			if err := l.station.save(l.windows); err != nil {
				l.log.Warn("the window was not saved", "err", err)
			}
		case <-alive:
			l.tell("WATCHDOG=1")
		case err := <-l.sourceDone:
			if ctx.Err() != nil { // it was stopped
				return nil
			}
			if l.sourceDone = nil; err != nil {
				return err
			}
			l.log.Info("the source has ended", "examples", l.station.examples())
		case err := <-l.clientDone:
			if ctx.Err() != nil { // it was stopped
				l.joined = false
				return nil
			}
			if err != nil {
				l.joined = false // and await has nothing to wait for
				if l.ends(err) {
					return err
				}
				l.refuse(err, time.Now())
				continue
			}
			l.clientDone = nil
			l.log.Info("the run has ended: forecasting with its model")
			if l.sourceDone != nil {
				l.logMetrics()
			}
		}
	}
	if !l.joined {
		return fmt.Errorf("the source ended with %d examples, but the device joins with %d: "+
			"set window", l.station.examples(), l.cfg.Least)
	}
	l.logMetrics()
	return nil
}

// ends decides whether an error of the client ends the agent. Most errors concern the run's plan
// or the broker's permissions. An operator can correct these errors elsewhere, and should not
// have to visit the devices, so the agent continues. During a replay, a person is watching.
func (l *loop) ends(err error) bool {
	return l.cfg.Source.Kind == "replay" || l.sourceDone == nil || errors.Is(err, bus.ErrClosed)
}

// refusedEvery is the time after which the agent logs the same reason for not taking part again.
// The agent repeats the reason because the device may have taken part in between, and because
// journals rotate.
const refusedEvery = 24 * time.Hour

// refuse logs, now and then, why the device does not take part. The agent tries to take part
// again after each slot.
func (l *loop) refuse(err error, now time.Time) {
	if text := err.Error(); text != l.refusal || now.Sub(l.refusalTime) >= refusedEvery {
		l.log.Error("not taking part: trying again with each period", "err", err)
		l.refusal, l.refusalTime = text, now
	}
}

func (l *loop) hear(now time.Time) {
	if l.silent {
		l.log.Info("readings are coming again", "after", now.Sub(l.lastReading).Round(time.Second))
	}
	l.lastReading, l.silent = now, false
}

// miss logs, once, that no reading came for a long time, for example because the sensor hangs, or
// because the logger that writes the file stopped.
func (l *loop) miss(now time.Time) {
	if d := now.Sub(l.lastReading); !l.silent && l.sourceDone != nil &&
		d > max(keepEvery, 3*l.cfg.Period) {
		l.log.Warn("no readings are coming: check the source", "source", l.cfg.Source.Path,
			"for", d.Round(time.Second))
		l.silent = true
	}
}

// watchdog returns a channel that ticks when the agent should notify systemd that it is alive.
func (l *loop) watchdog() (<-chan time.Time, func()) {
	every, ok := watchdog()
	if !ok {
		return nil, func() {}
	}
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// join takes part once there are enough examples: a device without any would delay the
// others.
func (l *loop) join(ctx context.Context) {
	if l.joined || l.station.examples() < l.cfg.Least {
		return
	}
	l.joined = true
	if l.refusal == "" {
		l.log.Info("joining", "run", l.cfg.Run, "parameters", l.objective.Dim(),
			"examples", l.station.examples())
	}
	trained := l.clientDone
	go func() { trained <- l.client.Run(ctx) }()
}

// await waits until nothing uses the stores. await does not wait for the source, which uses no
// store: a sensor that hangs, as on some buses, must not prevent the agent from saving the
// window.
func (l *loop) await() {
	if l.joined && l.clientDone != nil {
		<-l.clientDone
	}
}
