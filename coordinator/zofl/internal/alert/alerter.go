package alert

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// Config says where alerts go.
type Config struct {
	URLs    []string      // of webhooks; see [CheckURL]
	Command []string      // a program and its arguments; empty: none
	After   time.Duration // without a round, until that is an alert; 0: never
	Worse   func() string // says how the run ended worse than it began, or ""
	Logger  *slog.Logger
}

// lookEvery is how often an Alerter looks at the run's status.
const lookEvery = 5 * time.Second

// An Alerter is a [report.Recorder] that sends alerts. It never makes a run wait.
type Alerter struct {
	cfg   Config
	sinks []*sink
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu    sync.Mutex // guards what follows
	rules rules
}

var _ report.Recorder = (*Alerter)(nil)

// Start starts to send the alerts of a run. Close ends that.
func Start(cfg Config) *Alerter {
	ctx, stop := context.WithCancel(context.Background())
	a := &Alerter{cfg: cfg, stop: stop, rules: rules{after: cfg.After}}
	for _, url := range cfg.URLs {
		a.sinks = append(a.sinks, newSink(cfg.Logger, webhook(url)))
	}
	if len(cfg.Command) > 0 {
		a.sinks = append(a.sinks, newSink(cfg.Logger, program(cfg.Command)))
	}
	a.done.Go(func() { a.look(ctx) })
	return a
}

// Lead says which coordinator leads the run from now on.
func (a *Alerter) Lead(run Run) {
	a.tell(func(r *rules) []Alert { return r.lead(run, time.Now()) })
}

// Record implements [report.Recorder]. Record never fails and never waits.
func (a *Alerter) Record(e report.Event) error {
	a.tell(func(r *rules) []Alert { return r.see(&e, a.cfg.Worse, time.Now()) })
	return nil
}

func (a *Alerter) tell(decide func(*rules) []Alert) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, alert := range decide(&a.rules) {
		for _, s := range a.sinks {
			s.put(alert)
		}
	}
}

// look looks at the run's status now and then.
func (a *Alerter) look(ctx context.Context) {
	every := lookEvery
	if a.cfg.After > 0 {
		every = min(every, max(a.cfg.After/4, 10*time.Millisecond))
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			a.tell(func(r *rules) []Alert { return r.tick(time.Now()) })
		}
	}
}

// closeWithin bounds how long Close waits for the alerts that are under way.
const closeWithin = 5 * time.Second

// Close sends the waiting alerts, unless that takes too long. The caller must not call Record or
// Lead after Close.
func (a *Alerter) Close() {
	a.stop()
	a.done.Wait()
	late := time.AfterFunc(closeWithin, func() {
		for _, s := range a.sinks {
			s.cancel()
		}
	})
	defer late.Stop()
	for _, s := range a.sinks {
		s.close()
	}
}
