package outbox

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// An answer to a survey answers no round of the same record, and no other survey. A contribution to
// a round answers no survey. A restart of the device changes nothing of this.
func TestSurveyIsNoRound(t *testing.T) {
	tip := wire.Tip{7}
	kinds := []survey.Kind{survey.None, survey.Step, survey.Mu}
	for _, kind := range kinds {
		r := wire.Reply{Kind: wire.Contribution, N: 5, Tip: tip, Weight: 1,
			Values: wire.AppendScalars(nil, 1)}
		if kind != survey.None {
			r.Rest = survey.Answer(kind)
		} else {
			r.Rest = survey.Slope(1)
		}
		content := binary.LittleEndian.AppendUint32(nil, math.Float32bits(0))
		content = binary.LittleEndian.AppendUint32(content, 0)
		stored, err := parseReply(append(content, r.Append(nil)...))
		if err != nil {
			t.Fatal(err)
		}
		for _, asked := range kinds {
			a := Ask{Announcement: wire.Announcement{N: 5}, Survey: asked}
			if got := stored.answers(&a, tip); got != (asked == kind) {
				t.Errorf("a reply to %v answers %v: %v", kind, asked, got)
			}
		}
	}
}

// A stored contribution belongs to the group that it names. A control variate has its first number
// in the place of the group, and that number is no group.
func TestGroupOfAStoredReply(t *testing.T) {
	variate := wire.ControlVariate{N: 3, Scalars: make(wire.Scalars, 8)}
	for name, test := range map[string]struct {
		rest []byte
		want uint32
	}{
		"no group":          {nil, 0},
		"a group":           {grouping.AppendReply(nil, 3), 3},
		"after a slope":     {grouping.AppendReply(survey.Slope(1), 3), 3},
		"a slope":           {survey.Slope(1), 0},
		"a survey":          {survey.Answer(survey.Sketch), 0},
		"a control variate": {variate.Append(nil), 0},
	} {
		r := wire.Reply{Kind: wire.Contribution, N: 5, Weight: 1,
			Values: wire.AppendScalars(nil, 1), Rest: test.rest}
		stored, err := parseReply(r.Append(make([]byte, replyHead)))
		if err != nil || stored.group != test.want {
			t.Errorf("%s: group %d, %v, want %d", name, stored.group, err, test.want)
		}
	}
}
