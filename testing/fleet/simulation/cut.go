package simulation

import (
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// A cut is the fault of a party's connection. In a one-way cut, requests pass and answers do not,
// or the reverse.
type cut struct {
	offline bool // the party knows that it has no connection
	mute    bool // the network drops what the party sends
	deaf    bool // the network drops what others send to the party
}

// whole is the cut of a party with a connection.
var whole cut

var cuts = []fault{
	{"cut", nil, (*world).sever},
	{"cut one way", nil, (*world).severOneWay},
	{"mend", nil, (*world).mend},
}

// sever cuts a party off from all others.
func (w *world) sever(p *party) bool {
	return w.severs(p, cut{offline: true, mute: true, deaf: true}, cut{mute: true, deaf: true})
}

// severOneWay drops what a party sends, or what others send to the party.
func (w *world) severOneWay(p *party) bool { return w.severs(p, cut{mute: true}, cut{deaf: true}) }

// severs cuts a party's connection in one of several ways.
func (w *world) severs(p *party, ways ...cut) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.net.cuts[p.name] != whole {
		return false
	}
	how := scenario.Pick(w.rng, ways...)
	w.net.sever(p.name, how)
	w.note(nil, "%s is cut off (%+v)", p.name, how)
	return true
}

// mend restores the first cut connection.
func (w *world) mend(*party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parties {
		if w.net.cuts[p.name] != whole {
			delete(w.net.cuts, p.name)
			w.note(nil, "%s is back on the network", p.name)
			return true
		}
	}
	return false
}
