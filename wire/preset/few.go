package preset

import (
	"slices"

	"github.com/zofl/zofl/wire"
)

// Few lets a plan run that asks for more devices than it has members, or than close a round. set
// names the fields that the plan's author has set. Where a listed roster begins with fewer members
// than target, target becomes members, unless set has it. Where members are fewer than target, or
// target than quorum, quorum becomes at most half of the fewer, rounded up, unless set has it. So
// one device that is away or fails stops no run of two or more.
func Few(p *wire.Plan, set ...string) {
	few := p.Roster == wire.ListedRoster && p.Members > 0 && p.Members < p.Target
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
