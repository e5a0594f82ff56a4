package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// tune runs a method on a small fleet.
func tune(t *testing.T, m Method, plates []Plate, experiments uint64) *Outcome {
	t.Helper()
	plan, err := m.Plan(len(plates), experiments, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Tune(t.Context(), plan, plates, 1)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFleetImproves(t *testing.T) {
	plates := Plates(4, 1)
	for _, m := range methods {
		t.Run(m.Name, func(t *testing.T) {
			o := tune(t, m, plates, 60)
			losses, err := o.Losses(plates) // fails if a point is outside a box
			if err != nil {
				t.Fatal(err)
			}
			first, last := losses[0], losses[len(losses)-1]
			if rounds := (60 + o.PerRound - 1) / o.PerRound; uint64(len(losses)) != rounds+1 ||
				o.Experiments != rounds*o.PerRound {
				t.Errorf("%d points and %d experiments, want those of %d rounds of %d",
					len(losses), o.Experiments, rounds, o.PerRound)
			}
			if !(last < 0.85*first) {
				t.Errorf("loss %.2f after %.2f, want 15 %% less: %.2f", last, first, losses)
			}
			if len(o.Digests) != len(plates) || len(slices.Compact(o.Digests)) != 1 {
				t.Errorf("digests %x, want one of %d devices", o.Digests, len(plates))
			}
		})
	}
}

// The same seed gives the same run, whichever device was faster.
func TestRepeats(t *testing.T) {
	plates := Plates(3, 2)
	a, b := tune(t, methods[0], plates, 26), tune(t, methods[0], plates, 26)
	if a.Digests[0] != b.Digests[0] {
		t.Errorf("two runs of one seed ended with %v and %v", a.Points, b.Points)
	}
}

// A device tries nothing outside its boxes, whatever the plan says.
func TestRefusesOutside(t *testing.T) {
	for i, box := range Boxes() {
		for _, v := range []float32{box.Low - 0.01, box.High + 0.01, float32(math.NaN())} {
			x := Vector(SIMC(Nominal))
			x[i] = v
			if g, err := GainsOf(x); err == nil {
				t.Errorf("%s = %v made %+v, want an error", knobs[i].name, v, g)
			}
		}
	}
	p, err := methods[1].Plan(1, 13, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Boxes {
		p.Boxes[i] = plan.Box{Low: -20, High: 20}
	}
	p.Radius = 1
	if o, err := Tune(t.Context(), p, Plates(1, 1), 1); err == nil ||
		!strings.Contains(err.Error(), "outside its box") {
		t.Errorf("a plan with other boxes than the device's: got %v, error %v, want an error "+
			"about a box", o, err)
	}
}

func TestVectorRoundTrip(t *testing.T) {
	want := SIMC(Nominal)
	got, err := GainsOf(Vector(want))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range knobs {
		if a, b := *k.of(&got), *k.of(&want); math.Abs(a-b) > 1e-6*b {
			t.Errorf("%s is %v, want %v", k.name, a, b)
		}
	}
}
