package simulation

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// operator is who asks for a pause.
const operator = "ann"

// reason returns why the operator pauses the run. No two pauses have the same reason.
func (w *world) reason() string {
	w.reasons++
	return fmt.Sprintf("an operator's pause %d", w.reasons)
}

// commands are those of an operator.
var commands = []fault{
	{"pause", nil, (*world).pauseRun},
	{"resume", nil, (*world).resumeRun},
	{"rollback", nil, (*world).rollback},
	{"change", nil, (*world).change},
	{"end", nil, (*world).endRun},
	{"pause after a round", nil, (*world).planPause},
	{"retire", nil, (*world).retireMember},
	{"a history of commands", nil, (*world).history},
}

// An order is a command that an operator is going to give.
type order func(*world, *party) bool

// history plans several commands, in any order, soon after each other.
func (w *world) history(*party) bool {
	if len(w.orders) > 0 {
		return false
	}
	for range 2 + w.rng.IntN(6) {
		w.orders = append(w.orders, scenario.Pick(w.rng, (*world).pauseRun, (*world).resumeRun,
			(*world).planPause, (*world).change, (*world).rollback, (*world).retireMember,
			(*world).endRun))
	}
	return true
}

// ordered gives the next planned command, now and then. It reports whether it gave one.
func (w *world) ordered() bool {
	if len(w.orders) == 0 || w.rng.IntN(3) > 0 {
		return false
	}
	next := w.orders[0]
	w.orders = w.orders[1:]
	return next(w, nil)
}

// leading returns the coordinator of a party if it accepts commands now.
func (w *world) leading(p *party) *coordinator.Coordinator {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.broker == nil || p.p == nil || w.server.busy(p.p) != nil || p.p.syncs > 0 {
		return nil
	}
	return p.broker.c
}

// command gives an operator command to the coordinator that leads.
func (w *world) command(text string, do func(*coordinator.Coordinator) error) bool {
	for _, p := range w.parties {
		if c := w.leading(p); c != nil {
			// Before it acts on the command.
			w.locked(func() { w.note(nil, "an operator asks %s: %s", p.name, text) })
			err := do(c)
			if err == nil {
				return true
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.note(nil, "%s refuses: %v", p.name, err)
			return false
		}
	}
	return false
}

func (w *world) pauseRun(*party) bool {
	return w.command("pause", func(c *coordinator.Coordinator) error {
		w.locked(w.book.Unplanned)
		c.PauseBy(operator, 0, w.reason())
		return nil
	})
}

func (w *world) resumeRun(*party) bool {
	return w.command("resume", func(c *coordinator.Coordinator) error { w.resumes(c); return nil })
}

// claimed reports whether the run is paused because devices have records that its log lacks.
func claimed(reason string) bool { return strings.Contains(reason, "accept the loss") }

// resumes plays an operator who reads why the run is paused, and resumes the run.
func (w *world) resumes(c *coordinator.Coordinator) {
	status := c.Status()
	w.mu.Lock()
	w.book.Paused(0)
	if status.By == operator {
		w.book.Unplanned() // the pause may be the planned one
	}
	if status.State == report.Paused && claimed(status.Reason) {
		w.book.Accept()
	}
	w.mu.Unlock()
	c.Resume()
}

func (w *world) rollback(*party) bool {
	to := uint64(1)
	w.mu.Lock()
	if last := int(w.book.Last()); last > 0 {
		to += uint64(w.rng.IntN(last))
	}
	w.mu.Unlock()
	return w.command("rollback", func(c *coordinator.Coordinator) error { return c.Rollback(to) })
}

func (w *world) change(*party) bool {
	var change plan.Change
	field, value := "step", scenario.Pick(w.rng, "1e-7", "2e-7", "3e-7")
	if w.scenario.Plan.StepAuto > 0 {
		value = scenario.Pick(w.rng, value, "auto")
	}
	if w.rng.IntN(2) == 0 {
		field, value = "perturbations", scenario.Pick(w.rng, "1", "2", "3")
		if w.scenario.Plan.DPClip > 0 {
			value = "1" // more scalars together would be cut
		}
	}
	if err := planfile.SetChange(&change, field, value); err != nil {
		panic(err)
	}
	return w.command("change", func(c *coordinator.Coordinator) error { return c.Change(&change) })
}

// planPause asks for a pause after one of the next rounds.
func (w *world) planPause(*party) bool {
	return w.command("pause later", func(c *coordinator.Coordinator) error {
		w.locked(w.book.Unplanned)
		c.PauseBy(operator, c.Status().Rounds+uint64(1+w.rng.IntN(3)), w.reason())
		return nil
	})
}

// retireMember retires the last device that has joined, unless the run needs the device.
func (w *world) retireMember(*party) bool {
	for i := w.scenario.Devices - 1; i >= int(w.scenario.Plan.Members); i-- {
		id := scenario.DeviceName(i)
		known := false
		w.locked(func() { known = w.book.Rounds() > 0 && !w.book.Retired(id) })
		if known {
			return w.command("retire "+id, func(c *coordinator.Coordinator) error { return c.Retire(id) })
		}
	}
	return false
}

func (w *world) endRun(*party) bool {
	if w.rng.IntN(8) > 0 {
		return false
	}
	return w.command("end", func(c *coordinator.Coordinator) error {
		w.mu.Lock()
		w.book.Paused(0)
		w.book.Unplanned()
		w.mu.Unlock()
		c.End("enough")
		return nil
	})
}

// keptPause returns the epoch of a coordinator whose run is paused until an operator resumes it, if
// the log stores the pause. It returns 0 if there is no such coordinator. keptPause ignores a pause
// for records that the log lacks: that pause also ends when the log turns out to have the records,
// from a leader that did not know that it was deposed.
func (w *world) keptPause() uint64 {
	var holder *handle
	w.locked(func() { holder = w.server.holder })
	for _, p := range w.parties {
		c := w.leading(p)
		if c == nil || w.scenario.Shared && p.broker.handle != holder {
			continue
		}
		s := c.Status()
		stays := s.Unkept == "" && s.LogError == "" && s.Waits == "" && !claimed(s.Reason)
		if s.State == report.Paused && stays {
			return s.Epoch
		}
		if s.State == report.Open && s.Unkept == "" {
			w.locked(w.book.Opened)
		}
	}
	return 0
}

// keptPlan returns after which round a coordinator is going to pause the run, and its epoch, if the
// log stores that. It returns 0 if there is no such coordinator.
func (w *world) keptPlan() (after, epoch uint64) {
	var holder *handle
	w.locked(func() { holder = w.server.holder })
	for _, p := range w.parties {
		c := w.leading(p)
		if c == nil || w.scenario.Shared && p.broker.handle != holder {
			continue
		}
		if s := c.Status(); s.Unkept == "" && s.PauseAfter > 0 {
			return s.PauseAfter, s.Epoch
		}
	}
	return 0, 0
}
