package simulation

import (
	"bytes"
	"math/rand/v2"
	"strings"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire/secagg"
)

// dropOuts is one over the share of masked scalars, and of shares of others' secrets, before which
// a device crashes.
const dropOuts = 12

// mayDropOut makes a device crash before it takes a late step of secure aggregation, by chance: its
// keys and shares are with the others then. The chance follows from the seed and the device's
// requests: other seeds keep their histories. A device takes the first steps while it computes and
// stores, so a crash at these would not be the same each time. The caller holds the lock.
func (w *world) mayDropOut(p *process, data []byte) {
	r, err := secagg.DecodeRequest(data)
	early := r.Step == secagg.StepKeys || r.Step == secagg.StepShares
	if err != nil || early || w.calm || p.dead || p.fuse >= 0 {
		return
	}
	luck := rand.New(rand.NewPCG(w.seed<<8|uint64(p.order),
		r.N<<32|uint64(p.inboxes)<<8|uint64(r.Step)))
	if luck.IntN(dropOuts) == 0 {
		p.fuse = 0
		w.count("drops out before " + r.Step.String())
	}
}

// lied returns a step of secure aggregation as a device sends it. The device that lies changes
// what it sends in one step: it deals shares that do not fit its keys, or a box that does not open,
// or it sends false shares of the others' secrets, or of one other's. The caller holds the lock.
func (w *world) lied(p *process, data []byte) []byte {
	r, err := secagg.DecodeRequest(data)
	if err != nil || p.party != w.scenario.Liar || r.Step != w.scenario.Lie || r.Refuses() != nil {
		return data
	}
	r.Body = bytes.Clone(r.Body)
	switch r.Step {
	case secagg.StepKeys:
		r.Body[commitment] ^= 1
	case secagg.StepShares:
		r.Body[len(r.Body)-1] ^= 1
	case secagg.StepUnmask:
		if w.scenario.LieOnce {
			r.Body[len(r.Body)-1] ^= 1
			w.count("one false share in unmask")
			break
		}
		for at := 0; at < len(r.Body); at += share {
			r.Body[at] ^= 1
		}
	}
	w.count("a lie in " + r.Step.String())
	return r.Append(nil)
}

// A device's keys have the commitment to its secret at byte commitment. A share of another device's
// secret has share bytes.
const commitment, share = 64, 32

// leftOut checks whom a coordinator leaves out. It may leave out another device than the liar, if
// what the liar sent proves only that one of the two lies, and it names the liar beside. Where no
// share was to spare, one of several lies; the run must end all the same. The caller holds the
// lock.
func (w *world) leftOut(p *party, d *report.Device) {
	switch liar := w.scenario.Liar; {
	case liar != "" && d.ID == liar:
		w.count("a liar is left out")
	case liar != "" && strings.Contains(d.Suspect, liar):
		w.count("left out is who contradicts a liar")
	case w.scenario.LieOnce && strings.Contains(d.Suspect, "others did"):
		w.count("left out is one of several")
	default:
		w.find("only liars are left out", "%s leaves out %s: %s", p.name, d.ID, d.Suspect)
	}
}

// accused checks whom coordinators leave out of sums.
func (w *world) accused() {
	if w.scenario.Plan.Secure == 0 {
		return
	}
	for _, p := range w.parties {
		c := w.leading(p)
		if c == nil {
			continue
		}
		for _, d := range c.Devices() {
			if d.State != report.DeviceLeftOut {
				continue
			}
			w.locked(func() { w.leftOut(p, &d) })
		}
	}
}
