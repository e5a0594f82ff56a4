// Package queue passes values from callbacks of a browser, which must not wait, to goroutines.
package queue

import "sync"

// A Queue holds values until they are taken, in order. The zero value is not ready: see [New].
type Queue[T any] struct {
	mu     sync.Mutex // guards the next two
	values []T
	closed bool
	news   chan struct{} // has one element if something has changed
}

// New returns an empty queue.
func New[T any]() *Queue[T] { return &Queue[T]{news: make(chan struct{}, 1)} }

// Push appends a value, and returns how many wait. It never blocks. After Close it does nothing.
func (q *Queue[T]) Push(v T) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.values = append(q.values, v)
		q.tell()
	}
	return len(q.values)
}

// Close ends the queue. What it holds can still be taken.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.tell()
}

// tell wakes Pull.
func (q *Queue[T]) tell() {
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// Pull takes the first value, and waits for one. ok is false at the end of a closed queue. One
// goroutine at a time may call it.
func (q *Queue[T]) Pull() (v T, ok bool) {
	for {
		v, ok, closed := q.next()
		if ok || closed {
			return v, ok
		}
		<-q.news
	}
}

func (q *Queue[T]) next() (v T, ok, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.values) == 0 {
		return v, false, q.closed
	}
	v = q.values[0]
	q.values = append(q.values[:0], q.values[1:]...)
	return v, true, false
}
