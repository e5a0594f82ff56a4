package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"strings"
	"testing"
)

// Every sampled part passes on a short sample of the real thing, and says so.
func TestSampledPartsPass(t *testing.T) {
	for _, name := range []string{"normal", "neighbors", "signs"} {
		p := find(name)
		var out bytes.Buffer
		r := &report{out: &out}
		if err := p.run(context.Background(), sampling{defaultKey, 4e6}, r); err != nil {
			t.Fatal(err)
		}
		if r.outside != 0 || !strings.Contains(out.String(), "|") {
			t.Errorf("%s: %d figures outside:\n%s", p.name, r.outside, &out)
		}
	}
}

// TestWrongNormalsAreOutside checks that the report finds a wrong sample: normals with a variance
// of 1.01.
func TestWrongNormalsAreOutside(t *testing.T) {
	s := sample{histogram: make([]uint32, bins)}
	const n = 1 << 20
	x := make([]float32, n)
	for i := range x {
		p := (float64(i) + 0.5) / n
		x[i] = float32(math.Sqrt(1.01) * math.Sqrt2 * math.Erfinv(2*p-1))
	}
	s.add(x)
	r := &report{out: io.Discard}
	s.report(n, r)
	if r.outside < 3 {
		t.Errorf("got %d figures outside, want at least 3", r.outside)
	}
}

func TestCorrelatedValuesAreOutside(t *testing.T) {
	x := []float32{1, -1, 2, -2}
	var s products
	s.add(x, x)
	if s.values != 10 || s.squares != 18 {
		t.Errorf("got %+v, want sums 10 and 18", s)
	}
}

func TestBiasedCoinIsOutside(t *testing.T) {
	r := &report{out: io.Discard}
	r.coin("fair", 500_100, 1e6)
	r.coin("biased", 503_000, 1e6)
	if r.outside != 1 {
		t.Errorf("got %d figures outside, want 1", r.outside)
	}
}

func TestKolmogorov(t *testing.T) {
	// Smirnov's table: 1.3581 is exceeded with probability 0.05, 1.6276 with 0.01.
	for x, want := range map[float64]float64{1.3581: 0.05, 1.6276: 0.01} {
		if got := kolmogorov(x); math.Abs(got-want) > 1e-4 {
			t.Errorf("kolmogorov(%v): got %v, want %v", x, got, want)
		}
	}
}

func TestInterruptStopsSweep(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := normals(ctx, sampling{defaultKey, 1e9},
		&report{out: io.Discard}); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestScoreOf(t *testing.T) {
	for p, want := range map[float64]float64{0.5: 0, 0.0228: 1.999, 0.9772: -1.999} {
		if got := scoreOf(p); math.Abs(got-want) > 1e-3 {
			t.Errorf("scoreOf(%v): got %v, want %v", p, got, want)
		}
	}
}

func TestCacheKeepsTheLinesUsedLast(t *testing.T) {
	c := newCache(4096, 4) // 16 sets
	for _, line := range []uint64{0, 16, 32, 48, 0, 64, 0, 16} {
		c.touch(64 * line)
	}
	// 0, 16, 32, 48 fill a set; 64 evicts 16, and 16 comes back for 32.
	if c.misses != 6 {
		t.Errorf("got %d misses, want 6", c.misses)
	}
}
