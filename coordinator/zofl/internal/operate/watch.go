package operate

import (
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator"
)

// A Watch is a [coordinator.Recorder] that also tells requests what became of
// what they asked for. The zero value is ready to use.
type Watch struct {
	Next coordinator.Recorder // is told everything; nil: nobody is

	mu      sync.Mutex
	waiting map[chan coordinator.Event]func(coordinator.Event) bool
}

// Record implements [coordinator.Recorder].
func (w *Watch) Record(e coordinator.Event) error {
	w.mu.Lock()
	for c, wanted := range w.waiting {
		if wanted(e) {
			c <- e
			delete(w.waiting, c)
		}
	}
	w.mu.Unlock()
	if w.Next == nil {
		return nil
	}
	return w.Next.Record(e)
}

// expect returns a function that waits for the first event from now on that is
// wanted, but no longer than patience.
func (w *Watch) expect(wanted func(coordinator.Event) bool) (await func(patience time.Duration) (coordinator.Event, bool)) {
	c := make(chan coordinator.Event, 1)
	w.mu.Lock()
	if w.waiting == nil {
		w.waiting = map[chan coordinator.Event]func(coordinator.Event) bool{}
	}
	w.waiting[c] = wanted
	w.mu.Unlock()
	return func(patience time.Duration) (coordinator.Event, bool) {
		t := time.NewTimer(patience)
		defer t.Stop()
		select {
		case e := <-c:
			return e, true
		case <-t.C:
			w.mu.Lock()
			delete(w.waiting, c)
			w.mu.Unlock()
			return coordinator.Event{}, false
		}
	}
}
