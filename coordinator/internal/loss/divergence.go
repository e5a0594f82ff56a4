package loss

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// hopeless is the number of failed attempts after which further attempts will not help.
const hopeless = 2

// Exploded says whether the model's numbers have become too large: in two attempts, most of the
// expected devices declined because their loss was not finite or their scalars exceeded max_scalar,
// and in between no majority contributed. Devices probe the same point in each attempt, so another
// attempt would fail in the same way. Among three or more devices, one device can neither cause nor
// prevent that result, even if its contribution is a quorum. declines counts the declines of the
// attempt by reason. Before the first round of the watch, Exploded returns false.
func (w *Watch) Exploded(declines []uint32, expected uint32) bool {
	infinite, large := declines[wire.DeclineLoss], declines[wire.DeclineTooLarge]
	if 2*uint64(infinite+large) <= uint64(expected) {
		return false
	}
	w.infinite, w.large = infinite, large
	w.failures++
	return w.rounds > 0 && w.failures >= hopeless
}

// A Log is the part of a log that [Watch.Diverged] needs to name a record for a rollback.
type Log interface {
	// Lacks returns a record whose vector the state after record n needs but the log no longer has.
	// Lacks returns 0 if there is no such record.
	Lacks(n uint64) uint64
}

// A Blame says which devices may be the cause of a divergence.
type Blame struct {
	Seen   string   // what they did; with no Retire, why nobody is to blame; "": nothing
	Retire []string // their ids
	Quorum uint32   // which the others can reach; 0: the plan's
}

// Diverged describes how the loss changed, and names the commands that undo the divergence. A
// smaller step does not help against a device that lies, so Diverged names the devices to blame
// first.
func (w *Watch) Diverged(p *plan.Plan, log Log, b Blame) string {
	text := "diverged: "
	if w.failures >= hopeless {
		text += fmt.Sprintf("in %d attempts most devices had no finite loss (%d) or a scalar "+
			"above max_scalar (%d); ", w.failures, w.infinite, w.large)
	}
	text += fmt.Sprintf("the median loss is %.4g and began at %.4g", w.at(1), w.first)
	if w.best.loss < w.first {
		text += fmt.Sprintf(", %.4g at best", w.best.loss)
	}
	if b.Seen != "" {
		text += "; " + b.Seen
	}
	if len(b.Retire) > 0 {
		return text + ": " + b.commands(w.wayBack(log))
	}
	const look = "look at the devices' losses first, whose logs have the errors, then `zofl resume`"
	if p.StepAuto > 0 && p.StepSize == 0 {
		return text + ": the rounds before devices find a step do not move the model, so " + look
	}
	field, step := "step", p.StepSize
	if p.ServerRule >= plan.ServerAdam && p.ServerRule.Steps() { // step sets no move's length
		field, step = "server_step", p.ServerStep
	}
	back := fmt.Sprintf("`zofl rollback %d`, `zofl change %s=%.2g`, `zofl resume`", w.wayBack(log),
		field, step/10)
	if w.failures >= hopeless && w.at(1) < w.first {
		return text + ": the model got better, so " + look + "; if it is the model: " + back
	}
	return text + ": " + back
}

// commands returns the commands that continue from a record without the devices to blame. A change
// comes after the rollback, which returns to an earlier plan.
func (b *Blame) commands(record uint64) string {
	text := fmt.Sprintf("`zofl retire %s`, `zofl rollback %d`, ", strings.Join(b.Retire, " "), record)
	if b.Quorum > 0 {
		text += fmt.Sprintf("`zofl change quorum=%d`, ", b.Quorum)
	}
	return text + "`zofl resume`"
}

// wayBack returns the record after which the loss was lowest: the state with the lowest level, or
// the state of the first round. If the log lacks the vector of that state, wayBack returns the
// first later record whose vectors the log has.
func (w *Watch) wayBack(log Log) uint64 {
	for n := w.best.n; n <= w.latest; n++ {
		if log.Lacks(n) == 0 {
			return n
		}
	}
	return max(w.best.n, 1)
}
