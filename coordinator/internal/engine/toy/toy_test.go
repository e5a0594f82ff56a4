// Package toy has policies that the engine does not know join the engine's rounds. If such a policy
// needs an edit of the engine, the engine depends on policies.
package toy

import (
	"testing"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/internal/policies"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

const devices = 3

// A halving stage halves the scalars that pass through it.
type halving struct{ aggregate.Stage }

func (h *halving) Add(k *aggregate.Contribution) {
	for i := range k.Values {
		k.Values[i] /= 2
	}
	h.Stage.Add(k)
}

// An asking survey asks once, after the first round, and sets the step to the devices' answer.
type asking struct{ rounds uint64 }

func (a *asking) Due(rounds uint64, _ policy.Members) survey.Kind {
	if rounds == 1 && a.rounds == 0 {
		return survey.Mu
	}
	return survey.None
}

func (a *asking) All() bool { return true }

func (a *asking) Again([]uint32, uint32) *plan.Change { return nil }

func (a *asking) Done(_ survey.Kind, rounds uint64, rows *aggregate.Rows, _ policy.Members,
) (found survey.Result, change *plan.Change, ok bool) {
	a.rounds, change = rounds, &plan.Change{}
	if err := planfile.SetChange(change, "step", "0.25"); err != nil {
		panic(err)
	}
	return survey.Result{Kind: "toy", Answers: uint32(len(rows.Rows()))}, change, true
}

// toys returns the policies of a plan, and two more policies.
func toys(at *runlog.Position) policy.Set {
	s := policies.Of(at)
	s.Stages.More = append(s.Stages.More,
		func(_ *plan.Plan, next aggregate.Stage) aggregate.Stage { return &halving{next} })
	s.Surveys = append(s.Surveys, &asking{})
	return s
}

// none reads an empty log.
func none(uint64, func(record []byte)) error { return nil }

// TestToysJoin plays a round, the survey and another round, also together with the package's own
// stages.
func TestToysJoin(t *testing.T) {
	for _, fields := range [][]string{nil, {"bound=4"}, {"aggregator=median"},
		{"sharing=per-client", "transport=relay", "aggregator=clipped-mean", "clip=1000"}} {
		log := &runlog.Memory{}
		c, err := engine.New(engine.Config{Plan: chaintest.PlanWith(t, fields, devices), Epoch: 1,
			Policies: toys, Records: none}, &engine.History{})
		if err != nil {
			t.Fatal(err)
		}
		store(t, c, log, c.Start(0))
		for _, id := range chaintest.IDs(devices) {
			store(t, c, log, c.Step(0, engine.Input{Kind: engine.InJoin, ID: id, Token: "to." + id,
				Frame: (&wire.JoinRequest{}).Append(nil)}))
		}
		kinds := []wire.RecordKind{wire.KindPlan, wire.KindRound, wire.KindChange, wire.KindRound}
		for n, kind := range kinds {
			if n > 0 {
				answer(t, c, log, kind == wire.KindChange)
			}
			check(t, log, uint64(n)+1, kind, fields)
		}
		if c.Plan.StepSize != 0.25 {
			t.Errorf("%v: the step is %v, want what the survey found", fields, c.Plan.StepSize)
		}
	}
}

// answer has all devices answer the open record.
func answer(t *testing.T, c *engine.Core, log *runlog.Memory, surveyed bool) {
	t.Helper()
	for _, id := range chaintest.IDs(devices) {
		r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
			Values: wire.AppendScalars(nil, 2, 4, 8)}
		if surveyed {
			r.Values = wire.AppendScalars(nil, make([]float32, survey.Mu.Values())...)
			r.Rest = survey.Answer(survey.Mu)
		}
		store(t, c, log, c.Step(1, engine.Input{Kind: engine.InReply, ID: id, Frame: r.Append(nil)}))
	}
}

// store has the log store what the engine says.
func store(t *testing.T, c *engine.Core, log *runlog.Memory, out []engine.Output) {
	t.Helper()
	for _, o := range append([]engine.Output(nil), out...) {
		switch o.Kind {
		case engine.OutAppend:
			if err := log.Append(t.Context(), o.N, o.Frame); err != nil {
				t.Fatal(err)
			}
			store(t, c, log, c.Step(1, engine.Input{Kind: engine.InAppended, N: o.N}))
		case engine.OutMember:
			store(t, c, log, c.Step(0, engine.Input{Kind: engine.InStored, Count: 1}))
		}
	}
}

// check looks at a record: a round has half of what each device sent.
func check(t *testing.T, log *runlog.Memory, n uint64, kind wire.RecordKind, fields []string) {
	t.Helper()
	err := log.Read(t.Context(), n, func(_ uint64, record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if err != nil || r.Kind != kind {
			t.Fatalf("%v: record %d is a %v, %v, want a %v", fields, n, r.Kind, err, kind)
		}
		if kind == wire.KindRound && r.Round.Terms[0].Scalars.At(1) != want(fields) {
			t.Errorf("%v: record %d has %v", fields, n, r.Round.Terms[0].Scalars.At(1))
		}
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
}

// want returns the second scalar. With own directions, a record relays the scalars that came, which
// a stage may scale down by Factor. Otherwise a stage changes the scalars themselves.
func want(fields []string) float32 {
	if len(fields) > 0 && fields[0] == "sharing=per-client" {
		return 4
	}
	return 2
}
