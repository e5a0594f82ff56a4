package probe

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/internal/localrule"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/surrogate"
	"github.com/zofl/zofl/plan"
)

// A diary is an objective that records its queries.
type diary struct {
	*slopes
	x       [][]float32
	batches []objective.Batch
}

func (o *diary) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	o.x, o.batches = append(o.x, slices.Clone(x)), append(o.batches, b)
	return o.slopes.Loss(ctx, x, b)
}

// Active queries are the candidates whose gradient is least certain, the least certain first,
// inside the box and within the radius.
func TestActiveQueries(t *testing.T) {
	const d = 6
	p := smallFZooS(t, d, "radius=0.3 active=7 candidates=90 around=5")
	o := &diary{slopes: newSlopes(d, 0, 1)}
	r := newRig(t, p, o)
	for range 4 { // records of two rounds
		r.round()
	}
	known := surrogate.New(surrogate.Config{Dim: d, Window: int(p.Window), LengthScale: 1,
		Noise: float64(p.Noise)})
	boxes := localrule.FrameOf(p)
	u := make([]float64, d)
	learn := func(x []float32) {
		boxes.Coordinates(u, x)
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
			if boxes.Coordinates(u, o.x[at]); o.batches[at] != b || distanceOf(u, want[i]) > 1e-6 {
				t.Fatalf("record %d, step %d, active query %d: got %v of %v, want %v of %v",
					b.N, b.Step, i, u, o.batches[at], want[i], b)
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

// mostUncertain returns all candidates around a point, the least certain first.
func mostUncertain(
	known *surrogate.Process, center []float64, p *plan.Plan, b objective.Batch,
) [][]float64 {
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

// A twin repeats a device's computations, from the device's queries.
type twin struct {
	o              *diary
	at             int // how many queries of the diary the twin has added
	boxes          localrule.Frame
	known          *surrogate.Process
	features       *surrogate.Features
	fit            *surrogate.Fit
	weights        []float64 // w - w_i
	first, u, g, c []float64
}

func newTwin(c *member, p *plan.Plan, o *diary) *twin {
	d, v := int(p.Dim), make([]float64, 4*p.Dim)
	rows, b := c.replica.Features()
	features := surrogate.NewFeatures(d, rows, b, float64(p.LengthScale))
	return &twin{
		o: o, boxes: localrule.FrameOf(p), features: features,
		known: surrogate.New(surrogate.Config{Dim: d, Window: int(p.Window), LengthScale: 1,
			Noise: float64(p.Noise)}),
		fit:     surrogate.NewFit(features, int(p.Window), float64(p.Noise)),
		weights: make([]float64, p.Features),
		first:   v[:d], u: v[d : 2*d], g: v[2*d : 3*d], c: v[3*d:],
	}
}

// learn adds the queries of the next local step, and sets u to the point where the step began.
func (w *twin) learn() {
	start := w.at
	for ; w.at < len(w.o.x) && w.o.batches[w.at] == w.o.batches[start]; w.at++ {
		w.boxes.Coordinates(w.u, w.o.x[w.at])
		w.known.Add(w.u, w.o.value(w.o.x[w.at]))
		w.fit.Add(w.u, w.o.value(w.o.x[w.at]))
	}
	w.boxes.Coordinates(w.u, w.o.x[start])
}

// step moves u by a local step of SGD. at is the point of the correction.
func (w *twin) step(eta, gamma float64, at []float64) {
	w.known.Gradient(w.g, w.u)
	w.features.Gradient(w.c, at, w.weights)
	for i := range w.u {
		w.u[i] = min(max(w.u[i]-eta*(w.g[i]+gamma*w.c[i]), 0), 1)
	}
}

// Each local step follows the gradient of the posterior mean plus gamma times the gradient of a
// difference: the fleet's surrogate minus the device's own surrogate. The device sends the fit (3)
// of its points.
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
				w.boxes.Coordinates(w.first, r.params())
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
					if w.boxes.Coordinates(w.c, next); distanceOf(w.c, w.u) > 1e-6 {
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
