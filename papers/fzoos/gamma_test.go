package fzoos

import (
	"math"
	"testing"

	"github.com/zofl/zofl/papers/lab"
)

// TestGammas runs a fleet of each correction length for some rounds. By its definition none is
// nearer to the gradient of F than Proposition B.1's, and with few points there is a difference.
func TestGammas(t *testing.T) {
	x := &gammaRun{lab.NewTrial(t.Context(), &lab.Env{Logf: t.Logf}, ""),
		gammaSize{dim: 20, window: 20, features: 60, rounds: 3, seeds: 1, c: []float64{5}}}
	if err := x.all(); err != nil {
		t.Fatal(err)
	}
	if len(x.Report.Claims) != 3 || len(x.Report.Table.Rows) != len(gammaArms) {
		t.Fatalf("%d claims, %d rows", len(x.Report.Claims), len(x.Report.Table.Rows))
	}
	_, off, err := x.follow(5, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range gammaArms[:len(gammaArms)-1] {
		if best := off[len(off)-1]; !(best < off[i]) {
			t.Errorf("%s is off by %v, the best length by %v", a.title, off[i], best)
		}
	}
}

// TestGammaFleet: the gradient is that of the mean of what clients are asked.
func TestGammaFleet(t *testing.T) {
	f, err := newGammaFleet(5, gammaSize{dim: 8, window: 9, features: 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := func(by float64) (sum float64) {
		u := append([]float64(nil), f.s.X...)
		u[3] += by
		for client := range clients {
			sum += f.q.Local(client)(f.at(u)) / clients
		}
		return sum
	}
	const h = 1. / 64
	if got, want := f.gradient(f.s.X)[3], (at(h)-at(-h))/(2*h); math.Abs(got-want) > 1e-3 {
		t.Errorf("gradient %v, want %v", got, want)
	}
}
