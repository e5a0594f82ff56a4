// Package demo runs a whole fleet in one process: a broker, a coordinator with a log on disk, and
// devices that train an image classifier which they can only evaluate. A demo runs the same code as
// a real run.
package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// Config says what to run.
type Config struct {
	Method   string   // name of a preset
	Rounds   uint64   // number of training rounds; 0: as many as suit the method
	Clients  int      // number of devices, each with a connection of its own
	Data     string   // directory of MNIST files; empty: drawn digits
	Split    string   // "iid", "shards" or "dirichlet"
	Seed     uint64   // of the digits, the split and the run key
	Settings []string // "field=value" of the plan

	Progress func(Progress) // called whenever it changes, unless nil

	// Run calls Lead, unless nil, with the coordinator and its desk before the run. With Lead set, the
	// run may pause, because an operator may want that. History and Recorder get the events, unless
	// nil.
	Lead     func(c *coordinator.Coordinator, desk *operate.Desk)
	History  *history.History
	Recorder report.Recorder
}

// Defaults returns the options of `zofl demo` without flags.
func Defaults() Config {
	return Config{Method: "zofl", Clients: 20, Split: "dirichlet", Seed: 1}
}

// A Progress is the state of a demo after a round, or before round 1.
type Progress struct {
	// Doing says what happens where no round moves the model. It is empty where one does.
	Doing string

	Round     uint64
	Rounds    uint64  // of the whole demo
	Loss      float64 // mean training loss of the round
	Accuracy  float64 // on the test set, at the last evaluation; -1 before the first
	BytesUp   float64 // mean so far, per client and round
	BytesDown float64
}

// A Result is the outcome of a demo. `zofl demo --json` prints its JSON.
type Result struct {
	Method         string  `json:"method"`
	Rounds         uint64  `json:"rounds"`
	Clients        int     `json:"clients"`
	Parameters     int     `json:"parameters"`
	LossBefore     float64 `json:"loss_before"`     // on the test set, before round 1
	Loss           float64 `json:"loss"`            // on the test set
	AccuracyBefore float64 `json:"accuracy_before"` // on the test set, before round 1
	Accuracy       float64 `json:"accuracy"`        // on the test set
	Queries        uint64  `json:"queries"`         // loss evaluations of all clients
	BytesUp        float64 `json:"bytes_up_per_client_round"`
	BytesDown      float64 `json:"bytes_down_per_client_round"`
	Replicas       int     `json:"replicas"` // one per client, and one replay of the log
	ReplicasAgree  bool    `json:"replicas_agree"`
	Seconds        float64 `json:"seconds"`
	Ended          string  `json:"ended"` // what ended the run

	// Note says which values differ from the preset because of other fields of the plan.
	Note string `json:"note,omitempty"`

	Plan *plan.Plan `json:"-"`
}

// Improved says whether the model classifies the test set better than before round 1.
func (r *Result) Improved() bool { return r.Loss < r.LossBefore && r.Accuracy > r.AccuracyBefore }

// run is a demo in progress.
type run struct {
	cfg     Config
	plan    *plan.Plan
	note    string // values of the plan that differ from the preset's
	images  *images
	broker  *broker.Broker
	devices []*device
	joined  chan struct{} // gets a value for each device that joins
	last    Progress
	found   survey.Kind // what devices found last
}

// Run runs a demo until its plan is done or ctx is.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	began := time.Now()
	r := &run{cfg: cfg, joined: make(chan struct{}, max(cfg.Clients, 0))}
	if cfg.Clients < 1 {
		return nil, cli.Usage(fmt.Errorf("--devices %d: give 1 or more", cfg.Clients))
	}
	if err := checkSplit(cfg.Split); err != nil {
		return nil, err
	}
	var err error
	if r.plan, r.note, err = planOf(cfg); err != nil {
		return nil, err
	}
	r.last = Progress{Doing: "starting", Rounds: r.plan.Rounds, Accuracy: -1}
	if r.images, err = load(cfg, recipeOf(cfg.Method).shrink); err != nil { // last: it is slow
		return nil, err
	}
	dir, err := os.MkdirTemp("", "zofl-demo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	log, err := filelog.Open(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if err := r.train(ctx, log); err != nil {
		return nil, err
	}
	result, err := r.result(ctx, log)
	if err == nil {
		result.Seconds = time.Since(began).Seconds()
	}
	return result, err
}

// train runs the broker, the coordinator and the devices until the run has ended.
func (r *run) train(ctx context.Context, log runlog.Log) (err error) {
	if r.broker, err = broker.Run(broker.Config{}); err != nil {
		return err
	}
	defer r.broker.Shutdown()
	nc, _, err := r.broker.Connect("coordinator")
	if err != nil {
		return err
	}
	defer nc.Close()
	watch := &operate.Watch{Next: report.RecorderFunc(r.record), History: r.cfg.History}
	c, err := coordinator.New(ctx, coordinator.Config{
		Conn: nc, Plan: r.plan, Log: log,
		Recorder: watch,
		// The coordinator stops earlier, when all devices have ended.
		Linger: deadline,
		// With so long a time, a slow disk never pauses the run.
		AppendTimeout: deadline,
	})
	if err != nil {
		return err
	}
	if r.cfg.Lead != nil {
		r.cfg.Lead(c, operate.NewDesk(c, watch))
	}
	if err := r.connect(); err != nil {
		return err
	}
	defer r.disconnect()
	return r.together(ctx, c)
}

// record notes the coordinator's events.
func (r *run) record(e report.Event) error {
	if r.cfg.Recorder != nil {
		if err := r.cfg.Recorder.Record(e); err != nil {
			return err
		}
	}
	switch e.Kind {
	case report.Joined:
		select {
		case r.joined <- struct{}{}:
		default: // a retired device that joined again
		}
		if e.N <= 1 { // nothing is found yet
			r.last.Doing = fmt.Sprintf("%d of %d devices are here", e.Members, r.cfg.Clients)
			if int(e.Members) >= r.cfg.Clients {
				r.last.Doing = r.searches()
			}
			r.show()
		}
	case report.Surveyed:
		if kind := survey.Named(e.Survey.Kind); kind == survey.Mu || kind == survey.Step {
			r.found = kind
		}
		r.last.Doing = r.searches()
		r.show()
	case report.Evaluated:
		r.last.Accuracy = float64(e.Evaluation.Metrics[1])
	case report.RoundDone:
		up, down := r.traffic()
		share := float64(len(r.devices)) * float64(e.Round)
		if r.found == survey.None { // no round comes before mu
			r.found = survey.Mu
		}
		r.last.Doing = r.searches()
		r.last.Round, r.last.Loss = e.Round, float64(e.Loss)
		r.last.BytesUp, r.last.BytesDown = float64(up)/share, float64(down)/share
		r.show()
	case report.RunPaused:
		if r.cfg.Lead != nil {
			return nil
		}
		return fmt.Errorf("demo: the run paused: %s", e.Reason)
	}
	return nil
}

func (r *run) show() {
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.last)
	}
}

// searches says which value of the plan the devices find next.
func (r *run) searches() string {
	switch {
	case r.found == survey.None && survey.Sigma(r.plan):
		return "finding the first sigma"
	case r.found == survey.None && r.plan.MuAuto > 0 && r.plan.Mu == 0:
		return "finding mu"
	case r.found != survey.Step && survey.FirstMove(r.plan) > 1:
		return "finding the step, no move yet"
	}
	return ""
}
