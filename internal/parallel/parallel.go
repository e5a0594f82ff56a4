// Package parallel shares independent pieces of work out among a few goroutines
// that end with the call.
package parallel

import (
	"sync"
	"sync/atomic"
)

// A Team runs pieces of work on up to so many goroutines, of which the caller's
// is one. It makes no promise about which piece runs where or when, so pieces
// must not depend on each other. Its methods are called by one goroutine at a
// time, and not by a piece of work. A nil Team is a team of one.
//
// Invariants:
//  1. No goroutine outlives the call that it was started for.
//  2. After its first call a Team allocates nothing.
type Team struct {
	helpers []func() // the work of workers 1, 2, ...: made once, as a go statement of a func() allocates nothing
	idler   func()   // see Do
	ended   sync.WaitGroup

	// Of the call under way.
	body func(worker, i int)
	n    int64
	next atomic.Int64 // first piece that nobody took

	mu    sync.Mutex // guards fault
	fault any        // of the first piece that panicked
}

// New returns a team of so many workers; less than 2 are the caller alone.
func New(workers int) *Team {
	t := &Team{}
	t.idler = t.ended.Done
	for worker := 1; worker < workers; worker++ {
		t.helpers = append(t.helpers, func() {
			defer t.ended.Done()
			t.work(worker)
		})
	}
	return t
}

// Workers returns how many goroutines work at most.
func (t *Team) Workers() int {
	if t == nil {
		return 1
	}
	return 1 + len(t.helpers)
}

// Do calls body(worker, i) once for each i in [0, n) and returns when all calls
// have. Calls at the same time have different workers, in [0, Workers()); the
// caller's is 0. Whoever is free takes the next i. Do keeps body until it
// returns; one that captures nothing of the call allocates nothing.
//
//	for i := range n {
//		body(worker, i)
//	}
//
// If calls panic, Do panics with the value of one of them once no other runs;
// pieces that nobody took by then are left out.
func (t *Team) Do(n int, body func(worker, i int)) {
	helpers := min(t.Workers(), n) - 1
	if helpers < 1 {
		for i := range n {
			body(0, i)
		}
		return
	}
	t.body, t.n = body, int64(n)
	t.next.Store(0)
	t.ended.Add(helpers + 1)
	defer t.end()
	for _, help := range t.helpers[:helpers] {
		go help()
	}
	// The scheduler keeps what was started last for this thread: others take it
	// only after a sleep (runtime.runqgrab), which cost 30 us as measured. So let
	// that be something that does nothing.
	go t.idler()
	t.work(0)
}

// work takes pieces until there are none.
func (t *Team) work(worker int) {
	defer t.catch()
	for i := t.next.Add(1) - 1; i < t.n; i = t.next.Add(1) - 1 {
		t.body(worker, int(i))
	}
}

// catch keeps a panic for end, and leaves no work to the others.
func (t *Team) catch() {
	p := recover()
	if p == nil {
		return
	}
	t.next.Store(t.n)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fault == nil {
		t.fault = p
	}
}

// end waits for the helpers and raises what a piece panicked with.
func (t *Team) end() {
	t.ended.Wait()
	fault := t.fault
	t.body, t.fault = nil, nil
	if fault != nil {
		panic(fault)
	}
}
