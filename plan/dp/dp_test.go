package dp_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan/dp"
)

// TestEpsilonOracles compares Epsilon with the results of dp-accounting and Opacus. dp-accounting
// and Opacus search a list of orders. The exact epsilon must be below the result of Epsilon.
func TestEpsilonOracles(t *testing.T) {
	file, err := os.Open("testdata/epsilons.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var noise, delta, google, opacus, exact float64
		var releases uint64
		if _, err := fmt.Sscan(lines.Text(),
			&noise, &releases, &delta, &google, &opacus, &exact); err != nil {
			t.Fatal(err)
		}
		got := dp.Epsilon(noise, releases, delta)
		for _, want := range []float64{google, opacus} {
			if math.Abs(got-want) > 1e-5*max(want, 0.01) {
				t.Errorf("%s: got %.6g, want %.6g", lines.Text(), got, want)
			}
		}
		if got < exact {
			t.Errorf("%s: %.6g is below the exact %.6g", lines.Text(), got, exact)
		}
		if back := dp.Noise(got, releases, delta); math.Abs(back/noise-1) > 1e-4 {
			t.Errorf("%s: noise %v for epsilon %v", lines.Text(), back, got)
		}
		rows++
	}
	if rows != 73 {
		t.Errorf("%d rows, want 73", rows)
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
