package fleet_test

import (
	"testing"

	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestSketchesAreQueries: before the first round all devices send sketches, even devices that the
// round does not ask. RoundQueries and Options.Queries count these evaluations.
func TestSketchesAreQueries(t *testing.T) {
	for _, difference := range []plan.Difference{plan.Forward, plan.Central} {
		p := newPlan(t, "zofl", 30, 30)
		p.Groups, p.GroupSize, p.Regroup, p.Target, p.Quorum = grouping.Sketch, 2, 3, 4, 2
		p.Difference = difference
		most := uint64(0)
		for round := range p.Rounds {
			most += fleet.RoundQueries(p, round+1, 6)
		}
		devices := bowls(6, 30)
		r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Queries: most})
		if err != nil || len(r.Rounds) != 30 || r.Queries != most || total(devices) != most {
			t.Errorf("%v: %v, %d rounds, %d queries, %d asked, want %d", difference, err, len(r.Rounds),
				r.Queries, total(devices), most)
		}
		if last := r.Rounds[len(r.Rounds)-1]; last.Queries != most {
			t.Errorf("%v: %d queries by the last round, want %d", difference, last.Queries, most)
		}
		devices = bowls(6, 30)
		r, err = fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Queries: most - 1})
		if err != nil || len(r.Rounds) != 29 || r.Queries >= most || total(devices) != r.Queries {
			t.Errorf("%v, one fewer: %v, %d rounds, %d queries, %d asked", difference, err,
				len(r.Rounds), r.Queries, total(devices))
		}
	}
}

// TestFewerDevicesThanThePlanAsks: if there are too few devices for a group, all devices form one
// group. A round asks only whole groups.
func TestFewerDevicesThanThePlanAsks(t *testing.T) {
	for _, how := range []uint8{grouping.Random, grouping.Sketch} {
		for devices, want := range map[int][2]uint32{1: {1, 1}, 3: {3, 3}, 5: {5, 5}, 7: {5, 5},
			12: {10, 5}, 23: {20, 5}} {
			p := newPlan(t, "zofl", 30, 8)
			p.Groups, p.GroupSize, p.Regroup, p.Target, p.Members = how, 5, 3, 20, 40
			if how == grouping.Random {
				p.Roster = plan.OpenRoster
			}
			r, err := fleet.Run(t.Context(), p, objectives(bowls(devices, 30)), fleet.Options{})
			if err != nil || len(r.Rounds) != 8 {
				t.Errorf("groups %d, %d devices: %v", how, devices, err)
				continue
			}
			last := r.Rounds[7]
			if got := [2]uint32{r.Plan.Target, r.Plan.GroupSize}; got != want ||
				last.Contributors != want[0] || !(last.Loss < r.Rounds[0].Loss) {
				t.Errorf("groups %d, %d devices: target and group size %v, want %v; %+v", how, devices,
					got, want, last)
			}
		}
	}
}

// TestFewerDevicesKeepDrawnGroups: where the devices of the plan draw among 16 groups, a rehearsal
// with fewer devices has 16 groups too.
func TestFewerDevicesKeepDrawnGroups(t *testing.T) {
	p := newPlan(t, "zofl", 30, 2)
	p.Members, p.Target = 1000, 1000
	if note := preset.Fit(p); note == "" || p.GroupSize != 62 {
		t.Fatalf("groups of %d: %q", p.GroupSize, note)
	}
	for devices, want := range map[int][2]uint32{1: {1, 1}, 15: {15, 1}, 60: {60, 3}, 200: {192, 12}} {
		r, err := fleet.Run(t.Context(), p, objectives(bowls(devices, 30)), fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]uint32{r.Plan.Target, r.Plan.GroupSize}; got != want {
			t.Errorf("%d devices: target and group size %v, want %v", devices, got, want)
		}
	}
}
