package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/bowl"
)

// gradientBowl is the loss of package bowl on a device that has the gradient.
type gradientBowl struct {
	objective.Flat
	device int
}

func (o gradientBowl) Gradient(ctx context.Context, x []float32, b objective.Batch,
	g []float32) (float64, error) {
	for i, v := range x {
		g[i] = 2 * (v - float32((i+o.device)%5)) / float32(len(x))
	}
	return o.Loss(ctx, x, b)
}

// slopeBowl is the loss of package bowl on a device that has derivatives along directions.
type slopeBowl struct {
	objective.Flat
	device int
}

func (o slopeBowl) Slope(ctx context.Context, x, z []float32, b objective.Batch) (loss,
	slope float64, err error) {
	for i, v := range x {
		slope += 2 * float64(v-float32((i+o.device)%5)) * float64(z[i]) / float64(len(x))
	}
	loss, err = o.Loss(ctx, x, b)
	return loss, slope, err
}

// mixedBowl returns the objective of a device. Two devices have losses alone, one has the gradient,
// and one has slopes.
func mixedBowl(i, dim int) objective.Objective {
	box := objective.Func(dim, bowl.Of(i))
	switch i {
	case 2:
		return gradientBowl{box, i}
	case 3:
		return slopeBowl{box, i}
	}
	return box
}

// TestBlackBoxesAndGradients trains one model over a real broker, with devices that only have
// losses, a device that has the gradient, and a device that has slopes. All devices end with the
// log's bits, and the model learns.
func TestBlackBoxesAndGradients(t *testing.T) {
	for _, fields := range []string{
		"steps=2 perturbations=8",
		"steps=1 perturbations=8 distribution=sphere sharing=per-client transport=relay",
		"steps=1 perturbations=8 distribution=rademacher precision=half max_scalar=65504",
	} {
		t.Run(strings.Fields(fields)[len(strings.Fields(fields))-1], func(t *testing.T) {
			mixedFleet(t, fields)
		})
	}
}

func mixedFleet(t *testing.T, fields string) {
	const rounds, dim, devices = 60, 40, 4
	p := testPlan(t, "both", dim, devices, rounds)
	p.StepSize, p.Rule, p.Mu = 1, plan.SGD, 1e-3
	for _, f := range strings.Fields(fields) {
		name, value, _ := strings.Cut(f, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatal(err)
		}
	}
	l := startLead(t, p, broker.Config{})
	var conns []*nats.Conn
	for i := range devices {
		conns = append(conns, l.connect(fmt.Sprintf("d%d", i)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	clients, last := make([]*client.Client, devices), make([]client.Progress, devices)
	contributions, first := make([]int, devices), make([]float64, devices)
	var all sync.WaitGroup
	for i, nc := range conns {
		c, err := client.New(client.Config{
			Conn: nc, Run: "both", ID: fmt.Sprintf("d%d", i), Objective: mixedBowl(i, dim),
			Recorder: client.RecorderFunc(func(p client.Progress) error {
				if p.Contributed {
					if contributions[i]++; contributions[i] == 1 {
						first[i] = p.Loss
					}
					last[i] = p
				}
				return nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = c
		all.Go(func() {
			if err := c.Run(ctx); err != nil {
				t.Errorf("device %d: %v", i, err)
			}
		})
	}
	all.Wait()
	l.agree("both", clients)
	for i, got := range last {
		n := uint64(contributions[i]) * uint64(p.Steps)
		queries, gradients := n*9, uint64(0)
		switch i {
		case 2:
			queries, gradients = 0, n
		case 3:
			queries, gradients = 0, n*8
		}
		if got.Queries != queries || got.Gradients != gradients || contributions[i] != rounds {
			t.Errorf("device %d: %d queries and %d gradients in %d contributions, want %d and %d",
				i, got.Queries, got.Gradients, contributions[i], queries, gradients)
		}
		// The loss is 6 at first. No model has less than 2 on all devices.
		if !(got.Loss < first[i]-0.3*(first[i]-2)) {
			t.Errorf("device %d: loss %v at first, %v at last", i, first[i], got.Loss)
		}
	}
}
