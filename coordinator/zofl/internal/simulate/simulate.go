// Package simulate runs a plan on devices of this process, with several settings and seeds, and
// keeps the history of each run in files that other programs read.
package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/wire/survey"
)

// mostRuns bounds the runs of one command.
const mostRuns = 10000

// Config says what to run.
type Config struct {
	Plan  *plan.Plan // with a number of rounds; it is not changed
	Axes  []Axis     // every choice of one value of each is run
	Seeds []uint64   // with each of these
	// Devices returns the losses of a run's devices. The plan's members gives their number.
	Devices func(p *plan.Plan, seed uint64) ([]objective.Objective, error)
	Initial []float32 // the first parameters, for a plan with initial=given
	Queries uint64    // bounds the loss evaluations of a run's devices together; 0: no bound
	// Lead calls Ready, unless nil, before each run. Ready returns when the devices can evaluate
	// losses. An error of Ready ends the simulation.
	Ready func(ctx context.Context) error
	// Checked says that other code has compared the gradients of devices with their losses.
	Checked bool
	Sinks   []Sink // all of them learn what happens, in this order
}

// A Sink stores or shows the events of runs.
type Sink interface {
	Begin(*Run) error
	Round(*Run, Row) error
	End(*Run) error // Outcome is set
}

// A Run is a plan with a setting of the sweep and a seed.
type Run struct {
	Name     string
	Number   int // from 1
	Of       int // runs of the simulation
	Seed     uint64
	Settings []Setting  // in the order of the axes
	Plan     *plan.Plan // with the settings, and the run key as given
	Devices  int

	Rows    []Row // so far
	Outcome Outcome
	Params  []float32 // the model, while sinks learn of the end
	// BestParams is the best model then; nil: the plan does not say what is best.
	BestParams []float32
}

// An Outcome is how a run ended.
type Outcome struct {
	Rounds uint64 `json:"rounds"` // that were run
	First  Number `json:"loss_first"`
	// Loss is the mean training loss of the last tenth of the rounds. Loss is NaN if the run did not
	// come to its end.
	Loss    Number            `json:"loss"`
	Metrics map[string]Number `json:"metrics,omitempty"` // the last ones
	// Queries counts the loss evaluations of all devices, including devices that failed.
	Queries uint64 `json:"queries"`
	Up      Number `json:"up"` // as in the last row
	Down    Number `json:"down"`
	Seconds Number `json:"seconds"`
	// Ended is "rounds", "patience", a condition on a metric, "stopped" by whoever was told of a
	// round, "diverged", "paused", "interrupted" or "failed".
	Ended string `json:"ended"`
	Err   error  `json:"-"`               // why, unless the run came to its end
	Model string `json:"model,omitempty"` // the file of the model, if it is stored
	// Warning says which devices no longer took part when the run came to its end, and why. In the
	// first run, Warning also says if a device's gradient does not fit its loss.
	Warning string  `json:"warning,omitempty"`
	Found   []Found `json:"found,omitempty"`
	// Best is the round with the best model, of a plan with best.
	Best      *report.Best `json:"best,omitempty"`
	BestModel string       `json:"best_model,omitempty"` // the file of that model, if it is stored
}

// A Found is a value that devices found outside rounds, or that the coordinator found from their
// scalars.
type Found struct {
	Of    string `json:"of"`              // "mu", "step", "groups" or "sketch"
	Value Number `json:"value,omitempty"` // of mu and the step
	Why   string `json:"why"`

	// SignalToNoise and LossesFactor, of mu, are those of [survey.Result].
	SignalToNoise Number `json:"signal_to_noise,omitempty"`
	LossesFactor  Number `json:"losses_factor,omitempty"`
}

// Done reports whether a run came to its end.
func (o *Outcome) Done() bool { return o.Ended != "" && o.Err == nil }

// Runs checks the settings and returns the runs, of each seed in turn.
func Runs(c *Config) ([]*Run, error) {
	all := cross(c.Axes)
	if n := len(all) * len(c.Seeds); n > mostRuns {
		return nil, fmt.Errorf("%d settings with %d seeds are more than %d runs: sweep fewer values",
			len(all), len(c.Seeds), mostRuns)
	}
	var runs []*Run
	for _, seed := range c.Seeds {
		for _, settings := range all {
			p, err := apply(c.Plan, settings)
			if err != nil {
				return nil, err
			}
			number := len(runs) + 1
			runs = append(runs, &Run{Name: nameOf(settings, seed, number), Number: number,
				Of: len(all) * len(c.Seeds), Seed: seed, Settings: settings, Plan: p,
				Devices: int(p.Members)})
		}
	}
	for _, r := range runs[:len(all)] { // those of a seed: the others differ in their data only
		if err := check(c, r); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// check returns an error if a run cannot begin. Runs checks all runs first, so that no long run
// comes before such an error.
func check(c *Config, r *Run) error {
	if r.Plan.Rounds == 0 {
		return &plan.Error{Field: "rounds", Value: r.Plan.Rounds,
			Remedy: "say how many rounds to run, with --rounds or in the plan"}
	}
	devices, err := c.Devices(r.Plan, r.Seed)
	if err != nil {
		return err
	}
	return fleet.Check(keyed(r.Plan, r.Seed), devices)
}

// keyed returns the plan with which the coordinator leads a run. Its run key follows from the seed,
// so the simulation of a private run needs no secret.
func keyed(p *plan.Plan, seed uint64) *plan.Plan {
	led := *p
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl simulate"), seed))
	led.RunKey, led.KeyCheck, led.KeyScheme = key[:], nil, 0
	led.SecureLists = 0 // to agree on lists, devices need the run's secret
	return &led
}

// Lead leads the runs in turn. If a run diverges or pauses, the next one still begins. If ctx ends,
// Lead returns the cause. If a run fails in another way, Lead returns its error. The runs then hold
// the results so far.
func Lead(ctx context.Context, c *Config, runs []*Run) error {
	for _, r := range runs {
		if c.Ready != nil {
			if err := c.Ready(ctx); err != nil {
				return err
			}
		}
		if err := lead(ctx, c, r); err != nil {
			return err
		}
	}
	return nil
}

// lead leads one run.
func lead(ctx context.Context, c *Config, r *Run) error {
	devices, err := c.Devices(r.Plan, r.Seed)
	if err != nil {
		return err
	}
	if err := c.tell(func(s Sink) error { return s.Begin(r) }); err != nil {
		return err
	}
	seconds, unwritten := 0.0, error(nil)
	result, err := fleet.Run(ctx, keyed(r.Plan, r.Seed), devices, fleet.Options{
		Initial: c.Initial, Checked: c.Checked || r.Number > 1, Queries: c.Queries,
		Progress: func(round fleet.Round) error {
			row := rowOf(round, r.Devices, seconds, r.Plan.Metrics)
			seconds += round.Seconds
			r.Rows = append(r.Rows, row)
			err := c.tell(func(s Sink) error { return s.Round(r, row) })
			if !errors.Is(err, fleet.ErrStop) {
				unwritten = err
			}
			return err
		},
	})
	if unwritten != nil {
		return unwritten
	}
	r.Outcome = outcome(ctx, r, result, err)
	if result != nil {
		r.Params = result.Params
		if result.Best != nil {
			r.BestParams = result.Best.Params
		}
	}
	err = c.tell(func(s Sink) error { return s.End(r) })
	if r.Params, r.BestParams = nil, nil; err != nil {
		return err
	}
	switch r.Outcome.Ended {
	case "interrupted", "failed":
		return r.Outcome.Err
	}
	return nil
}

// tell calls all sinks.
func (c *Config) tell(call func(Sink) error) error {
	for _, s := range c.Sinks {
		if err := call(s); err != nil {
			return err
		}
	}
	return nil
}

// warn adds a warning, if there is one.
func (o *Outcome) warn(text string) {
	if text != "" {
		o.Warning = strings.TrimPrefix(o.Warning+"; "+text, "; ")
	}
}

// idle says which devices no longer took part at the end, because their work had failed repeatedly.
func idle(devices []fleet.Device) string {
	return those(devices, "took no part at the end", func(d *fleet.Device) error {
		if d.Declined < 2 {
			return nil
		}
		return d.Err
	})
}

// unmeasured says which devices an evaluation left out.
func unmeasured(devices []fleet.Device) string {
	return those(devices, "were left out of an evaluation",
		func(d *fleet.Device) error { return d.Unmeasured })
}

// those lists the devices for which of returns an error, and quotes the error of the first. those
// returns "" if there are no such devices.
func those(devices []fleet.Device, what string, of func(*fleet.Device) error) string {
	var ids []string
	var why error
	for i := range devices {
		err := of(&devices[i])
		if err == nil {
			continue
		}
		if ids = append(ids, devices[i].ID); why == nil {
			why = err
		}
	}
	if len(ids) == 0 {
		return ""
	}
	shown := strings.Join(ids[:min(len(ids), 8)], ", ")
	if len(ids) > 8 {
		shown += ", ..."
	}
	return fmt.Sprintf("%d of %d devices %s (%s): %v", len(ids), len(devices), what, shown, why)
}

// outcome says how a run ended.
func outcome(ctx context.Context, r *Run, result *fleet.Result, err error) Outcome {
	o := Outcome{First: Number(math.NaN()), Loss: Number(math.NaN()), Err: err}
	if result != nil {
		o.Queries, o.Ended = result.Queries, result.Ended
		for _, f := range result.Found {
			of := f.Kind
			if of == survey.FirstSigma {
				of = "step" // the field that has it
			}
			o.Found = append(o.Found, Found{Of: of, Value: single(f.Value), Why: f.Reason(),
				SignalToNoise: Number(f.SignalToNoise), LossesFactor: Number(f.LossesFactor)})
			o.warn(f.Warning)
		}
		if errors.Is(result.Gradient, fleet.ErrGradient) {
			o.Warning = result.Gradient.Error()
		}
		o.warn(plancheck.FoundDecay(r.Plan))
		if result.Best != nil {
			o.Best = &result.Best.Best
		} else if r.Plan.Best != "" {
			o.warn("no device measured " + r.Plan.Best + ", so no model is the best")
		}
	}
	if err == nil {
		o.warn(idle(result.Devices))
	}
	if result != nil {
		o.warn(unmeasured(result.Devices))
	}
	switch {
	case err == nil:
	case errors.Is(err, fleet.ErrDiverged):
		o.Ended = "diverged"
	case ctx.Err() != nil:
		o.Ended, o.Err = "interrupted", context.Cause(ctx)
	case errors.Is(err, fleet.ErrPaused):
		o.Ended = "paused"
	default:
		o.Ended = "failed"
	}
	if len(r.Rows) == 0 {
		return o
	}
	first, last := r.Rows[0], r.Rows[len(r.Rows)-1]
	o.Rounds, o.First = last.Round, first.Loss
	o.Up, o.Down, o.Seconds = last.Up, last.Down, last.Seconds
	if err == nil {
		o.Loss = settled(r.Rows)
		o.warn(history.Worse(r.Plan, float64(o.First), float64(o.Loss)))
	}
	for _, row := range r.Rows {
		if row.Metrics != nil {
			o.Metrics = row.Metrics
		}
	}
	return o
}

// settled returns the mean loss of the last tenth of the rounds, but of at least one round.
func settled(rows []Row) Number {
	last := rows[len(rows)-max(len(rows)/10, 1):]
	sum := Number(0)
	for _, r := range last {
		sum += r.Loss
	}
	return sum / Number(len(last))
}

// single returns v as people write it: 0.1 and not 0.10000000149.
func single(v float32) Number {
	short, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	if err != nil {
		return Number(v)
	}
	return Number(short)
}
