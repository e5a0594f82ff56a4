package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// metrics are what an evaluation returns: mean square errors on the held-out readings, in
// units of Channel.Change, of the network, of the last reading as a forecast, and of the
// change a week ago as a forecast. The network should be better than the other two.
var metrics = []string{"mse", "mse_last", "mse_week"}

var errNoExample = errors.New("no example: the window has too few readings yet")

// A forecastLoss is the loss that Zofl asks for: the network's error on readings that the
// device has seen. The readings stay here; only the loss leaves the device.
type forecastLoss struct {
	station *station
	network *network
	pace    time.Duration

	current objective.Batch // the minibatch that batch holds
	batch   []example       // its examples
	free    []example       // examples to reuse
	start   time.Time       // when the work on the last record began
	out     []float64       // the network's latest forecast
}

var (
	_ objective.Flat      = (*forecastLoss)(nil)
	_ objective.Evaluator = (*forecastLoss)(nil)
	_ objective.Sampler   = (*forecastLoss)(nil)
)

func newLoss(s *station) *forecastLoss {
	return &forecastLoss{station: s, network: newNetwork(s.shape), pace: s.cfg.Pace,
		out: make([]float64, s.channels)}
}

// Dim returns the number of parameters.
func (o *forecastLoss) Dim() int { return o.network.dim() }

// Samples returns how many examples the device has, its weight in plans with
// weights=samples.
func (o *forecastLoss) Samples() int { return max(1, o.station.examples()) }

// Loss returns the mean loss on a minibatch. The minibatch is drawn at its first use and
// then kept, because the window may move on before the last perturbation.
func (o *forecastLoss) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	if b != o.current || len(o.batch) == 0 {
		if err := o.wait(ctx, b.N); err != nil {
			return 0, err
		}
		o.draw(b)
	}
	if len(o.batch) == 0 {
		return 0, errNoExample
	}
	sum, n := 0.0, 0
	for _, e := range o.batch {
		o.network.forward(x, e.inputs, o.out)
		for c, want := range e.changes {
			if !isMissing(want) {
				sum += softSquare(o.out[c] - float64(want))
				n++
			}
		}
	}
	return sum / float64(n), nil
}

// softSquare is half the square of a small error and about the size of a large one, so that
// one open window does not outweigh a week.
func softSquare(err float64) float64 { return math.Sqrt(1+err*err) - 1 }

// wait waits until pace has passed since the last record, as a device that is always on
// can.
func (o *forecastLoss) wait(ctx context.Context, n uint64) error {
	if n == o.current.N || o.pace == 0 {
		return nil
	}
	t := time.NewTimer(o.pace - time.Since(o.start))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		o.start = time.Now()
		return nil
	}
}

// draw draws b.Size examples with replacement, with a generator seeded by b.Seed. If the size is
// 0, draw takes all examples. draw draws at most as many examples as the window has slots: the
// run's plan sets the size, but the memory belongs to this device.
func (o *forecastLoss) draw(b objective.Batch) {
	s := o.station
	s.mu.Lock()
	defer s.mu.Unlock()
	o.free, o.batch, o.current = append(o.free, o.batch...), o.batch[:0], b
	if s.window.held == 0 {
		return
	}
	from, to := s.trainingSlots()
	if b.Size == 0 {
		for slot := from; slot < to; slot++ {
			o.add(slot)
		}
		return
	}
	size := int(min(int64(b.Size), to-from))
	random := rand.New(rand.NewPCG(b.Seed, 0))
	// slots may be empty
	for tries := 0; from < to && len(o.batch) < size && tries < 8*size; tries++ {
		o.add(from + random.Int64N(to-from))
	}
}

// add adds the example of a slot, if it has one, to the batch.
func (o *forecastLoss) add(slot int64) {
	if len(o.free) == 0 {
		o.free = append(o.free, o.station.newExample())
	}
	last := len(o.free) - 1
	if e := o.free[last]; o.station.fill(slot, e) {
		o.batch, o.free = append(o.batch, e), o.free[:last]
	}
}

// Evaluate returns the metrics on the newest readings, which no loss has used yet.
func (o *forecastLoss) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	s := o.station
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.window.held == 0 {
		return nil, 0, errNoExample
	}
	var sums [3]float64
	n, e := 0, s.newExample()
	for _, slot, end := s.split(); slot < end; slot++ {
		if !s.fill(slot, e) {
			continue
		}
		o.network.forward(x, e.inputs, o.out)
		for c, want := range e.changes {
			if isMissing(want) {
				continue
			}
			week := e.inputs[(c+1)*s.sights()-1]
			for i, said := range []float64{o.out[c], 0, float64(week)} {
				sums[i] += square(said - float64(want))
			}
			n++
		}
	}
	if n == 0 {
		return nil, 0, errNoExample
	}
	values := make([]float64, len(sums))
	for i, sum := range sums {
		values[i] = sum / float64(n)
	}
	return values, n, nil
}

func square(v float64) float64 { return v * v }
