package fleet_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// A bowl is the mean of (x_i - at)^2, and counts its evaluations.
type bowl struct {
	dim   int
	at    float64
	asked atomic.Uint64
	fails func(call uint64) error // nil: never
}

func (b *bowl) Dim() int { return b.dim }

func (b *bowl) Loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	call := b.asked.Add(1)
	if b.fails != nil {
		if err := b.fails(call); err != nil {
			return 0, err
		}
	}
	return b.mean(x), nil
}

func (b *bowl) mean(x []float32) (sum float64) {
	for _, v := range x {
		sum += (float64(v) - b.at) * (float64(v) - b.at)
	}
	return sum / float64(len(x))
}

func bowls(n, dim int) (list []*bowl) {
	for i := range n {
		list = append(list, &bowl{dim: dim, at: 1 + float64(i%3)})
	}
	return list
}

func objectives[T objective.Objective](list []T) (out []objective.Objective) {
	for _, b := range list {
		out = append(out, b)
	}
	return out
}

func newPlan(t testing.TB, name string, dim uint64, rounds uint64) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "run", dim)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = slices.Repeat(plan.Bytes{7}, 32)
	p.Rounds = rounds
	return p
}

func total(list []*bowl) (n uint64) {
	for _, b := range list {
		n += b.asked.Load()
	}
	return n
}

// timeless returns rounds without the fields that differ from run to run.
func timeless(p *plan.Plan, rounds []fleet.Round) []fleet.Round {
	rounds = slices.Clone(rounds)
	for i := range rounds {
		rounds[i].Seconds = 0
		if p.Transport == plan.DenseVectors {
			rounds[i].Bytes, rounds[i].Up, rounds[i].Down = 0, 0, 0
		}
	}
	return rounds
}

// TestPresets runs every preset. Two runs must give the same result, and count their evaluations.
// No round may take more evaluations than RoundQueries says, whether a round asks all devices or
// some.
func TestPresets(t *testing.T) {
	for _, name := range preset.Names() {
		for _, target := range []uint32{4, 2} {
			p := newPlan(t, name, 30, 3)
			p.Target, p.Quorum = target, 1
			p.Steps, p.Perturbations = min(p.Steps, 3), min(p.Perturbations, 4)
			if p.Estimator == plan.Surrogate {
				p.Features, p.Window, p.Candidates, p.Around = 40, 10, 6, 5
			}
			var results [2]*fleet.Result
			for i := range results {
				devices := bowls(4, 30)
				r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if results[i] = r; r.Queries != total(devices) {
					t.Errorf("%s: %d queries, %d were asked", name, r.Queries, total(devices))
				}
			}
			a, b := results[0], results[1]
			if !reflect.DeepEqual(timeless(p, a.Rounds), timeless(p, b.Rounds)) ||
				!slices.Equal(a.Params, b.Params) {
				t.Errorf("%s: two runs differ:\n%+v\n%+v", name, a.Rounds, b.Rounds)
			}
			last, most := a.Rounds[len(a.Rounds)-1], uint64(0)
			for round := range uint64(3) {
				most += fleet.RoundQueries(p, round+1, 4)
			}
			spares := p.Phases() == 2 || p.PerturbationsAuto > 0 // evaluations, in some rounds
			if last.Round != 3 || a.Ended != "rounds" || last.Queries > a.Queries ||
				a.Queries > most || !spares && (last.Queries != most || a.Queries != most) ||
				p.Phases() == 1 && last.Queries != a.Queries {
				t.Errorf("%s: %+v, %d queries, at most %d", name, last, a.Queries, most)
			}
			if all := a.Traffic.Up.Bytes + a.Traffic.Down.Bytes; a.Rounds[0].Bytes == 0 ||
				last.Bytes <= a.Rounds[1].Bytes || last.Bytes > all {
				t.Errorf("%s: %d bytes of %+v", name, last.Bytes, a.Traffic)
			}
		}
	}
}

// TestModel: the result's model is that which the log gives, and Run does not change the caller's
// plan.
func TestModel(t *testing.T) {
	p := newPlan(t, "decomfl", 30, 200)
	p.StepSize, p.Members = 1, 5
	before := *p
	r, err := fleet.Run(t.Context(), p, objectives(bowls(6, 30)), fleet.Options{})
	if err != nil || !reflect.DeepEqual(*p, before) {
		t.Fatalf("%v, and the plan is %+v", err, p)
	}
	for _, v := range r.Params {
		if math.Abs(float64(v)-2) > 0.2 {
			t.Errorf("the model is %v, want 2 everywhere", r.Params)
			break
		}
	}
	w := replica.New(replica.Config{Run: p.Run})
	err = r.Log.Read(t.Context(), 1, func(_ uint64, record []byte) bool {
		return w.Apply(record) == nil
	})
	if err != nil || w.Rounds() != 200 || w.Ended() == nil || !slices.Equal(w.Params(), r.Params) {
		t.Errorf("%v: the log has %d rounds and another model", err, w.Rounds())
	}
	if d := r.Devices[5]; len(r.Devices) != 6 || d.ID != "d5" || d.Queries != 200*11 || d.Err != nil {
		t.Errorf("devices %+v", r.Devices)
	}
}

// TestGivenAndPrivate: a run begins at the parameters in Options, with the run key in Options.
func TestGivenAndPrivate(t *testing.T) {
	key := slices.Repeat([]byte{5}, 32)
	p := newPlan(t, "decomfl", 3, 1)
	p.RunKey, p.KeyCheck = nil, plan.KeyCheck(key)
	digest := replica.InitialDigest([]float32{1, 2, 3})
	p.Initial, p.InitialDigest, p.StepSize = plan.Given, digest[:], 1e-6
	o := fleet.Options{Initial: []float32{1, 2, 3}, RunKey: key}
	r, err := fleet.Run(t.Context(), p, objectives(bowls(2, 3)), o)
	if err != nil || math.Abs(float64(r.Params[2])-3) > 1e-2 || r.Params[2] == 3 {
		t.Errorf("%v: %+v", err, r)
	}
	o.RunKey = nil
	if _, err := fleet.Run(t.Context(), p, objectives(bowls(2, 3)), o); !errors.Is(err,
		plan.ErrRunKey) {
		t.Errorf("without its key: %v", err)
	}
}

// TestBudget: a run makes as many rounds as fit into the allowed queries, and never more queries.
func TestBudget(t *testing.T) {
	p := newPlan(t, "decomfl", 30, 100)
	p.PerturbationSchedule = []plan.PerturbationPoint{{Round: 3, Perturbations: 20}}
	for queries, want := range map[uint64]int{110: 2, 109: 1, 214: 2, 215: 3, 1 << 40: 100} {
		devices := bowls(5, 30) // a round takes 5 * 11, and from round 3 on 5 * 21
		r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Queries: queries})
		if err != nil || len(r.Rounds) != want || total(devices) > queries {
			t.Errorf("%d queries: %v, %d rounds, %d asked", queries, err, len(r.Rounds), total(devices))
		}
	}
	_, err := fleet.Run(t.Context(), p, objectives(bowls(5, 30)), fleet.Options{Queries: 54})
	if fault := (*fleet.OptionError)(nil); !errors.As(err, &fault) || err.Error() !=
		"fleet: Queries = 54: the first round alone takes up to 55: give more" {
		t.Errorf("no round fits: %v", err)
	}
}

// TestSurveys: the evaluations of surveys count, and fit the budget. The values that devices found
// are in the result's plan.
func TestSurveys(t *testing.T) {
	p := newPlan(t, "decomfl", 30, 20)
	p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
	p.Mu, p.MuAuto, p.StepSize, p.StepAuto = 0, 1, 0, 1
	const all = 5 * (19 + 17 + 20*11)
	for budget, rounds := range map[uint64]int{0: 20, all: 20, all - 1: 19, 5 * (19 + 11*6): 5} {
		devices := bowls(5, 30)
		r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Queries: budget})
		if err != nil || len(r.Rounds) != rounds {
			t.Fatalf("budget %d: %v, %d rounds, want %d", budget, err, len(r.Rounds), rounds)
		}
		if asked := total(devices); r.Queries != asked || r.Rounds[rounds-1].Queries != asked ||
			budget > 0 && asked > budget {
			t.Errorf("budget %d: %d queries, %d by rounds, %d asked", budget, r.Queries,
				r.Rounds[rounds-1].Queries, asked)
		}
		if r.Plan.Mu == 0 || (r.Plan.StepSize == 0) != (rounds < 6) {
			t.Errorf("budget %d: mu %v, step %v", budget, r.Plan.Mu, r.Plan.StepSize)
		}
		found := map[string]float32{}
		for _, f := range r.Found {
			found[f.Kind] = f.Value
		}
		if found["mu"] != r.Plan.Mu || found["step"] != r.Plan.StepSize ||
			len(found) != len(r.Found) || len(found) != 1+min(rounds/6, 1) || r.Found[0].Why == "" {
			t.Errorf("budget %d: found %+v", budget, r.Found)
		}
	}
}

// TestStop: after Progress or ctx has stopped a run, no device evaluates a loss.
func TestStop(t *testing.T) {
	p := newPlan(t, "decomfl", 30, 100)
	own := errors.New("own")
	for _, stop := range []error{fleet.ErrStop, own} {
		devices := bowls(5, 30)
		r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{
			Progress: func(r fleet.Round) error {
				if r.Round == 7 {
					return stop
				}
				return nil
			}})
		if want := uint64(7 * 55); len(r.Rounds) != 7 || total(devices) != want || r.Queries != want ||
			r.Params[0] == 0 || (stop == own) != errors.Is(err, own) || (stop == own) != (err != nil) {
			t.Errorf("%v: %v, %d rounds, %d asked", stop, err, len(r.Rounds), total(devices))
		}
		if got := r.Traffic.Down.Messages; got != 7*5 {
			t.Errorf("%v: %d announcements, want one a round and device", stop, got)
		}
		if stop != own && r.Ended != "stopped" {
			t.Errorf("ended %q", r.Ended)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	devices := bowls(5, 30)
	devices[2].fails = func(call uint64) error {
		if call == 40 {
			cancel(own)
		}
		return nil
	}
	r, err := fleet.Run(ctx, p, objectives(devices), fleet.Options{})
	if !errors.Is(err, own) || len(r.Rounds) < 3 || len(r.Rounds) > 4 || r.Params == nil {
		t.Errorf("ctx ended: %v, %d rounds", err, len(r.Rounds))
	}
}

// TestFailures: a round goes on without the contributions of a few failed devices. If too many
// devices fail, the run fails, and its error says why.
func TestFailures(t *testing.T) {
	broken := errors.New("the engine is broken")
	fails := func(call uint64) error {
		if call > 22 {
			return broken
		}
		return nil
	}
	p := newPlan(t, "decomfl", 30, 5)
	p.Quorum = 4
	devices := bowls(5, 30)
	devices[1].fails = fails
	r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{})
	if err != nil || r.Rounds[1].Contributors != 5 || r.Rounds[4].Contributors != 4 ||
		!errors.Is(r.Devices[1].Err, broken) || r.Devices[0].Err != nil ||
		r.Devices[1].Declined == 0 || r.Devices[0].Declined != 0 {
		t.Fatalf("%v: %+v %+v", err, r.Rounds, r.Devices)
	}
	devices = bowls(5, 30)
	devices[1].fails, devices[3].fails = fails, fails
	r, err = fleet.Run(t.Context(), p, objectives(devices), fleet.Options{})
	if !errors.Is(err, fleet.ErrPaused) || !errors.Is(err, broken) || len(r.Rounds) != 2 ||
		!strings.Contains(err.Error(), "device d1") || !strings.Contains(err.Error(), "quorum 4") ||
		devices[1].asked.Load() != 23 { // it is not asked again
		t.Errorf("%v: %+v", err, r.Rounds)
	}
	p.StepSize = 1e4
	r, err = fleet.Run(t.Context(), p, objectives(bowls(5, 30)), fleet.Options{})
	if !errors.Is(err, fleet.ErrDiverged) || len(r.Rounds) > 3 || r.Ended != "" {
		t.Errorf("too large a step: %v, %+v", err, r.Rounds)
	}
}

func TestRefuses(t *testing.T) {
	p := newPlan(t, "decomfl", 30, 5)
	endless := *p
	endless.Rounds = 0
	invalid := *p
	invalid.Steps = 0
	for _, c := range []struct {
		plan    *plan.Plan
		devices []objective.Objective
		want    string
	}{
		{p, nil, "fleet: 0 devices: give 1 to 16777216"},
		{p, []objective.Objective{nil}, "device 0 is nil"},
		{p, objectives(bowls(2, 29)), "29 parameters"},
		{&endless, objectives(bowls(2, 30)), "rounds = 0"},
		{&invalid, objectives(bowls(2, 30)), "steps = 0"},
	} {
		r, err := fleet.Run(t.Context(), c.plan, c.devices, fleet.Options{})
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	// Only a client detects that an objective has no loss.
	if _, err := fleet.Run(t.Context(), p, []objective.Objective{lossless{}}, fleet.Options{}); err ==
		nil || !strings.Contains(err.Error(), "device 0") {
		t.Errorf("an objective without a loss: %v", err)
	}
}

type lossless struct{}

func (lossless) Dim() int { return 30 }

func BenchmarkRun(b *testing.B) {
	p := newPlan(b, "decomfl", 100, uint64(b.N))
	b.ResetTimer()
	if _, err := fleet.Run(b.Context(), p, objectives(bowls(10, 100)), fleet.Options{}); err != nil {
		b.Fatal(err)
	}
}
