package outbox

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// An answer to a survey answers no round of the same record, nor another survey, and the other way
// round, also after a restart.
func TestSurveyIsNoRound(t *testing.T) {
	tip := wire.Tip{7}
	asks := map[survey.Kind][]byte{
		survey.None: nil, survey.Step: survey.Ask(nil, survey.Step),
		survey.Mu: survey.Ask(nil, survey.Mu),
	}
	for kind := range asks {
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
		for asked, rest := range asks {
			a := wire.Announcement{N: 5, Rest: rest}
			if got := stored.answers(&a, tip); got != (asked == kind) {
				t.Errorf("a reply to %v answers %v: %v", kind, asked, got)
			}
		}
	}
}
