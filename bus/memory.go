package bus

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// Memory is a Bus inside one process, with the semantics of one NATS connection: a
// message reaches every matching subscription, including the publisher's own. Handlers
// never run on the goroutine of the publisher, so a handler may publish and request.
// All subscriptions receive messages in the same order.
type Memory struct {
	done    chan struct{} // closed by Close
	running sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	literal  map[string][]*memorySubscription
	patterns []*memorySubscription
	inboxes  map[string]chan []byte // of requests in flight
	inbox    uint64                 // number of the last inbox
	denied   denials
	closed   bool
}

// denials are the subjects that DenyPublish and DenySubscribe denied.
type denials struct{ publish, subscribe []string }

var (
	_ Bus     = (*Memory)(nil)
	_ Checker = (*Memory)(nil)
	_ Chooser = (*Memory)(nil)
)

// NewMemory returns an empty bus. Close it when done.
func NewMemory() *Memory {
	return &Memory{
		done:    make(chan struct{}),
		literal: make(map[string][]*memorySubscription),
		inboxes: make(map[string]chan []byte),
	}
}

// Publish implements Bus.
func (m *Memory) Publish(subject string, data []byte) error {
	if !wellFormed(subject) {
		return failed("publish", subject, ErrSubject)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return failed("publish", subject, ErrClosed)
	}
	if !denies(m.denied.publish, subject) {
		m.deliver(Message{Subject: subject, Data: bytes.Clone(data)})
	}
	return nil
}

// deliver queues a message for all matching subscriptions and inboxes, and returns how many there
// are. The caller must hold mu.
func (m *Memory) deliver(msg Message) int {
	n := 0
	if inbox, ok := m.inboxes[msg.Subject]; ok {
		select {
		case inbox <- msg.Data:
		default: // the inbox is full: drop the answer
		}
		n++
	}
	for _, s := range m.literal[msg.Subject] {
		s.push(msg)
		n++
	}
	for _, s := range m.patterns {
		if matches(s.subject, msg.Subject) {
			s.push(msg)
			n++
		}
	}
	return n
}

// Subscribe implements Bus. Up to MemoryPending messages wait for handle.
func (m *Memory) Subscribe(subject string, handle func(Message)) (Subscription, error) {
	if !wellFormedPattern(subject) {
		return nil, failed("subscribe", subject, ErrSubject)
	}
	s := newMemorySubscription(m, subject, handle)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, failed("subscribe", subject, ErrClosed)
	case denies(m.denied.subscribe, subject):
		s.stop()
	case isPattern(subject):
		m.patterns = append(m.patterns, s)
	default:
		m.literal[subject] = append(m.literal[subject], s)
	}
	m.running.Go(s.run)
	return s, nil
}

// forget ends delivery to s.
func (m *Memory) forget(s *memorySubscription) {
	is := func(t *memorySubscription) bool { return t == s }
	m.mu.Lock()
	defer m.mu.Unlock()
	m.patterns = slices.DeleteFunc(m.patterns, is)
	if rest := slices.DeleteFunc(m.literal[s.subject], is); len(rest) > 0 {
		m.literal[s.subject] = rest
	} else {
		delete(m.literal, s.subject)
	}
}

// memoryAnswers is how many answers to one request may wait for RequestGood.
const memoryAnswers = 1 << 10

// Request implements Bus.
func (m *Memory) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	return m.request(ctx, subject, data, 1, func([]byte) bool { return true })
}

// RequestGood implements Chooser.
func (m *Memory) RequestGood(ctx context.Context, subject string, data []byte,
	good func(answer []byte) bool) ([]byte, error) {
	return m.request(ctx, subject, data, memoryAnswers, good)
}

// request publishes a request and returns the first answer that good accepts. At most waiting
// answers wait for good.
func (m *Memory) request(ctx context.Context, subject string, data []byte, waiting int,
	good func(answer []byte) bool) ([]byte, error) {
	err := ctx.Err()
	if !wellFormed(subject) {
		err = ErrSubject
	}
	if err != nil {
		return nil, failed("request", subject, err)
	}
	name, inbox, err := m.ask(subject, data, waiting)
	if err != nil {
		return nil, failed("request", subject, err)
	}
	defer m.hangUp(name)
	for err == nil {
		select {
		case answer := <-inbox:
			if good(answer) {
				return answer, nil
			}
		case <-ctx.Done():
			err = ctx.Err()
		case <-m.done:
			err = ErrClosed
		}
	}
	if err != ErrClosed && m.publishDenied(subject) {
		err = fmt.Errorf("%w (%w)", ErrPermission, err)
	}
	return nil, failed("request", subject, err)
}

// ask publishes a request and returns the inbox that receives the answers. The inbox holds at most
// waiting answers.
func (m *Memory) ask(subject string, data []byte, waiting int) (string, chan []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return "", nil, ErrClosed
	}
	m.inbox++
	name := "_INBOX." + strconv.FormatUint(m.inbox, 10)
	inbox := make(chan []byte, waiting)
	if !denies(m.denied.publish, subject) {
		msg := Message{Subject: subject, Reply: name, Data: bytes.Clone(data)}
		if m.deliver(msg) == 0 {
			return "", nil, ErrNoResponders
		}
	}
	m.inboxes[name] = inbox
	return name, inbox, nil
}

func (m *Memory) hangUp(inbox string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.inboxes, inbox)
}

// DenyPublish makes the bus drop messages to the subjects that a pattern covers, as a NATS server
// does for a user without permission. Publish still returns nil, Request returns only when its
// context ends, and Check reports the denial.
func (m *Memory) DenyPublish(pattern string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.denied.publish = append(m.denied.publish, pattern)
}

// DenySubscribe makes later subscriptions to the subjects that a pattern covers receive nothing, as
// a NATS server does. Subscribe still returns nil, and Check reports the denial.
func (m *Memory) DenySubscribe(pattern string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.denied.subscribe = append(m.denied.subscribe, pattern)
}

func denies(patterns []string, subject string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, subject) })
}

func (m *Memory) publishDenied(subject string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return denies(m.denied.publish, subject)
}

// Check implements Checker.
func (m *Memory) Check(ctx context.Context, subject string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := ctx.Err()
	switch {
	case m.closed:
		err = ErrClosed
	case denies(m.denied.publish, subject), denies(m.denied.subscribe, subject):
		err = ErrPermission
	}
	if err != nil {
		return failed("check", subject, err)
	}
	return nil
}

// Close ends all subscriptions and requests and waits until no handler runs; a handler must not
// call Close. Later calls of other methods return ErrClosed.
func (m *Memory) Close() {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		close(m.done)
	}
	subs := m.patterns
	for _, s := range m.literal {
		subs = append(subs, s...)
	}
	m.patterns, m.literal = nil, nil
	m.mu.Unlock()
	for _, s := range subs {
		s.stop()
	}
	m.running.Wait()
}
