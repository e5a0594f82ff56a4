package probe

import (
	"slices"
	"testing"
)

// With window_of=nearest a step is conditioned on the points near it, however many came since.
// With the latest points it knows nothing there.
func TestNearestPoints(t *testing.T) {
	const d = 4
	moves := func(fields string) float64 {
		p := smallFZooS(t, d, "window=13 around=12 candidates=40 active=0 steps=1 "+
			"length_scale=0.05 radius=0.01 "+
			"correction=zero rule=sgd beta=0 beta2=0 epsilon=0 step=0.001 "+fields)
		r := newRig(t, p, newSlopes(d, 0, 1))
		home := slices.Clone(r.params())
		away := []float32{1.9, -1.9, 1.9, -1.9}
		for _, x := range [][]float32{home, away, away, home} {
			if _, _, err := r.work(r.clients[0]); err != nil {
				t.Fatal(err)
			}
			r.commit(x)
			r.round()
		}
		// All latest points are of home now: go away and back once more.
		r.commit(away)
		r.round()
		r.commit(home)
		r.commit(make([]float32, p.Features))
		x, _, err := r.work(r.clients[0])
		if err != nil {
			t.Fatal(err)
		}
		return farthest(home, x)
	}
	latest, nearest := moves(""), moves("window_of=nearest")
	if !(nearest > 1e-4 && nearest > 10*latest) {
		t.Errorf("x moves by %v with the nearest points and by %v with the latest, "+
			"want a move only with the nearest", nearest, latest)
	}
}
