package engine

import (
	"fmt"

	"github.com/zofl/zofl/wire"
)

// Claims are records that devices say they have, and that the log lacks. They mean that the log was
// lost, or set back. Then devices hold the last copy of the model, so the run pauses until a person
// decides. A run that has ended cannot pause, because nobody could resume it. Its devices accept
// the end, and keep their copy as the earlier model.
type claims struct {
	anew   bool   // Config.BeginAnew
	loss   uint64 // Config.AcceptLoss
	began  uint64 // the log's last record when this coordinator began
	pause  bool   // the run was paused because of a claim
	waived bool   // a person resumed it
}

// ahead says whether a joining device has to wait because it has records of this run that the log
// lacks. If so, it pauses the run.
func (c *Core) ahead(id string, k *wire.Known) bool {
	l := &c.claims
	settled := c.End != nil || l.anew || l.waived || k.N <= l.began+l.loss
	if settled || k.N <= c.N || k.Key != wire.KeyTip(&c.Plan) {
		return false
	}
	if !c.halt.paused {
		l.pause = true
		c.pause(fmt.Sprintf("device %s has record %d of this run, and the log ends with record %d: "+
			"restore the log, or make one from a device's checkpoint (zofl recover), or accept the "+
			"loss (zofl serve --accept-loss %d, or zofl resume)", id, k.N, c.N, k.N-l.began))
	}
	return true
}
