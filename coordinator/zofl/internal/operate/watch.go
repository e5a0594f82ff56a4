package operate

import (
	"cmp"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A Watch is a [report.Recorder] that passes events on, and wakes the requests that wait for an
// event. The zero value is ready to use.
type Watch struct {
	Next report.Recorder // gets every event; nil: events go nowhere else

	// History keeps the rounds. If History is nil, a history in memory keeps them.
	History *history.History

	// Banned returns who may not connect to the broker for a while; nil: nobody decides that.
	Banned func(now time.Time) []Ban

	mu      sync.Mutex // guards what follows
	waiting map[*expectation]struct{}
	memory  history.History // has its own mutex
}

// Rounds returns the history that keeps the rounds.
func (w *Watch) Rounds() *history.History {
	return cmp.Or(w.History, &w.memory)
}

// Record implements [report.Recorder].
func (w *Watch) Record(e report.Event) error {
	if err := w.Rounds().Record(e); err != nil {
		return err
	}
	w.mu.Lock()
	for x := range w.waiting {
		if x.wanted(e) {
			x.event <- e
			delete(w.waiting, x)
		}
	}
	w.mu.Unlock()
	if w.Next == nil {
		return nil
	}
	return w.Next.Record(e)
}

// An expectation waits for one event. Its owner calls drop when it no longer waits.
type expectation struct {
	watch  *Watch
	wanted func(report.Event) bool
	event  chan report.Event // holds one
}

// expect returns an expectation of the first wanted event from now on.
func (w *Watch) expect(wanted func(report.Event) bool) *expectation {
	x := &expectation{w, wanted, make(chan report.Event, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = map[*expectation]struct{}{}
	}
	w.waiting[x] = struct{}{}
	return x
}

// wait returns the event, or false if none came within the time.
func (x *expectation) wait(within time.Duration) (report.Event, bool) {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case e := <-x.event:
		return e, true
	case <-t.C:
		return report.Event{}, false
	}
}

func (x *expectation) drop() {
	x.watch.mu.Lock()
	defer x.watch.mu.Unlock()
	delete(x.watch.waiting, x)
}
