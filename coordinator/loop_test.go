package coordinator

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// refusing returns a coordinator whose recorder refuses events of the kind *refused, if refused is
// set.
func refusing(
	t *testing.T, plan *plan.Plan,
) (c *Coordinator, log *runlog.Memory, refused *report.EventKind) {
	t.Helper()
	b := bus.NewMemory()
	t.Cleanup(b.Close)
	log, refused = &runlog.Memory{}, new(report.EventKind)
	c, err := New(t.Context(), Config{Bus: b, Plan: plan, Log: log, Linger: 1,
		Recorder: report.RecorderFunc(func(e report.Event) error {
			if e.Kind == *refused {
				return errRefused
			}
			return nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return c, log, refused
}

var errRefused = errors.New("no space for events")

func joinOf(id string) engine.Input {
	return engine.Input{Kind: engine.InJoin, ID: id, Token: "to." + id,
		Frame: (&wire.JoinRequest{}).Append(nil)}
}

// contributionFrom returns a device's contribution to the open round.
func (c *Coordinator) contributionFrom(id string, values ...float32) engine.Input {
	r := wire.Reply{Kind: wire.Contribution, N: c.core.N + 1, Tip: c.core.Hash.Tip(), Weight: 1,
		Values: wire.AppendScalars(nil, values...)}
	return engine.Input{Kind: engine.InReply, ID: id, Frame: r.Append(nil)}
}

func (c *Coordinator) mustPerform(t testing.TB, queue []engine.Output) {
	t.Helper()
	if err := c.perform(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
}

func TestRecordAfterRefusedEventIsStored(t *testing.T) {
	plan := chaintest.Plan(t)
	plan.Rounds, plan.Target = 1, 2
	c, log, refused := refusing(t, plan)
	c.mustPerform(t, c.start())
	for _, id := range ids(2) {
		c.mustPerform(t, c.step(joinOf(id)))
	}
	*refused = report.RoundDone
	c.mustPerform(t, c.step(c.contributionFrom("d0", 1, 2)))
	if err := c.perform(t.Context(), c.step(c.contributionFrom("d1", 1,
		2))); !errors.Is(err, errRefused) {
		t.Fatalf("perform returned %v, want the recorder's error", err)
	}
	// The end follows the round whose event was refused.
	if log.Last() != 3 || c.core.End == nil {
		t.Fatalf("the log has %d records, state %v, want the end to be record 3", log.Last(),
			c.Status().State)
	}
	*refused = 0
	if err := c.Run(context.Background()); err != nil || c.Status().State != report.Ended {
		t.Errorf("Run was called again: %v, status %+v", err, c.Status())
	}
}

func TestMemberAfterRefusedEventKeepsItsSlot(t *testing.T) {
	c, log, refused := refusing(t, chaintest.Plan(t))
	c.mustPerform(t, c.start())
	queue := slices.Clone(c.step(engine.Input{Kind: engine.InPause, Text: "x"}))
	queue = append(queue, c.step(joinOf("a"))...)
	*refused = report.RunPaused
	if err := c.perform(t.Context(), queue); !errors.Is(err, errRefused) {
		t.Fatalf("perform returned %v, want the recorder's error", err)
	}
	*refused = 0
	c.mustPerform(t, c.start())
	c.mustPerform(t, c.step(joinOf("b")))
	members, err := log.Members()
	var devices []string
	for _, d := range c.Devices() {
		devices = append(devices, d.ID)
	}
	if err != nil || !slices.Equal(members, []string{"a", "b"}) ||
		!slices.Equal(devices, members) {
		t.Errorf("the log has members %v, %v, the core %v, want a and b in both", members, err,
			devices)
	}
}

func TestClosedBusLosesNoOutput(t *testing.T) {
	b := bus.NewMemory()
	log := &runlog.Memory{}
	told := 0
	c, err := New(t.Context(), Config{Bus: b, Plan: chaintest.Plan(t), Log: log,
		Recorder: report.RecorderFunc(func(report.Event) error {
			told++
			return nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	c.mustPerform(t, c.start())
	queue := append(c.step(engine.Input{Kind: engine.InPause}), c.step(joinOf("a"))...)
	b.Close()
	if err := c.perform(t.Context(), queue); !errors.Is(err, bus.ErrClosed) {
		t.Fatalf("perform returned %v, want bus.ErrClosed", err)
	}
	if members, err := log.Members(); err != nil || len(members) != 1 {
		t.Errorf("the log has members %v, %v, want a", members, err)
	}
	if told != 2 {
		t.Errorf("%d events were told, want the pause and the join", told)
	}
}
