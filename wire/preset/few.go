package preset

import (
	"slices"

	"github.com/zofl/zofl/wire"
)

// Few lets a plan run that asks for more devices than it has members. set names the fields that
// the plan's author has set. Where a listed roster begins with fewer members than target, target
// becomes members, and quorum at most half of them, rounded up, unless set has these fields. So
// one device that is away or fails stops no run of two or more.
func Few(p *wire.Plan, set ...string) {
	if p.Roster != wire.ListedRoster || p.Members == 0 || p.Members >= p.Target {
		return
	}
	if !slices.Contains(set, "quorum") {
		p.Quorum = min(p.Quorum, (p.Members+1)/2)
	}
	if !slices.Contains(set, "target") {
		p.Target = max(p.Members, p.Quorum)
	}
}
