package probe

import (
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// A survey's answer follows the survey's definition, along the device's direction of the record.
// The answer is the same whatever form the objective has.
func TestSurveyOfMu(t *testing.T) {
	plans := map[string]func(p *plan.Plan){
		"shared": func(*plan.Plan) {},
		"own": func(p *plan.Plan) {
			p.Sharing, p.Transport = plan.PerClient, plan.Relay
		},
		"sphere, scaled": func(p *plan.Plan) {
			p.Distribution = plan.Sphere
			p.Segments = []plan.Segment{{Name: "a", Len: 10, MuScale: 0.01}, {Name: "b", Len: 30}}
		},
		"three steps": func(p *plan.Plan) { p.Steps, p.Batch = 3, 7 },
		"two phases":  func(p *plan.Plan) { p.Steps, p.Control = 3, plan.ScaffoldPoint },
		"boxes, vectors": func(p *plan.Plan) {
			p.Transport, p.DenseKeep = plan.DenseVectors, 2
			p.Boxes = []plan.Box{{Low: -1, High: 3}}
		},
	}
	for name, edit := range plans {
		for form, make := range surveyForms {
			o := &surveyed{dim: 40, f: bowl}
			s := newStepper(t, make(o), 1, func(p *plan.Plan) {
				p.MuAuto, p.Mu = 1, 0
				edit(p)
			})
			result, err := s.asks(t, survey.Mu, 3)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			if want := s.muAnswer(3, 0, bowl); !sameBits(result.Scalars, want) {
				t.Errorf("%s, %s: got %v, want %v", name, form, result.Scalars, want)
			}
			if result.Loss != bowl(s.r.Params()) || o.queries != survey.Mu.Values() {
				t.Errorf("%s, %s: loss %v in %d queries", name, form, result.Loss, o.queries)
			}
			want := objective.Batch{N: 2, Step: 65535, Size: int(s.r.Plan().Batch),
				Seed: plan.BatchSeed("bench", "d0", 2, 65535)}
			if slices.ContainsFunc(o.batches, func(b objective.Batch) bool { return b != want }) {
				t.Errorf("%s, %s: minibatches %v, want %v", name, form, o.batches, want)
			}
		}
	}
}

// If the loss has no slope along a direction, a device measures along the next direction, up to the
// eighth. A square of four parameters has no slope along three of eight directions, and a product
// has no slope at zero. Rounding errors of a loss do not count as a slope.
func TestSurveyOfMuAlongLevelDirections(t *testing.T) {
	square := func(x []float32) (f float64) {
		for _, v := range x {
			f += float64(v-3) * float64(v-3)
		}
		return f
	}
	single := func(x []float32) float64 {
		f := float32(0)
		for _, v := range x {
			f += (v - 3.1) * (v - 3.1)
		}
		return float64(f)
	}
	product := func(x []float32) float64 { return float64(x[0]) * float64(x[1]) }
	later := 0
	for form, make := range surveyForms {
		for slot := range uint32(10) {
			for _, f := range []func([]float32) float64{square, single, product} {
				o := &surveyed{dim: 4, f: f}
				s := newStepper(t, make(o), 1, func(p *plan.Plan) {
					p.MuAuto, p.Mu, p.Distribution = 1, 0, plan.Rademacher
					p.Sharing, p.Transport = plan.PerClient, plan.Relay
				})
				result, err := s.asks(t, survey.Mu, slot)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				p := 0
				for p < 7 && !(math.Abs(float64(s.muAnswer(slot, p, f)[9])) > 1) { // at 100
					p++
				}
				if p > 0 && p < 7 {
					later++
				}
				if want := s.muAnswer(slot, p, f); !sameBits(result.Scalars, want) {
					t.Errorf("%s, slot %d: got %v, want %v", form, slot, result.Scalars, want)
				}
				if want := 1 + 18*(p+1); o.queries != want {
					t.Errorf("%s, slot %d: %d queries, want %d", form, slot, o.queries, want)
				}
			}
		}
	}
	if later == 0 {
		t.Error("no first direction was level: the test tests nothing")
	}
}

// TestSurveyOfMuBesideJumps: a loss in whole numbers may jump beside x, even along a direction
// without a slope. That jump is no slope: the device tries the next direction. A loss that changes
// nowhere but at such jumps has the answer of the first direction along which it does.
func TestSurveyOfMuBesideJumps(t *testing.T) {
	whole := func(x []float32) float64 { // 400 at x, or 399 for a change of 1e-6
		f := float32(0)
		for _, v := range x {
			f += (v - 1) * (v - 1)
		}
		return math.Trunc(float64(100 * f))
	}
	jump := func(x []float32) float64 { // one step, beside x
		if x[0] > 5e-7 && x[0] < 5e-6 {
			return 1
		}
		return 0
	}
	passed := 0
	for slot := range uint32(32) {
		for _, f := range []func([]float32) float64{whole, jump} {
			o := &surveyed{dim: 4, f: f}
			s := newStepper(t, surveyedFlat{o}, 1, func(p *plan.Plan) {
				p.MuAuto, p.Mu, p.Distribution = 1, 0, plan.Rademacher
				p.Sharing, p.Transport = plan.PerClient, plan.Relay
			})
			result, err := s.asks(t, survey.Mu, slot)
			if err != nil {
				t.Fatal(err)
			}
			p := 0
			for p < 7 && f(make([]float32, 4)) > 0 && math.Abs(float64(s.muAnswer(slot, p, f)[9])) < 1 {
				if s.muAnswer(slot, p, f)[1] != 0 {
					passed++
				}
				p++
			}
			if want := s.muAnswer(slot, p, f); !sameBits(result.Scalars, want) {
				t.Errorf("slot %d: got %v, want %v", slot, result.Scalars, want)
			}
		}
	}
	if passed == 0 {
		t.Error("no direction had only a jump: the test tests nothing")
	}
}

// muAnswer computes the answer of a slot along its direction p from the definition.
func (s *stepper) muAnswer(slot uint32, p int, f func(x []float32) float64) []float32 {
	source := uint32(0)
	if s.r.Plan().Sharing == plan.PerClient {
		source = slot + 1
	}
	z := s.r.Direction(s.r.N()+1, 0, p, source)
	at := func(mu float32) float64 {
		x := make([]float32, len(s.r.Params()))
		s.r.Perturb(x, s.r.Params(), 0, mu, &z)
		return f(x)
	}
	finite := func(v float64) float32 {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return float32(math.Inf(1))
		}
		return float32(v)
	}
	var odd, even []float32
	for mu := range slices.Values([]float32{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100}) {
		odd = append(odd, finite((at(mu)-at(-mu))/2))
		even = append(even, finite((at(mu)-at(0))/2+(at(-mu)-at(0))/2))
	}
	return slices.Concat([]float32{float32(at(0))}, odd, even)
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	})
}
