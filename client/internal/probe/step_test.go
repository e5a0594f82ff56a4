package probe

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A null is a loss that only reads all parameters. A null uses as many threads as the device has
// workers, if there is enough to read.
type null struct {
	dim     int
	team    *parallel.Team
	threads []nullThread
	look    func(worker, i int)

	point  *objective.Point // of the call under way
	points *objective.Points
}

// A nullThread holds what one thread reads: a block of each point.
type nullThread struct {
	blocks, dst [][]float32
	first       []float64 // of the last block of each point
}

// newNull returns a null that reads so many points at once.
func newNull(dim, threads, points int) *null {
	if dim*points < 64*prng.BlockLen {
		threads = 1
	}
	o := &null{dim: dim, team: parallel.New(threads), threads: make([]nullThread, threads)}
	for i := range o.threads {
		t := &o.threads[i]
		for range points {
			t.blocks = append(t.blocks, make([]float32, prng.BlockLen))
		}
		t.dst, t.first = make([][]float32, points), make([]float64, points)
	}
	o.look = o.block
	return o
}

func (o *null) Dim() int { return o.dim }

func (o *null) Loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	return float64(x[0]), nil
}

// all reads all blocks.
func (o *null) all() { o.team.Do((o.dim+prng.BlockLen-1)/prng.BlockLen, o.look) }

func (o *null) block(worker, i int) {
	off, t := i*prng.BlockLen, &o.threads[worker]
	n := min(prng.BlockLen, o.dim-off)
	var err error
	if o.points == nil {
		err = o.point.Read(t.blocks[0][:n], off)
	} else {
		dst := t.dst[:o.points.Len()]
		for i := range dst {
			dst[i] = t.blocks[i][:n]
		}
		err = o.points.Read(dst, off)
	}
	if err != nil {
		panic(err)
	}
	for i := range t.first {
		t.first[i] = float64(t.blocks[i][0])
	}
}

// A nullStream reads blocks of one point.
type nullStream struct{ *null }

func (o nullStream) LossAt(
	_ context.Context, x *objective.Point, _ objective.Batch,
) (float64, error) {
	o.point, o.points = x, nil
	o.all()
	return o.threads[0].first[0], nil
}

// A nullBatched reads blocks of all points, one block at a time. More blocks do not fit into a
// core's own cache (20 blocks are 320 KiB), and are slower also on two cores.
type nullBatched struct{ *null }

func (o nullBatched) LossesAt(
	_ context.Context, x *objective.Points, _ objective.Batch, losses []float64,
) error {
	o.points = x
	o.all()
	copy(losses, o.threads[0].first)
	return nil
}

// nullPoints is the largest number of points in a step: P = 10, central.
const nullPoints = 20

// nulls are the null losses, one for each form of objective.
var nulls = []struct {
	name string
	make func(dim, threads int) objective.Objective
}{
	{"flat", func(dim, threads int) objective.Objective { return newNull(dim, threads, 1) }},
	{"stream", func(dim, threads int) objective.Objective {
		return nullStream{newNull(dim, threads, 1)}
	}},
	{"batched", func(dim, threads int) objective.Objective {
		return nullBatched{newNull(dim, threads, nullPoints)}
	}},
}

// A stepper makes a device's steps, and commits records in place of a coordinator with one device:
// K=1, P=10, central differences, SGD.
type stepper struct {
	c      *Prober
	r      *replica.Replica
	ctx    context.Context
	a      wire.Announcement
	record wire.Record
	mean   wire.Scalars
	frame  []byte
}

func newStepper(tb testing.TB, o objective.Objective, workers int, edit func(*plan.Plan)) *stepper {
	tb.Helper()
	p, err := preset.Unbound("decomfl", "bench", uint64(o.Dim()))
	if err != nil {
		tb.Fatal(err)
	}
	p.RunKey, p.Difference, p.Perturbations = make(plan.Bytes, 32), plan.Central, 10
	edit(p)
	c := New(Config{
		Objective: o, Dim: o.Dim(), ID: "d0", Workers: workers,
		Logger: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(tb.Context())
	tb.Cleanup(func() { cancel(); c.Close() })
	r := replica.New(replica.Config{Run: p.Run, Dim: p.Dim, Workers: workers})
	s := &stepper{c: c, r: r, ctx: ctx}
	s.record = wire.Record{N: 1, Prev: wire.Genesis(p.Run), Kind: wire.KindPlan, Plan: p}
	s.commit(tb)
	s.a.StepSize, s.a.Perturbations = p.StepSize, p.Perturbations
	s.record = wire.Record{Kind: wire.KindRound, Round: &wire.Round{
		StepSize: p.StepSize, Perturbations: p.Perturbations, Contributors: 1,
		Terms: make([]wire.Term, 1),
	}}
	return s
}

// commit applies the record.
func (s *stepper) commit(tb testing.TB) {
	s.frame = s.record.Append(s.frame[:0])
	if err := s.r.Apply(s.frame); err != nil {
		tb.Fatal(err)
	}
}

// task returns the task of the open round.
func (s *stepper) task() Task {
	s.a.N = s.r.N() + 1
	return s.c.Task(s.r, &s.a, 0, 0)
}

// run does the task of the open round.
func (s *stepper) run(ctx context.Context) (Result, error) { return s.c.Run(ctx, s.r, s.task()) }

// step estimates the scalars of a round and applies its record.
func (s *stepper) step(tb testing.TB) {
	result, err := s.run(s.ctx)
	if err != nil {
		tb.Fatal(err)
	}
	s.mean = append(s.mean[:0], result.Sent...)
	s.record.N, s.record.Prev = s.a.N, s.r.Hash()
	s.record.Round.Round = s.a.N - 1
	s.record.Round.Terms[0].Scalars = s.mean
	s.commit(tb)
}

// Once a step has its buffers, it does not allocate, whatever the objective. The source never uses
// an objective.Point or Points twice, because an app may keep it: one allocation makes 256 of them.
func TestStepDoesNotAllocate(t *testing.T) {
	const dim, runs = 40 * prng.BlockLen, 50
	for _, o := range nulls {
		for _, workers := range []int{1, 2} {
			for _, steps := range []uint32{1, 2} {
				for _, difference := range []plan.Difference{plan.Forward, plan.Central} {
					s := newStepper(t, o.make(dim, workers), workers,
						func(p *plan.Plan) { p.Steps, p.Difference = steps, difference })
					s.a.Perturbations = 2
					s.record.Round.Perturbations = 2
					if got := testing.AllocsPerRun(runs, func() { s.step(t) }); got != 0 {
						t.Errorf("%s, %d workers, K = %d, %v: %v allocations",
							o.name, workers, steps, difference, got)
					}
				}
			}
		}
	}
}

// A step of another method does not allocate, either. The lengths of directions on a sphere are an
// exception, because a replica keeps them.
func TestMethodStepDoesNotAllocate(t *testing.T) {
	const dim, runs = 9 * prng.BlockLen, 20
	for name, edit := range map[string]func(s *stepper, p *plan.Plan){
		"half": func(_ *stepper, p *plan.Plan) { p.Precision, p.MaxScalar = plan.Half, 65504 },
		"per client": func(s *stepper, p *plan.Plan) {
			p.Sharing, p.Transport = plan.PerClient, plan.Relay
			s.record.Round.Terms[0].Source = prng.Slot(0)
		},
		"subspace": func(_ *stepper, p *plan.Plan) {
			p.Distribution, p.SubspaceMoves, p.SubspaceShare = plan.Subspace, 2, 0.5
		},
		"fedprox, yogi": func(_ *stepper, p *plan.Plan) {
			p.Prox, p.ServerRule, p.ServerStep, p.ServerEpsilon = 0.5, plan.ServerYogi, 0.1, 1e-3
		},
		"scaffold-2": func(s *stepper, p *plan.Plan) {
			p.Control, s.record.Round.Population = plan.ScaffoldMean, 3
		},
	} {
		for _, o := range nulls {
			var round stepper
			round.record.Round = &wire.Round{Terms: make([]wire.Term, 1)}
			s := newStepper(t, o.make(dim, 2), 2,
				func(p *plan.Plan) { p.Steps = 2; edit(&round, p) })
			r := s.record.Round
			r.Population, r.Terms[0].Source = round.record.Round.Population,
				round.record.Round.Terms[0].Source
			s.a.Perturbations, r.Perturbations = 2, 2
			if got := testing.AllocsPerRun(runs, func() { s.step(t) }); got != 0 {
				t.Errorf("%s, %s: %v allocations", name, o.name, got)
			}
		}
	}
}

// BenchmarkQuery measures the call of the app for one of 20 queries, with a model of one
// parameter.
func BenchmarkQuery(b *testing.B) {
	for _, o := range nulls {
		b.Run(o.name, func(b *testing.B) {
			s := newStepper(b, o.make(1, 1), 1,
				func(p *plan.Plan) { p.Distribution = plan.Rademacher })
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.run(s.ctx); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(20*b.N), "ns/query")
		})
	}
}

// BenchmarkStep measures a device's round without its loss and its messages: P=10, K=1, central, so
// 20 queries and one applied record. A flat objective reads all parameters at once. The others read
// every block, and a batched objective reads the block of all points together. seed-elements counts
// each direction once for each query, however often the device generates it, and once for the
// record.
func BenchmarkStep(b *testing.B) {
	for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
		for _, dim := range []int{28_938, 1_206_590, 10_000_000} {
			for _, o := range nulls {
				for _, workers := range []int{1, 2} {
					b.Run(fmt.Sprintf("%v/d=%d/%s/workers=%d", dist, dim, o.name, workers),
						func(b *testing.B) {
							s := newStepper(b, o.make(dim, workers), workers,
								func(p *plan.Plan) { p.Distribution = dist })
							s.step(b)
							b.ReportAllocs()
							for b.Loop() {
								s.step(b)
							}
							seconds := b.Elapsed().Seconds() / float64(b.N)
							b.ReportMetric(1e3*seconds, "ms/step")
							b.ReportMetric(30*float64(dim)/seconds/1e6, "M-seed-elements/s")
						})
				}
			}
		}
	}
}
