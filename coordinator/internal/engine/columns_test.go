package engine

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
	"github.com/zofl/zofl/wire/survey"
)

// described returns a device's answer to a survey of columns.
func described(t *testing.T, c *Core, columns []plan.Column) wire.Reply {
	t.Helper()
	values, err := stats.Append(nil, columns)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1,
		Values: wire.AppendScalars(nil, values...), Rest: survey.Answer(survey.Columns)}
}

// TestColumns: before round 1 the run finds statistics of all devices. It refuses those of no data,
// and names who sent them.
func TestColumns(t *testing.T) {
	p := chaintest.Plan(t)
	p.Columns, p.Members, p.Target, p.Quorum = 1, 3, 3, 2
	c := newTestCore(t, p, 3)
	if c.round.survey != survey.Columns {
		t.Fatalf("the run begins with a survey of %v", c.round.survey)
	}
	liar := described(t, c, []plan.Column{{Count: 1, Mean: 5, Std: -1}})
	var named []string
	for _, o := range c.Step(1, Input{Kind: InReply, ID: "d1", Frame: liar.Append(nil)}) {
		if o.Kind == OutEvent && o.Event.Kind == report.Suspected {
			named = append(named, o.Event.ID+": "+o.Event.Reason)
		}
	}
	if len(named) != 1 || !strings.HasPrefix(named[0], "d1: ") || c.counters.Malformed != 1 {
		t.Errorf("named %q, counters %+v", named, c.counters)
	}
	for i, rows := range [][][]float32{{{1}, {2}, {3}}, {{10}}} {
		r := described(t, c, stats.Of(rows))
		c.Step(1, Input{Kind: InReply, ID: []string{"d0", "d2"}[i], Frame: r.Append(nil)})
	}
	if c.phase() != appending {
		t.Fatalf("phase %d after all have answered", c.phase())
	}
	c.Step(1, Input{Kind: InAppended, N: c.N + 1})
	if s := c.Plan.Stats; len(s) != 1 || s[0].Count != 4 || s[0].Mean != 4 || *s[0].Max != 10 {
		t.Errorf("statistics %+v", s)
	}
	if c.round.survey != survey.None || c.Rounds != 0 {
		t.Errorf("then a survey of %v, after %d rounds", c.round.survey, c.Rounds)
	}
}

// TestMaskedColumns: with secure=sum the statistics are a sum of words, and an answer without masks
// does not count.
func TestMaskedColumns(t *testing.T) {
	p := securePlan(t, 4)
	p.Columns = 2
	f := newMaskedFleet(t, p, 4)
	if f.c.round.survey != survey.Columns {
		t.Fatalf("the run begins with a survey of %v", f.c.round.survey)
	}
	bare := described(t, f.c, nil)
	bare.Values = make([]byte, 4*stats.Values(p)) // as many numbers as a sum has
	f.c.Step(1, Input{Kind: InReply, ID: "d0", Frame: bare.Append(nil)})
	if f.c.counters.WrongCount != 1 {
		t.Errorf("an answer without masks: counters %+v", f.c.counters)
	}
	for _, step := range []secagg.Step{secagg.StepKeys, secagg.StepShares, secagg.StepMask,
		secagg.StepUnmask} {
		f.step(step, 0, 1, 2, 3)
	}
	if f.c.phase() != appending {
		t.Fatalf("phase %d after all steps", f.c.phase())
	}
	f.c.Step(f.now, Input{Kind: InAppended, N: f.c.N + 1})
	if s := f.c.Plan.Stats; len(s) != 2 || s[0].Count != 4 || s[0].Mean != 1.5 || s[0].Min != nil {
		t.Errorf("statistics %+v", s)
	}
}
