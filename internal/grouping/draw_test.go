package grouping_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

func drawnPlan() *plan.Plan {
	return &plan.Plan{
		Run:          "kitchen",
		ProbeFields:  plan.ProbeFields{Sharing: plan.GroupDirections},
		GroupsFields: plan.GroupsFields{Groups: grouping.Random, GroupSize: 5, Regroup: 3},
		RoundsFields: plan.RoundsFields{Roster: plan.OpenRoster, Target: 35, OverSample: 1},
	}
}

// TestDrawn compares with the definition in wire.md, of which one example is written out.
func TestDrawn(t *testing.T) {
	p, counts := drawnPlan(), make([]int, 7)
	for n := uint64(2); n < 1002; n++ {
		id := fmt.Sprintf("d%d", n%40)
		frame := append([]byte("zofl/1 group\x00kitchen\x00"), byte(n/3), byte(n/3>>8), 0, 0, 0, 0, 0, 0)
		sum := sha256.Sum256(append(frame, id...))
		want := uint32(binary.LittleEndian.Uint64(sum[:8]) % 7)
		if got := grouping.Drawn(p, n, id); got != want {
			t.Fatalf("%s in record %d has group %d, want %d", id, n, got, want)
		}
		counts[want]++
	}
	for _, count := range counts {
		if count < 100 || count > 190 { // 143 on average
			t.Errorf("groups are drawn %v times", counts)
		}
	}
	if got := grouping.Drawn(p, 11, "d7"); got != 1 {
		t.Errorf("d7 in record 11 has group %d, want 1", got)
	}
}

// TestDraws: a change of the plan may have devices draw groups, or the coordinator name them.
func TestDraws(t *testing.T) {
	for name, test := range map[string]struct {
		edit         func(*plan.Plan)
		draws, names bool
	}{
		"open":   {func(*plan.Plan) {}, true, false},
		"listed": {func(p *plan.Plan) { p.Roster = plan.ListedRoster }, false, true},
		"many": {func(p *plan.Plan) { p.Roster, p.Target = plan.ListedRoster, grouping.MaxDevices },
			false, true},
		"too many to name": {func(p *plan.Plan) {
			p.Roster, p.Target = plan.ListedRoster, grouping.MaxDevices+1
		}, true, false},
		"sketches": {func(p *plan.Plan) { p.Groups = grouping.Sketch }, false, true},
		"none":     {func(p *plan.Plan) { p.Sharing = plan.SharedDirections }, false, false},
	} {
		p := drawnPlan()
		test.edit(p)
		if grouping.Draws(p) != test.draws || grouping.Names(p) != test.names {
			t.Errorf("%s: draws %v, names %v", name, grouping.Draws(p), grouping.Names(p))
		}
	}
}
