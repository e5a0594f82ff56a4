package ideas

import (
	"math"
	"testing"
)

// TestFall: what is left of the step at the start, in the middle, after three quarters and at the
// end of 60 rounds.
func TestFall(t *testing.T) {
	late := (1 - math.Sqrt(0.5)) / 2 // of a cosine
	for f, want := range map[Fall][4]float64{
		Cosine: {1, 0.525, 0.05 + 0.95*late, 0.05}, ToZero: {1, 0.5, late, 0},
		Linear: {1, 0.5, 0.25, 0}, Auto: {1, math.Sqrt(0.5), 0.5 / math.Sqrt(2.5), 0},
	} {
		for i, part := range []float64{0, 0.5, 0.75, 1} {
			if got := f.share(part, int(60*part)); math.Abs(got-want[i]) > 1e-12 {
				t.Errorf("fall %d after %v of the budget: %v, want %v", f, part, got, want[i])
			}
		}
	}
}

// TestLate: momentum changes at two thirds of the budget, and the bias is corrected for both.
func TestLate(t *testing.T) {
	tr := newTrial(config(Arm{Finish: Finish{Late: 0.5}}))
	for tr.used < tr.Budget {
		before, want := tr.b1, 0.9
		if tr.used >= tr.Budget*2/3 {
			want = 0.5
		}
		if tr.round(); math.Abs(tr.b1/before-want) > 1e-12 {
			t.Fatalf("after round %d: %v of the bias is left, want %v", tr.n, tr.b1/before, want)
		}
	}
}

// TestDecay: a step shortens x by its decay, where there is no gradient.
func TestDecay(t *testing.T) {
	for given, want := range map[float64]float32{0: 0.985, 0.1: 0.95} {
		tr := newTrial(config(Arm{Finish: Finish{Decay: given}}))
		tr.v, tr.x[0] = 1, 1
		tr.move(0.5, make([]float32, len(tr.x)))
		if tr.x[0] != want {
			t.Errorf("decay %v: x is %v, want %v", given, tr.x[0], want)
		}
	}
}

// TestAverage: what is measured follows x, by as much as a round spends of the average's part.
func TestAverage(t *testing.T) {
	tr := newTrial(config(Arm{Finish: Finish{Average: 0.5}}))
	tr.x[0] = 1
	tr.average(0.1) // starts at x
	tr.x[0] = 2
	tr.average(0.1)
	if got := tr.model()[0]; math.Abs(float64(got)-1.2) > 1e-6 {
		t.Errorf("the mean is %v, want 1.2", got)
	}
	tr.average(1)
	if tr.model()[0] != 2 {
		t.Errorf("after all of its part the mean is %v, want 2", tr.model()[0])
	}
}
