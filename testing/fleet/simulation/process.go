package simulation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errDead is the error of every operation of a crashed process.
var errDead = errors.New("simulation: this process has crashed")

// errStopped ends the context of a process that the simulator stops without a crash.
var errStopped = errors.New("simulation: stopped")

// A process is one life of a party, from its start to its end or crash. The operations of a crashed
// process have no effect, as if the process had never called them.
type process struct {
	w      *world
	party  string
	order  int // position of the party among all
	life   int // lives of the party so far, from 1
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when its goroutine has returned
	err    error         // its result, once ended

	// Guarded by the world's lock:
	fuse    int // operations until it crashes; negative: none planned
	dead    bool
	between bool // it crashes once it has stored a vector
	orderly bool // at the end of the fuse it stops in an orderly way
	syncs   int  // of a slow disk, which run
	quits   bool // it is to stop
	inboxes int
	numbers map[string]int // messages sent, by subject
}

// start begins a life of a party by calling run. A panic of run is a finding.
func (w *world) start(party string, order, life int, run func(*process) error) *process {
	p := &process{w: w, party: party, order: order, life: life, fuse: -1,
		ended: make(chan struct{}), numbers: map[string]int{}}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	go func() {
		defer w.signal()
		defer close(p.ended)
		defer func() {
			if r := recover(); r != nil {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.find("no panic", "%s: %v\n%s", p.party, r, debug.Stack())
			}
		}()
		p.err = run(p)
	}()
	return p
}

// may counts an operation and reports whether the process is still alive and can perform it. The
// caller holds the world's lock.
func (p *process) may(operation string) bool {
	if p.dead {
		return false
	}
	if p.fuse == 0 && p.orderly {
		p.fuse, p.quits = -1, true
	}
	if p.fuse == 0 {
		p.dead = true
		p.w.count("crash before " + operation)
		p.w.note(p, "crashes before: %s", operation)
		p.w.signal()
		return false
	}
	if p.fuse > 0 {
		p.fuse--
	}
	return true
}

// over reports whether the process has ended by itself.
func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// finish ends a process and waits for its end. A crashed process has no further effect; any other
// process stops without a crash.
func (p *process) finish() {
	p.cancel(errStopped)
	<-p.ended
}

func (p *process) String() string { return fmt.Sprintf("%s.%d", p.party, p.life) }
