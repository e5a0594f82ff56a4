package main

import (
	"math"
	"slices"
	"testing"
)

// Inputs are the same on every device that had the same readings, whatever preceded them.
func TestNormalization(t *testing.T) {
	lines := []string{"model = period=6h lags=3 ahead=2", "window = 64 least=1"}
	a, b := newStation(configOf(t, lines...)), newStation(configOf(t, lines...))
	put(a, 1000, 30, 22, 24, 22.5, 21, 20, 25) // slot 1006 has 25
	put(b, 900, 5, 5, 5, 5)
	put(b, 1000, 30, 22, 24, 22.5, 21, 20, 25)
	got, other := make([]float32, a.inputs()), make([]float32, b.inputs())
	if !a.see(1006, got) || !b.see(1006, other) || !slices.Equal(got, other) {
		t.Fatalf("inputs %v and %v, want the same", got, other)
	}
	turn := 2 * math.Pi * float64(1006%4) / 4
	want := []float32{
		(25 - 20) / 5.0, // center, scale
		8, 8,            // 5/0.5 and 4/0.5, limited
		(21 - 24) / 0.5, 0, // yesterday, from 1002 to 1004; a week ago is unknown
		float32(math.Sin(turn)), float32(math.Cos(turn)),
	}
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-6 {
			t.Errorf("input %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestExamplesHaveWhatCameAhead(t *testing.T) {
	s := newStation(configOf(t, "model = lags=2 ahead=3", "window = 64 least=1"))
	put(s, 1000, 20, 20.5, math.NaN(), 21, 19.5)
	e := s.newExample()
	for slot, want := range map[int64]float32{1000: 2, 1001: -2} {
		if !s.fill(slot, e) || e.changes[0] != want {
			t.Errorf("slot %d: change %v, want %v", slot, e.changes[0], want)
		}
	}
	if s.fill(1002, e) || s.fill(999, e) {
		t.Error("got an example for a slot without readings")
	}
}

// No training example knows a held-out reading.
func TestHeldOutIsNotTrainedOn(t *testing.T) {
	s := filled(t, 4)
	from, to := s.trainingSlots()
	_, held, end := s.split()
	if reach := to - 1 + int64(s.cfg.Ahead); reach >= held {
		t.Errorf("training reaches to slot %d, held out begins with %d", reach, held)
	}
	if to <= from || end <= held {
		t.Errorf("train on %d to %d, hold out %d to %d: want some of both", from, to, held, end)
	}
}

// A device that lacks a channel takes part with the others.
func TestMissingChannel(t *testing.T) {
	cfg := configOf(t, "channel = humidity center=50 scale=10", "window = 64 least=1")
	s := newStation(cfg)
	for i := range 40 {
		s.add(reading{s.window.time(int64(i)), []float64{20 + float64(i%5), math.NaN()}})
	}
	o := newLoss(s)
	loss, err := o.Loss(t.Context(), make([]float32, o.Dim()), batchOf(8))
	if err != nil || math.IsNaN(loss) || loss == 0 {
		t.Errorf("loss %v, error %v", loss, err)
	}
}

// A device whose sensor never answered has slots but no examples, so it does not join.
func TestMissingReadingsAreNoExamples(t *testing.T) {
	s := newStation(configOf(t, "window = 64 least=1", "model = lags=2 ahead=2"))
	for i := range 20 {
		put(s, int64(i), math.NaN())
	}
	if n := s.examples(); n != 0 {
		t.Errorf("got %d examples without readings", n)
	}
	put(s, 100, 1, math.NaN(), 2, 3, 4)
	want, e := 0, s.newExample()
	for slot, to := s.trainingSlots(); slot < to; slot++ {
		if s.fill(slot, e) {
			want++
		}
	}
	if n := s.examples(); n != want || n == 0 {
		t.Errorf("%d examples, want %d", n, want)
	}
}

// A reading that does not fit a float32 is missing; otherwise every loss with it would be
// NaN.
func TestHugeReadings(t *testing.T) {
	s := newStation(configOf(t, "window = 64 least=1", "model = lags=3 ahead=2"))
	put(s, 100, 20, 1e300, 1e300, -1e300, 20, 21, 20, 21)
	o := newLoss(s)
	if got := loss(t, o, make([]float32, o.Dim()), batchOf(0)); math.IsNaN(got) {
		t.Error("the loss is NaN")
	}
}
