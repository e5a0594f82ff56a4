package objective

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// TestDigitsByClass: the losses by class, slow or not, sum to the loss of the minibatch.
func TestDigitsByClass(t *testing.T) {
	digits, err := New("digits", "d1", 0)
	if err != nil {
		t.Fatal(err)
	}
	x, batch := make([]float32, digits.Dim()), objective.Batch{Size: 50, Seed: 7}
	for i := range x {
		x[i] = float32(i%5) / 100
	}
	loss, err := digits.Loss(t.Context(), x, batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []objective.Flat{digits, Slow(digits, time.Nanosecond)} {
		classed, ok := o.(objective.Classed)
		if !ok {
			t.Fatalf("%T has no losses by class", o)
		}
		sums, counts := make([]float64, 10), make([]int, 10)
		if err := classed.ClassLosses(t.Context(), x, batch, sums, counts); err != nil {
			t.Fatal(err)
		}
		sum, n, all := 0.0, 0, 0
		for c, v := range sums {
			sum, n, all = sum+v, n+counts[c], all+classed.ClassCounts()[c]
		}
		if math.Abs(sum/50-loss) > 1e-9*loss || n != 50 || all != trainDigits {
			t.Errorf("%T: loss %v of %d of %d, want %v", o, sum/50, n, all, loss)
		}
		err := classed.ClassLosses(t.Context(), x, batch, make([]float64, 3), make([]int, 3))
		if err == nil {
			t.Errorf("%T has losses of 3 classes", o)
		}
	}
	bowl, err := New("bowl", "d1", 4)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := Slow(bowl, time.Nanosecond).(objective.Classed); ok {
		t.Error("a slow bowl has classes")
	}
}

// TestDigitsOfAnotherSize: the digits allow only one dim, and the error about another dim has a
// remedy.
func TestDigitsOfAnotherSize(t *testing.T) {
	for _, dim := range []int{0, 7850} {
		if _, err := New("digits", "d1", dim); err != nil {
			t.Errorf("%d: %v", dim, err)
		}
	}
	_, err := New("digits", "d1", 500)
	var wrong *plan.Error
	if !errors.As(err, &wrong) || wrong.Field != "dim" || wrong.Value != 500 {
		t.Fatalf("500: %v", err)
	}
	for _, want := range []string{"7850", "leave it out", "--objective"} {
		if !strings.Contains(wrong.Remedy, want) {
			t.Errorf("%q does not say %q", wrong.Remedy, want)
		}
	}
}
