package reference

import (
	"fmt"
	"math"
	"testing"
)

// TestFleetIsFederated compares appendix F of FZooS with the equivalent fleets.
func TestFleetIsFederated(t *testing.T) {
	start := Unit(dim).Project(normals(dim, 0, At{}, 0, 3))
	for _, form := range []Form{Form87, Form89, Form91, Form93} {
		for _, local := range []Optimizer{
			{}, {Kind: HeavyBall, Beta: 0.8}, {Kind: TorchHeavyBall, Beta: 0.5},
			{Kind: AdamKingma, Beta: 0.9, Beta2: 0.99, Epsilon: 1e-3},
		} {
			for _, domain := range []*Domain{nil, Unit(dim)} {
				t.Run(fmt.Sprint(form, local.Kind, domain != nil), func(t *testing.T) {
					b := randomProblem(dim, false)
					paper := Federated{b, steps, directions, mu, eta, form, 0.5, local, domain}
					f := Fleet{Problem: b, Clients: population, K: steps, Mu: mu, Gain: 1,
						Dense: true, Local: local, Domain: domain}
					switch form {
					case Form89:
						f.Prox = 0.5
					case Form91:
						f.Control = TypeI
					case Form93:
						f.Control = TypeII
					}
					sameRounds(t, &f, &paper, start)
				})
			}
		}
	}
}

func sameRounds(t *testing.T, f *Fleet, paper *Federated, start []float64) {
	a, b := f.NewState(start), &FederatedState{X: clone(start), Own: map[int][]float64{}}
	for r := range rounds {
		n := uint64(3 + 2*r)
		round := &Round{R: r, N: n, P: directions, Eta: eta, Clients: sampled(r)}
		round.Point = &Round{N: n - 1, Clients: sampled(r + 1)}
		f.Round(a, round)
		paper.Round(b, n, sampled(r+1), sampled(r))
		compare(t, "x", a.X, b.X, exact)
	}
	if math.Abs(a.X[0]-start[0]) < 1e-3 {
		t.Error("the model did not move")
	}
}

// TestFederatedByHand: on a line estimates are slopes, so rounds can be computed by hand,
// and a client drifts by its slope.
func TestFederatedByHand(t *testing.T) {
	const k, mu, eta = 3, 1e-3, 0.1
	all := []int{0, 1}
	is := func(name string, form Form, local Optimizer, domain *Domain, rounds [][]int,
		want ...float64) {
		t.Helper()
		f := Federated{line(1, 3, 8), k, 2, mu, eta, form, 0.5, local, domain}
		s := &FederatedState{X: []float64{5}, Own: map[int][]float64{}}
		for r, second := range rounds {
			f.Round(s, uint64(2+2*r), []int{0, 2}, second)
			compare(t, name, s.X, want[r:r+1], exact)
		}
	}
	adam := Optimizer{Kind: AdamKingma, Beta: 0.9, Beta2: 0.99, Epsilon: 0.5}
	ball := Optimizer{Kind: HeavyBall, Beta: 0.5}
	torch := Optimizer{Kind: TorchHeavyBall, Beta: 0.5}

	is("(87)", Form87, Optimizer{}, nil, [][]int{all}, 5-3*0.1*2)
	is("(89)", Form89, Optimizer{}, nil, [][]int{all}, 5-2*(1-math.Pow(1-0.1*0.5, 3))/0.5)
	is("(91)", Form91, Optimizer{}, nil, [][]int{all}, 5-3*0.1*4.5)
	// At first no client has a correction, nor client 2 later. g is the mean over the
	// clients that took part, and each g_i is the slope.
	is("(93)", Form93, Optimizer{}, nil, [][]int{all, {1, 2}, {0}}, 4.4, 4.4-0.3*(2+8)/2, 2.9-0.3*5.5)
	is("momentum", Form87, ball, nil, [][]int{all}, 5-0.1*2*(0.5+0.75+0.875))
	is("torch's", Form87, torch, nil, [][]int{all, all}, 5-0.1*2*(1+1.5+1.75), 5-0.2*2*(1+1.5+1.75))
	// With one slope s, Adam's moments are s and s^2 at every step.
	is("adam", Form87, adam, nil, [][]int{all, all}, 5-0.3*(1/1.5+3/3.5)/2, 5-0.3*(1/1.5+3/3.5))
	is("a domain", Form87, Optimizer{}, &Domain{[]float64{4.3}, []float64{9}},
		[][]int{all}, (4.7+4.3)/2)
}

// TestAdam takes two steps of algorithm 1 of Kingma and Ba, along 2 and then -3.
func TestAdam(t *testing.T) {
	o := Optimizer{Kind: AdamKingma, Beta: 0.5, Beta2: 0.75, Epsilon: 1}
	o.Begin(1)
	compare(t, "first step", o.Step([]float64{2}), []float64{2.0 / 3}, exact)
	m, v := (0.5*1-1.5)/0.75, (0.75*1+0.25*9)/(1-0.75*0.75)
	compare(t, "second step", o.Step([]float64{-3}), []float64{m / (math.Sqrt(v) + 1)}, exact)
}

// TestOutside: the loss is never evaluated outside the domain.
func TestOutside(t *testing.T) {
	b := randomProblem(dim, false)
	loss, asked := b.Loss, 0
	b.Loss = func(client int, at At, x []float64) float64 {
		for i, v := range x {
			if v < 0 || v > 1 {
				t.Fatalf("the loss is evaluated with element %d = %v", i, v)
			}
		}
		asked++
		return loss(client, at, x)
	}
	f := Federated{b, steps, directions, mu, 3, Form93, 0, Optimizer{}, Unit(dim)}
	s := &FederatedState{X: make([]float64, dim), Own: map[int][]float64{}}
	for r := range rounds {
		f.Round(s, uint64(3+2*r), nil, sampled(r))
	}
	if asked == 0 {
		t.Error("no loss was evaluated")
	}
}
