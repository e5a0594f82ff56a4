package ratelimit

import (
	"sync"
	"time"
)

// A Config says how a queue shares its places and turns among senders.
type Config[T any] struct {
	// Most bounds the number of waiting messages, separately for members and for strangers.
	Most int
	// FlowBytes bounds the waiting bytes of one sender, unless the sender has only one message. 0 is
	// no bound.
	FlowBytes int
	// StrangerBytes bounds the waiting bytes of all strangers. 0 is no bound.
	StrangerBytes int
	// Metered bounds how many metered messages of all strangers the queue hands out. Patience is how
	// long such a message waits before the queue drops it.
	Metered  Limit
	Patience time.Duration
	// The queue calls Dropped with a message that it drops because there is no room or the message
	// waited too long. Dropped must not call the queue.
	Dropped func(m T, name string, late bool)
}

// A Queue hands out messages in turn: members and strangers alternate, and within each group the
// senders alternate. When there is no room, the sender with the most waiting messages loses its
// newest message. So a sender that floods the queue costs other senders a turn, but no message.
//
// Any goroutine may call the methods of a Queue. No method waits.
type Queue[T any] struct {
	cfg   Config[T]
	ready chan struct{}

	mu      sync.Mutex
	groups  [2]group[T] // strangers, members
	turn    int         // whose turn it is
	metered Bucket
	armed   time.Time // when a timer will wake the reader; zero: none
}

// New returns an empty queue.
func New[T any](cfg Config[T]) *Queue[T] {
	q := &Queue[T]{cfg: cfg, ready: make(chan struct{}, 1)}
	for i := range q.groups {
		q.groups[i].flows = map[string]*flow[T]{}
	}
	return q
}

// Ready holds a token when there may be a message to take.
func (q *Queue[T]) Ready() <-chan struct{} { return q.ready }

// Wake puts a token into Ready.
func (q *Queue[T]) Wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Push queues a message of the given number of bytes, and says whether there was room.
func (q *Queue[T]) Push(s Sender, m T, bytes int) bool {
	q.mu.Lock()
	ok := q.push(s, item[T]{m, bytes, s.Metered && !s.Member, time.Now()})
	q.mu.Unlock()
	if ok {
		q.Wake()
	}
	return ok
}

func (q *Queue[T]) push(s Sender, m item[T]) bool {
	g, most := &q.groups[0], q.cfg.StrangerBytes
	if s.Member {
		g, most = &q.groups[1], 0
	}
	f := g.flows[s.Name]
	if f != nil && q.cfg.FlowBytes > 0 && f.bytes+m.bytes > q.cfg.FlowBytes {
		return false
	}
	for g.items >= q.cfg.Most || most > 0 && g.bytes+m.bytes > most && g.items > 0 {
		longest := g.longest()
		if longest.len() == 1 || f != nil && longest.size() <= f.size() {
			return false
		}
		q.dropped(g.unqueue(longest), longest.name, false)
	}
	if f == nil {
		f = &flow[T]{name: s.Name}
		g.flows[s.Name] = f
	}
	g.queue(f, m)
	return true
}

func (q *Queue[T]) dropped(m item[T], name string, late bool) {
	if q.cfg.Dropped != nil {
		q.cfg.Dropped(m.message, name, late)
	}
}

// Pop takes the message whose turn it is.
func (q *Queue[T]) Pop() (m T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	var soonest time.Time
	for range q.groups {
		g := &q.groups[q.turn]
		q.turn = (q.turn + 1) % len(q.groups)
		taken, ready, ok := q.take(g, now)
		if ok {
			return taken.message, true
		}
		if !ready.IsZero() && (soonest.IsZero() || ready.Before(soonest)) {
			soonest = ready
		}
	}
	q.arm(now, soonest)
	return m, false
}

// take takes the next message of a group. If the group's messages must wait, ready says until when.
func (q *Queue[T]) take(g *group[T], now time.Time) (m item[T], ready time.Time, ok bool) {
	for g.turns.first != nil {
		f := g.turns.first
		if m = f.items[f.head]; m.metered {
			if q.cfg.Patience > 0 && now.Sub(m.at) > q.cfg.Patience {
				q.dropped(g.next(f), f.name, true)
				continue
			}
			if at, ok := q.metered.Take(now, q.cfg.Metered); !ok {
				return m, at, false
			}
		}
		return g.next(f), now, true
	}
	return m, time.Time{}, false
}

// arm sets a timer that wakes the reader when a waiting message may be taken.
func (q *Queue[T]) arm(now, at time.Time) {
	if at.IsZero() || q.armed.After(now) && !q.armed.After(at) {
		return
	}
	q.armed = at
	time.AfterFunc(at.Sub(now), q.Wake)
}

// Len returns how many messages wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.groups[0].items + q.groups[1].items
}
