package tune

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/wire"
)

// Fields are the fields that Run can tune, in the order in which it tunes them.
func Fields() []string { return []string{"mu", "step", "perturbations", "batch"} }

// Config says which plan to tune, and on which devices.
type Config struct {
	Plan *plan.Plan // Run does not change it
	// Devices are the losses of the run's devices, or of similar ones. A loss must depend only on its
	// parameters and its minibatch, because trials share the devices.
	Devices []objective.Objective
	// Queries bounds the loss evaluations of all devices together; 0 means [Budget].
	Queries uint64
	// Rounds is how many rounds a trial of stage refine has, if they fit the budget; 0 means 50.
	Rounds uint64
	// Fields names what to tune, from [Fields]; nil means all of them.
	Fields []string
	// Seed draws the directions and initial parameters of the trials, which differ from those of the
	// run. The same seed gives the same result.
	Seed uint64
	// Initial are the first parameters, for a plan with initial=given.
	Initial []float32
	// Checked says that the caller compared the devices' gradients with their losses. Otherwise Run
	// calls [fleet.CheckGradient] and reports the result among the reasons. The losses of that check
	// do not count for Queries.
	Checked bool
	// Run calls Progress, unless nil, after each trial.
	Progress func(Trial)
}

// A Trial is one trial of a setting.
type Trial struct {
	Stage         string // "start", or a stage of the package's comment
	Mu            float32
	Step          float32 // of the tuned field
	Perturbations uint32
	Batch         uint32
	Rounds        uint64  // rounds that Run made
	Queries       uint64  // loss evaluations of the trial
	Loss          float64 // the loss after the last round; +Inf: the trial failed; NaN: not measured
	Ratio         float64 // stage mu: even part over odd part
	// SignalToNoise and LossesFactor, of stage mu, are those of a [survey.Result].
	SignalToNoise, LossesFactor float64

	Dropped bool // Run ended the trial early, because another did better
	Paused  bool // why the trial failed: the run paused; false: it diverged
}

// A Result is the outcome of a tuning.
type Result struct {
	Plan    *plan.Plan // the tuned plan
	Field   string     // the field of the step: "step" or "server_step"
	Loss    float64    // of the best trial
	Params  []float32  // the model after the best trial; nil if none was run
	Start   float64    // loss of the first parameters
	Trials  []Trial    // in order
	Reasons []string   // sentences: what Run chose, and why
	Queries uint64     // loss evaluations
}

// Run tunes a plan. If Run fails after the trials have begun, it still returns a result, with the
// best plan so far. The error is a [*plan.Error], a [*fleet.OptionError], or the cause of ctx if
// ctx ends. Another error says what Config lacks, that every step diverged, or that no device could
// compute its loss.
func Run(ctx context.Context, c Config) (*Result, error) {
	t, err := begin(&c)
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	if err := t.run(ctx); err != nil {
		return t.result, fmt.Errorf("tune: %w", err)
	}
	return t.result, nil
}

// A tuning is a call of Run in progress.
type tuning struct {
	cfg     *Config
	plan    *plan.Plan // the best plan so far, with the key of the trials
	budget  budget
	step    stepField
	base    float32   // other steps are this step times a power of 4
	found   bool      // the tuned plan lets the devices find the step
	x       []float32 // the first parameters
	replica *replica.Replica
	result  *Result
	best    *attempt // the best attempt of stage refine and later stages
}

// begin checks the config.
func begin(c *Config) (*tuning, error) {
	if c.Plan == nil {
		return nil, fmt.Errorf("Plan is nil: give the plan to tune")
	}
	if err := plancheck.Validate(c.Plan); err != nil {
		return nil, err
	}
	for _, name := range c.Fields {
		if !slices.Contains(Fields(), name) {
			return nil, &fleet.OptionError{Option: "Fields", Value: name,
				Remedy: "choose of " + strings.Join(Fields(), ", ")}
		}
	}
	c.Rounds = cmp.Or(c.Rounds, 50)
	tuned, trial := *c.Plan, *c.Plan
	trial.RunKey, trial.KeyCheck, trial.KeyScheme = trialKey(c.Seed), nil, 0
	trial.SecureLists = 0 // needs a secret of the devices, which trials do not have
	trial.Rounds = 1
	trial.NoEvaluation()
	if trial.DPClip == 0 { // with private noise, a pause would reveal data
		trial.Diverge = cmp.Or(trial.Diverge, 1)
	}
	t := &tuning{cfg: c, plan: &trial, step: stepOf(c.Plan),
		result: &Result{Plan: &tuned, Loss: math.NaN(), Start: math.NaN()}}
	t.result.Field, t.base = t.step.name, *t.step.of(c.Plan)
	if err := fleet.Check(&trial, c.Devices); err != nil {
		return nil, err
	}
	t.replica = replica.New(replica.Config{Run: trial.Run, Initial: c.Initial})
	record := wire.Record{N: 1, Prev: wire.Genesis(trial.Run), Kind: wire.KindPlan, Plan: &trial}
	if err := t.replica.Apply(record.Append(nil)); err != nil {
		return nil, err
	}
	t.x = t.replica.Params()
	var err error
	t.budget, err = budgetOf(t)
	return t, err
}

// trialKey returns the run key of a seed.
func trialKey(seed uint64) plan.Bytes {
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl tune"), seed))
	return key[:]
}

// tunes says whether Config asks Run to tune a field.
func (t *tuning) tunes(name string) bool {
	return t.cfg.Fields == nil || slices.Contains(t.cfg.Fields, name)
}

// run runs the stages.
func (t *tuning) run(ctx context.Context) error {
	if err := t.measureStart(ctx); err != nil {
		return err
	}
	var wrong error
	if !t.cfg.Checked {
		wrong = fleet.CheckGradient(ctx, t.plan, t.cfg.Devices, fleet.Options{Initial: t.cfg.Initial})
	}
	for _, stage := range []func(context.Context) error{
		t.tuneMu, t.tuneStep, t.tunePerturbations, t.tuneBatch,
	} {
		if err := stage(ctx); err != nil {
			return err
		}
	}
	if errors.Is(wrong, fleet.ErrGradient) {
		t.because("Found %v.", wrong)
	}
	if t.result.Loss >= t.result.Start {
		t.because("No trial brought the loss below that of the first parameters, %s: give more queries "+
			"or a larger batch. If that changes nothing, begin at random weights: some losses rise along "+
			"every short move from zeros.", number(t.result.Start))
	}
	return nil
}

// note adds a trial to the result.
func (t *tuning) note(trial Trial) {
	t.result.Trials = append(t.result.Trials, trial)
	if t.cfg.Progress != nil {
		t.cfg.Progress(trial)
	}
}

// because adds a reason.
func (t *tuning) because(format string, values ...any) {
	t.result.Reasons = append(t.result.Reasons, fmt.Sprintf(format, values...))
}

// settings returns a trial with the settings of a plan.
func (t *tuning) settings(stage string, p *plan.Plan) Trial {
	return Trial{Stage: stage, Mu: p.Mu, Step: *t.step.of(p), Perturbations: p.Perturbations,
		Batch: p.Batch, Loss: math.NaN()}
}

// StepField returns the name and value of the field that sets the length of a plan's step: "step",
// or "server_step" if the server rule cancels the length of the mean move.
func StepField(p *plan.Plan) (name string, value float32) {
	f := stepOf(p)
	return f.name, *f.of(p)
}

// SetStep sets the field that [StepField] names.
func SetStep(p *plan.Plan, value float32) { *stepOf(p).of(p) = value }

// A stepField is the field of a plan that sets the length of a step.
type stepField struct {
	name     string
	adaptive bool
}

// stepOf returns the field that sets the length of a step. Server rules with second moments, and
// the rule sign, cancel the length of the mean move, so with these rules only server_step has an
// effect.
func stepOf(p *plan.Plan) stepField {
	switch p.ServerRule {
	case plan.ServerAdam, plan.ServerAMSGrad, plan.ServerYogi, plan.ServerAdaGrad, plan.ServerSign:
		return stepField{"server_step", true}
	}
	return stepField{"step", false}
}

// of returns the address of the field in p.
func (s stepField) of(p *plan.Plan) *float32 {
	if s.adaptive {
		return &p.ServerStep
	}
	return &p.StepSize
}
