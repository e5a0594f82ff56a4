package traffic

import (
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A repeated reply does not count as a second reply, even if other devices replied in between. The
// next round's reply counts.
func TestMeterRepeatedReply(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	m := New(b, 2, &plan.Plan{Run: "run", ProbeFields: plan.ProbeFields{Steps: 1}})
	heard := make(chan struct{})
	sub, err := m.Subscribe("zo.run.p.>", func(bus.Message) { heard <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	reply := func(id string, n uint64) {
		t.Helper()
		values := plan.Single.Append(nil, 1, 2, 3)
		r := wire.Reply{Kind: wire.Contribution, N: n, Weight: 1, Values: values}
		if err := b.Publish(subjects.Reply("run", 0, id), r.Append(nil)); err != nil {
			t.Fatal(err)
		}
		<-heard
	}
	reply("a", 2)
	first := m.Totals()
	reply("b", 2)
	once := m.Totals()
	reply("a", 2)
	again := m.Totals()
	reply("a", 3)
	next := m.Totals()
	if first.Up.Messages != 1 || first.Up.Scalars != 3 || first.Other != (Sum{}) {
		t.Errorf("after one reply %+v", first)
	}
	if once.Up.Messages != 2 || again.Up != once.Up || again.Other.Messages != 1 ||
		again.Other.Bytes != first.Up.Bytes {
		t.Errorf("after a reply that was sent again %+v, before %+v", again, once)
	}
	if next.Up.Messages != 3 || next.Up.Scalars != 9 || next.Other != again.Other {
		t.Errorf("after the next round's %+v", next)
	}
}

// Steps of secure aggregation and their answers count as a round's traffic in their directions.
// Other requests and answers do not.
func TestMeterCountsSteps(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	m := New(b, 2, &plan.Plan{Run: "run", ProbeFields: plan.ProbeFields{Steps: 1}})
	for subject, inbox := range map[string]string{
		subjects.Step("run", "a"): "_INBOX.a", subjects.CatchUp("run", "b"): "_INBOX.b"} {
		m.arrived(&bus.Message{Subject: subject, Reply: inbox, Data: []byte("part")})
	}
	for range 2 {
		for _, inbox := range []string{"_INBOX.b", "_INBOX.a"} {
			if err := m.Publish(inbox, []byte("answer")); err != nil {
				t.Fatal(err)
			}
		}
	}
	up := uint64(len("PUB zo.run.k.a _INBOX.a 4\r\npart\r\n"))
	down := uint64(len("MSG _INBOX.a 1 6\r\nanswer\r\n"))
	got := m.Totals()
	if got.Up.Bytes != up || got.Down.Bytes != down || got.Other.Messages != 4 {
		t.Errorf("got %+v, want %d up and %d down", got, up, down)
	}
}

// The meter counts scalars, in any precision: those of contributions, of control variates, of
// answers to surveys, and of announced and fetched records.
func TestMeterCountsScalars(t *testing.T) {
	const devices, steps, perturbations = 3, 2, 5
	for _, v := range []plan.Precision{plan.Single, plan.Half, plan.Int8, plan.Int4, plan.Int2} {
		b := bus.NewMemory()
		defer b.Close()
		m := New(b, devices, &plan.Plan{
			Run:         "run",
			ProbeFields: plan.ProbeFields{Steps: steps}, AggregateFields: plan.AggregateFields{Precision: v},
		})
		var blocks wire.Scalars
		for range steps {
			blocks = v.Append(blocks, 1, -2, 3, -4, 5)
		}
		one := v.Append(nil, 1, -2, 3, -4, 5)
		record := wire.Record{N: 2, Epoch: 1, Kind: wire.KindRound, Round: &wire.Round{
			Round: 1, StepSize: 1, Perturbations: perturbations, Contributors: 2,
			Terms: []wire.Term{{Source: 0, Scalars: blocks}, {Source: 1, Scalars: one}}}}
		a := wire.Announcement{N: 3, Epoch: 1, StepSize: 1, Perturbations: perturbations,
			Cohort: wire.Cohort{Sampled: devices, Members: devices}}
		a.Records.Add(record.Append(nil))
		caught := wire.CatchUpReply{From: 2, Last: 2, Records: a.Records}
		for subject, frame := range map[string][]byte{
			subjects.Announce("run", 0): a.Append(nil), "_INBOX.x": caught.Append(nil)} {
			if err := m.Publish(subject, frame); err != nil {
				t.Fatal(err)
			}
		}
		got := m.Totals()
		if down, other := got.Down.Scalars, got.Other.Scalars; down != devices*15 || other != 15 {
			t.Errorf("%v: %d scalars announced to %d devices, %d fetched, want 15 each", v, down,
				devices, other)
		}
		control := wire.ControlVariate{N: 2, Scalars: one}
		for _, c := range []struct {
			reply wire.Reply
			want  uint64
		}{
			{wire.Reply{Values: blocks}, 10},
			{wire.Reply{Values: one}, 5},
			{wire.Reply{Values: blocks, Rest: control.Append(nil)}, 15},
			{wire.Reply{Values: plan.Single.Append(nil, 1, 2, 3), Rest: survey.Answer(survey.Mu)}, 3},
		} {
			c.reply.Kind, c.reply.N, c.reply.Weight = wire.Contribution, 3, 1
			before := m.Totals().Up.Scalars
			msg := bus.Message{Subject: subjects.Reply("run", 0, "a"), Data: c.reply.Append(nil)}
			m.arrived(&msg)
			if got := m.Totals().Up.Scalars - before; got != c.want {
				t.Errorf("%v: %d scalars of %+v, want %d", v, got, c.reply, c.want)
			}
		}
	}
}
