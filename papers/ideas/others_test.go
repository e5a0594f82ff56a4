package ideas

import (
	"math"
	"testing"

	"github.com/zofl/zofl/papers/reference"
	"github.com/zofl/zofl/prng"
)

// TestOthers compares two rounds of DeComFL and FeedSign with their rules in float64, on the
// directions written out.
func TestOthers(t *testing.T) {
	for name, o := range map[string]Other{"decomfl": DeComFL, "feedsign": FeedSign} {
		cfg := config(Arm{Other: o})
		cfg.Step = 1e-3
		tr, d := newTrial(cfg), 512
		m, x := make([]float64, d), make([]float64, d)
		for round := range 2 {
			grad, z := make([]float32, d), make([]float32, d)
			cfg.Train.Gradient(grad, tr.x, nil)
			power := math.Pow(0.9, float64(round+1))
			step := 1e-3 * Cosine.share(float64(round*11)/cfg.Budget, round) / (1 - power)
			f := newFrame(tr.keys.Key(uint64(round+1)), &Arm{}, 10, 4, d)
			for i := range m {
				m[i] *= 0.9
			}
			for p := range 10 {
				prng.Fill(z, f.direction(0, 0, p), 0)
				c := prng.Dot(grad, f.direction(0, 0, p), 0)
				if o == FeedSign {
					c = math.Copysign(1, c)
				}
				for i := range m {
					m[i] += 0.1 * c * float64(z[i]) / 10
				}
			}
			tr.round()
			for i := range x {
				x[i] -= step * m[i]
				if e := math.Abs(x[i] - float64(tr.x[i])); e > 1e-5 {
					t.Fatalf("%s, round %d: x[%d] = %v, want %v", name, round+1, i, tr.x[i], x[i])
				}
			}
		}
	}
}

// TestVote: the sign that most devices have, and 1 where as many have the other.
func TestVote(t *testing.T) {
	list := []summand{{c: []float32{1, -1, 5}}, {c: []float32{2, -9, -5}}, {c: []float32{-7, 1, 1}},
		{c: []float32{3, -1, -1}}}
	for o, want := range map[Other][]float32{FeedSign: {1, -1, 1}, DeComFL: {-0.25, -2.5, 0}} {
		if got := o.combined(list); len(got) != 1 || distance(got[0].c, want) > 1e-6 {
			t.Errorf("%d: %v, want %v", o, got, want)
		}
	}
	if got := OneBit.combined(list); len(got) != 4 {
		t.Errorf("own directions are combined: %v", got)
	}
	c := []float32{3, -1, -1, 1}
	OneBit.round(c)
	root := float32(math.Sqrt(3))
	if want := []float32{root, -root, -root, root}; distance(c, want) > 1e-6 {
		t.Errorf("one bit: %v, want %v", c, want)
	}
}

// TestMask: elements with small gradients at the start stay as they are.
func TestMask(t *testing.T) {
	cfg := config(Arm{Mask: 0.25})
	b := even(512)
	for i := range b.h {
		b.h[i] = float64(i + 1)
	}
	cfg.Train = b
	tr := newTrial(cfg)
	for i := range tr.x {
		tr.x[i] = 2
	}
	tr.round()
	for i, v := range tr.x {
		if moved := v != 2; moved != (i >= 512-128) {
			t.Fatalf("element %d is %v, at first 2", i, v)
		}
	}
}

// TestApart: the first directions see the last layer alone, and the estimate of each layer is a
// mean over its own directions.
func TestApart(t *testing.T) {
	g, d := make([]float32, 64), 64
	for i := range g {
		g[i] = float32(i%5) - 1.5
	}
	f := newFrame(3, &Arm{}, 5, 2, d)
	a := &apart{first: 2, last: make([]float32, d)}
	for i := 32; i < d; i++ {
		a.last[i] = 1
	}
	var list []summand
	want := make([]float32, d)
	for device := range 2 {
		s := summand{f, device, 0, a.project(f, g, device, 0)}
		list = append(list, s)
		z := make([]float32, d)
		for p, c := range s.c {
			prng.Fill(z, f.direction(device, 0, p), 0)
			slope := float32(0)
			for i, v := range z {
				if own := p < 2; own == (i >= 32) {
					slope += v * g[i]
					want[i] += c * v / map[bool]float32{true: 4, false: 6}[own]
				}
			}
			if math.Abs(float64(slope-c)) > 1e-4 {
				t.Errorf("slope %d is %v, want %v", p, c, slope)
			}
		}
	}
	if e := distance(a.estimate(d, list), want); e > 1e-4 {
		t.Errorf("the estimate is off by %v", e)
	}
}

// TestWarm: the first rounds are the recipe's rule on exact gradients, and cost vectors.
func TestWarm(t *testing.T) {
	cfg := config(Arm{Warm: 2})
	tr, d := newTrial(cfg), 512
	rule := &reference.Normalized{Beta1: 0.9, Beta2: 0.99, Decay: 0.03}
	x := make([]float64, d)
	for round := range 2 {
		g, grad, u := make([]float64, d), make([]float32, d), 0.0
		cfg.Train.Gradient(grad, tr.x, nil)
		for i, v := range grad {
			g[i] = float64(v)
			u += g[i] * g[i]
		}
		x = rule.Step(x, g, u, 0.3*Cosine.share(tr.used/cfg.Budget, round), nil)
		tr.round()
		for i := range x {
			if e := math.Abs(x[i] - float64(tr.x[i])); e > 1e-5 {
				t.Fatalf("round %d: x[%d] = %v, want %v", round+1, i, tr.x[i], x[i])
			}
		}
	}
	// 4 of 5 devices get and send 4 d bytes a round, and then all get them once.
	if want := 4 * 512 * (2*2*0.8 + 1); tr.spent.Queries != 6 ||
		math.Abs(tr.spent.Bytes-want) > 1e-6 {
		t.Errorf("%+v, want 6 queries and %v bytes", tr.spent, want)
	}
	if tr.round(); tr.spent.Queries != 6+11 {
		t.Errorf("%+v: want a round of 11 queries after two by gradients", tr.spent)
	}
}
