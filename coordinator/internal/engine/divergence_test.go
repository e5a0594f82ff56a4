package engine

import (
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A divergence is a run whose devices report made-up losses.
type divergence struct {
	*Core
	t       *testing.T
	devices int
	now     uint64
	paused  []string // the reasons
}

func newDivergence(t *testing.T, edit func(*plan.Plan)) *divergence {
	t.Helper()
	const devices = 5
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Diverge = devices, devices, 1
	if edit != nil {
		edit(plan)
	}
	return &divergence{Core: newTestCore(t, plan, devices), t: t, devices: devices}
}

// do passes an input to the core, and stores the records that the core appends.
func (d *divergence) do(in Input) {
	d.now++
	for {
		for _, o := range d.Step(d.now, in) {
			if o.Kind == OutEvent && o.Event.Kind == report.RunPaused {
				d.paused = append(d.paused, o.Event.Reason)
			}
		}
		if d.phase() != appending {
			return
		}
		in = Input{Kind: InAppended, N: d.N + 1}
	}
}

// play has devices report losses for some rounds, or until the run pauses.
func (d *divergence) play(rounds int, losses func(round, device int) float32) {
	d.t.Helper()
	last := d.Rounds + uint64(rounds)
	for round := 0; d.Rounds < last && d.Core.halt.Pause == nil; round++ {
		for i, id := range ids(d.devices) {
			r := wire.Reply{Kind: wire.Contribution, N: d.N + 1, Tip: d.Hash.Tip(), Weight: 1,
				Loss: losses(round, i), Values: wire.AppendScalars(nil, 1, 2)}
			d.do(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
		}
	}
	if d.End != nil {
		d.t.Fatalf("the run ended: %+v", d.End)
	}
}

// each returns losses that all devices share.
func each(losses ...float32) func(round, device int) float32 {
	return func(round, _ int) float32 { return losses[min(round, len(losses)-1)] }
}

func TestDivergence(t *testing.T) {
	for _, lie := range []float32{200, 1e30, math.MaxFloat32, -math.MaxFloat32} {
		d := newDivergence(t, nil)
		d.play(40, func(round, device int) float32 {
			if device < 2 && round >= 10 || device == 0 {
				return lie
			}
			return 2.3 + float32(device)/10
		})
		if len(d.paused) > 0 {
			t.Errorf("2 of 5 devices that report %v paused the run: %s", lie, d.paused)
		}
	}
	d := newDivergence(t, nil)
	d.play(40, func(round, device int) float32 {
		if device == 0 {
			return -math.MaxFloat32
		}
		return 2 + float32(round*device)
	})
	if len(d.paused) != 1 || !strings.HasPrefix(d.paused[0], "diverged: ") {
		t.Errorf("losses that grow: paused %q, want once, because it diverged", d.paused)
	}
}

// A blow-up in the first rounds pauses the run. The reason names the commands that help, and these
// commands undo the blow-up.
func TestDivergenceAtOnce(t *testing.T) {
	d := newDivergence(t, func(p *plan.Plan) { p.StepSize, p.Rounds = 0.5, 3 })
	d.play(3, each(2.3, 68, 217))
	want := "diverged: the median loss is 217 and began at 2.3: `zofl rollback 1`, " +
		"`zofl change step=0.05`, `zofl resume`"
	if len(d.paused) != 1 || d.paused[0] != want || d.Rounds != 3 {
		t.Fatalf("round %d: paused %q, want %q", d.Rounds, d.paused, want)
	}
	if s := d.Status(); s.State != report.Paused || s.Reason != want || d.head().Reason != want {
		t.Errorf("status %v %q, want paused and why", s.State, s.Reason)
	}
	d.do(Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindRollback, To: 1}})
	change := &plan.Change{Fields: []uint64{fieldNumber(t, "step"), fieldNumber(t, "rounds")}}
	change.Values.StepSize, change.Values.Rounds = 0.05, 100
	d.do(Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindChange, Change: change}})
	if s := d.Status(); s.State != report.Paused || s.Rounds != 0 || d.Plan.StepSize != 0.05 {
		t.Fatalf("rolled back and changed: %+v, step %v", s, d.Plan.StepSize)
	}
	d.do(Input{Kind: InResume})
	d.play(30, each(2.3, 2.2, 2.1, 2, 1.9))
	if len(d.paused) != 1 || d.Rounds != 30 {
		t.Errorf("round %d: paused %q, want no more pauses", d.Rounds, d.paused[1:])
	}
	d.play(10, each(1.5, 70, 900))
	if len(d.paused) != 2 || !strings.Contains(d.paused[1], "1.9 at best: `zofl rollback ") {
		t.Errorf("round %d: paused %q, want again, and a record of 1.9", d.Rounds, d.paused[1:])
	}
}

func fieldNumber(t *testing.T, name string) uint64 {
	t.Helper()
	for _, f := range plan.Fields() {
		if f.Name == name {
			return f.Number
		}
	}
	t.Fatalf("no field %s", name)
	return 0
}

// An operator may continue a diverged run. The rounds before do not pause the run again.
func TestDivergenceAccepted(t *testing.T) {
	d := newDivergence(t, nil)
	d.play(9, each(2.3, 68, 217))
	d.do(Input{Kind: InResume})
	d.play(20, each(525, 500, 400, 300, 200, 100))
	if len(d.paused) != 1 || d.Rounds != 23 {
		t.Errorf("round %d: paused %q, want once", d.Rounds, d.paused)
	}
}

// A model whose numbers are too large pauses the run, although no device can report a loss. One of
// five devices can neither prevent the pause with a contribution, nor cause it with declines.
func TestDivergenceBeyondNumbers(t *testing.T) {
	for _, reason := range []wire.DeclineReason{wire.DeclineLoss, wire.DeclineTooLarge} {
		for _, honest := range []int{0, 4} {
			d := newDivergence(t, nil)
			d.play(1, each(2.3))
			for try := range 10 {
				d.now = max(d.now, d.round.closes)
				for i, id := range ids(d.devices) {
					r := wire.Reply{Kind: wire.Decline, N: d.N + 1, Tip: d.Hash.Tip(),
						Reason: reason}
					if i < honest || try == 0 && i == 0 {
						r = wire.Reply{Kind: wire.Contribution, N: d.N + 1, Tip: d.Hash.Tip(),
							Weight: 1, Loss: 2.3, Values: wire.AppendScalars(nil, 1, 2)}
					}
					d.do(Input{Kind: InReply, ID: id, Frame: r.Append(nil)})
				}
			}
			if honest > 0 {
				if len(d.paused) > 0 {
					t.Errorf("one device declines, %v: paused %q", reason, d.paused)
				}
				continue
			}
			if len(d.paused) != 1 || len(d.paused[0]) > wire.MaxReason ||
				!strings.HasPrefix(d.paused[0], "diverged: in 2 attempts most devices had no f") ||
				!strings.Contains(d.paused[0], "`zofl rollback 1`") {
				t.Errorf("all devices decline, %v: paused %q", reason, d.paused)
			}
		}
	}
}
