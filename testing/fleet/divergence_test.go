package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire"
)

// A blowUp is a run over a broker with a step size 300 times too large.
type blowUp struct {
	*lead
	cancel  context.CancelFunc
	devices sync.WaitGroup
}

const (
	blowUpDim     = 20
	blowUpDevices = 4
	blowUpFactor  = 300
)

// blowUpPlan returns a plan of a preset that trains well with the step size step.
func blowUpPlan(t *testing.T, name string, step float32) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "blowup", blowUpDim)
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Rounds = blowUpDevices, blowUpDevices, 3, 60
	p.Steps, p.Perturbations, p.Mu, p.Batch = min(p.Steps, 2), 10, 1e-3, 0
	p.Deadline, p.Reannounce, p.StepSize = 5000, 250, step
	if p.Estimator == plan.Surrogate {
		p.Features, p.Window, p.Perturbations = 500, 60, 1
	}
	return p
}

// startBlowUp starts a coordinator and devices. The first device has the objective first.
func startBlowUp(t *testing.T, p *plan.Plan, first objective.Objective) *blowUp {
	t.Helper()
	b := &blowUp{lead: startLead(t, p, broker.Config{})}
	var ctx context.Context
	ctx, b.cancel = context.WithTimeout(context.Background(), patience)
	t.Cleanup(func() { b.cancel(); b.devices.Wait() })
	for i := range blowUpDevices {
		o := first
		if i > 0 || first == nil {
			o = objective.Func(blowUpDim, bowl.Of(i))
		}
		b.device(ctx, b.connect(fmt.Sprint("d", i)), fmt.Sprint("d", i), o)
	}
	return b
}

func (b *blowUp) device(ctx context.Context, nc *nats.Conn, id string, o objective.Objective) {
	b.t.Helper()
	c, err := client.New(client.Config{Conn: nc, Run: "blowup", ID: id, Objective: o})
	if err != nil {
		b.t.Fatal(err)
	}
	b.devices.Go(func() {
		if err := c.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("device %s: %v", id, err)
		}
	})
}

// await returns the next event of one of two kinds, and the losses of the rounds before it.
func (b *blowUp) await(kind, other report.EventKind) (e report.Event, losses []float32) {
	b.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e = <-b.events:
		case <-limit:
			b.t.Fatalf("no event %v after %v: %+v", kind, patience, b.c.Status())
		}
		switch e.Kind {
		case kind, other:
			return e, losses
		case report.RoundDone:
			losses = append(losses, e.Loss)
		}
	}
}

// TestBlowUp checks that a step size 300 times too large pauses the run within three rounds with
// every transport, and that the commands in the reason of the pause save the run.
func TestBlowUp(t *testing.T) {
	for name, step := range map[string]float32{
		"decomfl": 0.5, "fedzo": 0.5, "fedzo-dense": 0.5, "scaffold-1": 0.2, "scaffold-2": 0.2,
		"fzoos": 0.1,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startBlowUp(t, blowUpPlan(t, name, blowUpFactor*step), nil)
			e, blown := b.await(report.RunPaused, report.RunEnded)
			var to uint64
			_, way, _ := strings.Cut(e.Reason, "`zofl rollback ")
			if n, _ := fmt.Sscan(strings.Split(way+"`", "`")[0], &to); e.Round > 3 || n != 1 ||
				!strings.HasPrefix(e.Reason, "diverged: ") {
				t.Fatalf("round %d: %v %q after losses %v, want a pause within 3 rounds that "+
					"names the way out", e.Round, e.Kind, e.Reason, blown)
			}
			change := &plan.Change{Fields: []uint64{fieldOf(t, "step")}}
			change.Values.StepSize = step
			if err := errors.Join(b.c.Rollback(to), b.c.Change(change)); err != nil {
				t.Fatal(err)
			}
			b.await(report.Changed, report.RunEnded)
			b.c.Resume()
			e, losses := b.await(report.RunEnded, report.RunPaused)
			if e.End.Reason != wire.EndRounds || len(losses) != 60 ||
				losses[59] >= losses[0]*0.8 {
				t.Fatalf("%v %q, %d rounds with losses %v, want 60 that train", e.Kind, e.Reason,
					len(losses), losses)
			}
			b.devices.Wait()
		})
	}
}

func fieldOf(t *testing.T, name string) uint64 {
	t.Helper()
	for _, f := range plan.Fields() {
		if f.Name == name {
			return f.Number
		}
	}
	t.Fatalf("no field %s", name)
	return 0
}

func liar(loss float64) objective.Objective {
	return objective.Func(blowUpDim,
		func(context.Context, []float32, objective.Batch) (float64, error) { return loss, nil })
}

// TestLyingLoss checks that one device of four that reports absurd losses neither ends nor pauses a
// run.
func TestLyingLoss(t *testing.T) {
	for _, lie := range []float64{0, 1e30, -1e30} {
		t.Run(fmt.Sprint(lie), func(t *testing.T) {
			t.Parallel()
			b := startBlowUp(t, blowUpPlan(t, "decomfl", 0.5), liar(lie))
			e, losses := b.await(report.RunEnded, report.RunPaused)
			if e.Kind != report.RunEnded || e.End.Reason != wire.EndRounds {
				t.Fatalf("round %d: %v %q %+v, want that it ends by its rounds", len(losses),
					e.Kind, e.Reason, e.End)
			}
			b.devices.Wait()
		})
	}
}
