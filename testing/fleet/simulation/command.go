package simulation

import (
	"strings"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// pause is the reason that the simulated operator gives for a pause.
const pause = "an operator's pause"

// commands are those of an operator.
var commands = []fault{
	{"pause", nil, (*world).pauseRun},
	{"resume", nil, (*world).resumeRun},
	{"rollback", nil, (*world).rollback},
	{"change", nil, (*world).change},
	{"end", nil, (*world).endRun},
}

// leading returns the coordinator of a party if it accepts commands now.
func (w *world) leading(p *party) *coordinator.Coordinator {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.broker == nil || p.p == nil || w.server.busy(p.p) != nil {
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
	return w.command("pause", func(c *coordinator.Coordinator) error { c.Pause(pause); return nil })
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
	}
	if err := planfile.SetChange(&change, field, value); err != nil {
		panic(err)
	}
	return w.command("change", func(c *coordinator.Coordinator) error { return c.Change(&change) })
}

func (w *world) endRun(*party) bool {
	if w.rng.IntN(8) > 0 {
		return false
	}
	return w.command("end", func(c *coordinator.Coordinator) error {
		w.mu.Lock()
		w.book.Paused(0)
		w.mu.Unlock()
		c.End("enough")
		return nil
	})
}
