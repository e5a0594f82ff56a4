package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// alarm is the z-score beyond which a figure counts as outside its bound. The probability is 1 in
// 150,000, and the whole report has about two hundred figures.
const alarm = 4.5

// report writes rows of a Markdown table and counts the figures outside their bounds.
type report struct {
	out     io.Writer
	outside int
}

func (r *report) section(name string) {
	fmt.Fprintf(r.out, "\n| %s | got | want |\n|---|---|---|\n", name)
}

// row prints a figure that must lie within tolerance of want.
func (r *report) row(name string, got, want, tolerance float64) {
	mark := ""
	if !(math.Abs(got-want) <= tolerance) {
		mark = " OUTSIDE"
		r.outside++
	}
	fmt.Fprintf(r.out, "| %s | %.3g%s | %.3g within %.1g |\n", name, got, mark, want, tolerance)
}

// score prints a figure with the z-score that belongs to it.
func (r *report) score(name string, got, z float64) {
	mark := ""
	if !(math.Abs(z) <= alarm) {
		mark = " OUTSIDE"
		r.outside++
	}
	fmt.Fprintf(r.out, "| %s | %.7g | z = %+.2f%s |\n", name, got, z, mark)
}

// note prints a figure without a bound.
func (r *report) note(name string, got float64, comment string) {
	fmt.Fprintf(r.out, "| %s | %.6g | %s |\n", name, got, comment)
}

// chiSquaredScore turns a chi-squared statistic into a z-score (Wilson and Hilferty, 1931).
func chiSquaredScore(x, degrees float64) float64 {
	v := 2 / (9 * degrees)
	return (math.Cbrt(x/degrees) - (1 - v)) / math.Sqrt(v)
}

// sweep calls visit for all i < n, on one goroutine per processor: visit(w, i) with i = w modulo
// the number of workers, ascending for each w. When ctx ends, sweep stops early and returns an
// error.
func sweep(ctx context.Context, name string, n uint64, visit func(worker int, i uint64)) error {
	var done atomic.Uint64
	var all sync.WaitGroup
	start := time.Now()
	for w := range workers() {
		all.Go(func() {
			for i := uint64(w); i < n && ctx.Err() == nil; i += uint64(workers()) {
				visit(w, i)
				if k := done.Add(1); k%(n/10+1) == 0 {
					fmt.Fprintf(os.Stderr, "%s: %d of %d, %v\n", name, k, n,
						time.Since(start).Round(time.Second))
				}
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

func workers() int { return runtime.GOMAXPROCS(0) }
