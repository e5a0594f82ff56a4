package reference

import (
	"math"
	"testing"

	"github.com/zofl/zofl/prng"
)

// afterRound makes a round of two clients from start. afterRound returns the server's model, and
// the model that client 0 computes by (10).
func afterRound(d *DeComFL, start []float64, n uint64) (server, compensated []float64) {
	s := Iterate{clone(start), make([]float64, d.Dim)}
	own, local := d.LocalUpdate(s, 0, n)
	other, _ := d.LocalUpdate(s, 1, n)
	average := make([][]float64, d.K)
	for k := range average {
		average[k] = mean(own[k], other[k])
	}
	d.RebuildModel(s, n, average)
	return s.X, d.Compensate(local.X, n, own, average)
}

func farthest(x, y []float64) (worst float64) {
	for i := range x {
		worst = max(worst, math.Abs(x[i]-y[i]))
	}
	return worst
}

// TestCompensation: by (10) a client has the server's model, with plain SGD only.
func TestCompensation(t *testing.T) {
	start := normals(dim, 0, At{}, 0, 3)
	for _, c := range []struct {
		name        string
		beta, decay float64
		holds       bool
	}{
		{"plain SGD", 0, 0, true},
		{"momentum", 0.5, 0, false},
		{"weight decay", 0, 0.5, false},
	} {
		d := &DeComFL{Problem: randomProblem(dim, true), K: steps, P: directions, Mu: mu, Eta: eta,
			Beta: c.beta, Decay: c.decay}
		server, compensated := afterRound(d, start, 5)
		moved, off := farthest(server, start), farthest(server, compensated)
		if c.holds != (off <= exact) || !c.holds && off < 1e-3*moved {
			t.Errorf("%s: off by %v, where the model moved by %v", c.name, off, moved)
		}
	}
}

// TestCompensationRounds: in float32, in which models are kept, the sum of (10) rounds otherwise
// than the server's steps, so that a client that compensates would soon hold other bits than
// the log. This is why no device does it.
func TestCompensationRounds(t *testing.T) {
	const d, k, p, rounds = 4096, 4, 2, 20
	server, client := make([]float32, d), make([]float32, d)
	for i := range server {
		server[i] = float32(i%97) / 97
		client[i] = server[i]
	}
	z := make([]float32, d)
	along := func(x []float32, n uint64, step, q int, a float32) {
		prng.Fill(z, prng.Direction{Key: prng.RecordKey(secret, n), Step: uint16(step),
			Perturbation: uint16(q), Dist: prng.Normal}, 0)
		for i := range x {
			x[i] += float32(a * z[i])
		}
	}
	for n := range uint64(rounds) {
		for step := range k {
			for q := range p {
				own, all := float32(step+1)/7, float32(q+1)/11
				along(client, n, step, q, -1e-3*own)
				along(server, n, step, q, -1e-3*all)
			}
		}
		for step := range k {
			for q := range p {
				own, all := float32(step+1)/7, float32(q+1)/11
				along(client, n, step, q, -1e-3*(all-own))
			}
		}
	}
	other, most := 0, 0.0
	for i := range server {
		most = max(most, math.Abs(float64(server[i]-client[i])))
		if server[i] != client[i] {
			other++
		}
	}
	t.Logf("%d of %d elements have other bits after %d rounds, by %.2g at most",
		other, d, rounds, most)
	if other < d/2 || most > 1e-5 {
		t.Errorf("%d of %d elements differ, by %v at most: want most of them, by rounding only",
			other, d, most)
	}
}
