package ideas

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/reference"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A bowl is the loss sum_i h[i] (x[i] - 1)^2 / 2 in two layers, the same for every sample. The
// accuracy of a bowl is the share of the elements of x that are near 1.
type bowl struct {
	models.Differentiable
	h []float64
}

func (b *bowl) Dim() int { return len(b.h) }
func (b *bowl) Len() int { return 100 }

func (b *bowl) Segments() []plan.Segment {
	n := uint64(len(b.h))
	return []plan.Segment{{Name: "one", Len: n / 4}, {Name: "two", Len: n - n/4}}
}

func (b *bowl) Gradient(grad, params []float32, batch []int) float64 {
	for i, x := range params {
		grad[i] += float32(b.h[i] * (float64(x) - 1))
	}
	return 0
}

func (b *bowl) Sum(params []float32, batch []int) (loss float64, right int) {
	near := 0
	for i, x := range params {
		e := float64(x) - 1
		loss += b.h[i] * e * e / 2 * float64(len(batch))
		if math.Abs(e) < 0.3 {
			near++
		}
	}
	return loss, len(batch) * near / len(b.h)
}

// even returns a bowl whose Hessian is diagonal: 1 in the first layer, 4 in the second.
func even(d int) *bowl {
	b := &bowl{h: make([]float64, d)}
	for i := range b.h {
		if b.h[i] = 1; i >= d/4 {
			b.h[i] = 4
		}
	}
	return b
}

func config(a Arm) *Config {
	b := even(512)
	return &Config{Arm: a, Train: b, Test: b, Asked: 4, Seed: 1, Step: 0.3, Budget: 11 * 60, Times: 5,
		Shares: [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}},
		Price:  func(s Spent) float64 { return float64(s.Queries) },
		Bytes:  func(scalars int) float64 { return float64(100 + scalars) }}
}

// arms returns an arm for every idea.
func arms() map[string]Arm {
	return map[string]Arm{
		"recipe": {}, "p": {P: []int{5, 20}}, "b": {B: []int{1, 2}}, "local": {K: 2, Local: 0.03},
		"orthogonal": {Orthogonal: true}, "antithetic": {Antithetic: true},
		"last": {Layers: Layers{Last: 0.5}}, "layers": {Layers: Layers{Power: 1}},
		"rounds":  {Shape: Shape{Of: Rounds, Power: -0.5}},
		"halves":  {Shape: Shape{Of: Halves, Power: 0.5}},
		"exact":   {Shape: Shape{Of: Exact, Power: 0.5}},
		"hessian": {Shape: Shape{Of: Hessian, Power: -0.5}},
		"moves":   {Shape: Shape{Of: Rounds, Power: -0.5, Moves: true}},
		"floor":   {Shape: Shape{Of: Exact, Power: -0.5, Least: 10}},
		"control": {Memory: Control}, "long": {Memory: LongControl}, "kalman": {Memory: Kalman},
		"squares": {Memory: Squares}, "to-zero": {Finish: Finish{Fall: ToZero}},
		"auto": {Finish: Finish{Fall: Auto}}, "mean": {Finish: Finish{Average: 0.1}},
		"groups":  {Groups: 2},
		"decomfl": {Other: DeComFL}, "feedsign": {Other: FeedSign}, "one-bit": {Other: OneBit},
		"mask": {Mask: 0.5}, "apart": {Apart: 3}, "warm": {Warm: 10},
	}
}

// TestTrain checks that a training with each idea lowers the loss within the budget.
func TestTrain(t *testing.T) {
	for name, a := range arms() {
		cfg := config(a)
		if a.Other.shares() {
			cfg.Step = map[Other]float64{DeComFL: 0.002, FeedSign: 0.05}[a.Other]
		}
		points, err := Train(t.Context(), *cfg)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := softmax.Evaluate(cfg.Test, make([]float32, 512), 1)
		last := points[len(points)-1]
		if !(last.Loss < first*0.9) {
			t.Errorf("%s: loss %v, at first %v", name, last.Loss, first)
		}
		if len(points) != 5 || last.Queries < 660 || last.Queries > 660+42 {
			t.Errorf("%s: %d points, %d queries, want 5 and 660", name, len(points), last.Queries)
		}
	}
}

// TestEnds checks that a run ends when its numbers overflow, and that a stopped run returns an
// error.
func TestEnds(t *testing.T) {
	cfg := config(Arm{})
	cfg.Step = 1e8
	points, err := Train(t.Context(), *cfg)
	if err != nil || len(points) != 1 || points[0].Rounds != 1 {
		t.Errorf("%+v, %v, want one point after one round", points, err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := Train(ctx, *config(Arm{})); !errors.Is(err, stop) {
		t.Errorf("got %v, want stop", err)
	}
}

// TestRecipe compares two rounds with the rule in float64, on the directions written out.
func TestRecipe(t *testing.T) {
	cfg := config(Arm{})
	a, d := newTrial(cfg), 512
	rule := &reference.Normalized{Beta1: 0.9, Beta2: 0.99, Decay: 0.03}
	x := make([]float64, d)
	for round := range 2 {
		g, u, z := make([]float64, d), 0.0, make([]float32, d)
		f := newFrame(a.keys.Key(uint64(round+1)), &cfg.Arm, 10, 4, d)
		for device := range 4 {
			c := make([]float32, 10)
			grad := make([]float32, d)
			cfg.Train.Gradient(grad, a.x, nil)
			for p := range c {
				prng.Fill(z, f.direction(device, 0, p), 0)
				for i := range z {
					c[p] += grad[i] * z[i]
				}
			}
			plan.Int4.Round(c)
			for p := range c {
				prng.Fill(z, f.direction(device, 0, p), 0)
				u += float64(c[p]) * float64(c[p]) / 40
				for i := range z {
					g[i] += float64(c[p]) * float64(z[i]) / 40
				}
			}
		}
		step := 0.3 * Cosine.share(float64(round*11)/cfg.Budget, round)
		a.round()
		x = rule.Step(x, g, u, step, nil)
		for i := range x {
			if e := math.Abs(x[i] - float64(a.x[i])); e > 1e-5 {
				t.Fatalf("round %d: x[%d] = %v, want %v", round+1, i, a.x[i], x[i])
			}
		}
	}
}

// full returns the directions of a frame, each computed as a sum with one direction.
func full(f *frame) (list [][]float32) {
	for device := range f.devices {
		for step := range f.steps {
			for p := range f.p {
				c := make([]float32, f.p)
				c[p] = 1
				list = append(list, sum(f.d, 1, []summand{{f, device, step, c}}))
			}
		}
	}
	return list
}

// TestFrame checks that slopes and sums use the same directions, and that orthogonal frames have
// orthogonal directions.
func TestFrame(t *testing.T) {
	g := make([]float32, 512)
	for i := range g {
		g[i] = float32(i%7) - 3
	}
	for _, a := range []Arm{{}, {Orthogonal: true}, {Orthogonal: true, K: 2}} {
		f := newFrame(7, &a, 5, 4, len(g))
		all := full(f)
		for n, z := range all {
			want, most := 0.0, 0.0
			for i, v := range z {
				if v != 1 && v != -1 {
					t.Fatalf("%v: an element is %v", a, v)
				}
				want += float64(v * g[i])
			}
			step := n / f.p
			got := f.project(g, step/f.steps, step%f.steps)[n%f.p]
			if math.Abs(float64(got)-want) > 1e-3 {
				t.Errorf("%+v: slope %d is %v, want %v", a, n, got, want)
			}
			for _, y := range all[:n] {
				inner := 0.0
				for i, v := range y {
					inner += float64(v * z[i])
				}
				most = max(most, math.Abs(inner))
			}
			if a.Orthogonal && most != 0 || most == 512 {
				t.Errorf("%+v: direction %d has a product of %v with another", a, n, most)
			}
		}
	}
}

// listOf returns the exact scalars of gradient g in a round.
func listOf(g []float32, key prng.Key, p, devices int) (list []summand) {
	f := newFrame(key, &Arm{Orthogonal: true}, p, devices, len(g))
	for i := range devices {
		list = append(list, summand{f, i, 0, f.project(g, i, 0)})
	}
	return list
}

func distance(a, b []float32) (most float64) {
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
	}
	return most
}

// TestMemory checks the estimates of each memory for the scalars of a constant gradient.
func TestMemory(t *testing.T) {
	g := make([]float32, 512)
	for i := range g {
		g[i] = float32(i%5) - 1.5
	}
	a := newTrial(config(Arm{Memory: Control}))
	a.n = 2
	for i := range a.m {
		a.m[i] = g[i] / 2 // what is predicted is half of it
	}
	if got := a.controlled(listOf(g, 1, 5, 4)); distance(got, g) > 1e-4 {
		t.Errorf("control: off by %v", distance(got, g))
	}
	// After two rounds, the estimate of the Kalman filter must predict the scalars of the last
	// round.
	k := newTrial(config(Arm{Memory: Kalman}))
	for n := range 2 {
		k.n++
		k.kalman(listOf(g, prng.Key(n), 5, 4))
	}
	for i, s := range predictions(listOf(g, 1, 5, 4), k.m) {
		if e := distance(s.c, listOf(g, 1, 5, 4)[i].c); e > 1e-2 {
			t.Errorf("kalman: a scalar is off by %v", e)
		}
	}
	if want := math.Pow(1-20./512, 2); math.Abs(k.remembers.power-want) > 1e-9 {
		t.Errorf("kalman: what is missing is %v, want %v", k.remembers.power, want)
	}
	// From scalars along all directions of the space, least squares must return the whole gradient.
	s := newTrial(config(Arm{Memory: Squares}))
	small := &Config{Arm: s.Arm, Train: even(64), Shares: s.Shares}
	s = newTrial(small)
	if got := s.leastSquares(listOf(g[:64], 1, 16, 4)); distance(got, g[:64]) > 1e-4 {
		t.Errorf("least squares: off by %v", distance(got, g[:64]))
	}
}

// TestDiagonal checks that D is a power of v with mean 1, for exact gradients and for estimates
// from halves of the directions.
func TestDiagonal(t *testing.T) {
	g := []float32{1, 1, 2, 2}
	d := diagonal{}
	d.see(g)
	d.learn(&Arm{Shape: Shape{Of: Exact, Power: 0.5}}, nil, g)
	for i, want := range []float64{2. / 3, 2. / 3, 4. / 3, 4. / 3} {
		if math.Abs(d.at(i)-want) > 1e-6 {
			t.Errorf("exact: D[%d] = %v, want %v", i, d.at(i), want)
		}
	}
	if got := d.shaped(g)[3]; math.Abs(float64(got)-2*math.Sqrt(4./3)) > 1e-6 {
		t.Errorf("shaped: %v", got)
	}
	// Each half has two of four directions, so its estimate is the projection of g onto their plane.
	list := listOf(g, 3, 2, 2)
	d = diagonal{}
	d.learn(&Arm{Shape: Shape{Of: Halves, Power: -0.5}}, list, g)
	one, two := sum(4, 0.5, list[:1]), sum(4, 0.5, list[1:])
	for i, v := range d.v {
		if want := 0.02 * float64(one[i]*two[i]); math.Abs(v-want) > 1e-6 {
			t.Errorf("halves: v[%d] = %v, want %v", i, v, want)
		}
	}
	moves := diagonal{root: []float32{1, 2, 1, 1}, moves: true}
	if got := moves.shaped(g); distance(got, g) != 0 || moves.moved([]float32{1, 1, 1, 1})[1] != 4 {
		t.Errorf("a D of moves shapes directions: %v", got)
	}
}

// TestLayers checks that the factors are |g|^2 / trace h of a layer, to a power, with mean 1.
func TestLayers(t *testing.T) {
	b := even(8)
	tr := newTrial(&Config{Train: b})
	h := tr.hessian(tr.rng, []int{0})
	for i, v := range h {
		if math.Abs(v-b.h[i]) > 1e-2 {
			t.Errorf("h[%d] = %v, want %v", i, v, b.h[i])
		}
	}
	g := []float32{1, 1, 1, 1, 1, 1, 1, 1}
	got := layersOf(b.Segments(), g, h, 1)
	if math.Abs(float64(got[0]/got[7])-4) > 0.1 || math.Abs(float64(got[0]*2+got[7]*6)-8) > 1e-3 {
		t.Errorf("factors %v", got)
	}
	segments := []plan.Segment{{Len: 1}, {Len: 1}, {Len: 2}, {Len: 1}}
	if got := lastLayer(segments, 3); distance(got, []float32{1, 1, 3, 3, 3}) != 0 {
		t.Errorf("last layer: %v", got)
	}
	if lastLayer(segments, 0) != nil {
		t.Error("without a factor there are factors")
	}
}

func TestAt(t *testing.T) {
	list := []int{1, 2, 3}
	for part, want := range map[float64]int{0: 1, 0.34: 2, 0.99: 3, 1: 3, 1.5: 3} {
		if got := at(list, part, 9); got != want {
			t.Errorf("at %v: %d, want %d", part, got, want)
		}
	}
	if got := at(nil, 0.5, 9); got != 9 {
		t.Errorf("of nothing: %d", got)
	}
}

// TestAntithetic checks that, if x does not move, the scalars of the second round have the same
// squares as those of the first.
func TestAntithetic(t *testing.T) {
	for _, again := range []bool{false, true} {
		cfg := config(Arm{Antithetic: again})
		cfg.Step = 0
		tr := newTrial(cfg)
		tr.round()
		first := tr.root()
		tr.round()
		if same := math.Abs(tr.root()-first) < 1e-6*first; same != again {
			t.Errorf("antithetic %v: root %v, then %v", again, first, tr.root())
		}
	}
}

// TestLocal checks that a device makes its second step from the point to which its first step
// led.
func TestLocal(t *testing.T) {
	second := func(local float64) float32 {
		cfg := config(Arm{K: 2, P: []int{5}, Local: local})
		tr := newTrial(cfg)
		tr.v, tr.b2 = 1, 0
		return tr.device(newFrame(1, &cfg.Arm, 5, 4, 512), 0, 0, 2, 0.3)[1].c[0]
	}
	if second(0) == second(0.1) {
		t.Error("a local step changes nothing")
	}
}

// TestGrouped: the devices of a group share directions, and a group has the mean of their scalars.
func TestGrouped(t *testing.T) {
	got := grouped([]summand{{device: 0, c: []float32{1, 4}}, {device: 1, c: []float32{-3, 0}},
		{device: 0, c: []float32{3, 8}}}, 2)
	for i, want := range [][]float32{{2, 6}, {-3, 0}} {
		plan.Int8.Round(want)
		if len(got) != 2 || got[i].device != i || !slices.Equal(got[i].c, want) {
			t.Errorf("group %d of %+v, want %v", i, got, want)
		}
	}
}
