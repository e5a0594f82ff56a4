package lossprogram

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/zofl/zofl/client/objective"
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
