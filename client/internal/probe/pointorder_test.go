package probe

import (
	"context"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// A placed notes the index and count of each point that it gets.
type placed struct {
	seen [][2]int
}

// stream is the objective that gets one point at a time.
func (o *placed) stream(dim int) objective.Objective {
	return objective.Stream(dim, func(_ context.Context, p *objective.Point, _ objective.Batch) (
		float64, error) {
		o.seen = append(o.seen, [2]int{p.Index(), p.Count()})
		x := make([]float32, dim)
		err := p.Read(x, 0)
		return bowl(x), err
	})
}

// many is the objective that gets all points together.
func (o *placed) many(dim int) objective.Objective {
	return objective.Many(dim, func(_ context.Context, p *objective.Points, _ objective.Batch,
		losses []float64) error {
		x := make([][]float32, p.Len())
		for i := range x {
			x[i] = make([]float32, dim)
		}
		err := p.Read(x, 0)
		for i := range x {
			o.seen = append(o.seen, [2]int{i, p.Len()})
			losses[i] = bowl(x[i])
		}
		return err
	})
}

// A streaming objective gets its points in the order in which a batched objective gets them
// together, and each point knows its index.
func TestPointsAreNumbered(t *testing.T) {
	steps := func(edit func(p *plan.Plan)) func(*testing.T, objective.Objective) {
		return func(t *testing.T, o objective.Objective) {
			s := newStepper(t, o, 1, edit)
			if _, err := s.run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		round func(*testing.T, objective.Objective)
		first [][2]int // the points that the objective must get first
	}{
		"forward": {steps(func(p *plan.Plan) { p.Steps, p.Difference = 2, plan.Forward }),
			[][2]int{{0, 11}, {1, 11}, {2, 11}}},
		"central": {steps(func(p *plan.Plan) { p.Difference = plan.Central }),
			[][2]int{{0, 20}, {1, 20}, {2, 20}}},
		"surrogate": {func(t *testing.T, o objective.Objective) {
			newRig(t, smallFZooS(t, 40, ""), o).round()
		}, [][2]int{{0, 1}, {0, 3}, {1, 3}, {2, 3}, {0, 1}}},
		"survey of mu": {func(t *testing.T, o objective.Objective) {
			s := newStepper(t, o, 1, func(p *plan.Plan) { p.MuAuto, p.Mu = 1, 0 })
			if _, err := s.asks(t, survey.Mu, 0); err != nil {
				t.Fatal(err)
			}
		}, [][2]int{{0, 1}, {0, 2}, {1, 2}, {0, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			one, all := placed{}, placed{}
			c.round(t, one.stream(40))
			c.round(t, all.many(40))
			if !slices.Equal(one.seen, all.seen) {
				t.Errorf("one at a time\n%v, together\n%v", one.seen, all.seen)
			}
			if n := len(c.first); len(one.seen) < n || !slices.Equal(one.seen[:n], c.first) {
				t.Errorf("points %v, want %v first", one.seen, c.first)
			}
		})
	}
}
