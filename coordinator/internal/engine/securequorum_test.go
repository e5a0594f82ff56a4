package engine

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// changing returns the request of a change.
func changing(t *testing.T, fields ...string) *wire.Record {
	t.Helper()
	change := &plan.Change{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if err := planfile.SetChange(change, name, value); err != nil {
			t.Fatal(err)
		}
	}
	return &wire.Record{Kind: wire.KindChange, Change: change}
}

// TestMaskedQuorumRises: with secure=sum the quorum may rise and not fall, and a target may fall no
// lower than the quorum. Without secure=sum it may fall.
func TestMaskedQuorumRises(t *testing.T) {
	f := newMaskedFleet(t, securePlan(t, 10), 10)
	for _, tt := range []struct {
		change []string
		fault  string
	}{
		{[]string{"quorum=5"}, "quorum = 5: with secure=sum devices add to no sum of fewer than the 6"},
		{[]string{"quorum=3", "target=3"}, "quorum = 3: with secure=sum "},
		{[]string{"target=5"}, "quorum = 6: "},
		{[]string{"quorum=7"}, ""},
		{[]string{"quorum=6"}, ""},
		{[]string{"target=6"}, ""},
	} {
		err := f.c.Check(changing(t, tt.change...))
		if tt.fault == "" && err != nil || tt.fault != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%v: %v, want %q", tt.change, err, tt.fault)
		}
	}
	plain := securePlan(t, 10)
	plain.Secure = 0
	c := newTestCore(t, plain, 10)
	if err := c.Check(changing(t, "quorum=5")); err != nil {
		t.Errorf("without secure=sum: %v", err)
	}
}

// TestMaskedQuorumAfterRollback: a rollback to a state with a lower quorum is followed by a change
// to the present one, before the next round. A rollback to a state with the same quorum is not.
func TestMaskedQuorumAfterRollback(t *testing.T) {
	f := newMaskedFleet(t, securePlan(t, 10), 10)
	c := f.c
	stored := func() {
		t.Helper()
		f.record()
		f.input(Input{Kind: InAppended, N: c.N + 1})
	}
	f.sums(upTo(10)...)
	f.input(Input{Kind: InRequest, Record: changing(t, "quorum=8")})
	stored() // the round
	stored() // the change
	f.input(Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindRollback, To: 3}})
	stored()
	if c.phase() != collecting || c.Plan.Quorum != 8 {
		t.Fatalf("phase %d, quorum %d after a rollback that lowers nothing", c.phase(), c.Plan.Quorum)
	}
	f.input(Input{Kind: InRequest, Record: changing(t, "quorum=10")})
	f.begin()
	f.sums(upTo(10)...)
	stored()
	stored()
	f.input(Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindRollback, To: 1}})
	stored()
	if c.Plan.Quorum != 6 {
		t.Fatalf("quorum %d after the rollback to record 1, want its 6", c.Plan.Quorum)
	}
	stored()
	if c.phase() != collecting || c.Plan.Quorum != 10 || c.Plan.Target != 10 {
		t.Fatalf("phase %d, quorum %d of %d: want the quorum from before the rollback", c.phase(),
			c.Plan.Quorum, c.Plan.Target)
	}
}

// TestMaskedQuorumAfterRestart: a coordinator whose log ends with a rollback to a lower quorum
// first stores the change that the one before it did not come to.
func TestMaskedQuorumAfterRestart(t *testing.T) {
	log := &runlog.Memory{}
	if err := log.AddMembers(t.Context(), ids(10)); err != nil {
		t.Fatal(err)
	}
	last, n := newTestCore(t, securePlan(t, 10), 10).First, uint64(1)
	if err := log.Append(t.Context(), n, last); err != nil {
		t.Fatal(err)
	}
	add := func(r *wire.Record) {
		t.Helper()
		n++
		r.N, r.Prev, r.Epoch = n, wire.HashRecord(last), 1
		last = r.Append(nil)
		if err := log.Append(t.Context(), n, last); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(epoch uint64) *Core {
		t.Helper()
		c, err := newCore(t.Context(), nil, log, epoch)
		if err != nil {
			t.Fatal(err)
		}
		c.Start(0)
		return c
	}
	add(changing(t, "quorum=9"))
	if c := begin(2); c.phase() != collecting {
		t.Errorf("phase %d without a rollback, want an open round", c.phase())
	}
	add(&wire.Record{Kind: wire.KindRollback, To: 1})
	c := begin(2)
	if c.phase() != appending || c.Plan.Quorum != 6 {
		t.Fatalf("phase %d, quorum %d, want the change on its way", c.phase(), c.Plan.Quorum)
	}
	c.Step(0, Input{Kind: InAppended, N: n + 1})
	if c.phase() != collecting || c.Plan.Quorum != 9 {
		t.Errorf("phase %d, quorum %d, want a round with the quorum of 9", c.phase(), c.Plan.Quorum)
	}
}
