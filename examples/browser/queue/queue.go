// Package queue passes values from callbacks of a browser, which must not wait, to goroutines.
package queue

import "sync"

// A Queue holds values in order, until [Queue.Pull] takes them. Make a Queue with [New].
type Queue[T any] struct {
	mu     sync.Mutex // guards the next two
	values []T
	closed bool
	news   chan struct{} // has one element if something has changed
}

// New returns an empty queue.
func New[T any]() *Queue[T] { return &Queue[T]{news: make(chan struct{}, 1)} }

// Push appends a value, and returns the number of values in the queue. Push never blocks. After
// Close, Push does nothing.
func (q *Queue[T]) Push(v T) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.values = append(q.values, v)
		q.tell()
	}
	return len(q.values)
}

// Close ends the queue. Pull can still take the values that the queue holds.
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

// Pull takes the first value. If the queue is empty, Pull waits for a value. ok is false at the
// end of a closed queue. Only one goroutine at a time may call Pull.
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
