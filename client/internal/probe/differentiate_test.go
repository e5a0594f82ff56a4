package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A graded is slopes whose device has the gradient.
type graded struct {
	*slopes
	at    [][]float32 // the points that it was asked at
	spoil func(g []float32) error
}

func (s *graded) Gradient(
	_ context.Context, x []float32, _ objective.Batch, g []float32,
) (float64, error) {
	f := s.value(x)
	s.at = append(s.at, slices.Clone(x))
	for i, v := range x {
		g[i] = float32(s.curve[i] * (float64(v) - s.center[i]))
		x[i] = float32(math.NaN()) // what is written is lost
	}
	if s.spoil != nil {
		if err := s.spoil(g); err != nil {
			return f, err
		}
	}
	return f, nil
}

// A forward is slopes whose device has derivatives along directions.
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

// A streamed is slopes whose device has derivatives along directions, and reads both in pieces.
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

// value64 is value of a vector of float64s.
func (s *slopes) value64(x []float64) float64 {
	f := 0.0
	for i, v := range x {
		f += s.curve[i] / 2 * (v - s.center[i]) * (v - s.center[i])
	}
	return f
}

// tiny is small enough that a difference quotient of slopes is their derivative up to 1e-6.
const tiny = 1e-6

// slopesOf returns all kinds of devices that differentiate f.
func slopesOf(f *slopes) []objective.Objective {
	return []objective.Objective{
		&graded{slopes: f}, &forward{slopes: f}, &streamed{slopes: f, piece: max(3, f.Dim()/13)},
	}
}

// quotient returns the plan's difference quotient of f at x for a tiny mu, in float64, from
// its definition.
func quotient(p *wire.Plan, f *slopes, x []float32, n uint64, k, q int, source uint32) float64 {
	ref := newReference(p, f)
	z, norm := make([]float32, len(x)), 1.0
	a := prng.Direction{
		Key: prng.RecordKey(p.RunKey, n), Step: uint16(k), Perturbation: uint16(q),
		Source: source, Domain: prng.Directions, Dist: p.Distribution.Elements(),
	}
	prng.Fill(z, a, 0)
	if p.Distribution == wire.Sphere {
		norm = math.Sqrt(prng.SquaredNorm(a, uint64(len(x))))
	}
	at := func(mu float64) float64 {
		probe := make([]float64, len(x))
		for i, v := range x {
			moved := float64(v) + mu*ref.muScale[i]*ref.side[i]*float64(z[i])/norm
			probe[i] = min(max(moved, ref.low[i]), ref.high[i])
		}
		return f.value64(probe)
	}
	if p.Difference == wire.Central {
		return (at(tiny) - at(-tiny)) / (2 * tiny)
	}
	return (at(tiny) - at(0)) / tiny
}

// isSlope compares a scalar with the reference.
func isSlope(t *testing.T, got float32, want float64, where string, args ...any) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= 2e-5*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", fmt.Sprintf(where, args...), got, want)
	}
}

// slopePlans are plans whose rounds send scalars.
var slopePlans = map[string]func(*wire.Plan){
	"normal":     func(*wire.Plan) {},
	"forward":    func(p *wire.Plan) { p.Difference = wire.Forward },
	"rademacher": func(p *wire.Plan) { p.Distribution = wire.Rademacher },
	"sphere":     func(p *wire.Plan) { p.Distribution = wire.Sphere },
	"segments":   segmentsOf,
	"segments of a sphere, forward": func(p *wire.Plan) {
		segmentsOf(p)
		p.Distribution, p.Difference = wire.Sphere, wire.Forward
	},
	"own directions": func(p *wire.Plan) { p.Sharing, p.Transport = wire.PerClient, wire.Relay },
	"local steps":    func(p *wire.Plan) { p.Steps = 3; segmentsOf(p) },
	"many":           func(p *wire.Plan) { p.Perturbations = 150 },
}

// A device that differentiates sends the limits of the differences that another takes, in
// every local step, and asks no losses.
func TestSlopesAreLimitsOfDifferences(t *testing.T) {
	for name, edit := range slopePlans {
		f := newSlopes(testDim, 0, 1)
		g, d, z := &graded{slopes: f}, &forward{slopes: f}, &streamed{slopes: f, piece: 5}
		for _, o := range []objective.Objective{g, d, z} {
			s := newStepper(t, o, 1, edit)
			p := s.r.Plan()
			s.a.Perturbations = p.Perturbations
			task := s.task()
			result, err := s.c.Run(t.Context(), s.r, task)
			if err != nil {
				t.Fatal(err)
			}
			at, calls := g.at, uint64(p.Steps)
			switch o {
			case d:
				at, calls = d.at, calls*uint64(p.Perturbations)
			case z:
				at, calls = z.at, calls*uint64(p.Perturbations)
			}
			for i, got := range result.Scalars {
				k, q := i/task.Perturbations, i%task.Perturbations
				x := at[k*len(at)/int(p.Steps)]
				isSlope(t, got, quotient(p, f, x, task.N, k, q, task.Source),
					"%s, %T, step %d, perturbation %d", name, o, k, q)
			}
			if want := f.value(s.r.Params()); math.Abs(result.Loss-want) > 1e-12*want {
				t.Errorf("%s, %T: loss %v, want that at the model, %v", name, o, result.Loss, want)
			}
			if s.c.Queries() != 0 || s.c.Gradients() != calls ||
				s.c.Calls(p, &task) != (Calls{Gradients: calls}) {
				t.Errorf("%s, %T: %d queries and %d gradients, announced %v, want %d gradients",
					name, o, s.c.Queries(), s.c.Gradients(), s.c.Calls(p, &task), calls)
			}
		}
	}
}

// At the end of a box a difference sees only what leads inside.
func TestSlopesInBoxes(t *testing.T) {
	for _, difference := range []string{"forward", "central"} {
		for _, distribution := range []string{"normal", "sphere", "rademacher"} {
			p := densePlan(t, "fedzo-dense", testDim, "steps=1", "perturbations=9", "rule=sgd",
				"difference="+difference, "distribution="+distribution)
			segmentsOf(p)
			p.Boxes = []wire.Box{{Low: -0.1, High: 0.25}, {Low: -0.2, High: 0.1}}
			f := newSlopes(testDim, 0, 1)
			for _, o := range slopesOf(f) {
				r := newRig(t, p, o)
				x, edges := slices.Clone(r.params()), 0
				for i, v := range x {
					if b, _ := p.BoxOf(min(i/5, 1)); v == b.Low || v == b.High {
						edges++
					}
				}
				if edges < 3 || edges == len(x) {
					t.Fatalf("%d of %d parameters at the end of a box", edges, len(x))
				}
				c := r.clients[0]
				r.round(c)
				source := uint32(prng.Shared)
				if p.Sharing == wire.PerClient {
					source = prng.Slot(0)
				}
				for q, got := range c.buffers.scalars {
					isSlope(t, got, quotient(p, f, x, 2, 0, q, source),
						"%s, %s, %T, perturbation %d", difference, distribution, o, q)
				}
			}
		}
	}
}

// With what the reference does not know, a subspace, a pool, control variates, the scalars are
// those of a black box: a central difference of a quadratic function is its derivative.
func TestSlopesAreThoseOfBlackBoxes(t *testing.T) {
	for name, edit := range map[string]func(*wire.Plan){
		"subspace": func(p *wire.Plan) {
			p.Distribution, p.SubspaceMoves, p.SubspaceShare = wire.Subspace, 2, 0.5
		},
		"pool":       func(p *wire.Plan) { p.Pool, p.Rebase = 7, 2 },
		"scaffold-1": func(p *wire.Plan) { p.Control, p.Steps = wire.ScaffoldPoint, 2 },
		"blocks":     func(p *wire.Plan) { p.Steps = 2 },
	} {
		dim := testDim
		if name == "blocks" || name == "subspace" {
			dim = 3*prng.BlockLen + 5
		}
		f := newSlopes(dim, 0, 1)
		own := func(p *wire.Plan) { p.Mu = 1. / 16; edit(p) }
		box := newStepper(t, f, 1, own)
		for _, o := range slopesOf(f) {
			s := newStepper(t, o, 2, own)
			for round := range 4 {
				task := s.task()
				want, err := box.c.Run(t.Context(), s.r, task)
				if err != nil {
					t.Fatal(err)
				}
				result, err := s.run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range want.Scalars {
					if !(math.Abs(float64(result.Scalars[i]-g)) <= 1e-3*(1+math.Abs(float64(g)))) {
						t.Fatalf("%s, %T, round %d, scalar %d: got %v, want %v",
							name, o, round, i, result.Scalars[i], g)
					}
				}
				if name == "scaffold-1" {
					break // its second phase needs another record
				}
				s.step(t)
			}
		}
	}
}

// With a surrogate, which is fitted to losses, the device is asked for these.
func TestSurrogateAsksForLosses(t *testing.T) {
	f := newSlopes(5, 0, 1)
	g := &graded{slopes: f}
	r := newRig(t, densePlan(t, "fzoos", 5, "steps=2", "features=16"), g)
	r.round()
	r.round()
	c := r.clients[0]
	task := c.Task(c.replica, r.announcement(), 0)
	if calls := c.Calls(r.plan, &task); calls.Gradients != 0 ||
		calls.Queries != task.Queries(r.plan) || calls != c.Usual(c.replica) {
		t.Errorf("announced %v", calls)
	}
	if c.Gradients() != 0 || f.queries == 0 || c.Queries() != uint64(f.queries) {
		t.Errorf("%d gradients, %d queries of %d, want queries alone",
			c.Gradients(), c.Queries(), f.queries)
	}
}

// A direction cannot be read once its call is over.
func TestDirectionRevoked(t *testing.T) {
	o := &streamed{slopes: newSlopes(3, 0, 1), piece: 3}
	s := newStepper(t, o, 1, func(*wire.Plan) {})
	if _, err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := o.last.Read(make([]float32, 1), 0); err != objective.ErrRevoked {
		t.Errorf("got %v, want %v", err, objective.ErrRevoked)
	}
	if s.c.buffers.probe != nil || s.c.slopes.g != nil {
		t.Error("the device made a copy of the model")
	}
}

// What goes wrong in the app costs the round, and says what it was.
func TestGradientFaults(t *testing.T) {
	late := errors.New("the engine is gone")
	for name, tt := range map[string]struct {
		spoil func(g []float32) error
		want  string
	}{
		"error": {func([]float32) error { return late },
			"gradient at step 0: the engine is gone"},
		"panic":     {func([]float32) error { panic("oh") }, "gradient at step 0: panic: oh"},
		"NaN":       {setsTo(7, math.NaN()), "element 7 of the gradient is NaN"},
		"infinity":  {setsTo(3, math.Inf(-1)), "element 3 of the gradient is -Inf"},
		"too large": {setsTo(0, 1e30), "max_scalar"},
	} {
		g := &graded{slopes: newSlopes(testDim, 0, 1), spoil: tt.spoil}
		s := newStepper(t, g, 1, func(*wire.Plan) {})
		_, err := s.run(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
		if errors.Is(err, ErrTooLarge) != (name == "too large") || errors.Is(err, late) !=
			(name == "error") {
			t.Errorf("%s: %v matches another error", name, err)
		}
		g.spoil = nil
		if _, err := s.run(t.Context()); err != nil {
			t.Errorf("%s: the round after: %v", name, err)
		}
	}
}

// setsTo spoils one element of a gradient.
func setsTo(i int, v float64) func(g []float32) error {
	return func(g []float32) error {
		g[i] = float32(v)
		return nil
	}
}

// A gradient that the app only adds to, or forgets, is found; so is a loss or a slope that is
// no number.
func TestGradientForgotten(t *testing.T) {
	for _, o := range []objective.Objective{
		bad{newSlopes(3, 0, 1), 1, 0}, badSlope{newSlopes(3, 0, 1), 1, math.NaN()},
		badSlope{newSlopes(3, 0, 1), math.Inf(1), 0}, bad{newSlopes(3, 0, 1), math.NaN(), 1},
	} {
		s := newStepper(t, o, 1, func(*wire.Plan) {})
		if _, err := s.run(t.Context()); err == nil || !strings.Contains(err.Error(), "not finite") {
			t.Errorf("%T: got %v, want one that is not finite", o, err)
		}
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

// A slowGradient takes some time, or until its context ends.
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

// Gradients have a pace of their own: what a gradient takes says nothing of losses. A device
// whose gradient hangs declines until it returns.
func TestPaceOfGradients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slowGradient{slopes: newSlopes(3, 0, 1), takes: 20 * time.Second}
		s := newStepper(t, o, 1, func(*wire.Plan) {})
		s.step(t)
		if s.c.pace != 0 || s.c.gradients.pace != 20*time.Second {
			t.Errorf("pace %v of losses, %v of gradients, want 0, 20s", s.c.pace,
				s.c.gradients.pace)
		}
		one := Calls{Gradients: 1}
		if err := s.c.Ready(t.Context(), 3, one, time.Now().Add(15*time.Second)); err == nil ||
			!errors.Is(err, ErrSlow) || !strings.Contains(err.Error(), "1 gradients take 20s") {
			t.Errorf("got %v, want %v", err, ErrSlow)
		}
		if err := s.c.Ready(t.Context(), 3, one, time.Now().Add(15*time.Second)); err != nil {
			t.Errorf("after a doubt: %v", err)
		}
		if err := s.c.Ready(t.Context(), 3, Calls{Queries: 100},
			time.Now().Add(time.Second)); err != nil {
			t.Errorf("losses: %v", err)
		}
		o.takes, o.hangs = time.Hour, true
		over := errors.New("over")
		ctx, cancel := context.WithCancelCause(s.ctx)
		time.AfterFunc(time.Minute, func() { cancel(over) })
		if _, err := s.run(ctx); err != over {
			t.Errorf("got %v, want %v", err, over)
		}
		if s.c.gradients.duration(1) < time.Minute || s.c.pace != 0 {
			t.Errorf("a gradient takes %v, a loss %v, want a minute or more, 0",
				s.c.gradients.duration(1), s.c.pace)
		}
		if err := s.c.Ready(t.Context(), 3, one, time.Now().Add(time.Hour)); err != ErrBusy {
			t.Errorf("got %v, want %v", err, ErrBusy)
		}
		<-time.After(time.Hour)
		synctest.Wait()
		o.takes = 0
		if err := s.c.Ready(t.Context(), 3, one, time.Now().Add(time.Hour)); err != nil {
			t.Errorf("after the call: %v", err)
		}
		s.step(t)
	})
}

// The time of a gradient includes that of its projection, which is the longer for many
// directions.
func TestPaceIncludesProjection(t *testing.T) {
	const tries = 20 // the machine may stop the test at any point
	f := newSlopes(7*prng.BlockLen, 0, 1)
	for range tries {
		s := newStepper(t, quiet{f}, 1, func(p *wire.Plan) { p.Perturbations = 300 })
		s.a.Perturbations = 300
		begun := time.Now()
		if _, err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.c.gradients.pace > time.Since(begun)/2 {
			return
		}
	}
	t.Errorf("the pace is less than half of the time of a round, %d times", tries)
}

// A part of a call that comes later counts like the rest of the call.
func TestLasted(t *testing.T) {
	var whole, parts meter
	for _, d := range []time.Duration{80, 8000, 16, 160} {
		whole.took(8 * d)
		parts.took(3 * d)
		parts.lasted(5 * d)
		if diff := whole.pace - parts.pace; diff < -4 || diff > 4 || whole.queries != parts.queries {
			t.Errorf("in parts %v, as a whole %v", parts.pace, whole.pace)
		}
	}
}

// The policy learns that it is asked for gradients.
func TestPolicyOfGradients(t *testing.T) {
	o := &choosy{graded: &graded{slopes: newSlopes(3, 0, 1)}}
	s := newStepper(t, o, 1, func(p *wire.Plan) { p.Steps = 4 })
	task := s.task()
	err := s.c.Ready(t.Context(), task.N, s.c.Calls(s.r.Plan(), &task), time.Now().Add(time.Hour))
	if err != nil || o.work.Gradients != 4 || o.work.Queries != 0 || o.work.N != task.N {
		t.Errorf("asked %+v, %v, want 4 gradients", o.work, err)
	}
	if got := s.c.Usual(s.r); got != (Calls{Gradients: 4}) {
		t.Errorf("a usual round takes %v", got)
	}
}

type choosy struct {
	*graded
	work objective.Work
}

func (o *choosy) MayWork(w objective.Work) bool { o.work = w; return true }

// BenchmarkProject measures the derivatives along 100 directions, from a gradient.
func BenchmarkProject(b *testing.B) {
	const perturbations = 100
	for _, dim := range []int{28_938, 1_206_590} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("d=%d/workers=%d", dim, workers), func(b *testing.B) {
				f := &slopes{curve: make([]float64, dim), center: make([]float64, dim)}
				s := newStepper(b, &graded{slopes: f}, workers, func(*wire.Plan) {})
				e := s.c.estimation(s.r, &Task{N: 2, Steps: 1, Perturbations: perturbations})
				d := &s.c.slopes
				d.g = make([]float32, dim)
				if err := d.projector.Begin(s.r.Plan(), s.r.Params(), d.g); err != nil {
					b.Fatal(err)
				}
				e.ctx, e.place = b.Context(), place{n: 2}
				for b.Loop() {
					if err := e.project(perturbations); err != nil {
						b.Fatal(err)
					}
				}
				elements := float64(perturbations) * float64(dim) * float64(b.N)
				b.ReportMetric(elements/b.Elapsed().Seconds()/1e6, "M-elements/s")
			})
		}
	}
}

// Once it has its buffers, a step with a gradient allocates little: the layout of the plan.
func TestGradientStepAllocatesLittle(t *testing.T) {
	f := newSlopes(9*prng.BlockLen, 0, 1)
	s := newStepper(t, quiet{f}, 2, func(*wire.Plan) {})
	if got := testing.AllocsPerRun(20, func() { s.step(t) }); got > 2 {
		t.Errorf("%v allocations", got)
	}
}

type quiet struct{ *slopes }

func (o quiet) Gradient(_ context.Context, _ []float32, _ objective.Batch, g []float32) (float64,
	error) {
	clear(g)
	return 1, nil
}

// A survey, whose answers are losses, is one of losses for a device with gradients too.
func TestSurveyOfGradients(t *testing.T) {
	g := &graded{slopes: newSlopes(testDim, 0, 1)}
	s := newStepper(t, g, 1, func(p *wire.Plan) { p.MuAuto, p.Mu = 1, 0 })
	task := s.task()
	task.Survey = survey.Mu
	result, err := s.c.Run(t.Context(), s.r, task)
	want := uint64(survey.Mu.Values())
	if err != nil || s.c.Queries() != want || s.c.Gradients() != 0 ||
		s.c.Calls(s.r.Plan(), &task) != (Calls{Queries: want}) {
		t.Errorf("%v: %d queries and %d gradients, announced %v, want %d queries",
			err, s.c.Queries(), s.c.Gradients(), s.c.Calls(s.r.Plan(), &task), want)
	}
	if at := g.value(s.r.Params()); result.Loss != at {
		t.Errorf("loss %v, want %v", result.Loss, at)
	}
}
