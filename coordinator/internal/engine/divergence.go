package engine

import (
	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A run that diverges pauses until an operator resumes it or rolls it back, because more rounds
// would waste the devices' work. No record holds losses, so the watch of a restarted coordinator
// begins in the middle of the run.

// A watch follows the loss of a run.
type watch struct {
	loss.Watch
	why  string       // the run pauses, or has paused, because it diverged; "": it has not
	last report.Event // of the last round
	// asked is how many devices it asked, about, on an open roster
	asked uint32
}

// observe passes the losses of the round that closes to the watch. Devices measured these losses at
// the point where the round begins. observe leaves out second phases: their devices measure at the
// same point as in the first phase, or with a surrogate at the point where the next round begins,
// and the watch would count one round twice.
func (c *Core) observe() {
	if c.round.phase != 2 && c.watch.Observe(float64(c.Plan.Diverge), c.N, c.round.losses) {
		c.watch.why = c.watch.Diverged(&c.Plan, &c.Position, c.culprits())
	}
}

// exploded says, after an attempt, whether the model's numbers have become too large.
func (c *Core) exploded() bool {
	return c.Plan.Diverge > 0 && c.round.survey == survey.None &&
		c.watch.Exploded(c.cohort.Reasons[:], c.cohort.Reachable)
}

// diverged pauses the run.
func (c *Core) diverged() {
	c.watch.why = c.watch.Diverged(&c.Plan, &c.Position, c.culprits())
	c.pause(c.watch.why)
}

// Moved restarts the watch after a rollback, because an operator returned to a better state.
func (w *watch) Moved(_ []byte, r wire.Record) {
	if r.Kind == wire.KindRollback {
		w.restart()
	}
}

// restart begins the watch anew after an operator accepted the state from which the run continues.
func (w *watch) restart() {
	w.why = ""
	w.Again()
}
