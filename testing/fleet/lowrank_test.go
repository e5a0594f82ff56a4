package fleet

import (
	"context"
	"fmt"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// lowRankPlans are runs along directions of rank 1: devices send vectors, or scalars along
// directions of their own.
var lowRankPlans = []struct {
	name, preset string
	edit         func(*plan.Plan)
}{
	{"dense", "fedzo-dense", func(p *plan.Plan) { p.Steps, p.DenseKeep = 2, 4 }},
	{"relay", "fedzo", func(p *plan.Plan) {
		p.Steps, p.Perturbations, p.Precision, p.MaxScalar = 1, 11, plan.Int4, 65504
		p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
	}},
}

// TestLowRank runs these plans over a real broker. Not every device takes part in each round. One
// device joins late, and one follows passively. All end with the bits of the log.
func TestLowRank(t *testing.T) {
	for _, test := range lowRankPlans {
		t.Run(test.name, func(t *testing.T) {
			p, err := preset.Unbound(test.preset, "lowrank", 9*600+40+50*90)
			if err != nil {
				t.Fatal(err)
			}
			p.Distribution, p.Segments = plan.LowRank, []plan.Segment{
				{Name: "a", Len: 9 * 600, Rows: 600, MuScale: 2}, {Name: "b", Len: 40},
				{Name: "c", Len: 50 * 90, Rows: 50, Fill: plan.NormalFill, Scale: 0.1, StepScale: 0.5}}
			test.edit(p)
			p.Members, p.Target, p.Quorum, p.OverSample, p.MaxAttempts = 4, 3, 2, 1, 1000
			p.Mu, p.StepSize, p.Rounds, p.DigestEvery, p.Diverge = 1e-3, 1e-3, 12, 3, 0
			p.Deadline, p.Reannounce = 3000*min(slower, 5), 200
			if err := valid.Plan(p); err != nil {
				t.Fatal(err)
			}
			lowRankRun(t, p)
		})
	}
}

func lowRankRun(t *testing.T, p *plan.Plan) {
	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Shutdown()
	r := &denseRun{
		t: t, plan: p, dir: t.TempDir(), broker: b, clients: map[string]*client.Client{},
		sent: map[string][wire.ObjectLen]byte{}, middle: make(chan uint64, 1000),
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer r.all.Wait()
	defer cancel()
	stop := r.lead(p)
	for _, id := range []string{"w", "d0", "d1", "d2", "d3"} {
		r.device(ctx, id, 0)
	}
	r.reaches("d1", 6)
	r.device(ctx, "d4", 0)
	r.all.Wait()
	if c := stop(); c.WrongDigest+c.WrongCount+c.NonFinite+c.TooLarge+c.Malformed > 0 {
		t.Errorf("the coordinator dropped replies: %+v", c)
	}
	r.agree()
	moved := false
	if err := r.clients["d4"].View(func(_ uint64, x []float32) error {
		moved = x[0] != 0 // where it began
		return nil
	}); err != nil || !moved {
		t.Errorf("the model stays where it was: %v", err)
	}
}

// reaches waits until a device has applied a record.
func (r *denseRun) reaches(id string, record uint64) {
	r.t.Helper()
	until(r.t, fmt.Sprintf("%s reaches record %d", id, record), func() bool {
		r.mu.Lock()
		c := r.clients[id]
		r.mu.Unlock()
		if c == nil {
			return false
		}
		n, _ := c.Record()
		return n >= record
	})
}
