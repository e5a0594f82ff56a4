package day

import (
	"cmp"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
)

// A network carries messages in virtual time, and runs scheduled events. The goroutine of run does
// one thing at a time, and calls the handlers.
type network struct {
	began time.Time
	wake  chan struct{} // has a token when something became the next thing to do

	mu       sync.Mutex // guards what follows, and the lines of stations
	things   []thing    // sorted: the next one is the last
	number   uint64     // of things
	literal  map[string][]*subscription
	patterns []*subscription
	inboxes  map[string]*inbox
	inbox    uint64 // number of the last inbox
	lost     uint64 // messages that reached nobody because of a lost radio or an ended process
}

// A thing is to be done at a moment.
type thing struct {
	at     time.Duration // since the network began
	number uint64        // in order of scheduling
	do     func()
}

func newNetwork() *network {
	return &network{began: time.Now(), wake: make(chan struct{}, 1),
		literal: map[string][]*subscription{}, inboxes: map[string]*inbox{}}
}

// now returns the virtual time since the network began.
func (n *network) now() time.Duration { return time.Since(n.began) }

// at schedules something.
func (n *network) at(at time.Duration, do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.schedule(at, do)
}

// schedule is at for callers that hold mu.
func (n *network) schedule(at time.Duration, do func()) {
	n.number++
	next := thing{at, n.number, do}
	i, _ := slices.BinarySearchFunc(n.things, next, func(a, b thing) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.number, a.number))
	})
	if n.things = slices.Insert(n.things, i, next); i == len(n.things)-1 {
		select {
		case n.wake <- struct{}{}:
		default:
		}
	}
}

// run does everything up to a moment. Each event begins after everybody has reacted to the event
// before, so no two race.
func (n *network) run(until time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		synctest.Wait()
		next, ok := n.take(until)
		if ok {
			next.do()
			continue
		}
		next.at = min(next.at, until)
		if n.now() >= until {
			return
		}
		timer.Reset(next.at - n.now())
		select {
		case <-timer.C:
		case <-n.wake:
		}
	}
}

// take removes the next thing if it is due. Otherwise it returns when the next one is, or a
// moment after until.
func (n *network) take(until time.Duration) (next thing, due bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.things) == 0 {
		return thing{at: until + 1}, false
	}
	last := len(n.things) - 1
	if next = n.things[last]; next.at > n.now() || next.at > until {
		return next, false
	}
	n.things = slices.Delete(n.things, last, last+1)
	return next, true
}

// send puts a message on its way to all listeners, and returns their number. The caller holds mu.
func (n *network) send(from *access, m bus.Message) (heard int) {
	departs := from.station.departs(n.now(), &m)
	if in := n.inboxes[m.Subject]; in != nil {
		heard++
		n.carry(departs, in.owner, &m, func() { in.receive(m) })
	}
	for _, list := range [][]*subscription{n.literal[m.Subject], n.patterns} {
		for _, s := range list {
			if matches(s.pattern, m.Subject) {
				heard++
				n.carry(departs, s.owner, &m, func() { s.handle(m) })
			}
		}
	}
	return heard
}

// carry delivers a message to a process, unless that has ended or has no radio by then.
func (n *network) carry(departs time.Duration, to *access, m *bus.Message, deliver func()) {
	size := frameSize("MSG", m, " 1")
	n.schedule(to.station.arrives(departs), func() {
		n.mu.Lock()
		here := !to.over && to.station.line == up
		if here {
			to.station.received += size
		} else {
			n.lost++
		}
		n.mu.Unlock()
		if here {
			deliver()
		}
	})
}
