package engine

import (
	"math"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// sketch sends a slot's sketch, whose numbers are all v.
func (s *groupStage) sketch(slot int, v float32) {
	s.Helper()
	values := make([]float32, survey.Sketched)
	for j := range values {
		values[j] = v * float32(math.Sin(float64(1+slot%3)*float64(1+j)))
	}
	r := wire.Reply{Kind: wire.Contribution, N: s.c.N + 1, Tip: s.c.Hash.Tip(),
		Weight: weight(slot), Values: wire.AppendScalars(nil, values...),
		Rest: survey.Answer(survey.Sketch)}
	s.step(Input{Kind: InReply, ID: ids(groupDevices)[slot], Frame: r.Append(nil)})
}

// A run with groups=sketch asks all members for sketches before its first round, whose record has
// weighted means. The run asks again once many members have joined.
func TestSketchesBeforeRounds(t *testing.T) {
	for _, weights := range []string{"equal", "samples"} {
		sketchesBeforeRounds(t, "weights="+weights)
	}
}

func sketchesBeforeRounds(t *testing.T, field string) {
	s := newGroupStage(t, "groups=sketch", field)
	if k := survey.Asked(s.last.Rest); k != survey.Sketch || s.last.Cohort.Sampled != groupDevices {
		t.Fatalf("the run asks %d devices for %v", s.last.Cohort.Sampled, k)
	}
	s.sketch(0, float32(math.NaN()))
	s.sketch(0, float32(math.Inf(1)))
	s.sketch(0, 1e7)
	s.reply(1, 0)
	if got := s.c.counters; got.NonFinite != 2 || got.TooLarge != 1 || got.WrongSurvey != 1 ||
		got.Contributions != 0 {
		t.Errorf("counted %+v", got)
	}
	for slot := range groupDevices {
		if s.c.round.survey != survey.Sketch {
			t.Fatalf("the survey ended after %d of %d", slot, groupDevices)
		}
		s.sketch(slot, 1)
	}
	by := s.named()
	if s.c.N != 1 || s.c.round.survey != survey.None || len(by[0]) != 3 || len(by[1]) != 3 {
		t.Fatalf("after record %d a survey of %v, groups %v", s.c.N, s.c.round.survey, by)
	}
	s.sketch(by[0][0], 1) // late
	for group, slots := range by {
		for _, slot := range slots {
			s.reply(slot, group)
		}
	}
	r := s.record()
	for group, term := range r.Terms {
		var slots, claimed []uint32
		total := uint32(0)
		for _, slot := range by[group] {
			slots, claimed = append(slots, uint32(slot)), append(claimed, s.counts(slot))
			total += s.counts(slot)
		}
		weights := s.c.policy.Stages.Groups.Weights(slots, claimed)
		if len(r.Weights) > 0 && r.Weights[group] != total ||
			len(r.Weights) > 0 != s.c.Plan.RelaysWeights() {
			t.Errorf("groups %v have weights %v", by, r.Weights)
		}
		for p := range s.c.round.scalars {
			sum, all := 0.0, 0.0
			for i, slot := range by[group] {
				sum += float64(weights[i]) * float64(s.values(slot, group)[p])
				all += float64(weights[i])
			}
			if got := float64(term.Scalars.At(p)); math.Abs(got-sum/all) > 1e-5*math.Abs(got) {
				t.Errorf("group %d, scalar %d is %v, want %v", group, p, got, sum/all)
			}
		}
	}
	if len(r.Terms) != 2 || s.c.counters.WrongSurvey != 2 {
		t.Errorf("%d terms, counted %+v", len(r.Terms), s.c.counters)
	}
}

// If only some sketches arrived when the deadline passes, these are enough, and the operator sees
// that.
func TestSketchesInPart(t *testing.T) {
	s := newGroupStage(t, "groups=sketch")
	for slot := range 5 {
		s.sketch(slot, 1)
	}
	s.now = s.c.round.deadline
	out := s.c.Step(s.now, Input{Kind: InTick})
	told := 0
	for _, o := range out {
		if o.Kind == OutEvent && o.Event.Kind == report.Surveyed && o.Event.Survey.Answers == 5 &&
			o.Event.Survey.Kind == "sketch" && o.Event.Survey.Why != "" {
			told++
		}
	}
	s.see(out)
	if by := s.named(); told != 1 || len(by[0])+len(by[1]) != 6 {
		t.Errorf("told %d times; groups %v", told, by)
	}
}
