package coordinator

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// refusing returns a coordinator whose recorder refuses events of the kind *refused, if that is
// set.
func refusing(
	t *testing.T, plan *wire.Plan,
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

func joinOf(id string) input {
	return input{kind: inJoin, id: id, token: "to." + id, frame: (&wire.JoinRequest{}).Append(nil)}
}

func (c *Coordinator) mustPerform(t *testing.T, queue []output) {
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
	frames := contributions(c.core, 2, func(int) []float32 { return []float32{1, 2} })
	*refused = report.RoundDone
	c.mustPerform(t, c.step(input{kind: inReply, id: "d0", frame: frames[0]}))
	if err := c.perform(t.Context(), c.step(input{kind: inReply, id: "d1",
		frame: frames[1]})); !errors.Is(err, errRefused) {
		t.Fatalf("perform returned %v, want the recorder's error", err)
	}
	// The end follows the round whose event was refused.
	if log.Last() != 3 || c.core.End == nil {
		t.Fatalf("the log has %d records, phase %d, want the end to be record 3", log.Last(),
			c.core.phase)
	}
	*refused = 0
	if err := c.Run(context.Background()); err != nil || c.Status().State != report.Ended {
		t.Errorf("Run was called again: %v, status %+v", err, c.Status())
	}
}

func TestMemberAfterRefusedEventKeepsItsSlot(t *testing.T) {
	c, log, refused := refusing(t, chaintest.Plan(t))
	c.mustPerform(t, c.start())
	queue := slices.Clone(c.step(input{kind: inPause, text: "x"}))
	queue = append(queue, c.step(joinOf("a"))...)
	*refused = report.RunPaused
	if err := c.perform(t.Context(), queue); !errors.Is(err, errRefused) {
		t.Fatalf("perform returned %v, want the recorder's error", err)
	}
	*refused = 0
	c.mustPerform(t, c.start())
	c.mustPerform(t, c.step(joinOf("b")))
	members, err := log.Members()
	if err != nil || !slices.Equal(members, []string{"a", "b"}) ||
		!slices.Equal(c.core.roster.ids, members) {
		t.Errorf("the log has members %v, %v, the core %v, want a and b in both", members, err,
			c.core.roster.ids)
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
	queue := append(c.step(input{kind: inPause}), c.step(joinOf("a"))...)
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
