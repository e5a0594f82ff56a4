package preset_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestFew: with only the number of devices set, Few makes a plan that runs, and that goes on if one
// device fails. Few does not change other fields that the author has set.
func TestFew(t *testing.T) {
	for _, tt := range []struct {
		members, target, quorum uint32
		edit                    func(*plan.Plan)
		set                     []string
	}{
		{1, 1, 1, nil, nil},
		{2, 2, 1, nil, nil},
		{3, 3, 2, nil, nil},
		{5, 5, 3, nil, nil},
		{9, 9, 5, nil, nil},
		{10, 10, 5, nil, nil},
		{100, 10, 5, nil, nil},
		{4, 10, 2, nil, []string{"target"}},
		{6, 6, 5, nil, []string{"quorum"}},
		{4, 2, 1, func(p *plan.Plan) { p.Target, p.Quorum = 2, 1 }, []string{"target", "quorum"}},
		{3, 3, 2, func(p *plan.Plan) { p.Target = 3 }, []string{"target"}},
		{10, 4, 2, func(p *plan.Plan) { p.Target = 4 }, []string{"target"}},
		{10, 5, 5, func(p *plan.Plan) { p.Target = 5 }, []string{"target"}},
		{3, 3, 2, func(p *plan.Plan) { p.Roster, p.Target = plan.OpenRoster, 3 }, []string{"target"}},
		{4, 10, 5, func(p *plan.Plan) { p.Roster = plan.OpenRoster }, nil},
	} {
		p, err := preset.Unbound("zofl", "few", 100)
		if err != nil {
			t.Fatal(err)
		}
		p.Members = tt.members
		if tt.edit != nil {
			tt.edit(p)
		}
		preset.Few(p, append(tt.set, "members")...)
		if p.Members != tt.members || p.Target != tt.target || p.Quorum != tt.quorum {
			t.Errorf("%d members, %q set: target %d, quorum %d, want %d and %d", tt.members, tt.set,
				p.Target, p.Quorum, tt.target, tt.quorum)
		}
		if err := valid.Plan(p); err != nil && p.Roster == plan.ListedRoster {
			t.Errorf("%d members, %q set: %v", tt.members, tt.set, err)
		}
	}
}
