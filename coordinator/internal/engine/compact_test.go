package engine

import (
	"bytes"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// TestCompactAnnouncements: a round's first announcement is compact and brings the record that was
// just stored. The plan, a repetition with earlier records and a pause come in the full form.
func TestCompactAnnouncements(t *testing.T) {
	plan := methodPlan(t, []string{"sharing=per-client", "transport=relay", "weights=samples",
		"max_weight=1000"}, 3)
	plan.Quorum, plan.AnnounceBudget, plan.Deadline = 3, 4096, 60_000
	if compact.For(plan) {
		t.Fatal("a plan of the first version has compact frames")
	}
	c := newTestCore(t, plan, 3)
	c.announcer.compact = true
	names := ids(3)
	announced := func(outs []Output) (a compact.Announcement) {
		t.Helper()
		for _, o := range outs {
			if o.Kind != OutAnnounce {
				continue
			}
			var err error
			if a, err = compact.Decode(o.Frame); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	hash := c.Hash
	for round := range 5 {
		n := c.N + 1
		for d := range names {
			r := wire.Reply{Kind: wire.Contribution, N: n, Tip: c.Hash.Tip(), Weight: uint32(1 + d)}
			for p := range c.round.scalars {
				r.Values = wire.AppendScalars(r.Values, float32(d)+float32(p))
			}
			c.Step(1, Input{Kind: InReply, ID: names[d], Frame: r.Append(nil)})
		}
		stored := bytes.Clone(c.next.frame)
		a := announced(c.Step(2, Input{Kind: InAppended, N: n}))
		record, err := a.Record(hash)
		if !a.Compact() || a.N != n+1 || err != nil || !bytes.Equal(record, stored) {
			t.Fatalf("round %d: compact %v, n %d, %v: record %x, want %x", round, a.Compact(), a.N, err,
				record, stored)
		}
		before := hash
		hash = wire.HashRecord(stored)
		if a.Tip != hash.Tip() || a.Tip != c.Hash.Tip() {
			t.Errorf("round %d: tip %v, want %v", round, a.Tip, hash.Tip())
		}
		again := announced(c.Step(c.announcer.at, Input{Kind: InTick}))
		record, err = again.Record(before)
		if !again.Compact() || err != nil || !bytes.Equal(record, stored) {
			t.Errorf("round %d: the repetition brings %x, compact %v, %v: want %x", round, record,
				again.Compact(), err, stored)
		}
	}
	paused := announced(c.Step(c.now, Input{Kind: InPause, Text: "why"}))
	if paused.Compact() || paused.State != wire.Paused || paused.Records.Len() == 0 {
		t.Errorf("paused: %+v", paused.Announcement)
	}
}
