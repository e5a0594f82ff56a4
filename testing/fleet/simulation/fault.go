package simulation

import (
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// A fault is an event that disturbs the run, or a command of an operator.
type fault struct {
	name string
	fits func(*scenario.Scenario) bool // nil: it fits all scenarios
	do   func(*world, *party) bool     // applies it to a party; false: it was not possible
}

var faults = []fault{
	{"crash", nil, (*world).crash},
	{"crash a coordinator", nil, func(w *world, _ *party) bool { return w.crash(w.parties[0]) }},
	{"crash between vector and record", nil, (*world).crashBetween},
	{"crash within an upload", nil, (*world).crashUploading},
	{"stop", nil, (*world).retire},
	{"cut", nil, (*world).sever},
	{"mend", nil, (*world).mend},
	{"fail a disk", nil, (*world).failDisk},
	{"fill a disk", nil, (*world).fillDisk},
	{"flip a bit", nil, (*world).flip},
	{"pause", nil, (*world).pauseRun},
	{"resume", nil, (*world).resumeRun},
	{"rollback", nil, (*world).rollback},
	{"change", nil, (*world).change},
	{"end", nil, (*world).endRun},
	{"expire", func(s *scenario.Scenario) bool { return s.Shared }, (*world).expire},
	{"usurp", func(s *scenario.Scenario) bool { return s.Coordinators > 1 }, (*world).usurp},
	{"lose the tail", func(s *scenario.Scenario) bool { return s.Shared }, (*world).loseTail},
}

// fitting returns, for each fault, a function that says which scenarios the fault fits; nil means
// all.
func fitting() (fits []func(*scenario.Scenario) bool) {
	for _, f := range faults {
		fits = append(fits, f.fits)
	}
	return fits
}

// strike applies one of the scenario's faults to a party, and reports whether that was possible.
func (w *world) strike() bool {
	if len(w.scenario.Faults) == 0 {
		return false
	}
	f := faults[w.scenario.Faults[w.rng.IntN(len(w.scenario.Faults))]]
	if !f.do(w, w.parties[w.rng.IntN(len(w.parties))]) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count("fault " + f.name)
	return true
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

func (w *world) sever(p *party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.net.cuts[p.name] != whole {
		return false
	}
	how := scenario.Pick(w.rng, loud, silent)
	w.net.sever(p.name, how)
	w.note(nil, "%s is cut off (%d)", p.name, how)
	return true
}

// mend restores the first cut connection.
func (w *world) mend(*party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parties {
		if w.net.cuts[p.name] != whole {
			delete(w.net.cuts, p.name)
			w.note(nil, "%s is back on the network", p.name)
			return true
		}
	}
	return false
}

// failDisk makes the next operations of a party's disk fail.
func (w *world) failDisk(p *party) bool {
	if p.p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.faulty = true
	skip, count := w.rng.IntN(6), 1+w.rng.IntN(4)
	p.disk.Fail(skip, count, syscall.EIO)
	w.note(nil, "the disk of %s fails %d times, after %d operations", p.name, count, skip)
	return true
}

// fillDisk leaves little room on a party's disk until the party is restarted.
func (w *world) fillDisk(p *party) bool {
	if p.p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.faulty = true
	room := int64(w.rng.IntN(600))
	p.disk.Limit(p.disk.Used() + room)
	w.note(nil, "the disk of %s has room for %d bytes", p.name, room)
	return true
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

// expire takes the lease from a coordinator, or makes a coordinator notice the loss of its lease.
func (w *world) expire(*party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, i := range w.rng.Perm(w.scenario.Coordinators) {
		h := w.parties[i].broker.handle
		if w.parties[i].p == nil || h == nil || h.lost == nil || h.deposed {
			continue
		}
		if r := w.server.busy(h.p); r != nil &&
			(!r.at.Equal(time.Now()) || w.parties[i].broker.queued > 0) {
			continue // a timer may be due as well, see frozen
		}
		w.note(nil, "%v loses the lease", h.p)
		h.depose()
		return true
	}
	return false
}

// usurp gives the lease to another coordinator and does not tell the leading coordinator, so that
// both coordinators lead.
func (w *world) usurp(*party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.server.waiting {
		if r.kind == beginning && w.server.holder != nil {
			w.note(nil, "%v takes the lease from %v, which does not notice", r.h.p, w.server.holder.p)
			w.server.grant(r)
			return true
		}
	}
	return false
}

// loseTail makes the log's server crash and lose its last records.
func (w *world) loseTail(*party) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.server.records)
	// A device that saw the end of the run never returns, so it would keep the state of lost records.
	if last < 2 || w.book.Ended() || w.anyBusy() || w.rng.IntN(2) == 0 {
		return false
	}
	keep := last - 1 - w.rng.IntN(min(3, last-1))
	w.note(nil, "the log loses records %d to %d", keep+1, last)
	w.server.lose(keep)
	if members := len(w.server.members); members > 1 && w.rng.IntN(2) == 0 {
		w.server.members = w.server.members[: members-1 : members-1]
		w.book.Admit(w.server.members)
		w.note(nil, "and member %d", members-1)
	}
	return true
}

func (w *world) anyBusy() bool {
	return slices.ContainsFunc(w.server.waiting,
		func(r *request) bool { return !r.given && r.kind != beginning })
}
