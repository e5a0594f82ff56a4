package engine

import (
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

const drawing = 200 // devices

// drawPlan returns a plan whose devices draw one of 26 groups, because the roster is open or the
// devices are too many to be named.
func drawPlan(t *testing.T, roster plan.Roster, weights plan.Weights) *plan.Plan {
	p := chaintest.Plan(t)
	p.Sharing, p.Transport, p.Groups = plan.GroupDirections, plan.Relay, wiregroups.Random
	p.GroupSize, p.Regroup, p.Roster, p.Weights, p.MaxWeight = 5, 2, roster, weights, 1000
	p.Target, p.Members, p.Quorum, p.OverSample = 130, drawing, 3, 1
	return p
}

// TestDrawnGroups compares the terms of rounds with means in float64, for groups that the test
// computes. The coordinator restarts between the rounds.
func TestDrawnGroups(t *testing.T) {
	for _, roster := range []plan.Roster{plan.ListedRoster, plan.OpenRoster} {
		for _, weights := range []plan.Weights{plan.Equal, plan.BySamples} {
			plan, log := drawPlan(t, roster, weights), &runlog.Memory{}
			for round := range 4 {
				c, err := newCore(t.Context(), plan, log, uint64(round+1))
				if err != nil {
					t.Fatal(err)
				}
				drawnRound(t, c, log)
			}
		}
	}
}

// drawnRound runs a round in which only some devices answer.
func drawnRound(t *testing.T, c *Core, log runlog.Log) {
	t.Helper()
	c.Start(0)
	if c.N == 0 {
		store(t, c, log)
	}
	for _, id := range ids(drawing) {
		c.Step(0, Input{Kind: InJoin, ID: id, Token: "t", Frame: (&wire.JoinRequest{}).Append(nil)})
	}
	if c.Plan.Roster == plan.ListedRoster && c.N == 1 {
		if err := log.AddMembers(t.Context(), ids(drawing)); err != nil {
			t.Fatal(err)
		}
		c.Step(0, Input{Kind: InStored, Count: drawing})
	}
	if c.phase() != collecting {
		t.Fatalf("phase %d", c.phase())
	}
	d := drawn{sums: make([][]float64, 26), weights: make([]uint32, 26)}
	for i, id := range ids(drawing) {
		m, _ := c.cohort.Member(id)
		if i%3 != 2 && c.cohort.Asks(m) && d.contributors < c.Plan.Target {
			d.reply(c, i, id)
		}
	}
	c.Step(c.round.deadline, Input{Kind: InTick})
	if c.phase() != appending || d.contributors < 60 {
		t.Fatalf("phase %d, %d of %d counted: %+v", c.phase(), c.chain.Taken, d.contributors, c.counters)
	}
	record, err := wire.DecodeRecord(c.next.frame)
	if err != nil {
		t.Fatal(err)
	}
	d.check(t, c, record.Round)
	store(t, c, log)
}

// A drawn holds what the contributors of a round sent, by group.
type drawn struct {
	sums         [][]float64 // weighted, of each scalar; nil: of nobody
	weights      []uint32
	contributors uint32
}

// reply sends the contribution of device i.
func (d *drawn) reply(c *Core, i int, id string) {
	r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1 + uint32(i%7)}
	group, w := wiregroups.Drawn(&c.Plan, r.N, id), uint32(1)
	if c.Plan.Weights == plan.BySamples {
		w = r.Weight
	}
	if d.sums[group] == nil {
		d.sums[group] = make([]float64, c.round.scalars)
	}
	for p := range c.round.scalars {
		v := float32(math.Sqrt(float64(1+i)) * float64(1+p))
		r.Values = wire.AppendScalars(r.Values, v)
		d.sums[group][p] += float64(w) * float64(v)
	}
	d.weights[group] += w
	d.contributors++
	c.Step(1, Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
}

// check compares a round with the means.
func (d *drawn) check(t *testing.T, c *Core, r *wire.Round) {
	t.Helper()
	terms, weights := r.Terms, []uint32(nil)
	for group, sums := range d.sums {
		if sums == nil {
			continue
		}
		if len(terms) == 0 || terms[0].Source != prng.Slot(uint32(group)) {
			t.Fatalf("no term of group %d of %v", group, d.weights)
		}
		for p, sum := range sums {
			mean := sum / float64(d.weights[group])
			if got := float64(terms[0].Scalars.At(p)); math.Abs(got-mean) > 1e-6*mean {
				t.Errorf("group %d, scalar %d is %v, want %v", group, p, got, mean)
			}
		}
		if terms = terms[1:]; c.Plan.Weights == plan.BySamples {
			weights = append(weights, d.weights[group])
		}
	}
	if len(terms) > 0 || !slices.Equal(r.Weights, weights) || r.Contributors != d.contributors {
		t.Errorf("%d terms too many, weights %v, want %v, %d contributors of %d", len(terms), r.Weights,
			weights, r.Contributors, d.contributors)
	}
}

// store makes the log store the pending record.
func store(t *testing.T, c *Core, log runlog.Log) {
	t.Helper()
	if err := log.Append(t.Context(), c.N+1, c.next.frame); err != nil {
		t.Fatal(err)
	}
	c.Step(c.now, Input{Kind: InAppended, N: c.N + 1})
}
