// Package probe evaluates the app's loss: a task and a replica of the model in, scalars or
// a vector out. It knows no log, no network and no store.
//
// A [Prober] runs one task at a time. The app's code runs on a goroutine of its own, so
// that a loss which hangs, panics or ends its goroutine costs that task and nothing else.
package probe

import (
	"log/slog"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
)

// Config is what a prober needs.
type Config struct {
	Objective objective.Objective
	Dim       int
	ID        string // the device's; minibatches differ by it
	Workers   int    // goroutines that a surrogate may use
	Logger    *slog.Logger
}

// A Prober asks the app's objective. It keeps what outlives a task: buffers, what the
// device found in earlier rounds, and how long queries take.
//
// The goroutine of Run owns it, but for what a [query] shares with the goroutine that
// runs the app's code.
type Prober struct {
	cfg     Config
	dim     int
	loss    objective.Flat      // nil for an objective without a flat loss
	streams objective.Streaming // nil for an objective that does not stream
	batched objective.Batched   // nil for an objective that takes a point at a time

	calls   caller
	source  source // streaming, batched: what the app reads
	last    estimation
	buffers buffers
	stepper localStepper
	memory  Memory

	queries uint64
	pace    time.Duration // of a query, smoothed
	zeros   int           // rounds in a row whose scalars were all zero
}

// buffers are the memory that one task leaves to the next.
type buffers struct {
	probe      []float32 // flat: the vector that the app sees
	x, m       []float32 // K > 1: the local iterate and its momentum
	correction []float32 // K > 1 with control variates: c - c_i
	z          []replica.Direction
	scalars    []float32
	firstPhase []float32 // scaffold-1: scalars of a phase that this device missed
	losses     []float64 // batched: at a step's points
	vector     []float32 // dense transport: what is sent
}

// New returns a prober. One without an objective is a passive replica's: it has no tasks.
func New(cfg Config) *Prober {
	p := &Prober{cfg: cfg, dim: cfg.Dim}
	p.loss, _ = cfg.Objective.(objective.Flat)
	p.streams, _ = cfg.Objective.(objective.Streaming)
	p.batched, _ = cfg.Objective.(objective.Batched)
	p.source.dim = cfg.Dim
	return p
}

// Close ends the goroutine of the app's code; a call that was given up ends by itself.
func (p *Prober) Close() { p.calls.end() }

// Queries is how many loss evaluations were made.
func (p *Prober) Queries() uint64 { return p.queries }

// Memory is what the device found in earlier rounds.
func (p *Prober) Memory() *Memory { return &p.memory }

// Duration is how long queries take, as far as known; 0 if nothing is.
func (p *Prober) duration(queries uint64) time.Duration { return p.pace * time.Duration(queries) }

// doubt halves the pace. It follows each round that was declined because of the pace, so
// that a device that was slow once tries again.
func (p *Prober) doubt() { p.pace /= 2 }

// took counts a query that took d.
func (p *Prober) took(d time.Duration) {
	p.queries++
	if p.pace == 0 {
		p.pace = d
	}
	p.pace += (d - p.pace) / 8
}

// gaveUp notes a call of so many queries that takes longer than d. It counts many queries
// as if they took twice as long, so that the next round does not wait in vain again.
func (p *Prober) gaveUp(d time.Duration, queries int) {
	p.pace = max(p.pace, 2*d/time.Duration(1+queries))
}

// flat returns the vector that a flat objective or an evaluator sees.
func (p *Prober) flat() []float32 {
	if p.buffers.probe == nil {
		p.buffers.probe = make([]float32, p.dim)
	}
	return p.buffers.probe
}

// zerosWorthAWarning is how many rounds without any slope are no accident.
const zerosWorthAWarning = 3

// watchZeros warns of an engine whose weights have steps larger than mu: the loss then
// does not move at all.
func (p *Prober) watchZeros(g []float32) {
	if !allZero(g) {
		p.zeros = 0
		return
	}
	if p.zeros++; p.zeros == zerosWorthAWarning {
		p.cfg.Logger.Warn("the loss did not move in 3 rounds: does the engine round the weights " +
			"to steps above mu? raise mu, or mu_scale of the segments it rounds; " +
			"scalars below 3e-8 are 0 with precision=half")
	}
}

func allZero(v []float32) bool {
	for _, a := range v {
		if a != 0 {
			return false
		}
	}
	return true
}

// room returns n elements, in the memory of v if it has as many.
func room(v []float32, n int) []float32 {
	if cap(v) < n {
		return make([]float32, n)
	}
	return v[:n]
}
