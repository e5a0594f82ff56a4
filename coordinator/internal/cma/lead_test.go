package cma

import (
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// TestCompare: people, and the watch, see the loss of the candidate that is best for all devices.
func TestCompare(t *testing.T) {
	at := &runlog.Position{Plan: plan.Plan{ProbeFields: plan.ProbeFields{Perturbations: 3}}}
	means := []float32{5, 2, 3}
	body := &wire.Round{Perturbations: 3, Terms: []wire.Term{
		{Scalars: at.Plan.TermPrecision().Append(nil, means...)}}}
	l := New(at)
	l.Open(3)
	l.Add([]float32{8, 0, 6}, nil)
	l.Add([]float32{2, 4, 0}, nil)
	losses, want := []float32{1, 10}, []float32{1 + 0 + 6.5, 10 + 4 + 6.5}
	if by, luck := l.Compare(body, losses); by != 2 || luck != 1 || !slices.Equal(losses, want) {
		t.Errorf("losses %v, which rise by %v, luck %v; want %v, 2 and 1", losses, by, luck, want)
	}
	for by, losses := range map[float32][]float32{0: nil, 2: {8}} { // of no device, and of a sum
		l := New(at)
		l.Open(3)
		if got, luck := l.Compare(body, losses); got != by || luck != 1 || by > 0 && losses[0] != 10 {
			t.Errorf("rise by %v to %v, luck %v; want %v", got, losses, luck, by)
		}
	}
}

// TestCompareOfUnlikes: where the mean falls while the median rises, the watch sees no rise. One
// device that lies changes neither that, nor a rise.
func TestCompareOfUnlikes(t *testing.T) {
	const huge = math.MaxFloat32
	at := &runlog.Position{Plan: plan.Plan{ProbeFields: plan.ProbeFields{Perturbations: 1}}}
	at.Plan.ClaimBound = 8
	body := &wire.Round{Perturbations: 1, Terms: []wire.Term{
		{Scalars: at.Plan.TermPrecision().Append(nil, 0)}}}
	for _, c := range []struct {
		name        string
		losses      []float32
		shown, seen float64 // the mean that people see, and the median that the watch sees
	}{
		{"the first round", []float32{1, 1, 1, 1, 1, 100, 100}, 205.0 / 7, 205.0 / 7},
		{"a better one", []float32{16, 16, 16, 16, 16, 49, 49}, 178.0 / 7, 178.0 / 7},
		{"one says that it is bad", []float32{16, 16, 16, 16, huge, 49, 49}, 16 + 330.0/7, 16 + 198.0/7},
		{"a far worse one", []float32{300, 300, 300, 300, 300, 999, 999}, 300 + 1398.0/7,
			300 + 198.0/7},
		{"one says that it is not", []float32{300, 300, 300, 300, -huge, 999, 999}, 300 - 4194.0/7,
			300 + 198.0/7},
	} {
		l := New(at)
		l.begun, l.above = true, 198.0/7
		l.Open(1)
		for range c.losses {
			l.Add([]float32{0}, nil)
		}
		var reports loss.Mean
		for _, v := range c.losses {
			reports.Add(v, 1)
		}
		rise, _ := l.Compare(body, c.losses)
		shown := float64(reports.Over(7, true) + rise)
		if seen := float64(loss.Median(c.losses)); math.Abs(seen-c.seen) > 1e-4 ||
			math.Abs(shown-c.shown) > 1e-3 {
			t.Errorf("%s: %.4g is shown, want %.4g; the watch sees %.4g, want %.4g", c.name, shown,
				c.shown, seen, c.seen)
		}
	}
}

// TestDrowned: noise that hides all differences pauses the run.
func TestDrowned(t *testing.T) {
	l := New(&runlog.Position{})
	l.noise.drowned = patience
	const want = "noise hid what candidates differ by in 50 records, with 0 candidates: the model " +
		"is as good as such losses can tell; `zofl stop`, or more samples a loss and `zofl resume`"
	if got := l.Request().Pause; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if again := l.Request().Pause; again != "" {
		t.Errorf("it pauses again: %q", again)
	}
}

// TestNoWiderOnALine: with one parameter the first sigma stays, however far the candidates' losses
// spread.
func TestNoWiderOnALine(t *testing.T) {
	const sigma = 0.125
	for dim, want := range map[uint64]float64{1: 0, 2: widest * sigma} {
		at := &runlog.Position{Plan: plan.Plan{ProbeFields: plan.ProbeFields{Perturbations: 4}}}
		at.Plan.Dim, at.Plan.StepSize, at.Plan.MaxScalar = dim, sigma, 1e6
		body := &wire.Round{Round: 1, Perturbations: 4, Terms: []wire.Term{
			{Scalars: at.Plan.TermPrecision().Append(nil, 0, 1, 2, 3)}}}
		l := New(at)
		l.Bent(Bend{Curve: 2})
		l.Next(at, body, nil)
		if l.wider != want {
			t.Errorf("%d parameters: sigma %v, want %v", dim, l.wider, want)
		}
	}
}
