package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"

	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// A groupStage has a core of 12 devices. A round asks 6 of them, in two groups of three.
type groupStage struct {
	*testing.T
	c    *Core
	now  uint64
	last wire.Announcement
}

const groupDevices = 12

func newGroupStage(t *testing.T, fields ...string) *groupStage {
	t.Helper()
	fields = append([]string{"sharing=groups", "transport=relay", "groups=random", "group_size=3",
		"regroup=2", "target=6", "over_sample=1", "quorum=3", "max_attempts=3"}, fields...)
	s := &groupStage{T: t}
	s.c = newTestCore(t, methodPlan(t, fields, groupDevices), groupDevices)
	s.see(s.c.Step(s.c.announcer.at, Input{Kind: InTick}))
	s.now = s.c.now
	return s
}

// see remembers the last announcement.
func (s *groupStage) see(out []Output) {
	s.Helper()
	for _, o := range out {
		if o.Kind != OutAnnounce {
			continue
		}
		if len(o.Frame) > wire.MaxHead+s.c.Recent.Within(1, 1<<20).Size() {
			s.Errorf("an announcement has %d bytes", len(o.Frame))
		}
		a, err := compact.Decode(append([]byte(nil), o.Frame...))
		if err != nil {
			s.Fatal(err)
		}
		s.last = a.Announcement
	}
}

func (s *groupStage) step(in Input) {
	s.Helper()
	s.see(s.c.Step(s.now, in))
}

// named returns the slots that the last announcement asks, by group.
func (s *groupStage) named() (groups [2][]int) {
	for slot := range groupDevices {
		if g, ok := wiregroups.Of(&s.last, uint32(slot)); ok {
			groups[g] = append(groups[g], slot)
		}
	}
	return groups
}

// finds returns the scalars that a device computes along the directions of a group, before
// encoding.
func (s *groupStage) finds(slot, group int) (v []float32) {
	for p := range s.c.round.scalars {
		x := math.Sqrt(float64(1+slot))*float64(1+p) + 100*float64(group)
		v = append(v, float32(x))
	}
	return v
}

// values returns the scalars that a device sends, after decoding.
func (s *groupStage) values(slot, group int) []float32 {
	v := s.finds(slot, group)
	s.c.Plan.Precision.Round(v)
	return v
}

// weight returns the number of samples that a device claims, which counts with weights=samples.
func weight(slot int) uint32 { return 1 + uint32(slot%5) }

// counts returns the weight of a device's contribution.
func (s *groupStage) counts(slot int) uint32 {
	if s.c.Plan.Weights == plan.Equal {
		return 1
	}
	return weight(slot)
}

// reply sends a slot's contribution along a group's directions. With group -1 it names no group.
func (s *groupStage) reply(slot, group int) {
	s.Helper()
	r := wire.Reply{Kind: wire.Contribution, N: s.c.N + 1, Tip: s.c.Hash.Tip(),
		Weight: weight(slot),
		Values: s.c.Plan.Precision.Append(nil, s.finds(slot, group)...)}
	if group >= 0 {
		r.Rest = wiregroups.AppendReply(nil, uint32(group))
	}
	s.step(Input{Kind: InReply, ID: ids(groupDevices)[slot], Frame: r.Append(nil)})
}

// record returns the pending round.
func (s *groupStage) record() *wire.Round {
	s.Helper()
	if s.c.phase() != appending {
		s.Fatalf("phase %d, %d collected: %+v", s.c.phase(), s.c.collected(), s.c.counters)
	}
	r, err := wire.DecodeRecord(s.c.next.frame)
	if err != nil {
		s.Fatal(err)
	}
	return r.Round
}

// check compares a round with the means over the contributors, by group, in float64.
func (s *groupStage) check(r *wire.Round, by [2][]int) {
	s.Helper()
	terms, weights := r.Terms, []uint32(nil)
	for group, slots := range by {
		if len(slots) == 0 {
			continue
		}
		if len(terms) == 0 || terms[0].Back != 0 || terms[0].Source != prng.Slot(uint32(group)) {
			s.Fatalf("terms %v, want those of groups %v", r.Terms, by)
		}
		for p := range s.c.round.scalars {
			sum, all := 0.0, 0.0
			for _, slot := range slots {
				w := float64(s.counts(slot))
				sum, all = sum+w*float64(s.values(slot, group)[p]), all+w
			}
			want := []float32{float32(sum / all)}
			precision := s.c.Plan.TermPrecision()
			precision.Round(want)
			got := precision.Values(terms[0].Scalars, 1, s.c.round.scalars)
			if len(got) == 0 || got[p] != want[0] {
				s.Errorf("group %d, scalar %d of %v, want the mean %v", group, p, got, want)
			}
		}
		terms = terms[1:]
		if s.c.Plan.Weights == plan.BySamples {
			weights = append(weights, 0)
			for _, slot := range slots {
				weights[len(weights)-1] += weight(slot)
			}
		}
	}
	if len(terms) > 0 || int(r.Contributors) != len(by[0])+len(by[1]) ||
		!slices.Equal(r.Weights, weights) || len(r.Slots) > 0 {
		s.Errorf("%d terms too many, %d contributors, weights %v, slots %v; want groups %v, weights %v",
			len(terms), r.Contributors, r.Weights, r.Slots, by, weights)
	}
}

func TestGroupsOfARound(t *testing.T) {
	for _, field := range []string{"precision=single", "precision=half", "precision=int8",
		"precision=int4", "precision=int2", "weights=samples"} {
		s := newGroupStage(t, "max_scalar=60000", field)
		by := s.named()
		if len(by[0]) != 3 || len(by[1]) != 3 || s.last.Cohort != (wire.Cohort{Sampled: 6,
			Members: groupDevices}) {
			t.Fatalf("groups %v, cohort %v", by, s.last.Cohort)
		}
		for _, slot := range by[1] {
			s.reply(slot, 0) // of an earlier coordinator's groups
			s.reply(slot, -1)
			s.reply(slot, 1)
			s.reply(slot, 1)
		}
		for slot := range groupDevices {
			if _, asked := wiregroups.Of(&s.last, uint32(slot)); !asked {
				s.reply(slot, 0)
			}
		}
		for _, slot := range by[0] {
			s.reply(slot, 0)
		}
		s.check(s.record(), by)
		if got := s.c.counters; got.WrongGroup != 6 || got.Unsampled != 6 ||
			got.Duplicate+got.Repeated != 3 || got.Contributions != 6 {
			t.Errorf("counted %+v", got)
		}
	}
}

// A group without contributors has no term, and a group's mean is over its contributors.
func TestGroupsInPart(t *testing.T) {
	for _, weights := range []string{"equal", "samples"} {
		groupsInPart(t, "weights="+weights)
	}
}

func groupsInPart(t *testing.T, field string) {
	s := newGroupStage(t, field)
	by := s.named()
	for _, slot := range by[1] {
		s.reply(slot, 1)
	}
	s.now = s.c.round.deadline
	s.step(Input{Kind: InTick})
	s.check(s.record(), [2][]int{nil, by[1]})
	s.step(Input{Kind: InAppended, N: s.c.N + 1})
	by = s.named()
	s.reply(by[0][0], 0)
	s.reply(by[1][0], 1)
	s.reply(by[1][2], 1)
	s.now = s.c.round.deadline
	s.step(Input{Kind: InTick})
	s.check(s.record(), [2][]int{by[0][:1], {by[1][0], by[1][2]}})
}

// After an attempt below the quorum, the next attempt asks other devices in the same groups.
// Replies to the earlier attempt still count.
func TestGroupsOfAttempts(t *testing.T) {
	s := newGroupStage(t)
	first := s.named()
	s.reply(first[0][0], 0)
	s.now = s.c.round.deadline
	s.step(Input{Kind: InTick})
	second := s.named()
	if s.last.Attempt != 1 || len(second[0])+len(second[1]) != 10 {
		t.Fatalf("attempt %d asks %v, want 10 devices", s.last.Attempt, second)
	}
	all := map[int]int{}
	for _, by := range [][2][]int{first, second} {
		for group, slots := range by {
			for _, slot := range slots {
				if was, again := all[slot]; again && was != group {
					t.Errorf("slot %d was in group %d, now in group %d", slot, was, group)
				}
				all[slot] = group
			}
		}
	}
	s.reply(first[1][1], 1) // whom the second attempt may have asked, too
	for _, slot := range second[0][:3] {
		s.reply(slot, 0)
	}
	s.reply(first[1][2], 1)
	counted := [2][]int{append([]int{first[0][0]}, second[0][:3]...), {first[1][1], first[1][2]}}
	s.check(s.record(), counted)
}

// TestGroupsTellAll: every message with the open round's announcement names the groups, and no
// message does while no round is open.
func TestGroupsTellAll(t *testing.T) {
	s := newGroupStage(t)
	by := s.named()
	s.reply(by[0][0], 0)
	for _, o := range s.c.Step(s.now, joinOf(ids(groupDevices)[by[1][1]])) {
		if o.Kind != OutRespond {
			continue
		}
		reply, err := wire.DecodeJoinReply(o.Frame)
		if err != nil {
			t.Fatal(err)
		}
		a, err := wire.DecodeAnnouncement(reply.Announcement)
		if g, ok := wiregroups.Of(&a, uint32(by[1][1])); err != nil || !ok || g != 1 {
			t.Errorf("a device that joins again learns of group %d, %v, %v", g, ok, err)
		}
	}
	s.now = s.c.announcer.at
	s.step(Input{Kind: InTick})
	if m, ok := s.last.Missing(); !ok || m.Has(uint32(by[0][0])) || !m.Has(uint32(by[1][1])) ||
		fmt.Sprint(s.named()) != fmt.Sprint(by) {
		t.Errorf("repeated: missing %x, %v, groups %v, want %v", m, ok, s.named(), by)
	}
	s.step(Input{Kind: InPause, Text: "p"})
	if s.last.State != wire.Paused || len(s.named()[0])+len(s.named()[1]) > 0 {
		t.Errorf("state %v, groups %v", s.last.State, s.named())
	}
	s.step(Input{Kind: InResume})
	if s.last.State != wire.Open || len(s.named()[0])+len(s.named()[1]) == 0 {
		t.Errorf("state %v, groups %v", s.last.State, s.named())
	}
}

func TestGroupsWithMedian(t *testing.T) {
	s := newGroupStage(t, "aggregator=median")
	by := s.named()
	for group, slots := range by {
		for _, slot := range slots {
			s.reply(slot, group)
		}
	}
	for group, term := range s.record().Terms {
		want := s.values(by[group][1], group) // the middle one: values ascend with the slot
		for p := range want {
			if got := term.Scalars.At(p); got != want[p] {
				t.Errorf("group %d, scalar %d is %v, want the median %v", group, p, got, want[p])
			}
		}
	}
}
