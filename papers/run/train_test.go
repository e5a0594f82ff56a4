package run

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// digits returns the Config of a small training with 8 clients, of which 3 take part in a round.
func digits(t *testing.T, rounds uint64) Config {
	t.Helper()
	train, test := data.Digits(400, 1), data.Digits(100, 1<<40)
	mean, std := train.Moments()
	model := softmax.New(train, mean, std)
	shares, err := data.IID(train.Len(), 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Plan("decomfl", "digits", 7, model.Dim(), 8, 3)
	if err != nil {
		t.Fatal(err)
	}
	p.Rounds, p.Batch, p.Perturbations, p.Difference, p.StepSize = rounds, 16, 4, plan.Central, 1e-3
	return Config{
		Name: "digits", Seed: 7, Task: Classifier(model, softmax.New(test, mean, std), 2),
		Plan: p, Shares: shares, Order: Walk,
		Measure: func(round uint64) bool { return round%10 == 0 || round == rounds },
	}
}

func mustTrain(t *testing.T, cfg Config) *Result {
	t.Helper()
	r, err := Train(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// timeless returns the points without the values that differ from run to run.
func timeless(c *Curve) []Point {
	points := append([]Point(nil), c.Points...)
	for i := range points {
		points[i].Seconds = 0
	}
	return points
}

func TestTrain(t *testing.T) {
	one, two := mustTrain(t, digits(t, 25)), mustTrain(t, digits(t, 25))
	if !reflect.DeepEqual(timeless(one.Curve), timeless(two.Curve)) {
		t.Errorf("two runs of one seed differ:\n%v\n%v", one.Curve.Points, two.Curve.Points)
	}
	c := one.Curve
	if c.Ended != "rounds" || c.Last() != 25 || len(c.Measured()) != 3 {
		t.Errorf("ended %q after round %d with %d measured, want rounds, 25, 3",
			c.Ended, c.Last(), len(c.Measured()))
	}
	if first, last := c.At(TestLoss, 10), c.At(TestLoss, 25); !(last < first && first < math.Log(10)) {
		t.Errorf("test loss %v after round 10, %v after 25: want it to fall below log 10", first, last)
	}
	if !math.IsNaN(c.At(TestLoss, 11)) || !math.IsNaN(c.At("nonsense", 10)) {
		t.Error("a round that was not measured has a value")
	}
	last := c.Points[24]
	if want := uint64(25 * 3 * 2 * 4); last.Queries != want {
		t.Errorf("%d queries, want %d", last.Queries, want)
	}
	if want := (Traffic{Messages: 75, Bytes: one.Totals.Up.Bytes,
		Scalars: 75 * 4}); one.Totals.Up != want {
		t.Errorf("up %+v, want %+v", one.Totals.Up, want)
	}
	// Each client receives the announcements of 25 rounds and of the end.
	if down := one.Totals.Down; down.Messages != 26*8 || down.Scalars != 25*8*4 {
		t.Errorf("down %+v, want %d messages with %d scalars", down, 26*8, 25*8*4)
	}
}

// TestEverything checks that with Everything the bytes include those by which the clients join,
// once.
func TestEverything(t *testing.T) {
	cfg := digits(t, 6)
	cfg.Everything, cfg.Dir = true, t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Progress = func(c *Curve) {
		if c.Last() == 3 {
			cancel()
		}
	}
	r, err := Train(ctx, cfg)
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Curve.Points) < 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	before := r.Curve.Points[len(r.Curve.Points)-1]
	cfg.Progress = nil
	whole := mustTrain(t, cfg)
	last := whole.Curve.Points[5]
	if want := before.Bytes + whole.Totals.Up.Bytes; last.Bytes < want ||
		last.Bytes > want+whole.Totals.Down.Bytes {
		t.Errorf("after a stop %d bytes, before %d, then %+v", last.Bytes, before.Bytes, whole.Totals)
	}
	cfg.Dir = ""
	one := mustTrain(t, cfg)
	cfg.Everything = false
	bare := mustTrain(t, cfg).Curve.Points[0].Bytes
	first, end, sum := one.Curve.Points[0], one.Curve.Points[5], one.Totals
	if first.Bytes <= bare || end.Bytes > sum.Up.Bytes+sum.Down.Bytes+sum.Other.Bytes {
		t.Errorf("%d bytes after round 1, %d without joins; at the end %d of %+v",
			first.Bytes, bare, end.Bytes, sum)
	}
}

// TestResume checks that a run that stopped several times has the same curve as a run without a
// stop.
func TestResume(t *testing.T) {
	whole := mustTrain(t, digits(t, 30))
	cfg := digits(t, 30)
	cfg.Dir = t.TempDir()
	var got *Result
	stops := 0
	for got == nil || got.Curve.Ended == "" {
		ctx, cancel := context.WithCancel(t.Context())
		rounds := 0
		cfg.Progress = func(*Curve) {
			if rounds++; rounds == 7 {
				cancel()
			}
		}
		var err error
		if got, err = Train(ctx, cfg); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
		if stops++; stops > 30 {
			t.Fatal("the run has not ended")
		}
	}
	if stops < 2 {
		t.Fatal("the run was never stopped")
	}
	a, b := timeless(whole.Curve), timeless(got.Curve)
	for i := range a {
		// A continued run lacks the values of a round that the process before did not save, see Point.
		a[i].TrainLoss, b[i].TrainLoss, a[i].Bytes, b[i].Bytes = 0, 0, 0, 0
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("after %d stops:\n%v\nwithout one:\n%v", stops, b, a)
	}
	if !reflect.DeepEqual(whole.Params, got.Params) {
		t.Error("the parameters differ from those of a run that was not stopped")
	}
	if err := os.Remove(filepath.Join(cfg.Dir, "rounds.csv")); err != nil {
		t.Fatal(err)
	}
	again := mustTrain(t, cfg) // all from the log
	for i, p := range again.Curve.Points {
		if p.Queries != a[i].Queries || !reflect.DeepEqual(p.Values, a[i].Values) ||
			!math.IsNaN(p.TrainLoss) {
			t.Errorf("from the log: %+v, want the queries and values of %+v", p, a[i])
		}
	}
	if again.Curve.Ended != "rounds" || again.Totals.Up.Messages != 0 {
		t.Errorf("ended %q; an ended run was run again: %+v", again.Curve.Ended, again.Totals)
	}
}

// TestDiverged checks that a run that the coordinator ended as diverged ends without an error.
func TestDiverged(t *testing.T) {
	cfg := digits(t, 500)
	cfg.Plan.StepSize = 1
	r := mustTrain(t, cfg)
	if !strings.HasPrefix(r.Curve.Ended, "diverged: ") || r.Curve.Last() >= 500 {
		t.Errorf("ended %q after round %d, want diverged early", r.Curve.Ended, r.Curve.Last())
	}
}

// TestPaused checks that the training ends if the run pauses, because nobody resumes the run.
func TestPaused(t *testing.T) {
	cfg := digits(t, 5)
	cfg.Task.Loss = func([]float32, []int) float64 { return math.NaN() }
	r := mustTrain(t, cfg)
	if !strings.HasPrefix(r.Curve.Ended, "paused: ") ||
		!strings.Contains(r.Curve.Ended, "loss failed") {
		t.Errorf("ended %q, want paused and why", r.Curve.Ended)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := digits(t, 1_000_000)
	cfg.Progress = func(c *Curve) {
		if c.Last() == 3 {
			cancel()
		}
	}
	r, err := Train(ctx, cfg)
	if !errors.Is(err, context.Canceled) || r == nil || r.Curve.Last() < 3 || r.Curve.Ended != "" {
		t.Errorf("got %+v and %v, want what there is and canceled", r, err)
	}
}

func TestNull(t *testing.T) {
	cfg := digits(t, 8)
	cfg.Task = cfg.Task.Null()
	r := mustTrain(t, cfg)
	if r.Curve.RoundTime() <= 0 {
		t.Errorf("round time %v", r.Curve.RoundTime())
	}
	for i, x := range r.Params {
		if x != 0 {
			t.Fatalf("x[%d] = %v, want it unmoved", i, x)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		field  string
		change func(*Config)
	}{
		{"members", func(c *Config) { c.Shares = c.Shares[1:] }},
		{"dim", func(c *Config) { c.Task.Dim++ }},
		{"mu", func(c *Config) { c.Plan.Mu = 0 }},
	} {
		cfg := digits(t, 1)
		test.change(&cfg)
		_, err := Train(t.Context(), cfg)
		if fault := (*plan.Error)(nil); !errors.As(err, &fault) || fault.Field != test.field {
			t.Errorf("%s: got %v", test.field, err)
		}
	}
}
