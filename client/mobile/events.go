package mobile

import (
	"slices"
	"sync"
	"time"
)

// A Listener is told how a client fares. It is called by one thread at a time, of
// which none is the app's main thread, and gets the latest of each kind, of faults of
// each code: what came meanwhile is left out. What it throws or returns changes nothing.
type Listener interface {
	// OnState says that the state changed (see [StateIdle] and the others), and why
	// where somebody decided it.
	OnState(state int, reason string) error

	// OnProgress says how far the device is: the record that its model is after, the
	// last that the run has, rounds, this device's contributions since NewClient, and
	// its mean training loss in the last of them, NaN before the first.
	OnProgress(record, last, round, contributions int64, loss float64) error

	// OnFault says what went wrong and passed, or is waited out: code is one of
	// [CodeConfig] and the others.
	OnFault(code, message string) error
}

// events hands a Listener what it is told, on a goroutine that lives while there is
// something to tell.
//
// Invariants:
//  1. At most one goroutine calls the listener.
//  2. No lock is held during a call.
//  3. Without a listener the queue is empty.
type events struct {
	mu       sync.Mutex    // guards what follows
	listener Listener      // nil: nobody listens
	queue    []event       // one of a kind, the one that waits longest first
	busy     chan struct{} // closed when the goroutine has ended, nil: none
}

// An event is something to tell the listener.
type event struct {
	kind string
	tell func(Listener) error
}

// Kinds of events. Of faults each code is a kind, so that what follows from a fault
// does not hide it.
const (
	aState    = "state"
	aProgress = "progress"
	aFault    = "fault "
)

// post tells the listener, in the place of what it was not told yet of that kind.
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

// deliver calls the listener until there is nothing to tell.
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

// next takes what is to be told: the kind that waits longest, so that none keeps the
// others waiting.
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
	_ = tell(l) // its errors are its own
}

// settle waits until all is told, but no longer than patience.
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

// release forgets the listener; a call under way goes on.
func (e *events) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listener, e.queue = nil, nil
}
