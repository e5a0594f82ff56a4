package preset

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// Few lowers target and quorum of a plan to the number of its devices. set names the fields that
// the plan's author has set; Few does not change them. If a listed roster begins with fewer members
// than target, target becomes members, and quorum at most half of members, rounded up. Otherwise a
// quorum above target becomes half of target, rounded up. So one absent or failing device does not
// stop a run of two or more devices.
func Few(p *plan.Plan, set ...string) {
	few := p.Roster == plan.ListedRoster && p.Members > 0 && p.Members < p.Target
	devices := p.Target
	if few {
		devices = p.Members
	}
	if !slices.Contains(set, "quorum") && (few || devices < p.Quorum) {
		p.Quorum = min(p.Quorum, (devices+1)/2)
	}
	if few && !slices.Contains(set, "target") {
		p.Target = max(p.Members, p.Quorum)
	}
}
