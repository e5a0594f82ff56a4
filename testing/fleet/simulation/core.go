package simulation

import (
	"math"
	"slices"
	"syscall"
	"time"

	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// In some runs only a core heals at the end: the broker, the log, a coordinator and as many devices
// as the run needs. All the rest stays broken for ever. The run must end all the same, on the
// devices of the core.

// never is later than any simulation lasts.
const never = 1000 * time.Hour

// choose draws the parties of the core, and breaks the others for ever. If the run has no core, all
// parties are in it. The caller holds the world's lock.
func (w *world) choose() {
	for _, p := range w.parties {
		p.core = true
	}
	if !w.scenario.Core {
		return
	}
	w.count("core")
	lead := w.parties[w.rng.IntN(w.scenario.Coordinators)]
	if h := w.server.holder; h != nil {
		lead = w.parties[h.p.order]
	}
	devices := slices.Clone(w.parties[w.scenario.Coordinators:])
	devices = slices.DeleteFunc(devices, func(p *party) bool {
		return p.device.objective == nil || w.out(p)
	})
	w.rng.Shuffle(len(devices), func(i, j int) { devices[i], devices[j] = devices[j], devices[i] })
	need := int(w.scenario.Plan.Quorum)
	if w.book.Rounds() == 0 {
		need = int(w.scenario.Plan.Members) // for so many the first round waits
	}
	for _, p := range w.parties {
		p.core = p == lead || slices.Contains(devices[:need], p)
		if !p.core {
			w.ruin(p)
		}
	}
}

// ruin breaks a party for ever: the party is down, or loses its connection, or restarts again and
// again, or its disk fails.
func (w *world) ruin(p *party) {
	how := scenario.Pick(w.rng, "is down", "is cut off", "restarts", "has a broken disk")
	if p.broker != nil && how != "restarts" {
		how = "is down" // otherwise it could hold the lease
	}
	w.count("for ever: " + how)
	w.note(nil, "%s %s for ever", p.name, how)
	switch how {
	case "is down":
		if p.p != nil {
			p.p.dead = true
		}
		p.away = time.Now().Add(never)
	case "is cut off":
		w.net.sever(p.name, scenario.Pick(w.rng, cut{true, true, true}, cut{false, true, true},
			cut{mute: true}, cut{deaf: true}))
	case "restarts":
		p.loops = math.MaxInt
		if p.p != nil {
			w.again(p)
		}
	case "has a broken disk":
		p.faulty, p.broken = true, true
		p.disk.Fail(0, math.MaxInt, syscall.EIO)
	}
}

// healed reports whether a packet travels without faults.
func (w *world) healed(k *packet) bool {
	return w.calm && w.parties[k.from.order].core && w.parties[k.to().order].core
}
