package reference

import (
	"math"
	"testing"
)

// Sizes of the problems on which fleets are compared with the papers' algorithms.
const (
	dim, tau           = 23, 3
	steps, directions  = 3, 4
	mu, eta            = 1e-2, 0.02
	rounds, population = 9, 5
)

// sampled returns an uneven choice of clients.
func sampled(r int) []int {
	return [][]int{{0, 3}, {1}, {4, 2, 0}, {0, 1, 2, 3, 4}}[r%4]
}

// TestFleetIsThePapers runs the papers' algorithms and the equivalent fleets, round by
// round.
func TestFleetIsThePapers(t *testing.T) {
	own, shared := randomProblem(dim, false), randomProblem(dim, true)
	start := normals(dim, 0, At{}, 0, 3)
	plain := func(b Problem) Fleet {
		return Fleet{Problem: b, Clients: population, K: steps, Mu: mu, Gain: 1}
	}
	for name, method := range map[string]func() (Fleet, func(r int, n uint64) []float64){
		"decomfl": func() (Fleet, func(int, uint64) []float64) {
			f := plain(shared)
			f.Central, f.Beta, f.Decay = true, 0.9, 0.1
			d := DeComFL{Problem: shared, K: steps, P: directions, Mu: mu, Eta: eta, Central: true,
				Beta: 0.9, Decay: 0.1}
			s := Iterate{clone(start), make([]float64, dim)}
			return f, func(r int, n uint64) []float64 { return d.Round(s, n, sampled(r)) }
		},
		"decomfl, projected gradients": func() (Fleet, func(int, uint64) []float64) {
			f := plain(shared)
			f.Gradient, f.Beta = slope, 0.5
			d := DeComFL{Problem: shared, K: steps, P: directions, Mu: mu, Eta: eta, Beta: 0.5,
				Gradient: slope}
			s := Iterate{clone(start), make([]float64, dim)}
			return f, func(r int, n uint64) []float64 { return d.Round(s, n, sampled(r)) }
		},
		"torch's momentum": func() (Fleet, func(int, uint64) []float64) {
			f := plain(shared)
			f.Beta, f.Torch = 0.7, true
			d := DeComFL{Problem: shared, K: steps, P: directions, Mu: mu, Eta: eta, Beta: 0.7, Torch: true}
			s := Iterate{clone(start), make([]float64, dim)}
			return f, func(r int, n uint64) []float64 { return d.Round(s, n, sampled(r)) }
		},
		"fedzo": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(unit(own)), start
			f.Gain, f.Relayed = dim, true
			zo := FedZO{unit(own), steps, directions, mu, eta}
			return f, func(r int, n uint64) []float64 { x = zo.Round(x, n, sampled(r)); return x }
		},
		"zo-adafl": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(unit(shared)), start
			f.Gain, f.Server = dim, Server{AMSGrad, 0.02, 0.9, 0.99, 1e-8, 0, 1e-5}
			ada := ZOAdaFL{FedZO{unit(shared), steps, directions, mu, eta}, 0.02, 0.9, 0.99, 1e-8}
			s := NewMoments(dim, 1e-5)
			return f, func(r int, n uint64) []float64 { x = ada.Round(x, s, n, sampled(r)); return x }
		},
		"zo-adafl, own directions": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(unit(own)), start
			f.Gain, f.Relayed, f.Server = dim, true, Server{AMSGrad, 0.02, 0.9, 0.99, 1e-8, 0, 1e-5}
			ada := ZOAdaFL{FedZO{unit(own), steps, directions, mu, eta}, 0.02, 0.9, 0.99, 1e-8}
			s := NewMoments(dim, 1e-5)
			return f, func(r int, n uint64) []float64 { x = ada.Round(x, s, n, sampled(r)); return x }
		},
		"zofedht": func() (Fleet, func(int, uint64) []float64) {
			f := plain(own)
			f.Central, f.Tau, f.Alpha = true, tau, 0.5
			f.Coordinates = func(client int, at At,
				p int) []float64 {
				return normals(tau, client, at, p, 2)
			}
			ht := ZOFedHT{own, steps, directions, mu, eta, tau, 0.5, f.Coordinates}
			s := &Trajectory{X: clone(start)}
			return f, func(r int, n uint64) []float64 { ht.Round(s, r, n, sampled(r)); return s.X }
		},
		"fedprox": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(shared), start
			f.Prox = 0.5
			prox := FedProx{shared, steps, directions, mu, eta, 0.5}
			return f, func(r int, n uint64) []float64 { x = prox.Round(x, n, sampled(r)); return x }
		},
		"scaffold-1": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(shared), start
			f.Control = TypeI
			one := Scaffold1{shared, steps, directions, mu, eta}
			return f, func(r int, n uint64) []float64 {
				x = one.Round(x, n-1, sampled(r+1), sampled(r))
				return x
			}
		},
		"zo-svrg": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(shared), start
			f.Control = Reduced
			reduced := ZOSVRG{shared, steps, directions, mu, eta}
			return f, func(r int, n uint64) []float64 {
				x = reduced.Round(x, n-1, sampled(r+1), sampled(r))
				return x
			}
		},
		"scaffold-2": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(shared), start
			f.Control = TypeII
			two := Scaffold2{shared, steps, directions, mu, eta, f.NewState(start).Control}
			return f, func(r int, n uint64) []float64 { x = two.Round(x, n, sampled(r)); return x }
		},
		"mezo": func() (Fleet, func(int, uint64) []float64) {
			f, x := plain(shared), start
			f.Central, f.K = true, 1
			alone := MeZO{shared, mu, eta}
			return f, func(r int, n uint64) []float64 { x = alone.Round(x, n); return x }
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, paper := method()
			s := f.NewState(start)
			for r := range rounds {
				n := uint64(3 + 2*r)
				round := &Round{R: r, N: n, P: directions, Eta: eta, Clients: sampled(r)}
				round.Point = &Round{N: n - 1, Clients: sampled(r + 1)}
				switch name {
				case "zofedht":
					round.Eta = eta / math.Sqrt(float64(r+1))
				case "mezo":
					round.P, round.Clients = 1, []int{0}
				}
				f.Round(s, round)
				compare(t, name, s.X, paper(r, n), exact)
			}
			if math.Abs(s.X[0]-start[0]) < 1e-3 {
				t.Error("the model did not move")
			}
		})
	}
}

// TestReplayOfMeans compares the mean of local models with the replay of mean scalars, for
// everything that is linear and shared: there the two are equal.
func TestReplayOfMeans(t *testing.T) {
	f := Fleet{Problem: randomProblem(dim, true), Clients: population, K: steps, Mu: mu, Gain: 1,
		Beta: 0.8, Decay: 0.1, Prox: 0.3, Control: TypeII}
	replayed := f
	replayed.Travel = func(g float64) float64 { return g } // as if it were rounded
	a, b := f.NewState(normals(dim, 0, At{}, 0, 3)), f.NewState(normals(dim, 0, At{}, 0, 3))
	for r := range rounds {
		round := &Round{R: r, N: uint64(r + 2), P: directions, Eta: eta, Clients: sampled(r)}
		round.Weights = []float64{1, 5, 2, 7, 3}[:len(round.Clients)]
		f.Round(a, round)
		replayed.Round(b, round)
		compare(t, "model", a.X, b.X, exact)
		compare(t, "momentum", a.M, b.M, exact)
	}
}

// TestClipByHand: of slopes 1 and 3, the second client's scalar is clipped to 2. If scalars
// travel as whole numbers, 2.5 is rounded after clipping.
func TestClipByHand(t *testing.T) {
	whole := func(g float64) float64 { return math.Round(g) }
	for _, c := range []struct {
		f    Fleet
		want float64
	}{
		{Fleet{Clip: 2}, -1.5},
		{Fleet{Clip: 2, Relayed: true}, -1.5},
		{Fleet{Clip: 2.5, Relayed: true, Travel: whole}, -2},
		{Fleet{Clip: 2.5, Travel: whole}, -2},
		{Fleet{Aggregate: Median}, -2},
	} {
		c.f.Problem, c.f.Clients, c.f.K, c.f.Mu, c.f.Gain = line(1, 3), 2, 1, 1, 1
		c.f.Direction = func(int, At, int) []float64 { return []float64{1} }
		s := c.f.NewState([]float64{0})
		c.f.Round(s, &Round{P: 1, Eta: 1, Clients: []int{0, 1}})
		compare(t, "clipped", s.X, []float64{c.want}, exact)
	}
}
