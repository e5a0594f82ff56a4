package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// usualMemory is the memory in bytes below which the agent tries to stay, unless GOMEMLIMIT sets
// another limit.
const usualMemory = 32 << 20

// An agent is a device: a source of readings, the station that stores them, the client that
// trains the model, and the watch that uses it.
type agent struct {
	cfg       *config.Config
	log       *slog.Logger
	station   *station
	objective *forecastLoss
	watch     *watch
	client    *client.Client
	windows   client.Store
	source    source
	params    []float32
}

// serve runs an agent until ctx ends, or until both a replay and the run have ended.
func serve(ctx context.Context, cfg *config.Config, log *slog.Logger) (err error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(usualMemory)
	}
	base := log // the client adds its id itself
	log = log.With("id", cfg.ID)
	a := &agent{cfg: cfg, log: log, station: newStation(cfg)}
	a.objective, a.watch = newLoss(a.station), newWatch(a.station, log)
	a.params = make([]float32, a.objective.Dim())
	topics := a.openSource()
	states, err := openStores(cfg.State)
	if err != nil {
		return err
	}
	defer states.close()
	a.windows = states.window
	if err := a.station.load(a.windows); err != nil {
		log.Warn("starting with an empty window", "err", err)
	}
	told, err := openOutputs(cfg, log, topics)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, told.end()) }()
	a.watch.tell = told.sinks
	conn, err := connect(cfg, log)
	if err != nil {
		return err
	}
	defer conn.Close()
	a.client, err = client.New(client.Config{
		Conn: conn, Run: cfg.Run, ID: cfg.ID, Store: states.model, Objective: a.objective,
		RunKey: cfg.RunKey, Coordinator: cfg.Enrolled.Keys.String(),
		// The client refuses a plan that needs more than this half of the memory. The window, the batch
		// and the Go runtime use the other half.
		MemoryLimit: uint64(debug.SetMemoryLimit(-1)) / 2,
		Recorder:    &recorder{log: log}, Logger: slog.New(newWarnings(base.Handler())), Workers: 1,
	})
	if err != nil {
		return err
	}
	return a.run(ctx)
}

// stores are the client's and the window's directories, both below the state directory.
type stores struct{ model, window client.Store }

func openStores(dir string) (s stores, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s, err
	}
	if s.model, err = client.OpenStore(filepath.Join(dir, "model")); err != nil {
		return s, err
	}
	if s.window, err = client.OpenStore(filepath.Join(dir, "readings")); err != nil {
		return s, errors.Join(err, s.model.Close())
	}
	return s, nil
}

// close ignores errors: the locks end with the process anyway.
func (s stores) close() { _ = errors.Join(s.model.Close(), s.window.Close()) }

// openSource opens the source, and returns the topics that it reads.
func (a *agent) openSource() map[string]func([]byte) {
	switch a.cfg.Source.Kind {
	case "sysfs":
		a.source = newSensor(a.cfg, a.log, a.station).run
	case "mqtt":
		t := newTopics(a.cfg, a.log, a.station)
		a.source = t.run
		return t.subscriptions()
	default:
		a.source = newSheet(a.cfg, a.log, a.station).run
	}
	return nil
}

// run reads the source, trains, and watches the readings. At the end, run always saves the
// window.
func (a *agent) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	l := &loop{agent: a, readings: make(chan reading), sourceDone: make(chan error, 1),
		clientDone: make(chan error, 1)}
	go func() { l.sourceDone <- a.source(ctx, l.readings) }()
	err = l.run(ctx)
	a.tell("STOPPING=1")
	cancel()
	l.await()
	err = errors.Join(err, a.station.save(a.windows))
	n, digest := a.client.Digest()
	a.log.Info("stopped", "record", n, "digest", fmt.Sprintf("%x", digest))
	return err
}

// tell reports a state to systemd. If systemd cannot be told, the agent continues.
func (a *agent) tell(state string) {
	if err := notify(state); err != nil {
		a.log.Warn("cannot notify systemd", "state", state, "err", err)
	}
}

// observe passes a completed slot to the watch, with the newest model.
func (a *agent) observe(slot int64) {
	n, err := a.client.Params(a.params)
	if err != nil {
		a.log.Warn("no model", "err", err)
		n = 0
	}
	a.watch.see(slot, a.params, n)
}

// logMetrics logs the model's metrics on the held-out readings.
func (a *agent) logMetrics() {
	n, err := a.client.Params(a.params)
	if err != nil || n == 0 {
		return
	}
	// The client's goroutine has ended, so no other goroutine uses the objective.
	values, samples, err := a.objective.Evaluate(context.Background(), a.params)
	if err != nil {
		a.log.Warn("cannot evaluate the model", "err", err)
		return
	}
	attrs := []any{"readings", samples, "record", n}
	for i, v := range values {
		attrs = append(attrs, metrics[i], round(v))
	}
	a.log.Info("held out", attrs...)
}
