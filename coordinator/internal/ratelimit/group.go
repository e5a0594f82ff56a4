package ratelimit

import "time"

// A group holds the waiting messages of all members, or of all strangers.
//
// Invariants:
//  1. flows are those with messages. Each is in turns.
//  2. sizes[n] has the flows of size n, and no flow has more than top.
//  3. items and bytes are the sums over all flows.
type group[T any] struct {
	flows        map[string]*flow[T]
	turns        ring[T]
	sizes        []*flow[T] // the first of each list
	top          int
	items, bytes int
}

// A flow holds the waiting messages of one name, in the order of arrival.
type flow[T any] struct {
	name  string
	items []item[T]
	head  int // items before it are taken
	bytes int

	prev, next   *flow[T] // in the ring
	above, below *flow[T] // among flows of this size
}

type item[T any] struct {
	message T
	bytes   int
	metered bool
	at      time.Time // when it came
}

func (f *flow[T]) len() int { return len(f.items) - f.head }

// size measures a flow's waiting messages: 1 for each message, and 1 for each KiB.
func (f *flow[T]) size() int { return f.len() + f.bytes>>10 }

// A ring holds flows in the order of their turns.
type ring[T any] struct{ first, last *flow[T] }

func (r *ring[T]) add(f *flow[T]) {
	f.prev, f.next = r.last, nil
	if r.last == nil {
		r.first = f
	} else {
		r.last.next = f
	}
	r.last = f
}

func (r *ring[T]) remove(f *flow[T]) {
	if f.prev == nil {
		r.first = f.next
	} else {
		f.prev.next = f.next
	}
	if f.next == nil {
		r.last = f.prev
	} else {
		f.next.prev = f.prev
	}
	f.prev, f.next = nil, nil
}

// queue appends a message to a flow.
func (g *group[T]) queue(f *flow[T], m item[T]) {
	if f.len() > 0 {
		g.unlist(f)
	} else {
		g.turns.add(f)
	}
	f.items = append(f.items, m)
	f.bytes += m.bytes
	g.items++
	g.bytes += m.bytes
	g.list(f)
}

// next takes a flow's first message. The flow's next turn comes after the turns of all other flows.
func (g *group[T]) next(f *flow[T]) item[T] {
	g.unlist(f)
	m := f.items[f.head]
	f.items[f.head] = item[T]{}
	if f.head++; f.head > 32 && f.head > len(f.items)/2 {
		f.items = append([]item[T](nil), f.items[f.head:]...)
		f.head = 0
	}
	g.took(f, m)
	if f.len() > 0 {
		g.turns.remove(f)
		g.turns.add(f)
	}
	return m
}

// unqueue takes a flow's last message.
func (g *group[T]) unqueue(f *flow[T]) item[T] {
	g.unlist(f)
	last := len(f.items) - 1
	m := f.items[last]
	f.items[last] = item[T]{}
	f.items = f.items[:last]
	g.took(f, m)
	return m
}

// took updates the counts for a message that f no longer has. f must be in no list of sizes.
func (g *group[T]) took(f *flow[T], m item[T]) {
	f.bytes -= m.bytes
	g.items--
	g.bytes -= m.bytes
	if f.len() == 0 {
		g.turns.remove(f)
		delete(g.flows, f.name)
		return
	}
	g.list(f)
}

func (g *group[T]) list(f *flow[T]) {
	n := f.size()
	for len(g.sizes) <= n {
		g.sizes = append(g.sizes, nil)
	}
	f.above, f.below = nil, g.sizes[n]
	if f.below != nil {
		f.below.above = f
	}
	g.sizes[n] = f
	g.top = max(g.top, n)
}

func (g *group[T]) unlist(f *flow[T]) {
	if f.above == nil {
		g.sizes[f.size()] = f.below
	} else {
		f.above.below = f.below
	}
	if f.below != nil {
		f.below.above = f.above
	}
	f.above, f.below = nil, nil
}

// longest returns a flow of the largest size. The group must have a flow.
func (g *group[T]) longest() *flow[T] {
	for g.sizes[g.top] == nil {
		g.top--
	}
	return g.sizes[g.top]
}
