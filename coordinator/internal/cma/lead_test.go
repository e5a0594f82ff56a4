package cma

import (
	"slices"
	"testing"

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
	losses, want := []float32{1, 10}, []float32{1 + 0, 10 + 4}
	if by, luck := l.Compare(body, losses); by != 2 || luck != 1 || !slices.Equal(losses, want) {
		t.Errorf("losses %v, which rise by %v, luck %v; want %v, 2 and 1", losses, by, luck, want)
	}
	for _, losses := range [][]float32{nil, {1, 10}} { // of no device, and of a sum
		l := New(at)
		l.Open(3)
		kept := slices.Clone(losses)
		if by, luck := l.Compare(body, losses); by != 0 || luck != 1 || !slices.Equal(losses, kept) {
			t.Errorf("%v: rise by %v to %v, luck %v", kept, by, losses, luck)
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
