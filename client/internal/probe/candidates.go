package probe

import (
	"math"
	"time"

	"github.com/zofl/zofl/plan"
)

// candidates is the transport of devices that send the losses of a record's candidates, points that
// every replica knows. A scalar is a loss less the device's least one. It is subtracted before it
// is rounded to a float32: what all losses share would take the precision of what they differ by.
type candidates struct{ scalars }

// finish does not watch for scalars of zero, which end every search that succeeds.
func (candidates) finish(*estimation) {}

func (candidates) estimate(e *estimation) error {
	e.place = place{e.N, 0, e.Source}
	e.batch = e.minibatch(e.N, 0)
	e.began = time.Now()
	losses, err := e.candidateLosses()
	if err != nil {
		return err
	}
	best := leastOf(losses)
	if best < 0 {
		return e.finite(losses[0], 0, 0)
	}
	if e.plan.PerturbationsAuto > 0 {
		if err := e.evaluateAgain(losses); err != nil {
			return err
		}
	}
	e.loss = losses[best]
	for i, f := range losses {
		e.scalars[i] = e.above(f)
	}
	e.sent = e.plan.Precision.Append(e.sent, e.scalars...)
	e.plan.Precision.Decode(e.scalars, e.sent, 0)
	return nil
}

// pointsRoom bounds the bytes of candidates that a batched objective gets together.
var pointsRoom = 16 << 20

// candidateLosses returns the losses at all candidates, finite or not.
func (e *estimation) candidateLosses() (losses []float64, err error) {
	b, many := &e.prober.buffers, max(pointsRoom/(4*e.prober.dim), 1)
	b.all = b.all[:0]
	for i := range e.Perturbations {
		from := i - i%many
		f, err := e.atCandidate(i, from, min(from+many, e.Perturbations))
		if err != nil {
			return nil, err
		}
		b.all = append(b.all, f)
	}
	return b.all, nil
}

// atCandidate returns the loss at candidate i, finite or not, one of [from, to) that a batched
// objective gets together.
func (e *estimation) atCandidate(i, from, to int) (float64, error) {
	e.points = to - from
	if e.prober.batched == nil {
		return e.anyAtVector(e.candidate(0, i), i-from, i)
	}
	if i == from {
		points := e.prober.buffers.points[:0]
		for k := from; k < to; k++ {
			points = append(points, e.candidate(k-from, k))
		}
		e.prober.buffers.points = points
		if err := e.askAll(e.prober.source.vectors(points), from); err != nil {
			return 0, err
		}
	}
	return e.losses[i-from], nil
}

// candidate returns candidate k in the given place of the buffers.
func (e *estimation) candidate(place, k int) []float32 {
	b := &e.prober.buffers
	if place == len(b.candidates) {
		b.candidates = append(b.candidates, make([]float32, e.prober.dim))
	}
	e.replica.Candidate(b.candidates[place], e.N, k)
	return b.candidates[place]
}

// evaluateAgain sets heading to what the loss of the first candidate with a finite loss differs by
// when it is evaluated again: the noise of a loss. It is 0 where the second loss is not finite.
func (e *estimation) evaluateAgain(losses []float64) error {
	i := 0
	for !bounded(losses[i]) {
		i++
	}
	first := losses[i]
	f, err := e.atCandidate(i, i, i+1)
	if err != nil {
		return err
	}
	if e.heading = 0; bounded(f) {
		e.heading = float32(e.inUnits(f - first))
	}
	return nil
}

// above returns the scalar of a loss: by how much it is above the device's least loss, at most
// max_scalar.
func (e *estimation) above(f float64) float32 {
	most := float64(e.plan.MaxScalar)
	if e.plan.Precision != plan.Single {
		most *= 1 - 1.0/1024 // rounding may increase the scalar
	}
	if !bounded(f) {
		return float32(most)
	}
	return float32(min(e.inUnits(f-e.loss), most))
}

// leastOf returns the index of the least loss, or -1 if none is finite in float32.
func leastOf(losses []float64) int {
	best := -1
	for i, f := range losses {
		if bounded(f) && (best < 0 || f < losses[best]) {
			best = i
		}
	}
	return best
}

// bounded says whether a loss is finite in float32.
func bounded(f float64) bool { return math.Abs(f) <= math.MaxFloat32 }
