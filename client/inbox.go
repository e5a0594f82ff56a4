package client

import (
	"bytes"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// inboxLen bounds the announcements that wait for a device that is busy; the
// oldest make room, their records come by catch-up.
const inboxLen = 16

// An arrival is an announcement and when its round closes.
type arrival struct {
	wire.Announcement
	closes time.Time
}

// An inbox holds announcements between the bus's goroutine and Run's.
type inbox struct {
	arrived chan struct{} // has a token when queue is not empty

	mu      sync.Mutex // guards queue and refused
	queue   []arrival
	refused uint64 // frames that were no announcements
}

func newInbox() *inbox { return &inbox{arrived: make(chan struct{}, 1)} }

// receive is the bus's handler.
func (in *inbox) receive(m bus.Message) {
	a, err := wire.DecodeAnnouncement(bytes.Clone(m.Data))
	in.mu.Lock()
	defer in.mu.Unlock()
	if err != nil {
		in.refused++
		return
	}
	if len(in.queue) == inboxLen {
		in.queue = append(in.queue[:0], in.queue[1:]...)
	}
	left := time.Duration(a.Left) * time.Millisecond
	in.queue = append(in.queue, arrival{a, time.Now().Add(left)})
	in.wake()
}

// wake puts a token into arrived unless one is there.
func (in *inbox) wake() {
	select {
	case in.arrived <- struct{}{}:
	default:
	}
}

// take returns what arrived, oldest first, and empties the inbox.
func (in *inbox) take() []arrival {
	in.mu.Lock()
	defer in.mu.Unlock()
	queue := in.queue
	in.queue = nil
	return queue
}

// beyond says whether an announcement of a later record than n waits: then
// whatever is done for n comes too late.
func (in *inbox) beyond(n uint64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range in.queue {
		if in.queue[i].N > n {
			return true
		}
	}
	return false
}
