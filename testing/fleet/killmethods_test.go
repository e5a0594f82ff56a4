package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/testing/bowl"
)

// TestKilledMethods kills a device again and again, also during its losses, with every preset and
// every option. The model is bit-identical to the model of an undisturbed run, except with a
// surrogate, see TestKillSurrogate.
func TestKilledMethods(t *testing.T) {
	run := func(name, method string, edit func(*plan.Plan)) {
		t.Run(name, func(t *testing.T) {
			p, err := preset.Unbound(method, "killed", 300)
			if err != nil {
				t.Fatal(err)
			}
			if p.Estimator == plan.Surrogate {
				return
			}
			p.Steps, p.Perturbations, p.Batch = min(p.Steps, 2), min(p.Perturbations, 3), 0
			p.StepSize, p.Mu, p.Rounds, p.DigestEvery, p.Diverge = 1e-3, 1e-3, 12, 4, 0
			p.Members, p.Target, p.Quorum = 2, 2, 2
			if p.Difference == plan.NoDifference {
				p.Perturbations, p.Mu = 5, 0
			}
			edit(p)
			if err := valid.Plan(p); err != nil {
				t.Fatal(err)
			}
			want, got := killedRun(t, p, 0), killedRun(t, p, 7)
			if got != want {
				t.Errorf("a disturbed run ended with digest %x, want the undisturbed run's %x",
					got[:8], want[:8])
			}
		})
	}
	for _, info := range preset.List() {
		run(info.Name, info.Name, func(p *plan.Plan) { preset.Guard(p) })
	}
	for _, o := range options {
		run(o.name, o.preset, o.edit)
	}
	for _, control := range []plan.Control{plan.ScaffoldPoint, plan.ScaffoldMean} {
		run(fmt.Sprint("fedzo-dense, ", control), "fedzo-dense", func(p *plan.Plan) {
			p.Control, p.Sharing, p.Distribution = control, plan.SharedDirections, plan.Normal
		})
	}
}

// killedRun runs two devices, and kills the first device the given number of times. killedRun
// returns the last digest.
func killedRun(t *testing.T, p *plan.Plan, kills int) (digest [32]byte) {
	synctest.Test(t, func(t *testing.T) {
		plan := *p
		r := newMethodRun(t, &plan)
		defer r.bus.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		r.all.Go(func() {
			if err := r.lead.Run(ctx); err != nil {
				t.Errorf("coordinator: %v", err)
			}
		})
		slow := func(c *client.Config) {
			loss := bowl.Of(int(c.ID[1]))
			c.Objective = byClass(objective.Func(c.Objective.Dim(),
				func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
					time.Sleep(10 * time.Millisecond)
					return loss(ctx, x, b)
				}), p, c.ID)
		}
		synctest.Wait() // the plan is stored
		stop := r.start(ctx, "d0", slow)
		synctest.Wait() // devices get slots in the order of joining
		r.start(ctx, "d1", slow)
		for i := range kills {
			time.Sleep(time.Duration(37+29*i) * time.Millisecond)
			synctest.Wait()
			copied := filepath.Join(r.dir, fmt.Sprint("copy", i))
			if err := os.CopyFS(copied, os.DirFS(filepath.Join(r.dir, "d0"))); err != nil {
				t.Fatal(err)
			}
			stop() // the copy of the store lacks what the stopping device stores
			r.dir = filepath.Join(r.dir, fmt.Sprint("life", i))
			if err := os.MkdirAll(r.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(copied, filepath.Join(r.dir, "d0")); err != nil {
				t.Fatal(err)
			}
			stop = r.start(ctx, "d0", slow)
		}
		r.all.Wait()
		r.agree()
		_, digest = r.clients["d0"].Digest()
	})
	return digest
}
