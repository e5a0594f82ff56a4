package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/fleet/traffic"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

var (
	// ErrStop, returned by [Options].Progress, ends a run early. Run then returns no error.
	ErrStop = errors.New("stop")
	// ErrDiverged: the run diverged. Take a smaller step or, if the first round failed, check the
	// loss.
	ErrDiverged = errors.New("diverged")
	// ErrPaused: a round did not reach its quorum, because devices failed or declined.
	ErrPaused = errors.New("paused")
)

// An OptionError names a field of [Options], or of a config of package tune, with a value that
// cannot be used.
type OptionError struct {
	Option string // the field's name
	Value  any
	Remedy string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s = %v: %s", e.Option, e.Value, e.Remedy)
}

// Every option may be left out.
type Options struct {
	// Rounds is how many rounds to run; 0 means as many as the plan says.
	Rounds uint64
	// Queries bounds the loss evaluations of all devices together: Run begins a round only if the
	// round cannot exceed the bound. 0: no bound. Evaluations of metrics do not count.
	Queries uint64
	// Run calls Progress, unless nil, after every round, before the next round begins. If Progress
	// returns an error, the run ends, and Run returns that error. For [ErrStop], Run returns no error.
	Progress func(Round) error
	// Initial are the parameters at which the run begins, for a plan with initial=given.
	Initial []float32
	// RunKey is the secret of a private plan.
	RunKey []byte
	// Checked says that Run shall not call CheckGradient, because the caller has called it or does not
	// want the check.
	Checked bool
}

// A Round is what happened in one round.
type Round struct {
	Round         uint64  // from 1
	Loss          float64 // mean training loss of the contributors, at the round's first point
	Step          float32 // the plan's step
	RoundStep     float32 // eta, which follows from Step
	Mu            float32 // 0 if the round has none
	Perturbations uint32  // P
	Contributors  uint32
	Seconds       float64
	// Queries counts the loss evaluations of all contributors so far, computed from the plan. Only
	// [Result].Queries includes evaluations that failed or came late. For a device with gradients,
	// this field counts the evaluations that the device would make without gradients. [Result].Queries
	// counts the evaluations that the device made.
	Queries uint64
	// Bytes counts the bytes that all devices would have sent (Up) and received (Down) so far over
	// network connections. With transport=dense or secure=sum, some bytes of a round may count for the
	// next round.
	Bytes, Up, Down uint64
	// Metrics are the plan's metrics after this round. Run measures them after every record whose
	// index is a multiple of eval_every, and after the last record. Each metric is a mean over the
	// first eval_count devices that implement [objective.Evaluator], weighted by their samples. Nil
	// means not measured.
	Metrics    []float64
	Evaluators uint32 // devices that measured them
}

// A Device is what one device did.
type Device struct {
	ID         string
	Queries    uint64 // loss evaluations
	Gradients  uint64 // gradients or slopes, of an objective that has them
	Err        error  // error of the last loss that failed; nil: none did
	Unmeasured error  // why the last evaluation of metrics failed; nil: none did
	Declined   uint64 // declines since its last contribution; 0: it has not declined since
}

// A Result is the outcome of a run that ended or failed.
type Result struct {
	Plan      *plan.Plan // as it ran
	Rounds    []Round
	Params    []float32 // the model after the last round
	Devices   []Device
	Queries   uint64         // loss evaluations of all devices
	Gradients uint64         // gradients or slopes of all devices
	Traffic   traffic.Totals // of all devices
	Ended     string         // why: "rounds", "stopped", "patience", or the condition on a metric
	Best      *Best          // nil: the plan has no Best, or it was not measured
	Log       *runlog.Memory // the run's records
	Gradient  error          // result of CheckGradient before the run; it does not end the run
	// Found lists, in order, the values that surveys of the devices found: mu, the step, and whether
	// to share directions. Each entry says why the coordinator chose the value.
	Found []survey.Result
}

// Best is the model of the record with the best value of the plan's Best.
type Best struct {
	report.Best
	Params []float32
}

// Run runs a plan on devices until its rounds are done or ctx ends. If ctx ends, Run returns its
// cause. Run calls different devices at the same time, but each device only from one goroutine at a
// time.
//
// Run's error is a [*plan.Error] if the plan cannot run on these devices, and an [*OptionError] if
// the first round alone could take more evaluations than Queries. The error matches [ErrDiverged]
// or [ErrPaused] if the run failed, and then names a device that failed. Once the run has begun,
// Run returns a result even with an error.
func Run(ctx context.Context, plan *plan.Plan, devices []objective.Objective,
	o Options) (*Result, error) {
	copied, err := rehearsal(plan, devices, &o)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	r := &run{plan: copied, original: plan, options: o, objectives: devices,
		round: Round{Mu: copied.Mu}, result: &Result{Plan: copied, Log: &runlog.Memory{}}}
	r.attend()
	if !o.Checked {
		r.result.Gradient = CheckGradient(ctx, copied, devices, o)
	}
	if err := r.assemble(ctx); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	if err := errors.Join(r.together(ctx), r.finish(ctx)); err != nil {
		return r.result, fmt.Errorf("fleet: %w", err)
	}
	return r.result, nil
}
