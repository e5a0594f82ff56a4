// Package parallel distributes independent pieces of work among a few goroutines that
// end with the call.
package parallel

import (
	"sync"
	"sync/atomic"
)

// A Team runs pieces of work on up to Workers goroutines. One of them is the goroutine of the
// caller. It does not promise which piece runs where or when, so pieces must not depend on each
// other. Only one goroutine may call its methods at a time, and no piece of work may. A nil Team
// has one worker.
//
// Invariants:
//  1. No goroutine outlives the call that it was started for.
//  2. After its first call a Team allocates nothing.
type Team struct {
	// helpers run workers 1, 2, ... They are created once, because a go statement with
	// a func() does not allocate.
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
// takes the next i. Do keeps body until it returns; a body that captures no variable of the call
// does not allocate.
//
//	for i := range n {
//		body(worker, i)
//	}
//
// If calls panic, Do waits for all running calls and panics with the value of one of them. Pieces
// that no worker had taken by then are omitted.
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
	// The scheduler reserves the goroutine started last for this thread; other threads take it only
	// after a sleep (runtime.runqgrab), which was measured as 30 us. So let the last goroutine be one
	// that returns at once.
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

// catch saves a panic for end, and leaves no pieces to the other workers.
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
