package client

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/mathx/surrogate"
	"github.com/zofl/zofl/wire"
)

// smallFZooS is the preset for few parameters in a box.
func smallFZooS(t testing.TB, d int, fields string) *wire.Plan {
	p := densePlan(t, "fzoos", d, strings.Fields("features=400 window=60 steps=4 candidates=40 active=3 around=4 members=3 target=3 quorum=3 "+fields)...)
	p.Boxes = []wire.Box{{Low: -2, High: 2}}
	p.Segments = []wire.Segment{{Name: "x", Len: uint64(d), Fill: wire.UniformFill, Scale: 2}}
	return p
}

// three are devices with unlike minima, and where that of their mean is.
func three(d int) (objectives []Objective, best []float32) {
	curve, pull := make([]float64, d), make([]float64, d)
	for i := range 3 {
		s := newSlopes(d, i, 0.5)
		s.low, s.high = -2, 2
		for j, a := range s.curve {
			curve[j] += a
			pull[j] += a * s.center[j]
		}
		objectives = append(objectives, s)
	}
	for j := range curve {
		best = append(best, float32(pull[j]/curve[j]))
	}
	return objectives, best
}

// mean is the mean loss of devices at x.
func meanLoss(objectives []Objective, x []float32) float64 {
	sum := 0.0
	for _, o := range objectives {
		sum += o.(*slopes).value(x)
	}
	return sum / float64(len(objectives))
}

// rounds it takes a run to come within gap of the minimum, and the queries of a device.
func roundsTo(t *testing.T, p *wire.Plan, gap float64, most int) (rounds, queries int) {
	t.Helper()
	objectives, best := three(int(p.Dim))
	least := meanLoss(objectives, best)
	r := newRig(t, p, objectives...)
	for meanLoss(objectives, r.params())-least > gap {
		if rounds++; rounds > most {
			t.Fatalf("%s: still %.4g above the minimum after %d rounds", p.Preset, meanLoss(objectives, r.params())-least, most)
		}
		for range p.Phases() {
			r.round()
		}
	}
	for _, o := range objectives {
		if s := o.(*slopes); s.outside > 0 {
			t.Errorf("%d parameters of queries were outside of the box", s.outside)
		}
	}
	return rounds, objectives[0].(*slopes).queries
}

// FZooS comes to the minimum of what devices disagree on, with fewer queries than finite
// differences that step by the same Adam.
func TestSurrogateBeatsDifferences(t *testing.T) {
	const d, gap = 12, 0.02
	_, queries := roundsTo(t, smallFZooS(t, d, "steps=10 window=100 features=300"), gap, 40)
	adam := densePlan(t, "fedzo-dense", d, strings.Fields("steps=10 perturbations=20 batch=0"+adamRule+" beta2=0.999 step=0.01")...)
	adam.Boxes = []wire.Box{{Low: -2, High: 2}}
	adam.Segments = smallFZooS(t, d, "").Segments
	_, baseline := roundsTo(t, adam, gap, 200)
	t.Logf("to %v above the minimum: %d queries of a device, %d with differences", gap, queries, baseline)
	if 2*queries > baseline {
		t.Errorf("%d queries of a device, want less than half of the %d of finite differences", queries, baseline)
	}
}

// Every variant of the correction, kernel, window and rule learns.
func TestSurrogateVariants(t *testing.T) {
	for _, fields := range []string{
		"correction=one", "correction=zero", "correction=theory heterogeneity=5", "correction_at=round",
		"kernel=matern", "window_of=nearest window=30", "rule=sgd beta=0 beta2=0 epsilon=0 step=0.005",
		"rule=momentum beta=0.5 beta2=0 epsilon=0 step=0.005", "prox=0.1 weight_decay=0.01", "active=0 around=10",
	} {
		t.Run(fields, func(t *testing.T) {
			objectives, _ := three(8)
			r := newRig(t, smallFZooS(t, 8, fields), objectives...)
			before := meanLoss(objectives, r.params())
			for range 6 {
				r.round()
			}
			if after := meanLoss(objectives, r.params()); !(after < 0.95*before) {
				t.Errorf("F is %v after 3 rounds, was %v", after, before)
			}
		})
	}
}

// The part of the correction is what the plan says.
func TestGamma(t *testing.T) {
	const d = 4
	for _, tt := range []struct {
		fields string
		want   []float64 // at steps 1, 2, 4
	}{
		{"correction=inverse", []float64{1, 0.5, 0.25}},
		{"correction=one", []float64{1, 1, 1}},
	} {
		e, v := gammaAt(t, tt.fields)
		for i, step := range []int{1, 2, 4} {
			if got := e.gamma(step, v); got != tt.want[i] {
				t.Errorf("%s: step %d: got %v, want %v", tt.fields, step, got, tt.want[i])
			}
		}
	}
	e, v := gammaAt(t, "correction=theory heterogeneity=3 length_scale=0.5 noise=0.01")
	points, kappa, omega := 2.0, 4.0, d+2*3*math.Log(10)
	iota := (d*0.25 + d*1.0) / 2
	slope := -math.Exp(-2*iota) * 2
	unknown := omega*kappa - 4*omega*iota*slope*slope/(d+0.01*d/points)
	want := 3 / (3 + 2*(unknown+3.0/400))
	if got := e.gamma(7, v); math.Abs(got-want) > 1e-7 {
		t.Errorf("theory: got %v, want %v", got, want)
	}
	if got := e.gamma(1, make([]float64, d)); !(got > 0 && got < 1) {
		t.Errorf("theory among the points: got %v, want it in (0, 1)", got)
	}
}

// gammaAt returns an estimation whose trajectory has two points, at 0.5 and 1 in all
// coordinates from v.
func gammaAt(t *testing.T, fields string) (*estimation, []float64) {
	t.Helper()
	r := newRig(t, smallFZooS(t, 4, fields), newSlopes(4, 0, 0))
	c := r.clients[0]
	e := c.estimation(&task{n: 2, phase: 1}, r.plan)
	v := []float64{0, 0, 0, 0}
	c.est.dense.trajectory.process.Add([]float64{0.5, 0.5, 0.5, 0.5}, 1)
	c.est.dense.trajectory.process.Add([]float64{1, 1, 1, 1}, 2)
	return e, v
}

// A diary is an objective that writes down where it was asked.
type diary struct {
	*slopes
	x       [][]float32
	batches []Batch
}

func (o *diary) Loss(ctx context.Context, x []float32, b Batch) (float64, error) {
	o.x, o.batches = append(o.x, slices.Clone(x)), append(o.batches, b)
	return o.slopes.Loss(ctx, x, b)
}

// Active queries are the candidates whose gradient is least certain, most uncertain
// first, inside the box and within the radius.
func TestActiveQueries(t *testing.T) {
	const d = 6
	p := smallFZooS(t, d, "radius=0.3 active=7 candidates=90 around=5")
	o := &diary{slopes: newSlopes(d, 0, 1)}
	r := newRig(t, p, o)
	for range 4 { // records of two rounds
		r.round()
	}
	known := surrogate.New(surrogate.Config{Dim: d, Window: int(p.Window), LengthScale: 1, Noise: float64(p.Noise)})
	boxes := frameOf(p)
	u := make([]float64, d)
	learn := func(x []float32) {
		boxes.coordinates(u, x)
		known.Add(u, o.value(x))
	}
	edges := 0
	for at := 0; at < len(o.x); {
		learn(o.x[at])
		count, center, b := int(p.Active), slices.Clone(u), o.batches[at]
		if (b.N-2)%2 == 1 {
			count = int(p.Around)
		}
		want := mostUncertain(known, center, p, b)
		for i := range count {
			at++
			if boxes.coordinates(u, o.x[at]); o.batches[at] != b || distanceOf(u, want[i]) > 1e-6 {
				t.Fatalf("record %d, step %d, active query %d: got %v of %v, want %v of %v", b.N, b.Step, i, u, o.batches[at], want[i], b)
			}
			for j, v := range u {
				if math.Abs(v-center[j]) > 0.3+1e-6 || v < 0 || v > 1 {
					t.Fatalf("coordinate %v around %v", v, center[j])
				}
				if v == 0 || v == 1 {
					edges++
				}
			}
		}
		for i := range count {
			learn(o.x[at-count+1+i])
		}
		at++
	}
	if edges == 0 {
		t.Error("no query was at the edge of the box: nothing was clipped")
	}
	if want := 2 * (4*8 + 6); len(o.x) != want {
		t.Errorf("%d queries, want %d", len(o.x), want)
	}
}

// mostUncertain returns all candidates around a point, by falling uncertainty.
func mostUncertain(known *surrogate.Process, center []float64, p *wire.Plan, b Batch) [][]float64 {
	random := rand.New(rand.NewPCG(b.Seed, candidateStream))
	type candidate struct {
		u []float64
		v float64
	}
	var all []candidate
	for range p.Candidates {
		u := make([]float64, len(center))
		for j := range u {
			u[j] = min(max(center[j]+float64(p.Radius)*(2*random.Float64()-1), 0), 1)
		}
		v := []float64{0}
		known.Uncertainty(v, [][]float64{u})
		all = append(all, candidate{u, v[0]})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.v, a.v) })
	var sorted [][]float64
	for _, c := range all {
		sorted = append(sorted, c.u)
	}
	return sorted
}

func distanceOf(a, b []float64) float64 {
	far := 0.0
	for i := range a {
		far = max(far, math.Abs(a[i]-b[i]))
	}
	return far
}

// A twin knows what a device does, from where that was asked.
type twin struct {
	o              *diary
	at             int // what it has learned of the diary
	boxes          frame
	known          *surrogate.Process
	features       *surrogate.Features
	fit            *surrogate.Fit
	weights        []float64 // w - w_i
	first, u, g, c []float64
}

func newTwin(c *Client, p *wire.Plan, o *diary) *twin {
	d, v := int(p.Dim), make([]float64, 4*p.Dim)
	rows, b := c.replica.Features()
	features := surrogate.NewFeatures(d, rows, b, float64(p.LengthScale))
	return &twin{
		o: o, boxes: frameOf(p), features: features,
		known: surrogate.New(surrogate.Config{Dim: d, Window: int(p.Window), LengthScale: 1, Noise: float64(p.Noise)}),
		fit:   surrogate.NewFit(features, int(p.Window), float64(p.Noise)), weights: make([]float64, p.Features),
		first: v[:d], u: v[d : 2*d], g: v[2*d : 3*d], c: v[3*d:],
	}
}

// learn adds the queries of the next local step, and leaves in u where it began.
func (w *twin) learn() {
	start := w.at
	for ; w.at < len(w.o.x) && w.o.batches[w.at] == w.o.batches[start]; w.at++ {
		w.boxes.coordinates(w.u, w.o.x[w.at])
		w.known.Add(w.u, w.o.value(w.o.x[w.at]))
		w.fit.Add(w.u, w.o.value(w.o.x[w.at]))
	}
	w.boxes.coordinates(w.u, w.o.x[start])
}

// step moves u along a local step of SGD, whose correction is taken at a point.
func (w *twin) step(eta, gamma float64, at []float64) {
	w.known.Gradient(w.g, w.u)
	w.features.Gradient(w.c, at, w.weights)
	for i := range w.u {
		w.u[i] = min(max(w.u[i]-eta*(w.g[i]+gamma*w.c[i]), 0), 1)
	}
}

// Each local step is along the gradient of the posterior mean and gamma times what all
// say less what the device said; and what it says is (3) of its points.
func TestCorrectedSteps(t *testing.T) {
	for _, tt := range []struct {
		fields string
		gamma  func(step int) float64
		round  bool
	}{
		{"correction=inverse", func(step int) float64 { return 1 / float64(step) }, false},
		{"correction=one correction_at=round", func(int) float64 { return 1 }, true},
		{"correction=zero", func(int) float64 { return 0 }, false},
	} {
		t.Run(tt.fields, func(t *testing.T) {
			p := smallFZooS(t, 6, "rule=sgd beta=0 beta2=0 epsilon=0 step=0.002 "+tt.fields)
			o := &diary{slopes: newSlopes(6, 0, 1)}
			r := newRig(t, p, o, newSlopes(6, 1, 1))
			w, own := newTwin(r.clients[0], p, o), make([]float32, p.Features)
			for range 2 { // rounds
				for j, v := range r.clients[0].replica.Weights() {
					w.weights[j] = float64(v) - float64(own[j])
				}
				w.boxes.coordinates(w.first, r.params())
				x := r.round()[0]
				for step := 1; w.at < len(o.x); step++ {
					w.learn()
					at := w.u
					if tt.round {
						at = w.first
					}
					w.step(0.002, tt.gamma(step), at)
					next := x
					if w.at < len(o.x) {
						next = o.x[w.at]
					}
					if w.boxes.coordinates(w.c, next); distanceOf(w.c, w.u) > 1e-6 {
						t.Fatalf("step %d goes to %v, want %v", step, w.c, w.u)
					}
				}
				own = r.round()[0]
				w.learn()
				w.fit.Weights(w.weights)
				near(t, "w_i", own, w.weights)
			}
		})
	}
}

// streamed is an objective that reads its vector in two pieces.
type streamed struct{ *slopes }

func (o streamed) LossAt(ctx context.Context, x *Point, b Batch) (float64, error) {
	whole := make([]float32, x.Dim())
	if err := errors.Join(x.Read(whole[:3], 0), x.Read(whole[3:], 3)); err != nil {
		return 0, err
	}
	return o.Loss(ctx, whole, b)
}

// batched is one that takes all points at once.
type batched struct {
	*slopes
	calls []int
}

func (o *batched) LossesAt(ctx context.Context, x *Points, b Batch, losses []float64) error {
	o.calls = append(o.calls, x.Len())
	whole := make([][]float32, x.Len())
	for i := range whole {
		whole[i] = make([]float32, x.Dim()-1)
	}
	last := make([][]float32, x.Len())
	for i := range last {
		last[i] = make([]float32, 1)
	}
	if err := errors.Join(x.Read(whole, 0), x.Read(last, x.Dim()-1)); err != nil {
		return err
	}
	for i := range whole {
		losses[i], _ = o.Loss(ctx, append(whole[i], last[i]...), b)
	}
	return nil
}

// A flat, a streaming and a batched objective are asked for the same, and send the same;
// the active queries of a step are one batch.
func TestSurrogateObjectives(t *testing.T) {
	const d = 7
	many := &batched{slopes: newSlopes(d, 0, 1)}
	r := newRig(t, smallFZooS(t, d, ""), newSlopes(d, 0, 1), streamed{newSlopes(d, 0, 1)}, many)
	for _, c := range r.clients {
		c.cfg.ID = "same" // and with it minibatches and candidates
	}
	for range 4 {
		sent := r.round()
		for i, v := range sent {
			if !slices.Equal(v, sent[0]) {
				t.Fatalf("objective %d sent\n%v, the flat one\n%v", i, v, sent[0])
			}
		}
	}
	if want := []int{1, 3, 1, 3, 1, 3, 1, 3, 1, 4}; !slices.Equal(many.calls[:len(want)], want) {
		t.Errorf("calls of %v points, want %v", many.calls, want)
	}
	for i, c := range r.clients {
		if got, want := c.est.queries, uint64(2*(4*4+5)); got != want {
			t.Errorf("objective %d: %d queries are counted, want %d", i, got, want)
		}
	}
}

// A loss that is not finite costs the record's contribution; what was learned before it
// stays, and is asked for again.
func TestSurrogateNaN(t *testing.T) {
	for _, kind := range []string{"flat", "batched"} {
		t.Run(kind, func(t *testing.T) {
			o := newSlopes(5, 0, 1)
			o.mood = func(query int) float64 {
				if query == 7 {
					return math.NaN()
				}
				return 0
			}
			var objective Objective = o
			if kind == "batched" {
				objective = &batched{slopes: o}
			}
			r := newRig(t, smallFZooS(t, 5, ""), objective)
			c := r.clients[0]
			_, _, err := r.work(c)
			if !errors.Is(err, errNotFinite) || !strings.Contains(err.Error(), "NaN at step 1, query 2") {
				t.Fatalf("got %v, want a NaN at step 1, query 2", err)
			}
			if got := c.est.dense.trajectory.process.Len(); got != 6 {
				t.Errorf("%d points, want the 6 before", got)
			}
			for range 4 {
				r.round()
			}
			if got, want := c.est.dense.trajectory.process.Len(), 6+2*21; got != want {
				t.Errorf("%d points, want %d", got, want)
			}
		})
	}
}

// Once its window is full, a round allocates next to nothing.
func TestSurrogateAllocations(t *testing.T) {
	const d, most = 500, 24 << 10 // bytes: sources of random numbers, views for the app
	for _, p := range []*wire.Plan{
		smallFZooS(t, d, "window=20"),
		densePlan(t, "fedzo-dense", d, strings.Fields(baseDense+adamRule+" control=scaffold-2")...),
	} {
		r := newRig(t, p, newSlopes(d, 0, 1))
		for range 4 {
			r.round()
		}
		for range p.Phases() {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			v, _, err := r.work(r.clients[0])
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if got := after.TotalAlloc - before.TotalAlloc - uint64(4*len(v)); got > most {
				t.Errorf("%s: %d bytes allocated in a record, want at most %d", p.Preset, got, most)
			}
			r.commit(v)
		}
	}
}

// Work ends soon after its round does, and goes on in the next.
func TestSurrogateCancelled(t *testing.T) {
	o := newSlopes(5, 0, 1)
	r := newRig(t, smallFZooS(t, 5, ""), o)
	c, reason := r.clients[0], errors.New("the round is over")
	for _, query := range []int{1, 2, 6} {
		ctx, cancel := context.WithCancelCause(t.Context())
		o.queries, o.mood = 0, func(q int) float64 {
			if q == query {
				cancel(reason)
			}
			return 0
		}
		e := c.estimation(&task{n: 2, phase: 1, eta: 0.01}, r.plan)
		if err := e.run(ctx); !errors.Is(err, reason) {
			t.Errorf("query %d: got %v, want %v", query, err, reason)
		}
		if !c.calls.idle(t.Context(), time.Minute) { // the job may have been left behind in the loss
			t.Fatal("the job did not end")
		}
		if o.queries != query {
			t.Errorf("%d queries, want none after query %d", o.queries, query)
		}
	}
	o.mood = nil
	r.round()
}
