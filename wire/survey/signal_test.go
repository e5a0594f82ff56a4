package survey_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire/survey"
)

// rounded returns losses near 2.3 with so many significant bits.
func rounded(bits int) (losses []float64) {
	for i := range 12 {
		unit := math.Ldexp(1, 2-bits)
		losses = append(losses, math.Round((2.3+0.11*float64(i*i%7))/unit)*unit)
	}
	return losses
}

// TestBits: losses in 16 bits are told from finer ones, from counts, and from a level loss.
func TestBits(t *testing.T) {
	count := []float64{131, 133, 135, 136, 150}
	for _, c := range []struct {
		name   string
		losses []float64
		want   int
	}{
		{"bfloat16", rounded(8), 8}, {"float16", rounded(11), 11}, {"float32", rounded(24), 0},
		{"bfloat16 beyond its range", append(rounded(8), math.Inf(1), math.NaN(), 0), 8},
		{"coarser than bfloat16", rounded(5), 0},
		{"a count", count, 0}, {"few values", rounded(8)[:3], 0}, {"none", nil, 0},
	} {
		if got := survey.Bits(c.losses); got != c.want {
			t.Errorf("%s: %d bits, want %d", c.name, got, c.want)
		}
	}
	if got := survey.Coarse([]int{8, 0, 8}); got != 8 {
		t.Errorf("two of three devices: %d", got)
	}
	for _, devices := range [][]int{{8, 0, 11, 0}, {8, 0, 8, 0}, {8, 8, 11, 11}} {
		if got := survey.Coarse(devices); got != 0 {
			t.Errorf("no more than half of devices of %v bits: %d", devices, got)
		}
	}
}

// TestLossesOf: an answer about mu has the losses at x and on both sides of it.
func TestLossesOf(t *testing.T) {
	distances := survey.Distances()
	answer, want := make([]float32, survey.Mu.Values()), []float64{3}
	answer[0] = 3
	for i := range distances {
		plus, minus := 3+float64(i+1)/8, 3-float64(i*i)/4
		answer[1+i] = float32((plus - minus) / 2)
		answer[1+len(distances)+i] = float32((plus+minus)/2 - 3)
		want = append(want, plus, minus)
	}
	if got := survey.LossesOf(answer); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSignal: the price of an error, the warning below 3, and the remedy of losses of 16 bits.
func TestSignal(t *testing.T) {
	for _, c := range []struct {
		odd, wrong  float64
		bits        int
		price, warn string
		vain        bool
	}{
		{1, 0, 0, "above 100", "", false},
		{1, 0.1, 8, "10, which takes 1.01 times the losses", "", false},
		{0.006, 0.026, 0, "0.23, which takes 19.8 times the losses",
			"of a difference of 0.006, 0.026 is error: runs need 20 times the losses. If", false},
		{0.006, 0.026, 8, "0.23, which takes 19.8 times the losses",
			"losses. The loss moves in steps of about 2^-8 of its size, as if computed in 16 bits", true},
		{2, 1, 8, "2, which takes 1.25 times the losses", "float32", false},
		{0.01, 13, 0, "0.00077, which takes 1690000 times the losses", "1700000 times", false},
	} {
		r := survey.Result{Bits: c.bits}
		r.SetSignal(c.odd, c.wrong)
		if got := r.Price(); got != c.price {
			t.Errorf("%g of %g: %q, want %q", c.wrong, c.odd, got, c.price)
		}
		if (r.Warning == "") != (c.warn == "") || !strings.Contains(r.Warning, c.warn) ||
			r.Vain() != c.vain {
			t.Errorf("%g of %g: warning %q, want %q; vain %v", c.wrong, c.odd, r.Warning, c.warn,
				r.Vain())
		}
	}
	if r := (survey.Result{Why: "so"}); r.Price() != "" || r.Reason() != "so" || r.Vain() {
		t.Errorf("without a signal: %q, %q", r.Price(), r.Reason())
	}
}
