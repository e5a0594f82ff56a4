package client

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/ration"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// inboxLen bounds the announcements that wait for a busy device. A new one displaces the
// oldest, whose records come by catch-up.
const inboxLen = 16

// An arrival is an announcement, the head that it shows, and the time when its round closes.
// A head that this client asked for has an empty announcement.
type arrival struct {
	wire.Announcement
	head   follow.Head // Last = 0: it shows none
	closes time.Time
	asked  bool // this client asked for it
}

// An inbox passes announcements from the bus's goroutine to Run's.
type inbox struct {
	signed  *ration.Reader // nil: announcements need no signature
	arrived chan struct{}  // has a token when queue is not empty
	flooded chan struct{}  // has a token when announcements were dropped unread

	mu      sync.Mutex // guards what follows
	queue   []arrival
	taken   []arrival      // what take returned last
	heard   time.Time      // the last announcement, or a join's answer with one
	refused uint64         // frames that are not announcements, or not the coordinator's
	skipped uint64         // of these, the ones that were dropped unread
	watch   func(*arrival) // called with each arrival; nil: none
}

func newInbox(cfg *Config) *inbox {
	return &inbox{arrived: make(chan struct{}, 1), flooded: make(chan struct{}, 1),
		signed: ration.NewReader(cfg.Run, cfg.keys())}
}

// decode reads an announcement. One that this client asked for came in a signed answer.
func (in *inbox) decode(frame []byte, asked bool) (compact.Announcement, error) {
	if in.signed == nil || asked {
		return compact.Decode(frame)
	}
	return in.signed.Read(frame)
}

// receive is the bus's handler.
func (in *inbox) receive(m bus.Message) { in.put(m.Data, false) }

// put queues an announcement. asked says that it answers a question of this client.
func (in *inbox) put(frame []byte, asked bool) {
	announcement, err := in.decode(frame, asked)
	left := time.Duration(announcement.Left) * time.Millisecond
	head, _ := follow.HeadOf(&announcement)
	now := time.Now()
	a := arrival{announcement.Announcement, head, now.Add(left), asked}

	in.mu.Lock()
	defer in.mu.Unlock()
	if err != nil {
		in.refused++
		if errors.Is(err, ration.ErrFlood) {
			in.skipped++
			wake(in.flooded)
		}
		return
	}
	in.heard = now
	if in.watch != nil {
		in.watch(&a)
	}
	if len(in.queue) == inboxLen {
		in.queue = append(in.queue[:0], in.queue[1:]...)
	}
	in.queue = append(in.queue, a)
	wake(in.arrived)
}

// wake puts a token into a channel unless one is there.
func wake(tokens chan struct{}) {
	select {
	case tokens <- struct{}{}:
	default:
	}
}

// lastHeard returns when something was announced last; zero: never.
func (in *inbox) lastHeard() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.heard
}

// take empties the inbox and returns the arrivals, oldest first. They are valid until the next
// take, which reuses their memory.
func (in *inbox) take() []arrival {
	in.mu.Lock()
	defer in.mu.Unlock()
	clear(in.taken)
	in.queue, in.taken = in.taken[:0], in.queue
	return in.taken
}

// prolongs says whether an announcement waits that gives more time to the round of a. That
// happens when the device took long to reach a's head: a may be of an attempt that has closed.
func (in *inbox) prolongs(a *arrival) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.ContainsFunc(in.queue, func(later arrival) bool {
		return later.N == a.N && later.State == a.State && later.head.Last == a.head.Last &&
			later.closes.After(a.closes)
	})
}

// watched calls see with each arrival that waits, and then with each new one until stop is
// called. It holds the lock meanwhile: see must be quick, and must not use the inbox.
func (in *inbox) watched(see func(*arrival)) (stop func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range in.queue {
		see(&in.queue[i])
	}
	in.watch = see
	return func() {
		in.mu.Lock()
		in.watch = nil
		in.mu.Unlock()
	}
}

// refuse counts a frame that decodes, but that no run can have announced.
func (in *inbox) refuse() {
	in.mu.Lock()
	in.refused++
	in.mu.Unlock()
}

// refusals returns how many frames were refused, and how many of them unread.
func (in *inbox) refusals() (all, unread uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.refused, in.skipped
}
