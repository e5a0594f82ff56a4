// Package parallel distributes independent pieces of work among a few goroutines. The goroutines
// end before [Team.Do] returns.
package parallel

import (
	"sync"
	"sync/atomic"
)

// A Team runs pieces of work on up to Workers goroutines. One of them is the goroutine of the
// caller. Any goroutine may run any piece, in any order, so pieces must not depend on each other.
// Only one goroutine may call the methods of a Team at a time, and a piece of work must not call
// them. A nil Team has one worker.
//
// Invariants:
//  1. No goroutine outlives the call that started it.
//  2. After its first call a Team allocates nothing.
type Team struct {
	// helpers are the functions of workers 1, 2, ... New creates these functions once, because a go
	// statement with an existing func() does not allocate.
	helpers []func()
	idler   func() // see Do
	ended   sync.WaitGroup

	// State of the current call.
	body func(worker, i int)
	n    int64
	next atomic.Int64 // first piece that no worker took

	mu    sync.Mutex // guards fault
	fault any        // of the first piece that panicked
}

// New returns a team with that many workers; with fewer than 2, the caller works alone.
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

// Workers returns the largest number of goroutines that work at a time.
func (t *Team) Workers() int {
	if t == nil {
		return 1
	}
	return 1 + len(t.helpers)
}

// Do calls body(worker, i) once for each i in [0, n) and returns when all calls have returned.
// Concurrent calls have different workers in [0, Workers()); the caller is worker 0. A free worker
// takes the next i. A body that captures no variable does not allocate.
//
//	for i := range n {
//		body(worker, i)
//	}
//
// If calls panic, Do waits for all running calls and panics with the value of one of them. Do omits
// the pieces that no worker had begun before the panic.
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
	// The scheduler reserves the goroutine started last for this thread. Other threads take that
	// goroutine only after a sleep (runtime.runqgrab), for which we measured 30 us. So Do starts, as
	// the last goroutine, one that returns at once.
	go t.idler()
	t.work(0)
}

// work takes pieces until none are left.
func (t *Team) work(worker int) {
	defer t.catch()
	for i := t.next.Add(1) - 1; i < t.n; i = t.next.Add(1) - 1 {
		t.body(worker, int(i))
	}
}

// catch saves the value of a panic for end, and makes the other workers begin no more pieces.
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

// end waits for the helpers and panics with the value with which a piece panicked.
func (t *Team) end() {
	t.ended.Wait()
	fault := t.fault
	t.body, t.fault = nil, nil
	if fault != nil {
		panic(fault)
	}
}
