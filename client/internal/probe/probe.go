// Package probe evaluates the app's loss. A caller gives a task and a replica of the model, and
// gets scalars or a vector. The package does not know the log, the network or the store.
//
// A [Prober] runs one task at a time. The prober calls the app's code on a goroutine of its own. So
// a loss that hangs, panics or ends its goroutine costs only that task.
package probe

import (
	"log/slog"

	"github.com/zofl/zofl/client/internal/isolate"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
)

// Config holds what a prober needs.
type Config struct {
	Objective objective.Objective
	Dim       int
	ID        string // of the device; its minibatches depend on the ID
	Workers   int    // goroutines that a surrogate may use
	MaxBatch  int    // as in client.Config
	// Accept decides on plans; nil: the device accepts all plans.
	Accept func(*plan.Plan) error
	Logger *slog.Logger
}

// A Prober calls the app's objective. From task to task a prober keeps buffers, the memory of
// earlier rounds, and how long queries take.
//
// The goroutine of Run owns a Prober, except for what a [query] shares with the goroutine that runs
// the app's code.
type Prober struct {
	cfg     Config
	dim     int
	loss    objective.Flat      // nil for an objective without a flat loss
	streams objective.Streaming // nil for an objective that is not streaming
	batched objective.Batched   // nil for an objective that is not batched
	classed objective.Classed   // nil for an objective without losses by class
	slopes  differentiator      // of an objective with a gradient or slopes

	calls   isolate.Caller
	source  source    // streaming, batched: where the app reads points
	sources []*source // source and that of slopes; none if the app reads no points
	last    estimation
	buffers buffers
	stepper localStepper
	memory  Memory
	class   classStep
	answer  answer // of Accept

	meter           // of queries
	gradients meter // of calls of Gradient or Slope
	zeros     int   // rounds in a row whose scalars were all zero
	answered  bool  // see Answered; the job sets it
}

// buffers are memory that the next task uses again.
type buffers struct {
	probe      []float32 // flat: the vector that the app sees
	x, m       []float32 // K > 1: the local iterate and its momentum
	correction []float32 // K > 1 with control variates: c - c_i, or with svrg c
	z          []replica.Direction
	scalars    []float32
	firstPhase []float32 // scaffold-1: scalars of a phase 1 that this device missed
	reference  []float32 // svrg: scalars of a step at the round's first point
	losses     []float64 // batched: at the points of a step
	all        []float64 // cma: at a record's candidates
	candidates [][]float32
	points     [][]float32 // cma: those that a batched objective gets together
	vector     []float32   // with transport=dense: the vector to send
}

// New returns a prober. The prober of a passive replica has no objective and no tasks.
func New(cfg Config) *Prober {
	p := &Prober{cfg: cfg, dim: cfg.Dim}
	p.loss, _ = cfg.Objective.(objective.Flat)
	p.streams, _ = cfg.Objective.(objective.Streaming)
	p.batched, _ = cfg.Objective.(objective.Batched)
	p.classed, _ = cfg.Objective.(objective.Classed)
	p.slopes.init(cfg.Objective, cfg.Workers)
	p.source.dim = cfg.Dim
	if p.streams != nil || p.batched != nil || p.slopes.streams != nil {
		p.sources = []*source{&p.source, &p.slopes.source}
	}
	return p
}

// Close ends the goroutine that runs the app's code. The context of an abandoned call ends with the
// call. Close forgets the app's decision about a plan, because the app may decide otherwise before
// the next Run.
func (p *Prober) Close() {
	p.calls.End()
	p.answer = answer{}
}

// Queries returns how many loss evaluations the app made.
func (p *Prober) Queries() uint64 { return p.queries }

// Gradients returns how many gradients or slopes the app computed instead of loss evaluations.
func (p *Prober) Gradients() uint64 { return p.gradients.queries }

// Memory returns what the device computed in earlier rounds.
func (p *Prober) Memory() *Memory { return &p.memory }

// flat returns the vector that a flat objective or an evaluator sees.
func (p *Prober) flat() []float32 {
	if p.buffers.probe == nil {
		p.buffers.probe = make([]float32, p.dim)
	}
	return p.buffers.probe
}

func allZero(v []float32) bool {
	for _, a := range v {
		if a != 0 {
			return false
		}
	}
	return true
}

// room returns a slice of n elements, in the memory of v if that suffices.
func room[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}
