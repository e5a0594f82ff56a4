package probe

import (
	"context"
	"maps"
	"math"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// A sized notes the sizes of the minibatches of its calls, by record and step.
type sized struct {
	*slopes
	sizes map[[2]uint64]int
}

func (o *sized) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	o.sizes[[2]uint64{b.N, uint64(b.Step)}] = b.Size
	return o.slopes.Loss(ctx, x, b)
}

// With svrg a device evaluates its loss as often as the plan says: on all data in phase 1, and in
// phase 2 on minibatches at two points of each step but the first. The reported loss is the loss
// near the round's x, and the scalars of step 0 are 0.
func TestReducedQueries(t *testing.T) {
	for _, difference := range []plan.Difference{plan.Forward, plan.Central} {
		o := &sized{newSlopes(testDim, 0, 1), map[[2]uint64]int{}}
		s := newStepper(t, o, 1, func(p *plan.Plan) {
			p.Control, p.Steps, p.Batch, p.Difference = plan.SVRG, 3, 7, difference
		})
		s.record.Round.Phase = 1
		s.step(t)
		first := s.c.Queries()
		task := s.task()
		result, err := s.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p := s.r.Plan()
		if want := p.PhaseQueries(1, p.Perturbations); first != want {
			t.Errorf("%v: %d queries in phase 1, want %d", difference, first, want)
		}
		if got := s.c.Queries() - first; got != task.Queries(p) ||
			got != p.PhaseQueries(2, p.Perturbations) {
			t.Errorf("%v: %d queries in phase 2, the task has %d", difference, got, task.Queries(p))
		}
		if want := (map[[2]uint64]int{{2, 0}: 0, {3, 1}: 7, {3, 2}: 7}); !maps.Equal(o.sizes, want) {
			t.Errorf("%v: minibatches %v, want %v", difference, o.sizes, want)
		}
		if at := o.value(s.r.Params()); !(math.Abs(result.Loss-at) < 1e-2*(1+at)) {
			t.Errorf("%v: loss %v, at the round's x it is %v", difference, result.Loss, at)
		}
		if g := result.Scalars; !allZero(g[:p.Perturbations]) || allZero(g[p.Perturbations:]) {
			t.Errorf("%v: scalars %v, want zeros in step 0 alone", difference, g)
		}
	}
}

// A device with a gradient computes the gradient as often as its task says.
func TestReducedGradients(t *testing.T) {
	o := &graded{slopes: newSlopes(testDim, 0, 1)}
	s := newStepper(t, o, 1, func(p *plan.Plan) { p.Control, p.Steps = plan.SVRG, 4 })
	s.record.Round.Phase = 1
	s.step(t)
	first, task := s.c.Gradients(), s.task()
	if _, err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := s.c.Calls(s.r.Plan(), &task).Gradients
	if got := s.c.Gradients() - first; first != 1 || got != want || got != 6 {
		t.Errorf("%d gradients in phase 1, %d in phase 2, want 1 and 6; the task has %d",
			first, got, want)
	}
}
