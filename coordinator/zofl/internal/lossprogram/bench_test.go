package lossprogram

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/smollm"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// BenchmarkLoss measures the cost of a loss without its computation. BenchmarkLoss asks a program
// that computes nothing for losses at one point or at twenty points in a request. us/loss is the
// time of one loss. A part of that time is the copying of the parameters, which an app's own
// process needs too.
func BenchmarkLoss(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for _, dim := range []int{1_000, 1_200_000} {
		for _, points := range []int{1, 20} {
			b.Run(fmt.Sprintf("dim=%d/points=%d", dim, points), func(b *testing.B) {
				b.Setenv(asProgram, fmt.Sprintf("idle hello 1 dim=0 points=%d", points))
				p, err := Start(b.Context(), Config{Command: []string{self}, Dim: dim,
					Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				at := make([][]float32, points)
				for i := range at {
					at[i] = make([]float32, dim)
				}
				o, losses := p.Objective("pi-1"), make([]float64, points)
				ask := func() {
					err := o.LossesAt(b.Context(), objective.NewPoints(at...), objective.Batch{}, losses)
					if err != nil {
						b.Fatal(err)
					}
				}
				ask() // makes the file
				for b.Loop() {
					ask()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*points), "us/loss")
			})
		}
	}
}

// BenchmarkStep measures what a step of 20 points costs without the computation of its losses: of a
// language model of 134.5 million parameters with distribution=lowrank, in points or in factors.
// The time includes that of the directions. It needs 3.3 GB, because points come four at a time.
func BenchmarkStep(b *testing.B) {
	const perturbations = 19
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	at := languageModel(b)
	at.Perturbations = perturbations
	r := replica.New(replica.Config{Run: at.Run})
	record := wire.Record{N: 1, Epoch: 1, Prev: wire.Genesis(at.Run), Kind: wire.KindPlan, Plan: at}
	if err := r.Apply(record.Append(nil)); err != nil {
		b.Fatal(err)
	}
	for _, greeting := range []string{"points=4", "points=20 factors=1"} {
		b.Run(greeting, func(b *testing.B) {
			b.Setenv(asProgram, fmt.Sprintf("idle hello 1 dim=%d %s", at.Dim, greeting))
			p, err := Start(b.Context(), Config{Command: []string{self},
				Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			p.Plan(at)
			o, losses := p.Objective("pi-1"), make([]float64, 1+perturbations)
			n := uint64(1)
			ask := func() {
				n++
				z := r.Directions(nil, n, 0, 0, perturbations, prng.Shared)
				x := objective.AllAt(&step{r, replica.Points{X: r.Params(), Mu: 1e-3, Z: z}}, 0, 1+len(z))
				if err := o.LossesAt(b.Context(), &x, objective.Batch{}, losses); err != nil {
					b.Fatal(err)
				}
			}
			ask() // makes the file
			for b.Loop() {
				ask()
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/step")
		})
	}
}

// languageModel returns a plan for a language model.
func languageModel(b *testing.B) *plan.Plan {
	p, err := preset.New("decomfl", "r", 1)
	if err != nil {
		b.Fatal(err)
	}
	p.Distribution, p.Segments, p.Dim = plan.LowRank, smollm.Segments(), 0
	for _, s := range p.Segments {
		p.Dim += s.Len
	}
	return p
}

// A step supplies points along directions of rank 1, each time with another x.
type step struct {
	r      *replica.Replica
	points replica.Points
}

func (s *step) Dim() int { return len(s.points.X) }

func (s *step) Read(_ uint64, dst []float32, off int) error { return s.ReadX(0, dst, off) }

func (s *step) ReadAll(_ uint64, dst [][]float32, off, n int) error {
	s.r.PerturbAll(dst, off, n, &s.points)
	return nil
}

func (s *step) ReadX(_ uint64, dst []float32, off int) error {
	copy(dst, s.points.X[off:])
	return nil
}

func (s *step) Rays(uint64) (rays objective.Rays, ok bool, err error) {
	rays.Scales, rays.Signs = []float32{0}, [][]uint64{nil}
	for i := range s.points.Z {
		rays.Scales = append(rays.Scales, s.points.Mu)
		rays.Signs = append(rays.Signs, s.r.Factors(&s.points.Z[i]))
	}
	return rays, true, nil
}
