package valid_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
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
		if sent := int(valid.SentBytes(p)); sent < c.Up.Payload/records || sent > 2*c.Up.Payload+512 {
			t.Errorf("%s: a device sends %d bytes, and the bound is %d", name, c.Up.Payload, sent)
		}
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

// TestSurveyBytes: answers to surveys, which are float32 numbers whatever the precision, may be
// longer than those to rounds.
func TestSurveyBytes(t *testing.T) {
	p, err := preset.Unbound("zofl", "r1", 1000)
	if err != nil {
		t.Fatal(err)
	}
	r := wire.Reply{Kind: wire.Contribution, N: 1 << 60, Weight: plan.MaxWeight, Loss: 1}
	for _, groups := range []string{"auto", "sketch"} {
		if err := planfile.Set(p, "groups", groups); err != nil {
			t.Fatal(err)
		}
		kind := survey.Mu
		if groups == "sketch" {
			kind = survey.Sketch
		}
		r.Values, r.Rest = make(wire.Scalars, 4*kind.ValuesOf(p)), survey.Answer(kind)
		if got, sent := int(valid.SentBytes(p)), len(r.Append(nil)); got < sent {
			t.Errorf("groups=%s: a bound of %d bytes, and an answer to a survey has %d", groups, got, sent)
		}
	}
}
