package robust

import (
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// TestPast checks the scale from records of single contributions and of means.
func TestPast(t *testing.T) {
	for name, c := range map[string]struct {
		record []byte
		want   float64
	}{
		"relay":   {roundRecord(3, ones(30, 5), ones(30, 4), ones(30, 70)), 5},
		"mean":    {roundRecord(16, ones(30, -1)), 4},
		"garbage": {[]byte{1, 2, 3}, 0},
	} {
		g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 4}})
		g.past.Note(planRecord(g.plan), c.record)
		if got := g.past.usual().rms; math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: scale %v, want %v", name, got, c.want)
		}
		if c.want == 0 {
			continue
		}
		// The log bounds a majority that lies in the first round after a restart.
		f := g.round([][]float32{ones(30, 1e5), ones(30, 1e5), ones(30, 1)})[0]
		if most := 4 * c.want / 1e5; math.Abs(f/most-1) > 1e-6 {
			t.Errorf("%s: a lie was cut by %v, want %v", name, f, most)
		}
	}
}

// TestPastOfGroups: if devices send few bits, records of groups hold the means in half precision.
func TestPastOfGroups(t *testing.T) {
	for _, precision := range []plan.Precision{plan.Single, plan.Half, plan.Int8, plan.Int4,
		plan.Int2} {
		plan := &plan.Plan{
			ProbeFields:     plan.ProbeFields{Sharing: plan.GroupDirections},
			AggregateFields: plan.AggregateFields{Transport: plan.Relay, Precision: precision},
			RobustFields:    plan.RobustFields{Bound: 4},
		}
		body := &wire.Round{Round: 1, StepSize: 1, Perturbations: 19, Contributors: 8}
		for slot, v := range []float32{5, -4} {
			body.Terms = append(body.Terms, wire.Term{Source: prng.Slot(uint32(slot)),
				Scalars: plan.TermPrecision().Append(nil, ones(19, v)...)})
		}
		record := (&wire.Record{N: 2, Epoch: 1, Kind: wire.KindRound, Round: body}).Append(nil)
		var past Past
		past.Note(planRecord(plan), record)
		// The median of two is the lower one.
		if got := past.usual().rms; math.Abs(got-4*math.Sqrt(4)) > 1e-6 {
			t.Errorf("precision %d: scale %v, want 8", precision, got)
		}
	}
}

// TestPastOfClasses: a group's mean is over the classes of its devices, so a usual contribution may
// be longer than the mean by the root of the number of classes.
func TestPastOfClasses(t *testing.T) {
	plan := &plan.Plan{
		ProbeFields:     plan.ProbeFields{Sharing: plan.GroupDirections},
		GroupsFields:    plan.GroupsFields{Classes: 9},
		AggregateFields: plan.AggregateFields{Transport: plan.Relay},
		RobustFields:    plan.RobustFields{Bound: 4},
	}
	var past Past
	past.Note(planRecord(plan), roundRecord(8, ones(30, 5), ones(30, 4)))
	if got := past.usual().rms; math.Abs(got-4*math.Sqrt(4*9)) > 1e-6 {
		t.Errorf("scale %v, want 24", got)
	}
}

// TestClippedLogs: if an aggregator clips contributions, the log shows their length after clipping,
// and nothing about the usual length before.
func TestClippedLogs(t *testing.T) {
	g := newDesk(&plan.Plan{
		AggregateFields: plan.AggregateFields{Aggregator: plan.ClippedMean, Clip: 1},
		RobustFields:    plan.RobustFields{Bound: 4},
	})
	for range 20 {
		g.note(3, ones(30, 1))
	}
	for i, f := range g.round([][]float32{ones(30, 90), ones(30, 100), ones(30, 110)}) {
		if f != 1 {
			t.Errorf("device %d was cut by %v", i, f)
		}
	}
}

func planRecord(p *plan.Plan) []byte {
	plan := *p
	plan.Scheme, plan.Steps = prng.Scheme, 1
	return (&wire.Record{N: 1, Epoch: 1, Kind: wire.KindPlan, Plan: &plan}).Append(nil)
}

func roundRecord(contributors uint32, terms ...[]float32) []byte {
	body := &wire.Round{Round: 1, StepSize: 1, Perturbations: uint32(len(terms[0])),
		Contributors: contributors}
	for i, values := range terms {
		source := prng.Shared
		if len(terms) > 1 {
			source = prng.Slot(uint32(i))
		}
		body.Terms = append(body.Terms, wire.Term{Source: source,
			Scalars: wire.AppendScalars(nil, values...)})
	}
	return (&wire.Record{N: 2, Epoch: 1, Kind: wire.KindRound, Round: body}).Append(nil)
}
