package simulation

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// crashes end a life of a party.
var crashes = []fault{
	{"crash", nil, (*world).crash},
	{"crash a coordinator", nil, func(w *world, _ *party) bool { return w.crash(w.parties[0]) }},
	{"crash between vector and record", nil, (*world).crashBetween},
	{"crash within an upload", nil, (*world).crashUploading},
	{"stop", nil, (*world).retire},
	{"restart in a loop", nil, (*world).loop},
}

// crash makes a party crash at one of its next operations.
func (w *world) crash(p *party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.p == nil || p.p.fuse >= 0 {
		return false
	}
	p.p.fuse = scenario.Pick(w.rng, 0, 0, 1, 2, 3, 5, 8, 13)
	w.note(nil, "%s is to crash after %d operations", p.name, p.p.fuse)
	if p.p.fuse == 0 && w.rng.IntN(2) == 0 {
		p.p.dead = true
		w.count("crash now")
	}
	return true
}

// crashBetween makes the running coordinators crash once they have stored a vector, before
// they store the record that names it.
func (w *world) crashBetween(*party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	some := false
	for _, p := range w.parties {
		if p.broker != nil && p.p != nil && !p.p.between &&
			w.scenario.Plan.Transport == plan.DenseVectors {
			p.p.between, some = true, true
			w.note(nil, "%s is to crash between a vector and its record", p.name)
		}
	}
	return some
}

// crashUploading crashes the first device that has sent a part of its vector.
func (w *world) crashUploading(*party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parties {
		if p.device != nil && p.p != nil && !p.p.dead && w.book.Within(p.p) {
			p.p.dead = true
			w.note(nil, "%s crashes within its upload", p.name)
			return true
		}
	}
	return false
}

// retire stops a party in an orderly way.
func (w *world) retire(p *party) bool {
	if p.p == nil || p.broker != nil && w.waits(p.p) {
		return false
	}
	w.locked(func() { w.note(nil, "%s is stopped", p.name) })
	p.p.finish()
	return true
}

func (w *world) waits(p *process) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.server.busy(p) != nil
}

// loop makes an operator, or a supervisor, restart a party again and again. Each life of the party
// ends after some operations. In half of the loops the party stops in an orderly way, in the other
// half it crashes.
func (w *world) loop(p *party) bool {
	if p.p == nil || p.loops > 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.loops, p.orderly = 3+w.rng.IntN(8), w.rng.IntN(2) == 0
	w.note(nil, "%s restarts %d times", p.name, p.loops)
	w.again(p)
	return true
}

// again plans the end of a life within a loop. The caller holds the world's lock.
func (w *world) again(p *party) {
	if p.loops > 0 {
		p.loops--
		p.p.fuse, p.p.orderly = w.rng.IntN(24), p.orderly
	}
}
