package replica

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// An estimate is the mean of g z in the order of docs/replay.md, for every distribution and any
// number of workers.
func TestEstimate(t *testing.T) {
	for _, g := range readGolden(t) {
		s := scriptOf(t, g)
		if s.plan.Dim < 4096 {
			continue
		}
		r, f := New(s.cfg), newNaive(s)
		for _, b := range s.records {
			s.apply(t, r, b)
		}
		f.basis, f.rounds = r.basis, r.Rounds()
		scalars := []float32{1, -2, 0.3, 4, 5e-3, 6, -7, 8, 9, 10, 11}
		for _, count := range []int{1, len(scalars)} {
			var terms []naiveTerm
			for p := range count {
				terms = append(terms, f.term(scalars[p]/float32(count), r.N()+1, 1, p, prng.Slot(2)))
			}
			want, got := make([]float32, s.plan.Dim), make([]float32, s.plan.Dim)
			for i := range want {
				want[i], got[i] = f.sum(terms, i), 42
			}
			r.Estimate(got, r.N()+1, 1, scalars[:count], prng.Slot(2))
			if !sameBits(got, want) {
				t.Errorf("%s: the estimate of %d scalars differs from the written order", g.name, count)
			}
		}
	}
}

// Any number of workers gives the same estimate, and Advance moves along this estimate.
func TestEstimateIsAdvance(t *testing.T) {
	for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher, plan.Sphere} {
		p := basePlan()
		p.Dim, p.Distribution = workFor+99, dist
		g := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
		for workers := range 4 {
			r := New(Config{Run: p.Run, Workers: workers})
			mustApply(t, r, newChain(p.Run).plan(p))
			v, x := make([]float32, p.Dim), slices.Clone(r.Params())
			r.Estimate(v, 2, 0, g, prng.Shared)
			r.Advance(&Local{X: x}, 2, 0, g, 0.5)
			for i := range v {
				if x[i] != r.Params()[i]-float32(0.5*v[i]) {
					t.Fatalf("%v, %d workers: element %d is %v, Advance has %v", dist, workers, i, v[i], x[i])
				}
			}
		}
	}
}

// Estimate requires a vector of the whole model.
func TestEstimatePanics(t *testing.T) {
	r, _ := begun(t, smallPlan(), 0)
	defer func() {
		if got := recover(); got != lengthMismatch {
			t.Errorf("got %v, want %q", got, lengthMismatch)
		}
	}()
	r.Estimate(make([]float32, 9), 2, 0, []float32{1}, prng.Shared)
}

// Features depend only on the run key and the addresses of their elements, and have the right
// distribution.
func TestFeatures(t *testing.T) {
	const features, dim = 2000, 50
	p := planOf(t, `{"dim":50,"transport":"dense","dense_keep":4,"estimator":"surrogate",`+
		`"features":2000,"length_scale":1,"noise":1e-6,"window":9,"active":1,"candidates":2,`+
		`"radius":0.1}`)
	s := newScript(p)
	s.round(1)
	v, b := after(t, s, 1).Features()
	again, phases := after(t, s, 3).Features()
	if !slices.Equal(v, again) || !slices.Equal(b, phases) || len(v) != features*dim ||
		len(b) != features {
		t.Fatalf("%d and %d numbers, or others after two records", len(v), len(b))
	}
	z := prng.Direction{Key: prng.RecordKey(p.RunKey, 0), Domain: 4, Dist: prng.Normal}
	want, u := make([]float32, features*dim), make([]float32, features)
	prng.Fill(want, z, 0)
	z.Perturbation = 1
	prng.Uniform(u, z, 0)
	if !slices.Equal(v, want) {
		t.Error("v are not the normals of domain 4")
	}
	var sum, squares float64
	for i, phase := range b {
		if phase != math.Pi*(1+float64(u[i])) || phase < 0 || phase > 2*math.Pi {
			t.Fatalf("phase %d is %v of uniform %v", i, phase, u[i])
		}
		sum += math.Cos(phase)
		squares += phase
	}
	if math.Abs(sum/features) > 0.1 || math.Abs(squares/features-math.Pi) > 0.2 {
		t.Errorf("phases: mean %v, mean cosine %v, want about pi and 0", squares/features, sum/features)
	}
	if v, b := after(t, hostileScript(t, "dense", 0), 1).Features(); len(v) != 0 || len(b) != 0 {
		t.Errorf("%d and %d numbers without a surrogate", len(v), len(b))
	}
}

// boxedPlan returns a plan with five segments, each with its own box.
func boxedPlan(t testing.TB) *plan.Plan {
	return planOf(t, `{"dim":9000,"segments":[{"name":"a","len":1},{"name":"b","len":4094,`+
		`"fill":"normal","scale":1,"mu_scale":2},`+
		`{"name":"c","len":2},{"name":"d","len":4200},{"name":"e","len":703,"mu_scale":4}],`+
		`"boxes":[{"low":-1,"high":1},{"low":-0.5,"high":0.5},{"low":0,"high":8},{"low":1,`+
		`"high":9},{"low":-2,"high":-1}],`+
		`"transport":"dense","dense_keep":4}`)
}

// Clip limits each element to the element's box, for any range of elements.
func TestClip(t *testing.T) {
	p := boxedPlan(t)
	r, f := New(Config{Run: p.Run}), &naive{p: p}
	mustApply(t, r, newChain(p.Run).plan(p))
	random, x := lcg(4), make([]float32, p.Dim)
	for i := range x {
		x[i] = random.float()
	}
	x[4000], x[4097] = float32(math.NaN()), float32(math.Inf(1))
	for _, off := range []int{0, 1, 2, 4094, 4095, 4096, 4097, 8297, 8999, 9000} {
		for _, n := range []int{0, 1, 3, 4096, 9000} {
			n = min(n, len(x)-off)
			got, want := slices.Clone(x), slices.Clone(x)
			r.Clip(got[off:off+n], off)
			for i := off; i < off+n; i++ {
				want[i] = f.boxed(i, x[i])
			}
			if !sameBits(got, want) {
				t.Errorf("%d elements at %d are outside their boxes, or others changed", n, off)
			}
		}
	}
	free, _ := begun(t, smallPlan(), 0)
	v := []float32{-1e30, 1e30}
	if free.Clip(v, 3); v[0] != -1e30 || v[1] != 1e30 {
		t.Errorf("without boxes got %v", v)
	}
}

// A replica clips seeded parameters to their boxes, and refuses given parameters outside a box.
func TestBoxedStart(t *testing.T) {
	p := boxedPlan(t)
	r := New(Config{Run: p.Run})
	mustApply(t, r, newChain(p.Run).plan(p))
	clipped := 0
	for i, v := range r.Params() {
		box, _ := p.BoxOf(min(i, 1) + min(max(i-4094, 0), 1) + min(max(i-4096, 0), 1) +
			min(max(i-8296, 0), 1))
		if v < box.Low || v > box.High {
			t.Fatalf("parameter %d is %v, outside %v", i, v, box)
		}
		if i > 0 && i < 4095 && (v == box.Low || v == box.High) {
			clipped++
		}
	}
	if clipped < 1000 || clipped > 3000 { // 62 % of normals are beyond half a sigma
		t.Errorf("%d of 4094 normals are clipped, want 1000 to 3000", clipped)
	}
	p.Segments, p.Boxes, p.Dim = nil, []plan.Box{{Low: -1, High: 1}}, 3
	for name, tt := range map[string]struct {
		given []float32
		says  string
	}{
		"inside":    {[]float32{-1, 0, 1}, ""},
		"below":     {[]float32{0, -1.5, 1}, "parameter 1 is -1.5, its box is [-1, 1]"},
		"above":     {[]float32{0, 0, 2}, "parameter 2 is 2"},
		"no number": {[]float32{float32(math.NaN()), 0, 0}, "parameter 0 is NaN"},
	} {
		p.Initial, p.InitialDigest = plan.Given, InitialDigest(tt.given)
		err := New(Config{Run: p.Run, Initial: tt.given}).Apply(newChain(p.Run).plan(p))
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", name, err, tt.says)
		}
	}
}

// Perturb returns points inside the boxes even if x is at or beyond a bound; mu is in the
// coordinates of the boxes.
func TestBoxedPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher, plan.Sphere} {
		p := boxedPlan(t)
		p.Distribution = dist
		for workers := 1; workers <= 2; workers++ {
			s := newScript(p)
			s.cfg.Workers = workers
			r, f := New(s.cfg), newNaive(s)
			mustApply(t, r, s.records[0])
			for i := range f.x {
				f.x[i] = s.random.float()
			}
			const mu = 0.25
			z := []Direction{r.Direction(2, 0, 0, 0), r.Direction(2, 0, 1, 0)}
			plus, minus, same := f.probe(mu, 2, 0, 1, 0), f.probe(-mu, 2, 0, 1, 0), f.probe(0, 2, 0, 1, 0)
			for _, off := range []int{0, 1, 4095, 4097} {
				n := len(f.x) - off
				one, two, three := make([]float32, n), make([]float32, n), make([]float32, n)
				r.PerturbAll([][]float32{nil, nil, one, two}, off, n,
					&Points{X: f.x, Mu: mu, Z: z, Central: true})
				if !sameBits(one, plus[off:]) || !sameBits(two, minus[off:]) {
					t.Errorf("%v, %d workers: the pair at %d differs from the written order", dist, workers, off)
				}
				r.PerturbAll([][]float32{three, nil, one}, off, n, &Points{X: f.x, Mu: mu, Z: z})
				if !sameBits(one, plus[off:]) || !sameBits(three, same[off:]) {
					t.Errorf("%v, %d workers: the forward points at %d differ from the "+
						"written order", dist, workers, off)
				}
				r.Perturb(one, f.x, off, 0, &z[1])
				if !sameBits(one, same[off:]) {
					t.Errorf("%v, %d workers: x itself at %d differs from the written order", dist, workers, off)
				}
			}
		}
	}
}
