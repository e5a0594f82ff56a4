package probe

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// A graded is a slopes objective with a gradient.
type graded struct {
	*slopes
	at    [][]float32 // the points at which the device asked for gradients
	spoil func(g []float32) error
}

func (s *graded) Gradient(
	_ context.Context, x []float32, _ objective.Batch, g []float32,
) (float64, error) {
	f := s.value(x)
	s.at = append(s.at, slices.Clone(x))
	for i, v := range x {
		g[i] = float32(s.curve[i] * (float64(v) - s.center[i]))
		x[i] = float32(math.NaN()) // the app may write to x: the client ignores it
	}
	if s.spoil != nil {
		if err := s.spoil(g); err != nil {
			return f, err
		}
	}
	return f, nil
}

// A forward is a slopes objective with derivatives along directions.
type forward struct {
	*slopes
	at    [][]float32
	calls int
}

func (s *forward) Slope(
	_ context.Context, x, z []float32, _ objective.Batch,
) (loss, slope float64, err error) {
	loss = s.value(x)
	s.calls++
	s.at = append(s.at, slices.Clone(x))
	for i, v := range x {
		slope += s.curve[i] * (float64(v) - s.center[i]) * float64(z[i])
		x[i], z[i] = float32(math.NaN()), float32(math.NaN())
	}
	return loss, slope, nil
}

// A streamed is a slopes objective with derivatives along directions. A streamed reads points and
// directions in pieces.
type streamed struct {
	*slopes
	at    [][]float32
	piece int
	last  *objective.Point
}

func (s *streamed) SlopeAt(
	_ context.Context, x, z *objective.Point, _ objective.Batch,
) (loss, slope float64, err error) {
	all, along := make([]float32, x.Dim()), make([]float32, z.Dim())
	var readers sync.WaitGroup
	faults := make([]error, 2)
	for i, p := range []*objective.Point{x, z} {
		dst := [][]float32{all, along}[i]
		readers.Go(func() {
			for off := 0; off < len(dst) && faults[i] == nil; off += s.piece {
				faults[i] = p.Read(dst[off:min(off+s.piece, len(dst))], off)
			}
		})
	}
	readers.Wait()
	for i, v := range all {
		slope += s.curve[i] * (float64(v) - s.center[i]) * float64(along[i])
	}
	s.at, s.last = append(s.at, all), z
	return s.value(all), slope, errors.Join(faults...)
}

// slopesOf returns f in all forms that differentiate.
func slopesOf(f *slopes) []objective.Objective {
	return []objective.Objective{
		&graded{slopes: f}, &forward{slopes: f}, &streamed{slopes: f, piece: max(3, f.Dim()/13)},
	}
}

// setsTo spoils one element of a gradient.
func setsTo(i int, v float64) func(g []float32) error {
	return func(g []float32) error {
		g[i] = float32(v)
		return nil
	}
}

type bad struct {
	*slopes
	loss float64
	set  float32 // 0: leaves g as it was
}

func (o bad) Gradient(_ context.Context, _ []float32, _ objective.Batch, g []float32) (float64,
	error) {
	for i := range g {
		if o.set != 0 {
			g[i] = o.set
		}
	}
	return o.loss, nil
}

type badSlope struct {
	*slopes
	loss, slope float64
}

func (o badSlope) Slope(context.Context, []float32, []float32, objective.Batch) (float64, float64,
	error) {
	return o.loss, o.slope, nil
}

// A slowGradient returns after some time, or when its context ends.
type slowGradient struct {
	*slopes
	takes time.Duration
	hangs bool
}

func (o *slowGradient) Gradient(ctx context.Context, _ []float32, _ objective.Batch,
	g []float32) (float64, error) {
	done := ctx.Done()
	if o.hangs {
		done = nil
	}
	select {
	case <-time.After(o.takes):
	case <-done:
	}
	clear(g)
	return 0, ctx.Err()
}

type choosy struct {
	*graded
	work objective.Work
}

func (o *choosy) MayWork(w objective.Work) bool { o.work = w; return true }

type quiet struct{ *slopes }

func (o quiet) Gradient(_ context.Context, _ []float32, _ objective.Batch, g []float32) (float64,
	error) {
	clear(g)
	return 1, nil
}
