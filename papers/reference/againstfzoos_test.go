package reference

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A walk is a reference of FZooS that uses the queries of production.
type walk struct {
	*run
	t      *testing.T
	frame  *frame
	f      *FZooS
	s      *FZooSState
	around int     // queries of a step besides the one at the iterate
	way    float64 // the longest way of any coordinate from the start
	start  []float64
}

// followSurrogate compares every local iterate, every x and every w of a run with the
// reference's.
func (r *run) followSurrogate(t *testing.T) {
	t.Helper()
	p, at := r.plan, replica.New(r.replica(1))
	w := &walk{run: r, t: t, frame: frameOf(p)}
	for _, encoded := range r.records {
		record, err := wire.DecodeRecord(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if err := at.Apply(encoded); err != nil {
			t.Fatal(err)
		}
		r.complete(t, at)
		switch record.Kind {
		case wire.KindPlan:
			w.f = fzoosOf(at, w.frame)
			w.start = w.frame.coordinates(at.Params())
			w.s = w.f.NewState(w.start)
		case wire.KindRound:
			round := contributors(p, r.slots, record.N, record.N, nil)
			schedule(p, round, record.Round.Round)
			r.check(t, round, record.Round)
			w.phase(round, record.Round.Phase, at)
		}
	}
	if w.s == nil || at.Rounds() != p.Rounds {
		t.Fatalf("%d rounds, want %d\nplan: %+v", at.Rounds(), p.Rounds, p)
	}
}

// fzoosOf returns the reference of a plan, with the features that production draws.
func fzoosOf(at *replica.Replica, frame *frame) *FZooS {
	p := at.Plan()
	l, noise := float64(p.LengthScale), float64(p.Noise)
	f := &FZooS{
		Posterior: Posterior{L: l, Noise: noise, Mean: p.Prior == 0},
		Dim:       int(p.Dim), K: int(p.Steps), Window: int(p.Window), FitsL: p.LengthFit > 0,
		Domain: frame.domain, Local: localOf(p), AtRound: p.CorrectionAt == plan.AtRound,
		Decay: float64(p.WeightDecay), Prox: float64(p.Prox), Origin: frame.origin,
		StepScale: frame.step, Travel: func(v float64) float64 { return float64(float32(v)) },
	}
	v, b := at.Features()
	f.Random = Random{B: b, L: l}
	for row := range slices.Chunk(v, int(p.Dim)) {
		f.V = append(f.V, widen(row))
	}
	switch p.Correction {
	case plan.CorrectionInverse:
		f.Gamma = Inverse
	case plan.CorrectionOne:
		f.Gamma = Always
	case plan.CorrectionTheory:
		f.Gamma = Theory(float64(p.Heterogeneity), f.Posterior, int(p.Members), int(p.Features))
	}
	return f
}

// phase makes a phase of a round and compares the results. The next phase continues from
// the means that the clients received, so that their rounding errors do not add up.
func (w *walk) phase(r *Round, phase uint8, at *replica.Replica) {
	w.t.Helper()
	first := phase == 1
	w.f.Eta = r.Eta
	sum := make([]float64, len(w.f.B))
	w.around = int(w.plan.Around)
	if first {
		sum = make([]float64, w.f.Dim)
		w.around = int(w.plan.Active)
	}
	for j, client := range r.Clients {
		if first {
			add(sum, r.weight(j), w.f.Iterate(w.s, client, r.N, w.asked))
		} else {
			add(sum, r.weight(j), w.f.Weigh(w.s, client, r.N, w.asked))
		}
	}
	if first {
		w.s.X = w.frame.coordinates(at.Params())
		off := w.same("x", r.N, w.s.X, sum, w.slack)
		w.t.Logf("record %d: x is off by %.2g of its tolerance", r.N, off)
		return
	}
	w.s.W = widen(at.Weights())
	longest := 0.0
	for _, v := range sum {
		longest = max(longest, math.Abs(v))
	}
	off := w.same("w", r.N, w.s.W, sum, func(int, float64) float64 { return single * longest })
	w.t.Logf("record %d: w is off by %.2g of its tolerance", r.N, off)
}

// slack returns the allowed difference of coordinate i from u: see [single]. Both sides have the
// same points and values in float64, and lose about 1e-16 n/noise of a gradient, 3e-9. Production
// also rounds the means in messages, by 2^-25. In most runs the differences stay within a
// hundredth of the slack; steep surrogates and long steps need the rest.
func (w *walk) slack(i int, u float64) float64 {
	w.way = max(w.way, math.Abs(u-w.start[i]))
	return single*w.way +
		ulps*max(math.Abs(u-w.frame.origin[i]), math.Abs(w.start[i]-w.frame.origin[i]))
}

func (w *walk) same(what string, n uint64, got, want []float64,
	slack func(i int, v float64) float64) (worst float64) {
	w.t.Helper()
	for i, v := range want {
		most := slack(i, v)
		worst = max(worst, math.Abs(got[i]-v)/most)
		if !(math.Abs(got[i]-v) <= most) {
			w.t.Fatalf("record %d: %s has element %d = %v, the reference %v, which is %.2g "+
				"away, at most %.2g\nplan: %+v",
				n, what, i, got[i], v, got[i]-v, most, w.plan)
		}
	}
	return worst
}

// asked returns the queries that production made at the reference's x, if it made any
// there.
func (w *walk) asked(client int, at At, x []float64) (points [][]float64, y []float64) {
	w.t.Helper()
	for _, q := range w.queries[query{client, at}] {
		points, y = append(points, w.frame.coordinates(q.x)), append(y, q.y)
	}
	if len(points) != 1+w.around {
		w.t.Fatalf("client %d asked for %d losses at %+v, want %d\nplan: %+v",
			client, len(points), at, 1+w.around, w.plan)
	}
	w.same("the iterate", at.N, points[0], x, w.slack)
	for _, u := range points[1:] {
		w.same("a query around it", at.N, u, x, func(i int, v float64) float64 {
			return float64(w.plan.Radius) + w.slack(i, v)
		})
	}
	if client == int(at.N)%clients && w.around > 0 { // this takes long
		w.chosen(client, at, points, y[0])
	}
	return points, y
}

// chosen checks that the queries around an iterate are at points where the gradient is most
// uncertain: in descending order, and the last of them more uncertain than most points
// around.
func (w *walk) chosen(client int, at At, points [][]float64, y float64) {
	w.t.Helper()
	d := Queries{X: points[:1], Y: []float64{y}}
	if known := w.s.D[client]; known != nil {
		d = Queries{append(slices.Clone(known.X), points[0]), append(slices.Clone(known.Y), y)}
	}
	p := w.f.condition(&d)
	// rounding error of a gradient known without any points
	off := 1e-6 * p.slope(0) * float64(len(points[0]))
	last := math.Inf(1)
	for _, u := range points[1:] {
		unsure := p.Uncertainty(u)
		if !(unsure <= last+off) {
			w.t.Fatalf("client %d at %+v: a query of uncertainty %v follows one of %v\nplan: %+v",
				client, at, unsure, last, w.plan)
		}
		last = unsure
	}
	random, less := rand.New(rand.NewPCG(at.N, uint64(at.K))), 0
	const others = 20
	for range others {
		u := clone(points[0])
		for i := range u {
			u[i] += float64(w.plan.Radius) * (2*random.Float64() - 1)
		}
		if p.Uncertainty(w.f.Domain.Project(u)) > last+off {
			less++
		}
	}
	if less > others*6/10 {
		w.t.Fatalf("client %d at %+v: of %d points around, %d are more uncertain than its "+
			"queries\nplan: %+v", client, at, others, less, w.plan)
	}
}
