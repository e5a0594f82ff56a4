package simulation

import (
	"math/rand/v2"

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
