package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// followersOf returns the names of the followers of a core's log.
func followersOf(c *Core) (names []string) {
	for _, f := range c.followers {
		name := fmt.Sprintf("%T", f)
		names = append(names, name[strings.LastIndex(name, ".")+1:])
	}
	return names
}

// TestFollowers lists the followers of a log for several plans: each part that the plan asks for,
// from the record with which the plan asks until the record with which the plan no longer does.
func TestFollowers(t *testing.T) {
	always := []string{"Cohort", "watch", "queue"}
	for _, tt := range []struct {
		fields string
		more   []string
	}{
		{"digest_every=0", nil},
		{"digest_every=4", []string{"votes"}},
		{"digest_every=0 late=3", []string{"Work"}},
		{"digest_every=0 bound=4", []string{"Chain"}},
		{"digest_every=0 eval_every=2 eval_count=1 metrics=[\"loss\"]", []string{"evaluations"}},
		{"digest_every=0 transport=dense dense_keep=4 max_scalar=1e20", []string{"vectors"}},
		{"digest_every=0 server_rule=normalized step=auto", []string{"law"}},
		{"digest_every=4 late=3 bound=4", []string{"Chain", "Work", "votes"}},
	} {
		c := newTestCore(t, chaintest.PlanWith(t, strings.Fields(tt.fields), 2), 2)
		if got, want := followersOf(c), slices.Concat(always, tt.more); !slices.Equal(got, want) {
			t.Errorf("%s: %v follow the log, want %v", tt.fields, got, want)
		}
	}
}

// TestFollowersOfAChange: a change of the plan adds and removes followers, and so does a rollback
// to another plan.
func TestFollowersOfAChange(t *testing.T) {
	c := newTestCore(t, chaintest.PlanWith(t, []string{"digest_every=0"}, 2), 2)
	c.Step(1, Input{Kind: InPause})
	for _, tt := range []struct {
		field, value string
		want         string
	}{
		{"late", "3", "Work"}, {"digest_every", "4", "Work votes"}, {"late", "0", "votes"},
		{"digest_every", "0", ""},
	} {
		var change plan.Change
		if err := planfile.SetChange(&change, tt.field, tt.value); err != nil {
			t.Fatal(err)
		}
		c.Step(1, Input{Kind: InRequest,
			Record: &wire.Record{Kind: wire.KindChange, Change: &change}})
		c.Step(1, Input{Kind: InAppended, N: c.N + 1})
		if got := strings.Join(followersOf(c)[3:], " "); got != tt.want {
			t.Errorf("after %s=%s: %q follow the log, want %q", tt.field, tt.value, got, tt.want)
		}
	}
	c.Step(1, Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindRollback, To: 3}})
	c.Step(1, Input{Kind: InAppended, N: c.N + 1})
	if got := strings.Join(followersOf(c)[3:], " "); got != "Work votes" {
		t.Errorf("after a rollback %q follow the log, want those of record 3", got)
	}
}

// TestTellAllocates: passing a round to the followers allocates no memory.
func TestTellAllocates(t *testing.T) {
	c := newTestCore(t, chaintest.PlanWith(t, []string{"digest_every=0", "late=3"}, 2), 2)
	r := wire.Record{Kind: wire.KindRound, N: c.N, Prev: wire.Hash{1}}
	if n := testing.AllocsPerRun(100, func() { c.tell(nil, r) }); n != 0 {
		t.Errorf("it takes %v allocations", n)
	}
}
