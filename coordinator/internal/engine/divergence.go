package engine

import (
	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A run that diverges pauses until somebody resumes it or rolls it back, because more rounds would
// waste the devices' work. No record holds losses, so a restarted coordinator begins to watch
// midway.

// A watch follows the loss.
type watch struct {
	loss.Watch
	why  string  // the run pauses, or has paused, because it diverged; "": it has not
	last float32 // loss of the last round
}

// observe shows the watch the losses of the round that closes. Devices measured them where the
// round begins. Second phases are left out. Their devices measure where the first phase's did, and
// the watch would count one round twice, or with a surrogate at the round's new point, where the
// next round begins.
func (c *Core) observe() {
	if c.round.phase != 2 && c.watch.Observe(float64(c.Plan.Diverge), c.N, c.round.losses) {
		c.watch.why = c.watch.Diverged(&c.Plan, &c.Position)
	}
}

// exploded says whether the model has left the range of numbers, after an attempt.
func (c *Core) exploded() bool {
	if c.Plan.Diverge == 0 || c.round.survey != survey.None ||
		!c.watch.Exploded(c.cohort.Reasons[:], c.cohort.Reachable) {
		return false
	}
	c.watch.why = c.watch.Diverged(&c.Plan, &c.Position)
	return true
}

// Moved follows the log: a person went back to a better state.
func (w *watch) Moved(_ []byte, r wire.Record) {
	if r.Kind == wire.KindRollback {
		w.restart()
	}
}

// restart begins anew after an operator accepted the state from which the run continues.
func (w *watch) restart() {
	w.why = ""
	w.Again()
}
