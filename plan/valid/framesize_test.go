package valid_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// TestFrameBytes: FrameBytes bounds the frames of late rounds, and is not much larger than these
// frames.
func TestFrameBytes(t *testing.T) {
	for _, name := range preset.Names() {
		p, err := preset.Unbound(name, "r1", 1000)
		if err != nil {
			t.Fatal(err)
		}
		p.PerturbationsAuto = 0 // noise makes longer rounds than the first
		got := valid.FrameBytes(p)
		if p.SendsVectors() {
			if got < wire.MaxHead || got > wire.MaxPiece {
				t.Errorf("%s: %d bytes: pieces of vectors are as long as a broker takes", name, got)
			}
			continue
		}
		c := cost.Of(p, cost.Input{Round: 1 << 40})
		records := c.Records
		later := c.Repeat.Payload + int(p.AnnounceBudget) // of another attempt
		seen := max(later, c.Down.Payload/records, c.Up.Payload/records)
		if int(got) < seen || int(got) > 2*seen+wire.MaxHead+512 {
			t.Errorf("%s: a bound of %d bytes, and frames of %d", name, got, seen)
		}
	}
	p, err := preset.Unbound("decomfl", "r1", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for range plan.MaxSegments { // a plan that is longer than its rounds
		p.Segments = append(p.Segments, plan.Segment{Name: "a-segment-with-a-long-name", Len: 1})
	}
	first := wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}
	if got := valid.FrameBytes(p); int(got) < len(first.Append(nil))+wire.MaxHead {
		t.Errorf("a bound of %d bytes leaves out the plan", got)
	}
}
