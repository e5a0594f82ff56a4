package day

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zofl/zofl/bus"
)

// A line is the state of a radio.
type line int

const (
	up     line = iota
	loud        // the process knows that it is offline
	silent      // the network drops what the process sends, and the process receives nothing
)

// A station is one end of the network: the coordinator, or a phone. The network's lock guards a
// station.
type station struct {
	line           line
	latency        time.Duration // one way, about; 0: the coordinator
	rng            *rand.Rand
	sending        time.Duration // when the last message departs
	receiving      time.Duration // when the last message arrives
	sent, received uint64        // bytes as on a NATS connection
}

// departs returns when a message leaves the radio. A message overtakes no earlier message.
func (s *station) departs(now time.Duration, m *bus.Message) time.Duration {
	s.sent += frameSize("PUB", m, "")
	s.sending = max(now+s.delay(), s.sending+time.Microsecond)
	return s.sending
}

// arrives returns when a message that departs from another station reaches the process of this
// station.
func (s *station) arrives(departs time.Duration) time.Duration {
	s.receiving = max(departs+s.delay(), s.receiving+time.Microsecond)
	return s.receiving
}

func (s *station) delay() time.Duration {
	if s.latency == 0 {
		return 0
	}
	return vary(s.latency, s.rng)
}

// frameSize returns the bytes of a message on a NATS connection. sid is the text of a MSG between
// subject and length, with its space.
func frameSize(verb string, m *bus.Message, sid string) uint64 {
	size := len(verb) + 1 + len(m.Subject) + len(sid) + 1 +
		len(strconv.Itoa(len(m.Data))) + 2 + len(m.Data) + 2
	if m.Reply != "" {
		size += len(m.Reply) + 1
	}
	return uint64(size)
}

// An access is one process's access to the network. After the process was killed or has ended,
// calls of the access have no effect.
type access struct {
	net     *network
	station *station
	ended   chan struct{} // closed by end
	over    bool          // guarded by the network's lock
}

var _ bus.Bus = (*access)(nil)

func (n *network) access(s *station) *access {
	return &access{net: n, station: s, ended: make(chan struct{})}
}

// end ends the access of the process.
func (a *access) end() {
	n := a.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.over {
		return
	}
	a.over = true
	close(a.ended)
	mine := func(s *subscription) bool { return s.owner == a }
	n.patterns = slices.DeleteFunc(n.patterns, mine)
	for subject, list := range n.literal {
		n.literal[subject] = slices.DeleteFunc(list, mine)
	}
}

// reach returns an error unless the process can send. vanish says that the network drops the
// message. The caller holds the network's lock.
func (a *access) reach() (vanish bool, err error) {
	switch {
	case a.over:
		return false, bus.ErrClosed
	case a.station.line == loud:
		return false, bus.ErrOffline
	}
	return a.station.line == silent, nil
}

// Publish implements [bus.Bus].
func (a *access) Publish(subject string, data []byte) error {
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	vanish, err := a.reach()
	switch {
	case err != nil:
		return failed("publish", subject, err)
	case !vanish:
		a.net.send(a, bus.Message{Subject: subject, Data: bytes.Clone(data)})
	}
	return nil
}

// A subscription is a process that listens. handle must not wait, because the network's goroutine
// calls handle.
type subscription struct {
	owner   *access
	pattern string
	handle  func(bus.Message)
}

// Subscribe implements [bus.Bus].
func (a *access) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	n := a.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.over {
		return nil, failed("subscribe", subject, bus.ErrClosed)
	}
	s := &subscription{a, subject, handle}
	if strings.Contains(subject, "*") {
		n.patterns = append(n.patterns, s)
	} else {
		n.literal[subject] = append(n.literal[subject], s)
	}
	return s, nil
}

// Unsubscribe implements [bus.Subscription].
func (s *subscription) Unsubscribe() error {
	n := s.owner.net
	n.mu.Lock()
	defer n.mu.Unlock()
	is := func(o *subscription) bool { return o == s }
	n.patterns = slices.DeleteFunc(n.patterns, is)
	n.literal[s.pattern] = slices.DeleteFunc(n.literal[s.pattern], is)
	return nil
}

// Dropped implements [bus.Subscription]: no subscriber is too slow here.
func (s *subscription) Dropped() int { return 0 }

// An inbox is where a process waits for the answer to a request.
type inbox struct {
	owner  *access
	answer chan []byte
}

func (in *inbox) receive(m bus.Message) {
	select {
	case in.answer <- m.Data:
	default: // the inbox has its first answer already
	}
}

// Request implements [bus.Bus].
func (a *access) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	name, in, err := a.ask(subject, data)
	if err != nil {
		return nil, failed("request", subject, err)
	}
	defer func() {
		a.net.mu.Lock()
		defer a.net.mu.Unlock()
		delete(a.net.inboxes, name)
	}()
	select {
	case answer := <-in.answer:
		return answer, nil
	case <-a.ended:
		return nil, failed("request", subject, bus.ErrClosed)
	case <-ctx.Done():
		return nil, failed("request", subject, ctx.Err())
	}
}

func (a *access) ask(subject string, data []byte) (string, *inbox, error) {
	n := a.net
	n.mu.Lock()
	defer n.mu.Unlock()
	vanish, err := a.reach()
	if err != nil {
		return "", nil, err
	}
	n.inbox++
	name := "_INBOX." + strconv.FormatUint(n.inbox, 10)
	in := &inbox{a, make(chan []byte, 1)}
	m := bus.Message{Subject: subject, Reply: name, Data: bytes.Clone(data)}
	if !vanish && n.send(a, m) == 0 {
		return "", nil, bus.ErrNoResponders
	}
	n.inboxes[name] = in
	return name, in, nil
}

func failed(call, subject string, err error) error {
	return fmt.Errorf("day: %s %q: %w", call, subject, err)
}

// matches reports whether a pattern covers a subject; * matches any one token.
func matches(pattern, subject string) bool {
	for {
		want, more, wants := strings.Cut(pattern, ".")
		token, rest, has := strings.Cut(subject, ".")
		if want == ">" {
			return true
		}
		if want != "*" && want != token || wants != has {
			return false
		}
		if !wants {
			return true
		}
		pattern, subject = more, rest
	}
}
