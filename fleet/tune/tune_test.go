package tune_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/preset"
)

const (
	features = 12
	classes  = 4
	dim      = classes * (features + 1)
)

// A softmax is multinomial logistic regression on the samples of one device. It counts its
// evaluations.
type softmax struct {
	x     [][]float64
	label []int
	asked atomic.Uint64
}

// task returns devices whose samples lie around centers that all devices share.
func task(devices int) (list []*softmax) {
	rng := rand.New(rand.NewPCG(1, 1))
	var centers [classes][features]float64
	for c := range centers {
		for k := range centers[c] {
			centers[c][k] = rng.NormFloat64()
		}
	}
	for range devices {
		d := &softmax{}
		for range 60 {
			c, x := rng.IntN(classes), make([]float64, features)
			for k := range x {
				x[k] = centers[c][k] + rng.NormFloat64()
			}
			d.x, d.label = append(d.x, x), append(d.label, c)
		}
		list = append(list, d)
	}
	return list
}

func (s *softmax) Dim() int     { return dim }
func (s *softmax) Samples() int { return len(s.x) }

func (s *softmax) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	s.asked.Add(1)
	rng, n, sum := rand.New(rand.NewPCG(b.Seed, 2)), b.Size, 0.0
	if n == 0 {
		n = len(s.x)
	}
	for i := range n {
		if b.Size > 0 {
			i = rng.IntN(len(s.x))
		}
		sum += s.entropy(x, i)
	}
	return sum / float64(n), nil
}

func (s *softmax) entropy(x []float32, i int) float64 {
	var logits [classes]float64
	most := math.Inf(-1)
	for c := range logits {
		logits[c] = float64(x[classes*features+c])
		for k, v := range s.x[i] {
			logits[c] += float64(float64(x[c*features+k]) * v)
		}
		most = max(most, logits[c])
	}
	sum := 0.0
	for _, z := range logits {
		sum += math.Exp(z - most)
	}
	return math.Log(sum) + most - logits[s.label[i]]
}

func objectives(list []*softmax) (out []objective.Objective) {
	for _, d := range list {
		out = append(out, d)
	}
	return out
}

func asked(list []*softmax) (n uint64) {
	for _, d := range list {
		n += d.asked.Load()
	}
	return n
}

func plan(t testing.TB, name string, settings func(*wire.Plan)) *wire.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "run", dim)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Batch = slices.Repeat(wire.Bytes{7}, 32), 16
	if p.Steps > 1 {
		p.Steps, p.Perturbations = 3, 10
	}
	if settings != nil {
		settings(p)
	}
	return p
}

// lossAfter returns the mean loss on all data after some rounds, +Inf if they diverge.
func lossAfter(t *testing.T, p *wire.Plan, rounds uint64) float64 {
	t.Helper()
	devices := task(5)
	r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Rounds: rounds})
	if errors.Is(err, fleet.ErrDiverged) {
		return math.Inf(1)
	} else if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, d := range devices {
		loss, _ := d.Loss(t.Context(), r.Params, objective.Batch{})
		sum += loss / float64(len(devices))
	}
	return sum
}

func stepOf(p *wire.Plan, field string) *float32 {
	if field == "server_step" {
		return &p.ServerStep
	}
	return &p.StepSize
}

// TestStep: whatever step the plan has, the one found is within a factor of 4 of the best of a
// grid, and does about as well.
func TestStep(t *testing.T) {
	for i, c := range []struct{ name, field string }{
		{"decomfl-adam", "server_step"}, {"decomfl", "step"}, {"fedzo", "step"},
	} {
		if testing.Short() && i > 0 {
			break // the race detector sees the same in one
		}
		best, bestStep := math.Inf(1), 0.0
		for e := -6; e <= 1; e++ {
			p := plan(t, c.name, nil)
			*stepOf(p, c.field) = float32(math.Pow(4, float64(e)))
			if loss := lossAfter(t, p, 50); loss < best {
				best, bestStep = loss, math.Pow(4, float64(e))
			}
		}
		for _, start := range []float32{1e-6, 1e3} {
			p := plan(t, c.name, func(p *wire.Plan) { *stepOf(p, c.field) = start })
			before, devices := *p, task(5)
			r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
				Fields: []string{"step"}, Seed: 3})
			if err != nil {
				t.Fatalf("%s from %g: %v", c.name, start, err)
			}
			got := float64(*stepOf(r.Plan, c.field))
			loss := lossAfter(t, r.Plan, 50)
			if ratio := got / bestStep; ratio < 1./4.01 || ratio > 4.01 || loss > 1.15*best {
				t.Errorf("%s from %g: %s %g with loss %v, the grid's best is %g with %v", c.name, start,
					c.field, got, loss, bestStep, best)
			}
			tries := 0
			for _, trial := range r.Trials {
				if trial.Stage == "bracket" {
					tries++
				}
			}
			if tries > 6 { // else line did not say where to begin
				t.Errorf("%s from %g: the bracket took %d trials", c.name, start, tries)
			}
			budget := tune.Budget(p, 5)
			if r.Queries != asked(devices) || r.Queries > budget || r.Field != c.field ||
				!reflect.DeepEqual(*p, before) {
				t.Errorf("%s from %g: %d queries, %d asked, budget %d, field %s", c.name, start,
					r.Queries, asked(devices), budget, r.Field)
			}
		}
	}
}

// TestPresets: every preset can be tuned, twice the same, within any budget; the plan found can run
// and does no worse than the one given.
func TestPresets(t *testing.T) {
	for i, name := range preset.Names() {
		if testing.Short() && i%5 != 0 {
			continue // the race detector sees the same in a few
		}
		p := plan(t, name, func(p *wire.Plan) {
			p.Steps, p.Perturbations = min(p.Steps, 2), min(p.Perturbations, 5)
			if p.Estimator == wire.Surrogate {
				p.Perturbations = 1
				p.Features, p.Window, p.Candidates, p.Around, p.Active = 40, 10, 6, 3, 1
			}
		})
		var results [2]*tune.Result
		for i := range results {
			devices := task(4)
			budget := max(tune.Budget(p, 4)/8, 400)
			r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
				Queries: budget, Seed: 1, Rounds: 8})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if results[i] = r; r.Queries != asked(devices) || r.Queries > budget {
				t.Errorf("%s: %d queries, %d asked of %d", name, r.Queries, asked(devices), budget)
			}
			sum := uint64(0)
			for _, trial := range r.Trials {
				sum += trial.Queries
			}
			if sum != r.Queries || len(r.Reasons) < 4 || !(r.Loss <= r.Start) {
				t.Errorf("%s: %d queries by trials, %d in all; loss %v, at first %v; %q", name, sum,
					r.Queries, r.Loss, r.Start, r.Reasons)
			}
		}
		a, b := results[0], results[1]
		if !reflect.DeepEqual(a.Plan, b.Plan) || !reflect.DeepEqual(a.Reasons, b.Reasons) ||
			len(a.Trials) != len(b.Trials) || a.Loss != b.Loss {
			t.Errorf("%s: two tunings differ:\n%+v\n%+v", name, a, b)
		}
		if r, err := fleet.Run(t.Context(), a.Plan, objectives(task(4)), fleet.Options{Rounds: 5}); err !=
			nil {
			t.Errorf("%s: the tuned plan: %v, %+v", name, err, r)
		}
	}
}

// TestBudget: no budget is exceeded, and one that is too small is refused with what it takes.
func TestBudget(t *testing.T) {
	p := plan(t, "decomfl", nil)
	_, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)), Queries: 1})
	if err == nil || !strings.Contains(err.Error(), "queries = 1:") {
		t.Fatal(err)
	}
	// 4 minibatches at the start, mu, the line and a round; three trials of 2 rounds, judged.
	const least = 5*(4+19+18+11) + 3*(2*55+20)
	if budget := tune.Budget(p, 5); least != 650 || budget != 5*(4+19+18+11)+400*55 ||
		!strings.Contains(err.Error(), "give 650 or more: ") ||
		!strings.Contains(err.Error(), "of 5 devices; the default is 22260") {
		t.Errorf("%v; want %d, and %d", err, least, budget)
	}
	devices := task(5)
	if r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
		Queries: least - 1}); err == nil || r != nil || asked(devices) > 0 {
		t.Errorf("one too few: %v", err)
	}
	p.PerturbationSchedule = []wire.PerturbationPoint{{Round: 2, Perturbations: 15}}
	for _, queries := range []uint64{900, 2000} {
		devices := task(5)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
			Queries: queries})
		if err != nil || asked(devices) > queries || !strings.Contains(r.Reasons[2], "no single P") {
			t.Errorf("with a schedule of P: %v, %d asked of %d, %q", err, asked(devices), queries, r.Reasons)
		}
	}
	p.PerturbationSchedule = nil
	for _, queries := range []uint64{least, least + 1, 777, 1500, 3000, 6000, 12000, 50000} {
		devices := task(5)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
			Queries: queries})
		if err != nil || asked(devices) > queries || r.Queries != asked(devices) {
			t.Errorf("%d queries: %v, %d asked", queries, err, asked(devices))
		}
		if queries >= 3000 && !(r.Loss < 0.6) {
			t.Errorf("%d queries: loss %v", queries, r.Loss)
		}
	}
}

// TestFields: only what is to be tuned changes, and all of it is tried.
func TestFields(t *testing.T) {
	for _, field := range tune.Fields() {
		p := plan(t, "decomfl", func(p *wire.Plan) {
			p.Mu, p.StepSize, p.Perturbations, p.Batch = 1e-5, 0.01, 1, 1
		})
		if field == "perturbations" || field == "batch" {
			p.StepSize = 0.03 // else the step hides what either does
		}
		var heard []string
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)),
			Fields: []string{field}, Progress: func(trial tune.Trial) {
				heard = append(heard, trial.Stage)
			}})
		if err != nil || len(heard) != len(r.Trials) {
			t.Fatalf("%s: %v, %q", field, err, heard)
		}
		got := *r.Plan
		changed := map[string]bool{"mu": got.Mu != p.Mu, "batch": got.Batch != p.Batch,
			"perturbations": got.Perturbations != p.Perturbations,
			"step":          got.StepSize != p.StepSize && field != "perturbations"}
		for name, is := range changed {
			if is != (name == field) {
				t.Errorf("tuning %s: %s changed: %v; %q", field, name, is, r.Reasons)
			}
		}
		got.Mu, got.StepSize, got.Perturbations, got.Batch = 1e-5, p.StepSize, 1, 1
		if !reflect.DeepEqual(&got, p) || !strings.HasPrefix(r.Reasons[0], field+"=") {
			t.Errorf("tuning %s: %+v, %q", field, got, r.Reasons)
		}
	}
}

// TestMu: the largest mu with little curvature is found, whatever the scale of the parameters.
func TestMu(t *testing.T) {
	for _, c := range []struct {
		scale float64
		want  float32
	}{{1, 1e-1}, {1e3, 1e2}, {1e-3, 1e-4}} {
		// f(s) = s + s^2 with s = x/scale: even part mu^2, odd part mu, in units of the scale.
		o := objective.Func(1, func(_ context.Context, x []float32, _ objective.Batch) (float64,
			error) {
			s := float64(x[0]) / c.scale
			return s + s*s, nil
		})
		p, err := preset.Unbound("decomfl", "run", 1)
		if err != nil {
			t.Fatal(err)
		}
		p.Distribution = wire.Rademacher // of length 1
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{o, o},
			Fields: []string{"mu"}})
		if err != nil || r.Plan.Mu != c.want {
			t.Errorf("scale %g: %v, mu %v, want %v: %q", c.scale, err, r.Plan.Mu, c.want, r.Reasons)
			continue
		}
		for _, trial := range r.Trials[1:] {
			if want := float64(trial.Mu) / c.scale; trial.Stage != "mu" ||
				math.Abs(trial.Ratio-want) > 1e-3*want {
				t.Errorf("scale %g: %+v, want ratio %g", c.scale, trial, want)
			}
		}
	}
	flat := objective.Func(1, func(context.Context, []float32, objective.Batch) (float64, error) {
		return 1, nil
	})
	p, _ := preset.Unbound("decomfl", "run", 1)
	r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{flat},
		Fields: []string{"mu"}})
	if err != nil || r.Plan.Mu != p.Mu || !strings.Contains(r.Reasons[0], "stays") {
		t.Errorf("a flat loss: %v, %+v", err, r)
	}
}

func TestRefuses(t *testing.T) {
	good := plan(t, "decomfl", nil)
	invalid := *good
	invalid.Steps = 0
	broken := errors.New("the engine is broken")
	fails := objective.Func(dim, func(context.Context, []float32, objective.Batch) (float64, error) {
		return 0, broken
	})
	panics := objective.Func(dim, func(context.Context, []float32, objective.Batch) (float64, error) {
		panic("oops")
	})
	infinite := objective.Func(dim, func(context.Context, []float32, objective.Batch) (float64,
		error) {
		return math.NaN(), nil
	})
	devices := objectives(task(2))
	for _, c := range []struct {
		cfg  tune.Config
		want string
	}{
		{tune.Config{Devices: devices}, "Plan is nil"},
		{tune.Config{Plan: good}, "members = 0"},
		{tune.Config{Plan: &invalid, Devices: devices}, "steps = 0"},
		{tune.Config{Plan: good, Devices: devices, Fields: []string{"beta"}}, "fields = beta"},
		{tune.Config{Plan: good, Devices: append(devices, nil)}, "device 2 is nil"},
		{tune.Config{Plan: good, Devices: append(devices, fails)}, "device 2: the engine is broken"},
		{tune.Config{Plan: good, Devices: append(devices, panics)}, "device 2: panic: oops"},
		{tune.Config{Plan: good, Devices: append(devices, infinite)}, "not finite"},
	} {
		_, err := tune.Run(t.Context(), c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestStop: tuning ends with ctx, at any of its stages.
func TestStop(t *testing.T) {
	own := errors.New("own")
	for _, stage := range []string{"start", "mu", "line", "bracket", "refine", "perturbations",
		"batch"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		devices, stages := task(5), 0
		r, err := tune.Run(ctx, tune.Config{Plan: plan(t, "decomfl", nil),
			Devices: objectives(devices), Progress: func(trial tune.Trial) {
				if trial.Stage == stage {
					cancel(own)
				}
				stages++
			}})
		cancel(nil)
		if stage == "batch" && err == nil {
			continue // it was the last trial
		}
		if !errors.Is(err, own) || r == nil || len(r.Trials) == 0 ||
			r.Trials[len(r.Trials)-1].Stage != stage {
			t.Errorf("stopped in stage %s: %v, %d trials", stage, err, stages)
		}
	}
}

// TestForms: a loss is judged in any of its forms.
func TestForms(t *testing.T) {
	mean := func(x []float32) (sum float64) {
		for _, v := range x {
			sum += (float64(v) - 1) * (float64(v) - 1) / 8
		}
		return sum
	}
	var losses []float64
	for _, o := range []objective.Objective{
		objective.Func(8, func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			return mean(x), nil
		}),
		objective.Stream(8, func(_ context.Context, x *objective.Point, _ objective.Batch) (float64,
			error) {
			block := make([]float32, 8)
			err := x.Read(block, 0)
			return mean(block), err
		}),
		objective.Many(8, func(_ context.Context, x *objective.Points, _ objective.Batch,
			losses []float64) error {
			blocks := make([][]float32, x.Len())
			for i := range blocks {
				blocks[i] = make([]float32, 8)
			}
			err := x.Read(blocks, 0)
			for i := range losses {
				losses[i] = mean(blocks[i])
			}
			return err
		}),
	} {
		p, err := preset.Unbound("decomfl", "run", 8)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{o}})
		if err != nil || r.Start != 1 || !(r.Loss < 1e-2) {
			t.Fatalf("%T: %v, %+v", o, err, r)
		}
		losses = append(losses, r.Loss)
	}
	if losses[0] != losses[1] || losses[0] != losses[2] {
		t.Errorf("losses %v, want the same", losses)
	}
}

// TestTooLarge: where the plan's step diverges at once, and so do those around it, a smaller one is
// found; if all losses that are not the first one fail, that is the error.
func TestTooLarge(t *testing.T) {
	p := plan(t, "decomfl", func(p *wire.Plan) { p.StepSize, p.Steps = 1e9, 3 })
	r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)),
		Fields: []string{"step"}})
	if err != nil || !(r.Loss < 0.3) || r.Plan.StepSize > 10 {
		t.Errorf("%v, step %v, loss %v", err, r.Plan.StepSize, r.Loss)
	}
	// So small a budget has no room for a second line.
	r, err = tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)), Queries: 1600})
	if err != nil || !(r.Plan.StepSize < 1e9) ||
		!strings.Contains(r.Reasons[len(r.Reasons)-1], "No trial") {
		t.Errorf("a small budget: %v, step %v, %q", err, r.Plan.StepSize, r.Reasons)
	}
	cliff := errors.New("no parameters but zeros")
	only := objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (float64,
		error) {
		for _, v := range x {
			if v > 0.5 || v < -0.5 {
				return 0, cliff
			}
		}
		return 1 - 1e-3*float64(x[0]), nil
	})
	p = plan(t, "decomfl", func(p *wire.Plan) { p.Mu, p.StepSize = 1, 1e9 })
	r, err = tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{only, only},
		Fields: []string{"step"}})
	if err == nil || !strings.Contains(err.Error(), "every step from") ||
		!errors.Is(err, cliff) || r == nil {
		t.Errorf("losses that always fail: %v", err)
	}
}

// TestAuto: where devices find mu and the step by themselves, that step is where the search begins,
// and mu is left to them.
func TestAuto(t *testing.T) {
	p := plan(t, "decomfl", func(p *wire.Plan) {
		p.ServerRule, p.ServerBeta1, p.ServerBeta2 = wire.ServerNormalized, 0.9, 0.99
		p.Mu, p.MuAuto, p.StepSize, p.StepAuto = 0, 1, 0, 1
	})
	for _, queries := range []uint64{0, 3000} {
		devices := task(5)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(devices),
			Queries: queries})
		if err != nil {
			t.Fatal(err)
		}
		if queries == 0 {
			queries = tune.Budget(p, 5)
		}
		stages := map[string]int{}
		for _, trial := range r.Trials {
			stages[trial.Stage]++
		}
		if r.Plan.Mu != 0 || r.Plan.StepSize == 0 || r.Plan.StepAuto != 1 || !(r.Loss < 0.9) ||
			r.Queries != asked(devices) || r.Queries > queries ||
			stages["survey"] != 1 || stages["refine"] < 3 || stages["line"]+stages["bracket"] > 0 {
			t.Errorf("mu %v, step %v, loss %v, %d of %d queries, %v, %q", r.Plan.Mu, r.Plan.StepSize,
				r.Loss, r.Queries, queries, stages, r.Reasons)
		}
	}
}

// A loss of 1e20 has slopes that 16 bits do not hold: trials are in a unit of it, and so is the
// tuned plan where its mu is no longer left to the devices.
func TestLargeLosses(t *testing.T) {
	for _, auto := range []uint8{1, 0} {
		p := plan(t, "zofl", func(p *wire.Plan) { p.MuAuto, p.Mu = auto, 1e-3*float32(1-auto) })
		large := func(_ context.Context, x []float32, _ objective.Batch) (sum float64, _ error) {
			for _, v := range x {
				sum += 1e20 * (float64(v) - 1) * (float64(v) - 1) / dim
			}
			return sum, nil
		}
		o := objective.Func(dim, large)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Seed: 3,
			Devices: []objective.Objective{o, o, o}})
		if err != nil {
			t.Fatalf("mu_auto=%d: %v", auto, err)
		}
		if unit := r.Plan.LossUnit; (unit > 0) != (auto == 0) {
			t.Errorf("mu_auto=%d: the tuned plan has loss_unit %v", auto, unit)
		}
		run, err := fleet.Run(t.Context(), r.Plan, []objective.Objective{o, o, o},
			fleet.Options{Rounds: 100})
		if err != nil {
			t.Fatalf("mu_auto=%d: %v", auto, err)
		}
		if loss, _ := large(t.Context(), run.Params, objective.Batch{}); loss > 0.1*1e20 {
			t.Errorf("mu_auto=%d: the loss ends at %.2g", auto, loss)
		}
	}
}
