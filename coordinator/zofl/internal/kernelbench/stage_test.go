package kernelbench

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// Medians are of the rounds' ratios, not of the speeds.
func TestSeries(t *testing.T) {
	s := series{{10, 1}, {20, 10}, {60, 3}}
	if got := s.speed(0); got != 20 {
		t.Errorf("speed %v, want 20", got)
	}
	if got := s.ratio(0, 1); got != 10 { // of 10, 2, 20
		t.Errorf("ratio %v, want 10", got)
	}
}

func testStage(ctx context.Context, budget time.Duration) (*stage, *[]float64) {
	var done []float64
	return &stage{ctx, "test", time.Now(), budget,
		func(_ string, d float64) { done = append(done, d) }}, &done
}

// interleave finishes a round even if the round takes longer than the stage's time, and runs the
// tasks in turn.
func TestInterleave(t *testing.T) {
	var ran []string
	note := func(name string) func() error {
		return func() error { ran = append(ran, name); return nil }
	}
	s, done := testStage(t.Context(), 1)
	all, err := s.interleave(func() { note("before")() }, task{1, note("a")}, task{1, note("b")})
	if err != nil || len(all) != 1 || len(all[0]) != 2 {
		t.Fatalf("got %v, %v, want a round of two speeds", all, err)
	}
	if want := []string{"before", "a", "b"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	if want := []float64{1}; !slices.Equal(*done, want) {
		t.Errorf("progress %v, want %v", *done, want)
	}

	ran = nil
	s, _ = testStage(t.Context(), time.Millisecond)
	all, err = s.interleave(nil, task{1, note("a")}, task{1, note("b")})
	if err != nil || len(ran) != 2*len(all) {
		t.Fatalf("%d tasks in %d rounds, %v", len(ran), len(all), err)
	}
	for i, name := range ran {
		if want := []string{"a", "b"}[i%2]; name != want {
			t.Fatalf("task %d was %s, want %s", i, name, want)
		}
	}
}

func TestInterleaveStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, _ := testStage(ctx, time.Hour)
	rounds := 0
	_, err := s.interleave(nil, task{1, func() error {
		if rounds++; rounds == 3 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || rounds != 3 {
		t.Errorf("%v after %d rounds, want %v after 3", err, rounds, context.Canceled)
	}
	broken := errors.New("broken")
	s, _ = testStage(t.Context(), time.Hour)
	if _, err := s.interleave(nil, task{1, func() error { return broken }}); !errors.Is(err,
		broken) {
		t.Errorf("got %v, want the task's error", err)
	}
}
