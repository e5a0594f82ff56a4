package engine

import (
	"math"
	"testing"

	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// shares sends a slot's shares of classes.
func (s *groupStage) shares(slot int, values ...float32) {
	s.Helper()
	values = append(values, make([]float32, survey.Sketched-len(values))...)
	r := wire.Reply{Kind: wire.Contribution, N: s.c.N + 1, Tip: s.c.Hash.Tip(), Weight: 1,
		Values: wire.AppendScalars(nil, values...), Rest: survey.Answer(survey.Sketch)}
	s.step(Input{Kind: InReply, ID: ids(groupDevices)[slot], Frame: r.Append(nil)})
}

// parts sends a slot's scalars for each class; each scalar is v+class.
func (s *groupStage) parts(slot, group int, v float32, counts ...uint32) {
	s.Helper()
	r := wire.Reply{Kind: wire.Contribution, N: s.c.N + 1, Tip: s.c.Hash.Tip(), Weight: 1,
		Rest: wiregroups.AppendReply(nil, uint32(group))}
	last := -1
	for class, n := range counts {
		if n == 0 {
			continue
		}
		block := make([]float32, s.c.round.perturbations)
		for p := range block {
			block[p] = v + float32(class)
		}
		r.Values = perclass.Append(r.Values, last, perclass.Part{Class: uint32(class), Count: n,
			Scalars: s.c.Plan.Precision.Append(nil, block...)})
		last = class
	}
	s.step(Input{Kind: InReply, ID: ids(groupDevices)[slot], Frame: r.Append(nil)})
}

// classesBegun returns a stage whose members have sent their shares of classes: three in four of
// class 0.
func classesBegun(t *testing.T, fields ...string) *groupStage {
	s := newGroupStage(t, append([]string{"groups=sketch", "classes=2", "batch=40"}, fields...)...)
	if k := survey.Asked(s.last.Rest); k != survey.Sketch {
		t.Fatalf("the run asks for %v", k)
	}
	for slot := range groupDevices {
		s.shares(slot, 0.5+0.5*float32(slot%2), 0.5-0.5*float32(slot%2))
	}
	return s
}

// The coordinator takes shares of classes in place of sketches, and refuses values that are no
// shares.
func TestSharesBeforeRounds(t *testing.T) {
	s := newGroupStage(t, "groups=sketch", "classes=2", "batch=40")
	s.shares(0, 0.5, 0.4)
	s.shares(0, -0.5, 1.5)
	s.shares(0, 0, 0, 1)
	s.shares(0, float32(math.NaN()), 1)
	if got := s.c.counters; got.Malformed != 3 || got.NonFinite != 1 || got.Contributions != 0 {
		t.Errorf("counted %+v", got)
	}
	s = classesBegun(t)
	got := s.c.policy.Stages.Groups.Shares(2)
	if math.Abs(got[0]-0.75) > 1e-6 || math.Abs(got[1]-0.25) > 1e-6 {
		t.Errorf("the classes' shares are %v", got)
	}
	by := s.named()
	for _, slots := range by { // three of both kinds cancel best as two and one
		if len(slots) != 3 {
			t.Errorf("groups %v", by)
		}
	}
}

// For each group, the record has the means of the classes, weighted by the classes' shares in all
// samples. The coordinator drops and counts a contribution of another form, and the device may
// answer again.
func TestRoundByClass(t *testing.T) {
	s := classesBegun(t)
	by := s.named()
	first := by[0][0]
	s.reply(first, 0)                // without classes
	s.parts(first, 0, 1, 30, 11)     // 41 samples of 40
	s.parts(first, 0, 1, 10, 10, 10) // a third class
	s.parts(first, 0, 1)             // nothing
	s.parts(first, 1, 1, 10, 10)     // another group's directions
	s.parts(first, 0, 2e6, 10)       // above max_scalar
	s.parts(first, 0, float32(math.NaN()), 10)
	if got := s.c.counters; got.Malformed != 4 || got.WrongGroup != 1 || got.TooLarge != 1 ||
		got.NonFinite != 1 || got.Contributions != 12 {
		t.Errorf("counted %+v", got)
	}
	s.parts(by[0][0], 0, 10, 30, 10)
	s.parts(by[0][1], 0, 20, 10, 0)
	s.parts(by[0][2], 0, 30, 0, 30)
	for i, slot := range by[1] { // of class 0 alone
		s.parts(slot, 1, float32(i), 20)
	}
	r := s.record()
	want := []float64{0.75*(0.75*10+0.25*20) + 0.25*(0.25*11+0.75*31), 1}
	for g, term := range r.Terms {
		for p := range int(s.c.round.perturbations) {
			if got := float64(term.Scalars.At(p)); math.Abs(got-want[g]) > 1e-4 {
				t.Errorf("group %d, scalar %d is %v, want %v", g, p, got, want[g])
			}
		}
	}
	if len(r.Terms) != 2 || r.Contributors != 6 {
		t.Errorf("%d terms, %d contributors", len(r.Terms), r.Contributors)
	}
}

// A bound scales all classes of a device down by the same factor: to 2, and to 1.5 in a round of 6.
func TestBoundByClass(t *testing.T) {
	s := classesBegun(t, "bound=2", "perturbations=20")
	by := s.named()
	for group, slots := range by {
		for _, slot := range slots {
			v := float32(1)
			if slot == by[0][0] {
				v = 7
			}
			s.parts(slot, group, v, 20)
		}
	}
	r := s.record()
	got := float64(r.Terms[0].Scalars.At(0))
	if want := (1.5 + 1 + 1) / 3; math.Abs(got-want) > 1e-3 || s.c.chain.Cuts() != 1 {
		t.Errorf("the mean is %v after %d cuts, want %v", got, s.c.chain.Cuts(), want)
	}
}
