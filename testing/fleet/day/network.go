package day

import (
	"cmp"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
)

// A network carries messages in virtual time, and runs scheduled events. The goroutine of run
// performs one event at a time, and calls the handlers.
type network struct {
	began time.Time
	wake  chan struct{} // has a token when an earlier event has been scheduled

	mu       sync.Mutex // guards what follows, and the lines of stations
	things   []thing    // sorted: the next one is the last
	number   uint64     // of things
	literal  map[string][]*subscription
	patterns []*subscription
	inboxes  map[string]*inbox
	inbox    uint64 // number of the last inbox
	lost     uint64 // messages that reached no process because of a lost radio or an ended process
}

// A thing is an event scheduled for a moment.
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

// at schedules an event.
func (n *network) at(at time.Duration, do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.schedule(at, do)
}

// schedule does the same as at, for callers that hold mu.
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

// run performs all events up to a moment. Each event begins after all processes have reacted to the
// event before, so that no two events race.
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

// take removes the next event if the event is due. Otherwise take returns the time of the next
// event, or a moment after until.
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

// send queues a message for all listeners, and returns their number. The caller holds mu.
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

// carry delivers a message to a process, unless by then the process has ended or has no radio.
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
