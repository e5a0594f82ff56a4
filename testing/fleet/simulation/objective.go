package simulation

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// A countingLoss is a device's loss. From a mean of its scalars the simulator can compute which
// devices the mean counts. Along perturbation p of step k of record n, device i has the slope
// radix^i * scale(n, k, p), whatever the parameters. So the mean times the sum of its weights, in
// that radix, has one digit for each device: the device's weight if the mean counts the device,
// otherwise 0.
//
// The loss at the base counts how often the device began to contribute. A contribution that a
// device computed twice therefore has other bytes.
type countingLoss struct {
	w      *world
	device int
	began  int // contributions begun in all lives of the device
	calm   atomic.Bool

	ctx   context.Context // of the open round
	n     uint64
	step  int
	calls int         // calls in this step
	asked survey.Kind // what a survey asks for
}

var errLoss = errors.New("simulation: a loss that fails")

// Dim implements [objective.Objective].
func (o *countingLoss) Dim() int { return int(o.w.scenario.Plan.Dim) }

// Loss implements [objective.Flat].
func (o *countingLoss) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	switch {
	case ctx != o.ctx || b.N != o.n:
		o.ctx, o.n, o.step, o.calls = ctx, b.N, b.Step, 0
		o.began++
	case b.Step != o.step:
		o.step, o.calls = b.Step, 0
	}
	call := o.calls
	o.calls++
	if call == 0 {
		o.asked = o.w.asks(b)
	}
	if call == 0 && o.w.scenario.Plan.Summed() {
		// The device asks for keys meanwhile. Else the Go runtime would choose which of its two
		// goroutines a crash meets.
		<-time.After(time.Duration(1+o.device) * time.Nanosecond)
	}
	luck := o.luck(b.N, uint64(o.began), uint64(b.Step), uint64(call))
	asked, base := o.asked, float64(o.began) // a call of a later life may change them meanwhile
	finds := asked == survey.Mu || asked == survey.Step
	err := o.hesitate(ctx, luck)
	if far := finds && call > 0; far && errors.Is(err, errLoss) {
		err = nil // an error would count as an infinite point, and devices would find another value
	}
	if err != nil {
		return 0, err
	}
	if finds {
		return base + surveyed(asked, call), nil
	}
	p, side := call-1, 1.0
	switch {
	case o.w.scenario.Plan.Difference == plan.Central:
		p, side = call/2, float64(1-2*(call%2))
	case call == 0:
		return base, nil
	}
	slope := o.w.scenario.Slope(o.device) * o.w.scenario.Scale(b.N, b.Step, p)
	return base + float64(side*o.w.scenario.ProbeMu()*slope), nil
}

// surveyed is what a query of a survey has beside the base. The even part is a hundredth of the odd
// one at a distance of 1, and a tenth of it at 10, so devices find a mu of 1, a power of two.
//
// Along the averaged move the loss is least at 1, so devices find a step of 1.
func surveyed(k survey.Kind, call int) float64 {
	switch {
	case call == 0:
		return 0
	case k == survey.Step:
		a := math.Ldexp(1, 2*(call-11))
		return float64((a-1)*(a-1)) - 1
	}
	at, side := math.Pow10((call-1)/2-6), float64(1-2*((call-1)%2))
	return float64(side*at) + float64(0.01*at*at)
}

// luck returns the random generator of one call.
func (o *countingLoss) luck(of ...uint64) *rand.Rand {
	seed := o.w.seed*31 + uint64(o.device)
	for _, v := range of {
		seed = seed*1_000_003 + v
	}
	return rand.New(rand.NewPCG(seed, 7))
}

// hesitate takes time, or fails. No two devices take the same time, so that nothing else happens
// when hesitate ends. Some calls ignore their context. A loss that respects its context returns a
// moment after the context ended, because otherwise the Go runtime would choose whether the context
// or the loss ends first.
func (o *countingLoss) hesitate(ctx context.Context, luck *rand.Rand) error {
	if o.calm.Load() {
		return nil
	}
	if luck.Float64() < o.w.scenario.Decline {
		return errLoss
	}
	if luck.Float64() >= o.w.scenario.Slow {
		return nil
	}
	d := time.Duration(luck.IntN(3000))*time.Millisecond +
		time.Duration(1000*o.device+luck.IntN(1000))*time.Nanosecond
	t := time.NewTimer(d)
	defer t.Stop()
	if luck.IntN(8) == 0 {
		<-t.C
		return nil
	}
	select {
	case <-ctx.Done():
		<-time.After(time.Duration(1+o.device) * time.Microsecond)
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Evaluate implements [objective.Evaluator]. Evaluate takes a moment, see hesitate.
func (o *countingLoss) Evaluate(ctx context.Context, _ []float32) ([]float64, int, error) {
	<-time.After(time.Duration(1+o.device) * time.Microsecond)
	return []float64{float64(o.device)}, 3, ctx.Err()
}

// Samples implements [objective.Sampler].
func (o *countingLoss) Samples() int { return int(o.w.scenario.Weights[o.device]) }

// asks returns what a survey asks for on a minibatch. The minibatch does not say that, because a
// device calls a loss for a sketch in the same way as in a round. asks derives the kind from the
// log. For a device that is behind the log asks may return the wrong survey, but no coordinator
// accepts that device's answer.
func (w *world) asks(batch objective.Batch) survey.Kind {
	if batch.Step != survey.BatchStep {
		return survey.None
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.book.Asks()
}
