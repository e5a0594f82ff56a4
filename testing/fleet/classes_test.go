package fleet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
)

// A classed is a flat objective with losses for two of the plan's classes. The two classes differ
// by device.
type classed struct {
	objective.Flat
	device, classes int
}

// byClass returns an objective that also has losses by class, if the plan has classes.
func byClass(o objective.Flat, p *plan.Plan, id string) objective.Objective {
	if p.Classes == 0 {
		return o
	}
	return classed{o, int(id[len(id)-1]), int(p.Classes)}
}

func (o classed) ClassCounts() []int {
	counts := make([]int, o.classes)
	counts[o.device%o.classes], counts[(o.device+1)%o.classes] = 60, 50
	return counts
}

func (o classed) ClassLosses(ctx context.Context, x []float32, b objective.Batch, sums []float64,
	counts []int) error {
	f, err := o.Loss(ctx, x, b)
	for i, n := range []int{300, 50} {
		class := (o.device + i) % o.classes
		counts[class], sums[class] = n, float64(n)*f*float64(1+class)
	}
	return err
}

// groupsByClass makes devices share directions by their classes.
func groupsByClass(p *plan.Plan) {
	byGroups(p)
	p.Groups, p.Classes, p.Steps, p.Batch = grouping.Sketch, 3, 1, 400
}

// A device without losses by class declines, and the run continues without that device.
func TestDeviceWithoutClasses(t *testing.T) {
	p, err := preset.Unbound("fedzo", "classes", 300)
	if err != nil {
		t.Fatal(err)
	}
	p.Perturbations, p.StepSize, p.Mu, p.Rounds, p.Diverge = 3, 1e-3, 1e-3, 12, 0
	p.Members, p.Quorum = 4, 1
	groupsByClass(p)
	synctest.Test(t, func(t *testing.T) {
		r := newMethodRun(t, p)
		defer r.bus.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		r.all.Go(func() {
			if err := r.lead.Run(ctx); err != nil {
				t.Errorf("coordinator: %v", err)
			}
		})
		for _, id := range []string{"d0", "d1", "d2"} {
			r.start(ctx, id)
		}
		r.start(ctx, "d3", func(c *client.Config) {
			c.Objective = objective.Func(int(p.Dim), bowl.Of(3))
		})
		r.all.Wait()
		r.agree()
		if c := r.lead.Status().Counters; c.Declines == 0 || c.Malformed+c.WrongCount > 0 ||
			c.Contributions < 12 {
			t.Errorf("counted %+v", c)
		}
	})
}
