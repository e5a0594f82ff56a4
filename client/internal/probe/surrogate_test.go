package probe

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// smallFZooS returns the plan of the preset fzoos for few parameters in a box.
func smallFZooS(t testing.TB, d int, fields string) *plan.Plan {
	p := densePlan(t, "fzoos", d, strings.Fields("features=400 window=60 steps=4 candidates=40 "+
		"active=3 around=4 members=3 target=3 quorum=3 "+fields)...)
	p.Boxes = []plan.Box{{Low: -2, High: 2}}
	p.Segments = []plan.Segment{{Name: "x", Len: uint64(d), Fill: plan.UniformFill, Scale: 2}}
	return p
}

// three returns three devices with different minima, and the minimum of their mean loss.
func three(d int) (objectives []objective.Objective, best []float32) {
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

// meanLoss returns the mean loss of devices at x.
func meanLoss(objectives []objective.Objective, x []float32) float64 {
	sum := 0.0
	for _, o := range objectives {
		sum += o.(*slopes).value(x)
	}
	return sum / float64(len(objectives))
}

// roundsTo returns how many rounds a run needs to get within gap of the minimum, and how many
// queries a device makes.
func roundsTo(t *testing.T, p *plan.Plan, gap float64, most int) (rounds, queries int) {
	t.Helper()
	objectives, best := three(int(p.Dim))
	least := meanLoss(objectives, best)
	r := newRig(t, p, objectives...)
	for meanLoss(objectives, r.params())-least > gap {
		if rounds++; rounds > most {
			t.Fatalf("%s: still %.4g above the minimum after %d rounds",
				p.Preset, meanLoss(objectives, r.params())-least, most)
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

// The losses differ between devices. FZooS reaches the minimum with fewer queries than finite
// differences with the same Adam.
func TestSurrogateBeatsDifferences(t *testing.T) {
	const d, gap = 12, 0.02
	_, queries := roundsTo(t, smallFZooS(t, d, "steps=10 window=100 features=300"), gap, 40)
	adam := densePlan(t, "fedzo-dense", d,
		strings.Fields("steps=10 perturbations=20 batch=0"+adamRule+" beta2=0.999 step=0.01")...)
	adam.Boxes = []plan.Box{{Low: -2, High: 2}}
	adam.Segments = smallFZooS(t, d, "").Segments
	_, baseline := roundsTo(t, adam, gap, 200)
	t.Logf("to %v above the minimum: %d queries of a device, %d with differences",
		gap, queries, baseline)
	if 2*queries > baseline {
		t.Errorf("%d queries of a device, want less than half of the %d of finite differences",
			queries, baseline)
	}
}

// Every variant of the correction and the rule lowers the loss.
func TestSurrogateVariants(t *testing.T) {
	for _, fields := range []string{
		"correction=one", "correction=zero", "correction=theory heterogeneity=5",
		"correction_at=round",
		"rule=sgd beta=0 beta2=0 epsilon=0 step=0.005",
		"rule=momentum beta=0.5 beta2=0 epsilon=0 step=0.005", "prox=0.1 weight_decay=0.01",
		"active=0 around=10",
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

// gamma returns the factor that the plan defines.
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
	c.Prepare(c.replica)
	e := c.estimation(c.replica, &Task{N: 2, Phase: 1}, vectors{})
	v := []float64{0, 0, 0, 0}
	c.memory.trajectory.process.Add([]float64{0.5, 0.5, 0.5, 0.5}, 1)
	c.memory.trajectory.process.Add([]float64{1, 1, 1, 1}, 2)
	return e, v
}

// Once its window is full, a device allocates next to nothing in a round.
func TestSurrogateAllocations(t *testing.T) {
	const d, most = 500, 24 << 10 // bytes: sources of random numbers, views for the app
	for _, p := range []*plan.Plan{
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
