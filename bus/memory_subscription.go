package bus

import "sync"

// MemoryPending is how many messages a subscription of Memory queues for a slow handler before the
// subscription drops messages.
const MemoryPending = 1 << 16

// memorySubscription is a queue of messages and the goroutine that handles them.
type memorySubscription struct {
	bus     *Memory
	subject string
	handle  func(Message)

	mu      sync.Mutex // guards the fields below
	changed *sync.Cond // signals a message or the end
	queue   []Message  // waiting messages
	pending int        // len(queue) and messages taken by the goroutine but not handled
	dropped int
	stopped bool
}

func newMemorySubscription(m *Memory, subject string, handle func(Message)) *memorySubscription {
	s := &memorySubscription{bus: m, subject: subject, handle: handle}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *memorySubscription) push(msg Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
	case s.pending == MemoryPending:
		s.dropped++
	default:
		s.queue = append(s.queue, msg)
		s.pending++
		s.changed.Signal()
	}
}

// run handles messages until the subscription stops. run takes all waiting messages at once: it
// swaps the queue for an empty slice, so it copies no message.
func (s *memorySubscription) run() {
	var batch []Message
	for {
		clear(batch)
		batch = s.take(batch[:0])
		for _, msg := range batch {
			if !s.next() {
				return
			}
			s.handle(msg)
		}
		if len(batch) == 0 {
			return
		}
	}
}

// take waits for messages and swaps them for an empty slice. take returns no message after the
// subscription stopped.
func (s *memorySubscription) take(empty []Message) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.stopped {
		s.changed.Wait()
	}
	if s.stopped {
		return nil
	}
	batch := s.queue
	s.queue = empty
	return batch
}

// next reports whether run may still handle the next message. If so, next counts the message as
// handled.
func (s *memorySubscription) next() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.pending--
	return true
}

func (s *memorySubscription) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.queue = nil
	s.changed.Signal()
}

// Unsubscribe implements Subscription.
func (s *memorySubscription) Unsubscribe() error {
	s.bus.forget(s)
	s.stop()
	return nil
}

// Dropped implements Subscription.
func (s *memorySubscription) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}
