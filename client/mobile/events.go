package mobile

import (
	"slices"
	"sync"
	"time"
)

// A Listener is told about a client's progress. One thread at a time calls it, never the app's main
// thread. It receives only the latest event of each kind; each fault code is a kind. If it throws,
// or returns a value, that has no effect.
type Listener interface {
	// OnState reports a new state ([StateIdle] or another), and the reason if the app, the device or
	// the coordinator decided it.
	OnState(state int, reason string) error

	// OnProgress reports the model's record, the run's last record, the rounds, this device's
	// contributions since NewClient, and its mean training loss in the last of them (NaN before the
	// first).
	OnProgress(record, last, round, contributions int64, loss float64) error

	// OnFault reports a fault that is over, or whose end the client awaits. code is [CodeConfig] or
	// another.
	OnFault(code, message string) error
}

// events calls a Listener, on a goroutine that exists only while events are queued.
//
// Invariants:
//  1. At most one goroutine calls the listener.
//  2. The goroutine holds no lock while it calls the listener.
//  3. Without a listener the queue is empty.
type events struct {
	mu       sync.Mutex    // guards the fields below
	listener Listener      // nil: none
	queue    []event       // at most one event of a kind, the oldest first
	busy     chan struct{} // closed when the goroutine ends; nil: there is none
}

// An event is one call of the listener.
type event struct {
	kind string
	tell func(Listener) error
}

// The kinds of events. Each fault code is a kind, so that in the queue a fault does not replace the
// fault that caused it.
const (
	aState    = "state"
	aProgress = "progress"
	aFault    = "fault "
)

// post queues a call of the listener, in place of a queued call of the same kind.
func (e *events) post(kind string, tell func(Listener) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.listener == nil {
		return
	}
	if i := slices.IndexFunc(e.queue, func(v event) bool { return v.kind == kind }); i >= 0 {
		e.queue[i].tell = tell
	} else {
		e.queue = append(e.queue, event{kind, tell})
	}
	if e.busy == nil {
		e.busy = make(chan struct{})
		go e.deliver(e.busy)
	}
}

// deliver calls the listener until the queue is empty.
func (e *events) deliver(done chan struct{}) {
	defer close(done)
	for {
		listener, tell := e.next()
		if tell == nil {
			return
		}
		callListener(listener, tell)
	}
}

// next removes and returns the event that has waited longest, so that the listener receives every
// kind.
func (e *events) next() (Listener, func(Listener) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.queue) == 0 {
		e.busy = nil
		return nil, nil
	}
	first := e.queue[0]
	e.queue = slices.Delete(e.queue, 0, 1)
	return e.listener, first.tell
}

func callListener(l Listener, tell func(Listener) error) {
	defer contain()
	_ = tell(l) // an error of the listener has no effect
}

// settle waits until the queue is empty, but no longer than patience.
func (e *events) settle(patience time.Duration) {
	e.mu.Lock()
	busy := e.busy
	e.mu.Unlock()
	if busy == nil {
		return
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-busy:
	case <-t.C:
	}
}

// release drops the listener and the queue. A call in progress continues.
func (e *events) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listener, e.queue = nil, nil
}
