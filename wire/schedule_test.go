package wire_test

import (
	"testing"

	"github.com/zofl/zofl/wire"
)

func TestStepAt(t *testing.T) {
	points := []wire.StepPoint{{Round: 10, Factor: 0.5}, {Round: 100, Factor: 0.25}}
	tests := []struct {
		name  string
		plan  wire.Plan
		round uint64
		want  float32
	}{
		{"constant", wire.Plan{StepSize: 0.1}, 1, 0.1},
		{"constant, late", wire.Plan{StepSize: 0.1}, 1 << 53, 0.1},
		{"before the points", wire.Plan{StepSize: 0.1, StepSchedule: points}, 9, 0.1},
		{"at a point", wire.Plan{StepSize: 0.1, StepSchedule: points}, 10, 0.05},
		{"between points", wire.Plan{StepSize: 0.1, StepSchedule: points}, 99, 0.05},
		{"factors do not multiply", wire.Plan{StepSize: 0.1, StepSchedule: points}, 100, 0.025},
		{"inverse root", wire.Plan{StepSize: 0.1, StepDecay: wire.InverseSqrt}, 4, 0.05},
		{"inverse root of round 0", wire.Plan{StepSize: 0.1, StepDecay: wire.InverseSqrt}, 0, 0.1},
		{"both", wire.Plan{StepSize: 0.1, StepDecay: wire.InverseSqrt, StepSchedule: points}, 100,
			0.0025},
	}
	for _, test := range tests {
		if got := test.plan.StepSizeAt(test.round); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestPerturbationsAt(t *testing.T) {
	p := wire.Plan{Perturbations: 5,
		PerturbationSchedule: []wire.PerturbationPoint{{Round: 3, Perturbations: 20},
			{Round: 7, Perturbations: 10}}}
	for round, want := range map[uint64]uint32{1: 5, 2: 5, 3: 20, 6: 20, 7: 10, 1 << 53: 10} {
		if got := p.PerturbationsAt(round); got != want {
			t.Errorf("round %d: got %d, want %d", round, got, want)
		}
	}
	if got := p.MaxPerturbations(); got != 20 {
		t.Errorf("most: got %d, want 20", got)
	}
}

func TestQueries(t *testing.T) {
	p := wire.Plan{Steps: 3, Difference: wire.Forward}
	if got := p.Queries(10); got != 33 {
		t.Errorf("forward: got %d, want 3*(10+1)", got)
	}
	p.Difference = wire.Central
	if got := p.Queries(10); got != 60 {
		t.Errorf("central: got %d, want 2*3*10", got)
	}
}

func TestLayout(t *testing.T) {
	got := (&wire.Plan{Dim: 9}).Layout()
	if len(got) != 1 || got[0] != (wire.Segment{Name: "all", Len: 9, MuScale: 1, StepScale: 1}) {
		t.Errorf("no segments: got %+v", got)
	}
	p := &wire.Plan{Dim: 9,
		Segments: []wire.Segment{{Name: "a", Len: 4, MuScale: 2},
			{Name: "b", Len: 5, StepScale: 3}}}
	got = p.Layout()
	if len(got) != 2 || got[0].MuScale != 2 || got[0].StepScale != 1 || got[1].MuScale != 1 ||
		got[1].StepScale != 3 {
		t.Errorf("two segments: got %+v", got)
	}
	if p.Segments[0].StepScale != 0 {
		t.Error("Layout changed the plan")
	}
}
