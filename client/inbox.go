package client

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/outbox"
	"github.com/zofl/zofl/client/internal/verify"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/signed"
)

// inboxLen bounds how many announcements wait for a busy device. A new announcement displaces the
// oldest. The device then fetches the records of the displaced announcement.
const inboxLen = 16

// An arrival is an announcement, the head of the log in it, and the time when its round closes. An
// arrival that answers this client's question has an empty announcement.
type arrival struct {
	outbox.Ask
	head   follow.Head // 0: the head is unknown
	closes time.Time
	asked  bool // this client asked for the announcement
	amid   bool // came while this client worked on the answer to its record
	wants  bool // the announcement asks this device for an answer
}

// An inbox passes announcements from the bus's goroutine to the goroutine of Run.
type inbox struct {
	signed  *verify.Reader // nil: announcements need no signature
	arrived chan struct{}  // has a token when queue is not empty
	flooded chan struct{}  // has a token when the device dropped announcements unread

	mu      sync.Mutex // guards what follows
	queue   []arrival
	taken   []arrival      // the arrivals that take returned last
	heard   time.Time      // the last announcement, also from the answer to a join
	state   wire.State     // the State of the last announcement
	left    uint64         // milliseconds that the last announcement gives a round
	attempt attempt        // of the last announcement
	began   time.Time      // when its first announcement came
	before  time.Duration  // how long the attempt before lasted, if this is another record's first
	refused uint64         // frames that are not announcements, or not the coordinator's
	skipped uint64         // how many of these the device dropped unread
	watch   func(*arrival) // called with each arrival; nil: none
}

func newInbox(run string, keys signed.Keys) *inbox {
	in := &inbox{arrived: make(chan struct{}, 1), flooded: make(chan struct{}, 1)}
	if keys != nil {
		in.signed = verify.NewReader(run, keys)
	}
	return in
}

// decode reads an announcement. An announcement that answers this client's question came in a
// signed answer, so it needs no signature.
func (in *inbox) decode(frame []byte, asked bool) (compact.Announcement, error) {
	if in.signed == nil || asked {
		return compact.Decode(frame)
	}
	return in.signed.Read(frame)
}

// receive is the bus's handler.
func (in *inbox) receive(m bus.Message) { in.put(m.Data, false) }

// put queues an announcement. asked says that the announcement answers a question of this client.
func (in *inbox) put(frame []byte, asked bool) {
	announcement, err := in.decode(frame, asked)
	left := time.Duration(announcement.Left) * time.Millisecond
	head, _ := follow.HeadOf(&announcement)
	now := time.Now()
	a := arrival{Ask: outbox.Ask{Announcement: announcement.Announcement}, head: head,
		closes: now.Add(left), asked: asked}

	in.mu.Lock()
	defer in.mu.Unlock()
	if err != nil {
		in.refused++
		if errors.Is(err, verify.ErrFlood) {
			in.skipped++
			wake(in.flooded)
		}
		return
	}
	if this := (attempt{a.N, a.Epoch, a.Attempt}); this != in.attempt {
		in.before = 0
		if a.N > in.attempt.n && a.Attempt == 0 && in.state == wire.Open {
			in.before = now.Sub(in.began)
		}
		in.attempt, in.began = this, now
	}
	in.heard, in.state, in.left = now, a.State, a.Left
	if in.watch != nil {
		in.watch(&a)
	}
	if len(in.queue) == inboxLen {
		in.queue = append(in.queue[:0], in.queue[1:]...)
	}
	in.queue = append(in.queue, a)
	wake(in.arrived)
}

// wake puts a token into a channel unless it has one.
func wake(tokens chan struct{}) {
	select {
	case tokens <- struct{}{}:
	default:
	}
}

// lastHeard returns the time of the last announcement; zero: there was none.
func (in *inbox) lastHeard() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.heard
}

// silentUntil returns the latest time at which the coordinator announces again. The time depends on
// the last announcement and on the plan's values.
func (in *inbox) silentUntil(reannounce, deadline uint32) time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	last := wire.Announcement{State: in.state, Left: in.left}
	after := last.RepeatAfter(reannounce, deadline, uint64(in.before.Milliseconds()))
	return in.heard.Add(time.Duration(after) * time.Millisecond)
}

// take empties the inbox and returns the arrivals, oldest first. The arrivals stay valid until the
// next take, because take uses their memory again.
func (in *inbox) take() []arrival {
	in.mu.Lock()
	defer in.mu.Unlock()
	clear(in.taken)
	in.queue, in.taken = in.taken[:0], in.queue
	return in.taken
}

// prolongs says whether a later announcement in the inbox gives more time to the round of a. If the
// device reached a's head slowly, a may be of an attempt that has closed.
func (in *inbox) prolongs(a *arrival) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.ContainsFunc(in.queue, func(later arrival) bool {
		return later.N == a.N && later.State == a.State && later.head.Last == a.head.Last &&
			later.closes.After(a.closes)
	})
}

// watched calls see with each waiting arrival, and then with each new one until the caller calls
// stop. watched locks the inbox during see: see must be quick, and must not use the inbox.
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

// refuse counts a frame that decodes but that no run can have announced.
func (in *inbox) refuse() {
	in.mu.Lock()
	in.refused++
	in.mu.Unlock()
}

// refusals returns how many frames the inbox refused, and how many of them it dropped unread.
func (in *inbox) refusals() (all, unread uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.refused, in.skipped
}
