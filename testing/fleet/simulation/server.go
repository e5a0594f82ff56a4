package simulation

import (
	"maps"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/runlog"
)

// lose cuts the log after record keep, and restores the vectors stored at that time. Afterwards no
// coordinator leads.
func (s *server) lose(keep int) {
	s.records = s.records[:keep:keep]
	s.w.book.Lost(uint64(keep), maps.Clone(s.past[keep-1]))
	s.past, s.handed = s.past[:keep:keep], s.handed[:keep:keep]
	for _, p := range s.w.parties {
		if p.p != nil && p.broker != nil && p.broker.handle != nil {
			p.broker.handle.depose()
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(r *request) bool { return r.given })
	if s.w.rng.IntN(2) == 0 { // a backup has what was decided by then, and no more
		s.decided = runlog.Decisions{}
		s.w.book.Undecided()
	}
}

// arrange puts requests into an order that does not depend on the scheduling of goroutines.
func (s *server) arrange() {
	slices.SortStableFunc(s.waiting, func(a, b *request) int {
		if a.h.p.order != b.h.p.order {
			return a.h.p.order - b.h.p.order
		}
		if a.h.p.life != b.h.p.life {
			return a.h.p.life - b.h.p.life
		}
		return a.number - b.number
	})
}

// leave drops the requests of a process, or keeps them for a later time.
func (s *server) leave(p *process) {
	s.waiting = slices.DeleteFunc(s.waiting, func(r *request) bool {
		return r.h.p == p && (r.kind == beginning || s.w.calm || s.w.rng.IntN(2) == 0)
	})
	for _, r := range s.waiting {
		if r.h.p == p {
			r.given = true
		}
	}
	if s.holder != nil && s.holder.p == p {
		s.holder = nil
	}
}

// ready returns the requests that the server can perform now.
func (s *server) ready() []*request {
	var ready []*request
	for _, r := range s.waiting {
		if r.stalled.After(time.Now()) {
			continue
		}
		if r.kind != beginning || s.holder == nil {
			ready = append(ready, r)
		}
	}
	return ready
}

// answer performs a request, or applies a fault of the log to the request.
func (w *world) answer(r *request) {
	s := w.server
	if r.kind == beginning {
		s.grant(r)
		return
	}
	luck := w.rng.Float64() * 3
	switch rate := w.scenario.LogFault; {
	case w.calm:
	case luck < rate: // the request is not performed
		w.count("log refuses")
		w.note(nil, "the log refuses: %v", r)
		s.forget(r)
		r.reply(errUnavailable)
		return
	case luck < 2*rate: // the request is performed, but reported as failed
		w.count("log loses the ack")
		w.note(nil, "the log does and denies: %v", r)
		s.forget(r)
		_ = s.do(r)
		r.reply(errLostAck)
		return
	case luck < 3*rate && w.broker(r.h.p).queued == 0 && !r.given: // later, when nobody waits
		w.count("log stalls")
		w.note(nil, "the log stalls: %v", r)
		r.stalled = time.Now().Add(time.Duration(w.rng.IntN(30_000)) * time.Millisecond)
		return
	}
	s.forget(r)
	err := s.do(r)
	w.note(nil, "the log does: %v: %v", r, err)
	r.reply(err)
}

// reply gives the process the result of its request.
func (r *request) reply(err error) {
	if !r.given {
		r.done <- err
	}
}
