package cma

import (
	"math"
	"math/rand/v2"
	"testing"
)

// records plays rounds of the rule: devices evaluate lambda candidates whose losses differ by
// deviation, each with noise, and one of them twice.
func records(r *noise, rng *rand.Rand, rounds int, devices int, deviation, noise float64) {
	const least = 9
	for range rounds {
		lambda := int(within(r.lambda, least, 64*least))
		scalars, again := make([]float32, lambda), make([]float64, devices)
		for i := range scalars {
			scalars[i] = float32(deviation*rng.NormFloat64() +
				noise*rng.NormFloat64()/math.Sqrt(float64(devices)))
		}
		for i := range again {
			again[i] = noise * (rng.NormFloat64() - rng.NormFloat64())
		}
		r.follow(scalars, again, least, 64*least)
	}
}

// e is the variance of a mean of losses, whose noise devices see only in pairs of their own.
func TestNoiseIsMeasured(t *testing.T) {
	for _, devices := range []int{1, 10} {
		r := noise{}
		records(&r, rand.New(rand.NewPCG(1, 2)), 2000, devices, 1, 0.1)
		if want := 0.01 / float64(devices); !(math.Abs(r.e/want-1) < 0.5) {
			t.Errorf("%d devices: e is %v, want about %v", devices, r.e, want)
		}
		if math.Abs(r.s-1) > 0.5 {
			t.Errorf("%d devices: s is %v, want about 1", devices, r.s)
		}
	}
}

// Candidates become more while noise hides what they differ by, up to 64 times as many, and fewer
// where it does not.
func TestCandidatesFollowNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	r := noise{}
	records(&r, rng, 60, 1, 0.1, 1)
	if r.lambda != 576 || r.drowned == 0 {
		t.Errorf("in noise: %v candidates, %v records at the most", r.lambda, r.drowned)
	}
	records(&r, rng, 120, 1, 100, 1)
	if r.lambda != 9 || r.drowned != 0 {
		t.Errorf("after the noise: %v candidates, %v records at the most", r.lambda, r.drowned)
	}
	r = noise{}
	for _, want := range []float64{9 * 1.1, 9 * 1.1 * 1.1, 9 * 1.1 * 1.1 / math.Sqrt(1.1)} {
		scalars, again := []float32{0, 1, 2}, []float64{10}
		if want < r.lambda {
			scalars[0] = 1000
		}
		if r.follow(scalars, again, 9, 576); math.Abs(r.lambda-want) > 1e-9 {
			t.Errorf("%v candidates, want %v", r.lambda, want)
		}
	}
}

// The first round tells whether losses have noise at all. A round without second losses tells
// nothing.
func TestExact(t *testing.T) {
	r := noise{}
	r.follow([]float32{0, 1, 2}, nil, 9, 576)
	if r.exact() || r != (noise{}) {
		t.Errorf("without second losses: %+v", r)
	}
	r.follow([]float32{0, 1, 2}, []float64{0, 0}, 9, 576)
	if !r.exact() {
		t.Errorf("equal losses on all devices: %+v", r)
	}
	r = noise{}
	r.follow([]float32{0, 1, 2}, []float64{0, 1e-9}, 9, 576)
	if r.exact() {
		t.Errorf("one device has noise: %+v", r)
	}
}

// TestErrorOfOneLiar: among three devices or more, one whose losses are random does not set how
// noisy the mean is.
func TestErrorOfOneLiar(t *testing.T) {
	for _, c := range []struct {
		again []float64
		most  float64
	}{
		{[]float64{0, 0, 1e6}, 0},
		{[]float64{0.1, -0.1, 1e6}, 0.04},
		{[]float64{0.1, -0.1, 0.1, 0.1, -1e6}, 0.02},
	} {
		if e := errorOf(c.again); e > c.most {
			t.Errorf("%v: %v, want at most %v", c.again, e, c.most)
		}
	}
	if e := errorOf([]float64{1, 3}); e != 10.0/8 {
		t.Errorf("two devices: %v, want the mean of both", e)
	}
}
