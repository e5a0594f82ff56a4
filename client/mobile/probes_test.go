package mobile

import (
	"errors"
	"math"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// A batcher is a BatchObjective that is a function.
type batcher func(*Probes) error

func (f batcher) Losses(p *Probes) error { return f(p) }

func batchMode(t *testing.T, f batcher) objective.Batched {
	t.Helper()
	cfg := config()
	cfg.SetBatchObjective(f)
	o, ok := made(t, cfg).device.objective().(objective.Batched)
	if !ok {
		t.Fatal("the objective is not a batched one")
	}
	return o
}

// points are three probes of five parameters: 0, 1, ... and 10, 11, ... and 20, 21, ...
func points() *objective.Points {
	x := make([][]float32, 3)
	for i := range x {
		for j := range 5 {
			x[i] = append(x[i], float32(10*i+j))
		}
	}
	return objective.NewPoints(x...)
}

// In batch mode the app reads all probes, aligned or not, and sets their losses. After the call
// the probes are over.
func TestProbes(t *testing.T) {
	var kept *Probes
	o := batchMode(t, func(p *Probes) error {
		kept = p
		if p.Count() != 3 || p.Dim() != 5 || p.Record() != 7 || p.Step() != 2 ||
			p.BatchSize() != 4 || p.BatchSeed() != 9 || p.Cancelled() {
			t.Errorf("the app sees %+v", p)
		}
		for shift := range 2 {
			dst := make([]byte, 4*2*3+1)[shift:][:4*2*3]
			for off, want := range map[int][]float32{
				1: {1, 2, 11, 12, 21, 22}, 4: {4, 0, 14, 0, 24, 0},
			} {
				clear(dst)
				n, err := p.ReadAll(off, 2, dst)
				if got := getFloats(dst); err != nil || n != min(2, 5-off) || !equal(got, want) {
					t.Errorf("ReadAll from %d: %d, %v, %v, want %v", off, n, err, got, want)
				}
			}
		}
		one := make([]byte, 8)
		n, err := p.ReadParams(1, 3, one)
		if got := getFloats(one); n != 2 || err != nil || !equal(got, []float32{13, 14}) {
			t.Errorf("ReadParams: %d, %v, %v", n, err, got)
		}
		if got := getFloats(p.Block(2, 4, 9)); !equal(got, []float32{24}) {
			t.Errorf("Block: %v", got)
		}
		for what, err := range map[string]error{
			"probe -1": p.SetLoss(-1, 0), "probe 3": p.SetLoss(3, 0), "dst": second(p.ReadAll(0, 2, one)),
			"count": second(p.ReadAll(0, 0, nil)), "huge": second(p.ReadAll(0, math.MaxInt, one)),
			"off": second(p.ReadAll(-1, 1, make([]byte, 12))), "read": second(p.ReadParams(3, 0, one)),
		} {
			hasCode(t, what, err, CodeConfig)
		}
		for i := range p.Count() {
			if err := p.SetLoss(i, float64(i)/2); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	losses := make([]float64, 3)
	batch := objective.Batch{N: 7, Step: 2, Size: 4, Seed: 9}
	if err := o.LossesAt(t.Context(), points(), batch, losses); err != nil {
		t.Fatal(err)
	}
	if losses[0] != 0 || losses[1] != 0.5 || losses[2] != 1 {
		t.Errorf("losses %v", losses)
	}
	hasCode(t, "SetLoss after the call", kept.SetLoss(0, 1), CodeRevoked)
}

func second(_ int, err error) error { return err }

func equal(a, b []float32) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// The loss of a probe that the app forgot is NaN. The library passes on the error of the app's
// objective, and does not call the objective after Stop.
func TestProbesMisused(t *testing.T) {
	no := errors.New("no")
	o := batchMode(t, func(p *Probes) error { p.SetLoss(1, 3); return no })
	losses := make([]float64, 3)
	err := o.LossesAt(t.Context(), points(), objective.Batch{}, losses)
	if !errors.Is(err, no) || !math.IsNaN(losses[0]) || losses[1] != 3 {
		t.Errorf("%v, losses %v", err, losses)
	}
	o.(batches).release()
	if err := o.LossesAt(t.Context(), points(), objective.Batch{}, losses); err != errReleased {
		t.Errorf("after Stop: %v", err)
	}
}

// noted is an objective of an app that keeps the arguments of its calls.
type noted struct {
	round      *Round
	evaluation *Evaluation
}

func (o *noted) Loss(r *Round) (float64, error) { o.round = r; return 0, nil }
func (o *noted) Evaluate(e *Evaluation) error   { o.evaluation = e; return nil }

// The arguments of the app's callbacks have the plan that the device has accepted. A Round also has
// its number among the losses of its step.
func TestPlanAndPlace(t *testing.T) {
	var app noted
	cfg := config()
	cfg.SetBlockObjective(&app)
	cfg.SetEvaluator(&app)
	c := made(t, cfg)
	if err := c.device.accept(&plan.Plan{
		Dim:         10,
		ProbeFields: plan.ProbeFields{Batch: 12},
	}); err != nil {
		t.Fatal(err)
	}
	o := c.device.objective()
	x := objective.NewPoint(make([]float32, 10)).Numbered(2, 5)
	if _, err := o.(objective.Streaming).LossAt(t.Context(), &x, objective.Batch{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.(objective.Evaluator).Evaluate(t.Context(), make([]float32, 10)); err != nil {
		t.Fatal(err)
	}
	if r := app.round; r.Probe() != 2 || r.Probes() != 5 || r.Plan() != c.Plan() {
		t.Errorf("loss %d of %d, plan %+v", r.Probe(), r.Probes(), r.Plan())
	}
	if app.evaluation.Plan() != c.Plan() || c.Plan().BatchSize() != 12 {
		t.Errorf("an evaluation with the plan %+v", app.evaluation.Plan())
	}
	b := batches{&device{callbacks: &callbacks{byBatches: batcher(func(p *Probes) error {
		if p.Plan() != c.Plan() {
			t.Errorf("probes with the plan %+v", p.Plan())
		}
		return nil
	})}}}
	b.seen.Store(c.Plan())
	if err := b.LossesAt(t.Context(), points(), objective.Batch{}, make([]float64, 3)); err != nil {
		t.Fatal(err)
	}
}

// Segments have names, offsets and lengths; a plan without any has one of all parameters.
func TestSegments(t *testing.T) {
	cfg := config()
	cfg.SetBatchObjective(batcher(nil))
	c := made(t, cfg)
	if c.Plan() != nil {
		t.Error("a plan before the device was asked")
	}
	p := &plan.Plan{
		Dim:         10,
		ModelFields: plan.ModelFields{Segments: []plan.Segment{{Name: "w", Len: 7}, {Name: "b", Len: 3}}},
	}
	if err := c.device.accept(p); err != nil {
		t.Fatal(err)
	}
	b := c.Plan().SegmentNamed("b")
	if c.Plan().Segments() != 2 || b.Offset() != 7 || b.Length() != 3 ||
		c.Plan().Segment(1).Name() != "b" || c.Plan().Segment(0).Name() != "w" {
		t.Errorf("b is %+v", b)
	}
	if c.Plan().Segment(2) != nil || c.Plan().Segment(-1) != nil ||
		c.Plan().SegmentNamed("B") != nil {
		t.Error("a segment that the plan does not have")
	}
	whole := &Plan{plan: plan.Plan{Dim: 10}}
	if s := whole.SegmentNamed("all"); whole.Segments() != 1 || s.Length() != 10 {
		t.Errorf("a plan without segments has %+v", s)
	}
}
