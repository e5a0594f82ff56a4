package dp_test

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
)

// rows calls use with the numbers of each line of a table.
func rows(t *testing.T, path string, count int, use func(line string, row []float64)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var row []float64
		for _, word := range strings.Fields(line) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		use(strings.TrimSpace(line), row)
		read++
	}
	if read != count {
		t.Errorf("%s has %d rows, want %d", path, read, count)
	}
}

// sum is a plan with dp_of=sum, whose epsilon is a bound by Renyi divergences.
func sum(noise float64, releases uint64, delta float64) *plan.Plan {
	return &plan.Plan{
		PrivacyFields: plan.PrivacyFields{DPClip: 1, DPNoise: float32(noise), DPDelta: float32(delta),
			DPOf: dpnoise.OfSum},
		StopFields: plan.StopFields{Rounds: releases},
	}
}

// TestEpsilonExact: Epsilon is never below the exact curve, and above it by less than a part in
// 10^8. Noise is its inverse. The bound of sums is above both.
func TestEpsilonExact(t *testing.T) {
	var ratios []float64
	rows(t, "testdata/gaussian.txt", 105, func(line string, row []float64) {
		noise, releases, delta, exact := row[0], uint64(row[1]), row[2], row[3]
		got := dp.Epsilon(noise, releases, delta)
		if !(got >= exact && got <= exact*(1+1e-8)) {
			t.Errorf("%s: got %.17g", line, got)
		}
		if noise < 1 && got < exact*(1+5e-10) {
			t.Errorf("%s: got %.17g, which is no bound for discrete noise", line, got)
		}
		if back := dp.Noise(exact, releases, delta); !(back >= noise && back <= noise*(1+2e-6)) {
			t.Errorf("%s: noise %v for this epsilon", line, back)
		}
		renyi := dp.Planned(sum(noise, releases, delta)).Epsilon
		if !(got < renyi) {
			t.Errorf("%s: got %v, not below the bound %v of a sum", line, got, renyi)
		}
		ratios = append(ratios, dp.Noise(renyi, releases, delta)/noise)
	})
	slices.Sort(ratios)
	t.Logf("%.4f to %.4f of the noise", ratios[0], ratios[len(ratios)-1])
	if less := 1 - ratios[len(ratios)/2]; math.Abs(less-0.05) > 0.01 {
		t.Errorf("the same epsilon needs %.3f less noise, in the middle of all rows", less)
	}
}

// TestEpsilonOracles compares epsilon with the results of dp-accounting and Opacus. Both search a
// list of orders, as the bound of a sum does. The third result is exact up to a grid, and rounded
// up.
func TestEpsilonOracles(t *testing.T) {
	rows(t, "testdata/epsilons.txt", 73, func(line string, row []float64) {
		noise, releases, delta, grid := row[0], uint64(row[1]), row[2], row[5]
		got := dp.Planned(sum(noise, releases, delta)).Epsilon
		for _, want := range row[3:5] {
			if math.Abs(got-want) > 1e-5*max(want, 0.01) {
				t.Errorf("%s: got %.6g, want %.6g", line, got, want)
			}
		}
		got = dp.Epsilon(noise, releases, delta)
		if digits := 1e-5 * grid; got > grid+digits || got < grid-digits-1e-4 {
			t.Errorf("%s: got %.7g of the exact curve", line, got)
		}
	})
}

// TestEpsilonFalls: more noise, fewer releases and a larger delta never spend more, also where
// numbers are so small or large that they lose digits.
func TestEpsilonFalls(t *testing.T) {
	noises := []float64{1e-6, 1.2e-5, 0.01, 0.3, 1, 30, 1e3, 1e6, 1e12, 1e200}
	counts := []uint64{1, 2, 1e5, 1 << 40, math.MaxUint64}
	deltas := []float64{5e-324, 1e-300, 1e-45, 1e-9, 1e-3, 0.3, 0.999999, 1 - 1e-16}
	for i, noise := range noises {
		for j, count := range counts {
			for k, delta := range deltas {
				got := dp.Epsilon(noise, count, delta)
				if !(got >= 0) || math.IsInf(got, 1) != (noise < 1.1e-5) {
					t.Fatalf("Epsilon(%v, %d, %v) = %v", noise, count, delta, got)
				}
				most := math.Inf(1)
				if i > 0 {
					most = min(most, dp.Epsilon(noises[i-1], count, delta))
				}
				if k > 0 {
					most = min(most, dp.Epsilon(noise, count, deltas[k-1]))
				}
				if j+1 < len(counts) {
					most = min(most, dp.Epsilon(noise, counts[j+1], delta))
				}
				if got > most {
					t.Errorf("Epsilon(%v, %d, %v) = %v, above %v", noise, count, delta, got, most)
				}
			}
		}
	}
}

func TestEpsilonEdges(t *testing.T) {
	for _, c := range []struct {
		noise    float64
		releases uint64
		delta    float64
		want     float64
	}{
		{1, 0, 1e-5, 0},
		{1, 1, 1, 0},
		{0, 1, 1e-5, math.Inf(1)},
		{math.NaN(), 1, 1e-5, math.Inf(1)},
		{1, 1, 0, math.Inf(1)},
		{1, 1, math.NaN(), math.Inf(1)},
		{1e6, 1, 0.5, 0},
	} {
		if got := dp.Epsilon(c.noise, c.releases, c.delta); got != c.want {
			t.Errorf("Epsilon(%v, %d, %v) = %v, want %v", c.noise, c.releases, c.delta, got, c.want)
		}
	}
	if got := dp.Noise(0, 1, 1e-5); !math.IsInf(got, 1) {
		t.Errorf("Noise of epsilon 0 is %v", got)
	}
	if got := dp.Noise(1, 0, 1e-5); got != 0 {
		t.Errorf("Noise of no releases is %v", got)
	}
	if got := dp.Noise(8, 1000, 1e-5); dp.Epsilon(got, 1000, 1e-5) > 8 {
		t.Errorf("Noise(8, 1000, 1e-5) = %v exceeds its budget", got)
	}
}
