package tune_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

const (
	features = 12
	classes  = 4
	dim      = classes * (features + 1)
)

// computes skips a test with -short. Such a test tunes many times, and the race detector covers the
// same code in TestPresets and TestStop.
func computes(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it tunes many times")
	}
}

// A softmax is multinomial logistic regression on the samples of one device. A softmax counts its
// evaluations.
type softmax struct {
	x     [][]float64
	label []int
	asked atomic.Uint64
}

// task returns devices whose samples lie around centers that all devices share.
func task(devices int) (list []*softmax) {
	rng := rand.New(rand.NewPCG(1, 1))
	var centers [classes][features]float64
	for c := range centers {
		for k := range centers[c] {
			centers[c][k] = rng.NormFloat64()
		}
	}
	for range devices {
		d := &softmax{}
		for range 60 {
			c, x := rng.IntN(classes), make([]float64, features)
			for k := range x {
				x[k] = centers[c][k] + rng.NormFloat64()
			}
			d.x, d.label = append(d.x, x), append(d.label, c)
		}
		list = append(list, d)
	}
	return list
}

func (s *softmax) Dim() int { return dim }

func (s *softmax) Samples() int { return len(s.x) }

func (s *softmax) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	s.asked.Add(1)
	rng, n, sum := rand.New(rand.NewPCG(b.Seed, 2)), b.Size, 0.0
	if n == 0 {
		n = len(s.x)
	}
	for i := range n {
		if b.Size > 0 {
			i = rng.IntN(len(s.x))
		}
		sum += s.entropy(x, i)
	}
	return sum / float64(n), nil
}

func (s *softmax) entropy(x []float32, i int) float64 {
	var logits [classes]float64
	most := math.Inf(-1)
	for c := range logits {
		logits[c] = float64(x[classes*features+c])
		for k, v := range s.x[i] {
			logits[c] += float64(float64(x[c*features+k]) * v)
		}
		most = max(most, logits[c])
	}
	sum := 0.0
	for _, z := range logits {
		sum += math.Exp(z - most)
	}
	return math.Log(sum) + most - logits[s.label[i]]
}

func objectives(list []*softmax) (out []objective.Objective) {
	for _, d := range list {
		out = append(out, d)
	}
	return out
}

func asked(list []*softmax) (n uint64) {
	for _, d := range list {
		n += d.asked.Load()
	}
	return n
}

func testPlan(t testing.TB, name string, settings func(*plan.Plan)) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "run", dim)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Batch = slices.Repeat(plan.Bytes{7}, 32), 16
	if p.Steps > 1 {
		p.Steps, p.Perturbations = 3, 10
	}
	if settings != nil {
		settings(p)
	}
	return p
}

// lossAfter returns the mean loss on all data after some rounds, +Inf if they diverge.
func lossAfter(t *testing.T, p *plan.Plan, rounds uint64) float64 {
	t.Helper()
	devices := task(5)
	r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Rounds: rounds})
	if errors.Is(err, fleet.ErrDiverged) {
		return math.Inf(1)
	} else if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, d := range devices {
		loss, _ := d.Loss(t.Context(), r.Params, objective.Batch{})
		sum += loss / float64(len(devices))
	}
	return sum
}

func stepOf(p *plan.Plan, field string) *float32 {
	if field == "server_step" {
		return &p.ServerStep
	}
	return &p.StepSize
}
