package simulation

import (
	"slices"
	"time"

	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// logFaults are those of a log that coordinators share, and of its lease.
var logFaults = []fault{
	{"expire", shared, (*world).expire},
	{"usurp", func(s *scenario.Scenario) bool { return s.Coordinators > 1 }, (*world).usurp},
	{"lose the tail", shared, (*world).loseTail},
}

func shared(s *scenario.Scenario) bool { return s.Shared }

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
		gone := w.server.members[members-1]
		w.server.members = w.server.members[: members-1 : members-1]
		w.server.retired = slices.DeleteFunc(w.server.retired,
			func(id string) bool { return id == gone })
		w.book.Unretire(gone)
		w.book.Admit(w.server.members)
		w.note(nil, "and member %d", members-1)
	}
	return true
}

func (w *world) anyBusy() bool {
	return slices.ContainsFunc(w.server.waiting,
		func(r *request) bool { return !r.given && r.kind != beginning })
}
