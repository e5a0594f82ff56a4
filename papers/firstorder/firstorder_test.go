package firstorder

import (
	"math"
	"slices"
	"testing"
)

// bowls returns the problem f_i(x) = (x - i)^2/2 in one dimension, for clients 0, 1, ..., each
// with one sample.
func bowls(clients int) *Problem {
	p := &Problem{Dim: 1, Gradient: func(grad, x []float32, samples []int) float64 {
		loss := 0.0
		for _, s := range samples {
			e := x[0] - float32(s)
			grad[0] += e / float32(len(samples))
			loss += float64(e*e) / 2 / float64(len(samples))
		}
		return loss
	}}
	for i := range clients {
		p.Shares = append(p.Shares, []int{i})
	}
	return p
}

func near(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-5 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestByHand makes rounds from x = 5 with two clients, whose minima are 0 and 1.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Method
		want []float64 // x after each round
	}{
		// y_0 = 5*0.81, y_1 = 1 + 4*0.81
		{"fedavg", Method{}, []float64{4.145}},
		// The second step has 1.5 gradients and what the first moved.
		{"momentum", Method{Beta: 0.5}, []float64{5 - 0.45 - (0.1*4.05 + 0.05*4.5)}},
		// The pull at the second step is half of the first step's 0.45.
		{"fedprox", Method{Prox: 0.5}, []float64{5 - 0.45 - 0.1*(4.05-0.225)}},
		// c is the mean of 4.75 and 3.8; afterwards both step along the same gradient.
		{"scaffold", Method{Scaffold: true}, []float64{4.145, 0}},
	} {
		m := c.m
		m.Asked, m.Steps, m.Batch, m.Eta = 2, 2, 1, 0.1
		r := New(bowls(2), m, []float32{5}, 1)
		loss := r.Round()
		near(t, c.name, r.X[0], c.want[0])
		near(t, c.name+", loss", float32(loss), (12.5+8)/2)
		if r.Gradients != 4 || r.Rounds != 1 {
			t.Errorf("%s: %d gradients in %d rounds", c.name, r.Gradients, r.Rounds)
		}
		want := 2.0
		if c.m.Scaffold {
			want = 4
			near(t, "c", r.c[0], 4.275)
			near(t, "c_0", r.own[0][0], 4.75)
			near(t, "c_1", r.own[1][0], 3.8)
		}
		if r.Floats != want {
			t.Errorf("%s: %v floats, want %v", c.name, r.Floats, want)
		}
	}
}

// TestScaffoldHolds checks that if only one of two unlike clients takes part, control variates
// keep x nearer to the common minimum, 1/2.
func TestScaffoldHolds(t *testing.T) {
	end := func(scaffold bool) float64 {
		r := New(bowls(2), Method{Asked: 1, Steps: 5, Batch: 1, Eta: 0.1, Scaffold: scaffold},
			[]float32{5}, 3)
		worst := 0.0
		for n := range 200 {
			r.Round()
			if n >= 150 {
				worst = max(worst, math.Abs(float64(r.X[0])-0.5))
			}
		}
		return worst
	}
	if plain, held := end(false), end(true); !(held < plain/10) {
		t.Errorf("%v away with control variates, %v without", held, plain)
	}
}

// TestCyclic checks that with four clients in two groups, the rounds ask the groups in turn.
func TestCyclic(t *testing.T) {
	r := New(bowls(4), Method{Asked: 5, Steps: 1, Batch: 1, Eta: 0, Groups: 2}, []float32{0}, 1)
	for round, want := range [][]int{{0, 2}, {1, 3}, {0, 2}} {
		got := r.clients()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("round %d has clients %v, want %v", round, got, want)
		}
		r.Rounds++
	}
}

func TestCompressors(t *testing.T) {
	move := []float32{1, -4, 0.5, 3, -2}
	if floats := TopK(0.4)(move); floats != 4 || !slices.Equal(move, []float32{0, -4, 0, 3, 0}) {
		t.Errorf("top 2 of 5: %v in %v floats", move, floats)
	}
	move = []float32{127, -1.4, 0.4, 63.6}
	if floats := EightBits(move); floats != 2 || !slices.Equal(move, []float32{127, -1, 0, 64}) {
		t.Errorf("8 bits: %v in %v floats", move, floats)
	}
	if zero := []float32{0, 0}; EightBits(zero) != 1.5 || zero[0] != 0 {
		t.Errorf("8 bits of nothing: %v", zero)
	}
}

// TestBatches checks that the samples of a minibatch differ, and that all are in the client's
// share.
func TestBatches(t *testing.T) {
	p := bowls(1)
	p.Shares = [][]int{{3, 5, 7, 9}}
	r := New(p, Method{Asked: 1, Steps: 1, Batch: 3, Eta: 0.1}, []float32{0}, 1)
	for range 20 {
		got := slices.Clone(r.pick(0))
		slices.Sort(got)
		if len(slices.Compact(got)) != 3 || got[0] < 3 || got[2] > 9 {
			t.Fatalf("minibatch %v", got)
		}
	}
	if all := r.pick(0); len(all) != 3 {
		t.Errorf("%v", all)
	}
}
