package grouping

import (
	"fmt"
	"slices"
	"testing"

	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// A fleet is a Crowd whose members the tests set.
type fleet struct {
	standings   []Standing
	contributed map[uint32]bool
}

func newFleet(members int) *fleet {
	return &fleet{make([]Standing, members), map[uint32]bool{}}
}

func (f *fleet) Members() uint32               { return uint32(len(f.standings)) }
func (f *fleet) Standing(slot uint32) Standing { return f.standings[slot] }
func (f *fleet) Contributed(slot uint32) bool  { return f.contributed[slot] }

// planOf returns a plan with groups of size, whose rounds ask target devices.
func planOf(target, size, regroup uint32) *plan.Plan {
	return &plan.Plan{
		Run:          "g",
		ProbeFields:  plan.ProbeFields{Sharing: plan.GroupDirections},
		GroupsFields: plan.GroupsFields{Groups: wiregroups.Random, GroupSize: size, Regroup: regroup},
		RoundsFields: plan.RoundsFields{Target: target, OverSample: 1},
	}
}

// checkGroups checks that an attempt asks no device twice, asks no device that is gone or has
// contributed, and does not change the group of a device that the round has asked.
func checkGroups(t *testing.T, c *Chooser, f *fleet, g Groups, before map[uint32]uint32) {
	t.Helper()
	seen := map[uint32]bool{}
	for group, slots := range g {
		if !slices.IsSorted(slots) {
			t.Errorf("group %d is %v", group, slots)
		}
		for _, slot := range slots {
			was, again := before[slot]
			of, ok := c.Of(slot)
			if seen[slot] || f.standings[slot] == Gone || f.contributed[slot] ||
				again && was != uint32(group) || !ok || of != uint32(group) || !g.Has(slot) {
				t.Errorf("slot %d is asked in group %d of %v", slot, group, g)
			}
			seen[slot] = true
		}
	}
	if len(seen) > mostDevices || g.Count() != len(seen) {
		t.Errorf("%d devices are named", len(seen))
	}
	listed := slices.Sorted(g.Slots())
	if len(listed) != len(seen) || len(listed) > 0 && g.Has(f.Members()) {
		t.Errorf("the groups %v have the slots %v", g, listed)
	}
}

func sizes(g Groups) (list []int) {
	for _, slots := range g {
		list = append(list, len(slots))
	}
	return list
}

func TestGroupsOfAllPresent(t *testing.T) {
	c, f, p := newChooser(1), newFleet(100), planOf(10, 5, 10)
	asked := map[uint32]int{}
	for round := uint64(1); round <= 10; round++ {
		g := c.Choose(p, round, 0, f)
		checkGroups(t, c, f, g, nil)
		if fmt.Sprint(sizes(g)) != "[5 5]" {
			t.Errorf("round %d has groups %v", round, g)
		}
		for slot := range g.Slots() {
			asked[slot]++
		}
	}
	if len(asked) != 100 {
		t.Errorf("ten rounds of ten ask %d of 100 members", len(asked))
	}
	// The same inputs give the same groups; the next period and another epoch have others.
	first := fmt.Sprint(c.Choose(p, 1, 0, f))
	if again := fmt.Sprint(newChooser(1).Choose(p, 1, 0, f)); again != first {
		t.Errorf("round 1 has groups %s, then %s", first, again)
	}
	if other := fmt.Sprint(newChooser(2).Choose(p, 1, 0, f)); other == first {
		t.Errorf("epochs 1 and 2 have groups %s", first)
	}
	if next := fmt.Sprint(c.Choose(p, 11, 0, f)); next == first {
		t.Errorf("rounds 1 and 11 have groups %s", first)
	}
}

// TestGroupsAreUniform: any two present members share a group equally often.
func TestGroupsAreUniform(t *testing.T) {
	const members, rounds = 12, 30_000
	c, f, p := newChooser(1), newFleet(members), planOf(6, 3, 1)
	f.standings[3], f.standings[7] = Absent, Gone
	var together [members][members]int
	for round := range uint64(rounds) {
		for _, slots := range c.Choose(p, 1+round, 0, f) {
			for _, a := range slots {
				for _, b := range slots {
					together[a][b]++
				}
			}
		}
	}
	// A round asks 6 of 10 present members. The chance that two of them are in one group is 6/10 *
	// 2/9.
	for a := range members {
		for b := range members {
			want := rounds * 0.6
			if a != b {
				want *= 2.0 / 9
			}
			if slices.Contains([]int{3, 7}, a) || slices.Contains([]int{3, 7}, b) {
				want = 0
			}
			if got := float64(together[a][b]); got < 0.93*want || got > 1.07*want {
				t.Errorf("slots %d and %d are together %v times, want about %v", a, b, got, want)
			}
		}
	}
}

func TestGroupsOfFewPresent(t *testing.T) {
	for present, want := range map[int]string{
		10: "[5 5]", 9: "[5 5]", 7: "[5 5]", 6: "[5 5]", 5: "[10]", 1: "[10]", 0: "[10]",
	} {
		c, f, p := newChooser(1), newFleet(20), planOf(10, 5, 10)
		for slot := present; slot < 20; slot++ {
			f.standings[slot] = Absent
		}
		g := c.Choose(p, 1, 0, f)
		checkGroups(t, c, f, g, nil)
		there := make([]int, len(g)) // present members by group
		for group, slots := range g {
			for _, slot := range slots {
				if int(slot) < present {
					there[group]++
				}
			}
		}
		if fmt.Sprint(sizes(g)) != want || slices.Max(there)-slices.Min(there) > 1 {
			t.Errorf("%d present: groups of %v, want %s; present in them %v", present, sizes(g), want,
				there)
		}
	}
	c, f := newChooser(1), newFleet(0)
	if g := c.Choose(planOf(10, 5, 10), 1, 0, f); g.Count() != 0 {
		t.Errorf("nobody is a member, %v are asked", g)
	}
}

// TestLaterAttempts: a later attempt asks other devices first, and every device keeps its group.
func TestLaterAttempts(t *testing.T) {
	c, f, p := newChooser(1), newFleet(40), planOf(10, 5, 10)
	before := map[uint32]uint32{}
	for attempt := range uint32(6) {
		g := c.Choose(p, 4, attempt, f)
		checkGroups(t, c, f, g, before)
		if lacks := 10 - len(f.contributed); g.Count() != min(lacks<<attempt, 40-len(f.contributed)) {
			t.Errorf("attempt %d, which lacks %d, asks %v", attempt, lacks, g)
		}
		fresh := 0
		for slot := range g.Slots() {
			if _, again := before[slot]; !again {
				fresh++
			}
		}
		if attempt == 1 && fresh != g.Count() {
			t.Errorf("attempt 1 asks %v, of which %d are new", g, fresh)
		}
		for group, slots := range g {
			for i, slot := range slots {
				if before[slot] = uint32(group); i == 0 {
					f.contributed[slot] = true
				}
			}
		}
	}
	// The next round forgets the groups of the round before.
	clear(f.contributed)
	if g := c.Choose(p, 5, 0, f); g.Count() != 10 {
		t.Errorf("the next round asks %v", g)
	}
}

// TestManyAttempts: however many devices an attempt asks, the announcement has room.
func TestManyAttempts(t *testing.T) {
	c, f, p := newChooser(1), newFleet(1000), planOf(120, 5, 10)
	for attempt := range uint32(100) {
		g := c.Choose(p, 1, attempt, f)
		checkGroups(t, c, f, g, nil)
		if want := min(120<<min(attempt, 1), mostDevices); g.Count() != want || len(g) != 24 {
			t.Fatalf("attempt %d asks %d devices in %d groups, want %d", attempt, g.Count(), len(g), want)
		}
	}
}

// TestSilentAreAsked: each round also asks one silent member, and over time every silent member,
// because the coordinator would otherwise never hear that the member is back. If the announcement
// has no room, the round asks no silent member.
func TestSilentAreAsked(t *testing.T) {
	c, f, p := newChooser(1), newFleet(40), planOf(10, 5, 10)
	for slot := 30; slot < 40; slot++ {
		f.standings[slot] = Silent
	}
	asked := map[uint32]bool{}
	for round := uint64(1); round <= 200; round++ {
		g := c.Choose(p, round, 0, f)
		checkGroups(t, c, f, g, nil)
		silent := 0
		for slot := range g.Slots() {
			if f.standings[slot] == Silent {
				asked[slot] = true
				silent++
			}
		}
		if len(g) != 2 || g.Count() != 11 || silent != 1 {
			t.Fatalf("round %d asks %v, of which %d are silent, want 11 and 1", round, g, silent)
		}
		if g := c.Choose(p, round, 1, f); g.Count() != 20 {
			t.Fatalf("round %d, attempt 1, asks %v, want 20", round, g)
		}
	}
	if len(asked) != 10 {
		t.Errorf("200 rounds ask %d of 10 silent members", len(asked))
	}
	for slot := 5; slot < 30; slot++ {
		f.standings[slot] = Silent
	}
	g := c.Choose(p, 201, 0, f)
	if checkGroups(t, c, f, g, nil); g.Count() != 10 {
		t.Errorf("of five present and 35 silent members %v are asked, want 10", g)
	}
	f = newFleet(mostDevices + 1)
	f.standings[0] = Silent
	if g := newChooser(1).Choose(planOf(mostDevices, 5, 10), 1, 0, f); g.Count() != mostDevices {
		t.Errorf("%d devices are named, want %d", g.Count(), mostDevices)
	}
}

// TestPeopleComeBack: a later attempt has groups for devices that have come back since.
func TestPeopleComeBack(t *testing.T) {
	c, f, p := newChooser(1), newFleet(20), planOf(10, 5, 10)
	for slot := 3; slot < 20; slot++ {
		f.standings[slot] = Gone
	}
	if g := c.Choose(p, 1, 0, f); fmt.Sprint(sizes(g)) != "[3]" {
		t.Fatalf("three members are in groups %v", g)
	}
	f.contributed[0] = true
	clear(f.standings)
	g := c.Choose(p, 1, 1, f)
	checkGroups(t, c, f, g, nil)
	if len(g) != 2 || g.Count() != 18 {
		t.Errorf("a later attempt of all asks %v", g)
	}
}

func newChooser(began uint64) *Chooser { return New(&began) }
