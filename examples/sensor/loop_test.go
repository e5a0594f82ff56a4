package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
)

// newAgent returns an agent with a source and the readings of four days, on a bus without a
// coordinator.
func newAgent(t *testing.T, log *slog.Logger, from source, lines ...string) *agent {
	t.Helper()
	s := filled(t, 4, lines...)
	a := &agent{cfg: s.cfg, log: log, station: s, objective: newLoss(s),
		watch: newWatch(s, log), source: from}
	a.params, a.windows = make([]float32, a.objective.Dim()), openStore(t, t.TempDir())
	b := bus.NewMemory()
	t.Cleanup(b.Close)
	var err error
	if a.client, err = client.New(client.Config{Bus: b, Run: s.cfg.Run, ID: s.cfg.ID,
		Objective: a.objective}); err != nil {
		t.Fatal(err)
	}
	return a
}

// While a sensor hangs, the agent can still end and save the window.
func TestStopWhileASensorHangs(t *testing.T) {
	hangs, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	a := newAgent(t, quiet, func(context.Context, chan<- reading) error {
		close(hangs)
		<-goOn
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.run(ctx) }()
	<-hangs
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("run waits for the sensor")
	}
	back := newStation(a.cfg)
	if err := back.load(a.windows); err != nil || back.window.held == 0 {
		t.Errorf("%d slots were saved: %v", back.window.held, err)
	}
}

// An operator may correct a problem of the run at the coordinator, so the device continues to
// read its sensor and tries to join again. In a replay, or after a closed connection, the agent
// ends instead.
func TestRunThatCannotBeJoined(t *testing.T) {
	for _, c := range []struct {
		source string
		err    error
		ends   bool
	}{
		{"csv none", plan.ErrRunKey, false}, {"sysfs none", bus.ErrPermission, false},
		{"replay none", plan.ErrRunKey, true}, {"csv none", bus.ErrClosed, true},
	} {
		log, told := listen()
		a := newAgent(t, log, nil, "source = "+c.source)
		l := &loop{agent: a, readings: make(chan reading), sourceDone: make(chan error, 1),
			clientDone: make(chan error, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		l.joined = true // as if it had joined
		ended := make(chan error, 1)
		go func() {
			err := l.run(ctx)
			l.await() // as an agent does at its end
			ended <- err
		}()
		for range 2 {
			l.clientDone <- fmt.Errorf("plan: %w", c.err)
			if c.ends {
				break
			}
			// an old time, so no slot ends
			l.readings <- reading{a.station.window.time(a.station.window.last), make([]float64, 1)}
		}
		if !c.ends {
			cancel()
		}
		var err error
		select {
		case err = <-ended:
		case <-time.After(time.Minute):
			t.Fatalf("%s, %v: run does not end", c.source, c.err)
		}
		cancel()
		if errors.Is(err, c.err) != c.ends {
			t.Errorf("%s, %v: ended with %v", c.source, c.err, err)
		}
		if n := strings.Count(told.String(), "not taking part"); !c.ends && (n != 1 || l.joined) {
			t.Errorf("%s, %v: logged %d times, joined: %v", c.source, c.err, n, l.joined)
		}
	}
}

// The agent logs the reason for not taking part once a day, because the device may have taken
// part in between.
func TestRefusalIsToldDaily(t *testing.T) {
	log, told := listen()
	l := &loop{agent: newAgent(t, log, nil)}
	begun := time.Now()
	for hours := range 49 {
		l.refuse(plan.ErrRunKey, begun.Add(time.Duration(hours)*time.Hour))
	}
	if n := strings.Count(told.String(), "not taking part"); n != 3 {
		t.Errorf("logged %d times in 48 hours, want 3", n)
	}
}

// A source and a client that end because they were stopped have not failed, and their run
// has not ended, whichever result arrives first.
func TestStopIsNoFailure(t *testing.T) {
	for range 20 {
		log, told := listen()
		l := &loop{agent: newAgent(t, log, nil), sourceDone: make(chan error, 1),
			clientDone: make(chan error, 1), joined: true}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		l.sourceDone <- context.Cause(ctx)
		l.clientDone <- nil
		err := l.run(ctx)
		l.await()
		if text := told.String(); err != nil || strings.Contains(text, "ended") {
			t.Fatalf("error %v, told %s", err, text)
		}
	}
}

// A source that falls silent is logged once, and once more when it is back.
func TestSilence(t *testing.T) {
	log, told := listen()
	a := newAgent(t, log, nil)
	begun := time.Now()
	l := &loop{agent: a, sourceDone: make(chan error), lastReading: begun}
	for _, minutes := range []time.Duration{10, 14, 16, 26, 36} {
		l.miss(begun.Add(minutes * time.Minute))
	}
	l.hear(begun.Add(40 * time.Minute))
	l.hear(begun.Add(45 * time.Minute))
	if text := told.String(); strings.Count(text, "no readings are coming") != 1 ||
		!strings.Contains(text, "for=16m0s") || strings.Count(text, "coming again") != 1 {
		t.Errorf("told %s", text)
	}
}

// Closing the terminal ends the agent, except under nohup.
func TestSignals(t *testing.T) {
	restore := func() { // it may be ignored already if the test runs under nohup
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGHUP)
		signal.Stop(c)
	}
	restore()
	if !slices.Contains(ends(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP would end the agent before it saves its window")
	}
	signal.Ignore(syscall.SIGHUP)
	defer restore()
	if slices.Contains(ends(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP is not ignored under nohup")
	}
}
