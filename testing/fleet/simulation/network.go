package simulation

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/frame"
	"github.com/zofl/zofl/wire"
)

// A network carries messages. Each message waits, once for each listener at the time of sending,
// until the scheduler chooses it. The world's lock guards the whole network.
type network struct {
	subscriptions []*subscription
	inboxes       map[string]*inbox
	pending       []*packet      // in order after arrange
	cuts          map[string]cut // by party
}

// A packet is a message on its way to one listener.
type packet struct {
	bus.Message
	from   *process
	number int // among the messages of from to the subject
	copied int // how often it was duplicated
	until  time.Time
	sub    *subscription // either this or inbox is set
	inbox  *inbox
}

// to returns the listener.
func (k *packet) to() *process {
	if k.sub != nil {
		return k.sub.p
	}
	return k.inbox.p
}

// compare defines an order of packets that does not depend on the scheduling of goroutines.
func (k *packet) compare(o *packet) int {
	return cmp.Or(cmp.Compare(k.Subject, o.Subject), cmp.Compare(k.from.order, o.from.order),
		cmp.Compare(k.from.life, o.from.life), cmp.Compare(k.number, o.number),
		cmp.Compare(k.to().order, o.to().order), cmp.Compare(k.copied, o.copied))
}

type subscription struct {
	p       *process
	pattern string
	handle  func(bus.Message)
	busy    bool // handle is running
	closed  bool
}

// An inbox is where a process waits for the answer to a request.
type inbox struct {
	p       *process
	subject string // of the request
	answer  chan []byte
}

// arrange puts sent messages into order, and drops messages without a listener. Until arrange runs,
// a party that listened at some time since the last event counts as a listener: the Go runtime
// chooses whether one party asks before another party stops listening.
func (n *network) arrange() {
	n.subscriptions = slices.DeleteFunc(n.subscriptions,
		func(s *subscription) bool { return s.closed || s.p.dead })
	n.pending = slices.DeleteFunc(n.pending, func(k *packet) bool {
		if k.to().dead {
			return true
		}
		if k.sub != nil {
			return k.sub.closed
		}
		return n.inboxes[k.Subject] != k.inbox
	})
	slices.SortStableFunc(n.pending, (*packet).compare)
}

// send queues a message for all listeners and returns their number.
func (n *network) send(from *process, m bus.Message) int {
	if n.cuts[from.party].mute {
		return 1 // nobody tells the sender that nobody listens
	}
	number, heard := from.numbers[m.Subject], 0
	from.numbers[m.Subject]++
	add := func(k *packet) {
		if !n.cuts[k.to().party].deaf {
			n.pending = append(n.pending, k)
		}
	}
	if in := n.inboxes[m.Subject]; in != nil {
		add(&packet{Message: m, from: from, number: number, inbox: in})
		heard++
	}
	for _, s := range n.subscriptions {
		if !n.cuts[s.p.party].offline && matches(s.pattern, m.Subject) {
			add(&packet{Message: m, from: from, number: number, sub: s})
			heard++
		}
	}
	if heard > 0 {
		from.w.signal()
	}
	return heard
}

// sever cuts a party's connection. Packets on the way to a party that is deaf now are lost.
func (n *network) sever(party string, how cut) {
	n.cuts[party] = how
	if !how.deaf {
		return
	}
	n.pending = slices.DeleteFunc(n.pending, func(k *packet) bool { return k.to().party == party })
}

// matches reports whether a pattern covers a subject; * matches any one token.
func matches(pattern, subject string) bool {
	for {
		want, more, wants := strings.Cut(pattern, ".")
		token, rest, has := strings.Cut(subject, ".")
		if want != "*" && want != token || wants != has {
			return false
		}
		if !wants {
			return true
		}
		pattern, subject = more, rest
	}
}

var _ bus.Checker = (*process)(nil)

func failed(call, subject string, err error) error {
	return fmt.Errorf("simulation: %s %q: %w", call, subject, err)
}

// reach returns an error unless the process can use the network for an operation. The caller holds
// the world's lock.
func (p *process) reach(operation string) error {
	switch {
	case !p.may(operation):
		return bus.ErrClosed
	case p.w.net.cuts[p.party].offline:
		return bus.ErrOffline
	}
	return nil
}

// Publish implements [bus.Bus].
func (p *process) Publish(subject string, data []byte) error {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := p.reach("publish"); err != nil {
		return failed("publish", subject, err)
	}
	m := bus.Message{Subject: subject}
	kind, id := w.kind(&m)
	m.Data = bytes.Clone(w.sentBy(p, kind, data))
	w.note(p, "sends %s: %s", subject, describe{w, &m})
	w.book.Sent(p, kind, id, m.Data)
	w.net.send(p, m)
	return nil
}

// Subscribe implements [bus.Bus].
func (p *process) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if !p.may("subscribe") {
		return nil, failed("subscribe", subject, bus.ErrClosed)
	}
	s := &subscription{p: p, pattern: subject, handle: handle}
	w.net.subscriptions = append(w.net.subscriptions, s)
	return s, nil
}

// Unsubscribe implements [bus.Subscription].
func (s *subscription) Unsubscribe() error {
	w := s.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	s.closed = true
	return nil
}

// Dropped implements [bus.Subscription]: no subscriber is too slow here.
func (s *subscription) Dropped() int { return 0 }

// Request implements [bus.Bus].
func (p *process) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	in, name, err := p.ask(subject, data)
	if err != nil {
		return nil, failed("request", subject, err)
	}
	defer func() {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		delete(p.w.net.inboxes, name)
	}()
	select {
	case answer := <-in.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, failed("request", subject, ctx.Err())
	}
}

func (p *process) ask(subject string, data []byte) (*inbox, string, error) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	kind, id := w.kind(&bus.Message{Subject: subject})
	if kind == frame.Masking {
		w.mayDropOut(p, data)
	}
	if err := p.reach("request"); err != nil {
		return nil, "", err
	}
	p.inboxes++
	name := fmt.Sprintf("_INBOX.%s.%d", p, p.inboxes)
	data = w.sentBy(p, kind, data)
	if kind == frame.Masking {
		data = w.lied(p, data)
	}
	m := bus.Message{Subject: subject, Reply: name, Data: shorten(w.scenario.Piece, kind, data)}
	switch kind {
	case frame.Uploading:
		w.book.Uploaded(p, id, m.Data)
	case frame.Masking:
		w.book.Masked(p, id, m.Data)
	}
	in := &inbox{p: p, subject: subject, answer: make(chan []byte, 1)}
	heard := w.net.send(p, m)
	if w.note(p, "asks %s: %s", subject, describe{w, &m}); kind == frame.Masking {
		w.script.aside()
	}
	if heard == 0 {
		return nil, "", bus.ErrNoResponders
	}
	w.net.inboxes[name] = in
	return in, name, nil
}

// Check implements [bus.Checker]: no subject is denied.
func (p *process) Check(ctx context.Context, subject string) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	err := p.reach("check")
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return failed("check", subject, err)
	}
	return nil
}

// shorten cuts the pieces that a process sends or requests, as if the limit of a frame were low.
func shorten(piece int, kind frame.Kind, data []byte) []byte {
	switch {
	case piece == 0:
	case kind == frame.Uploading:
		if u, err := wire.DecodeUpload(data); err == nil {
			u.Data = u.Data[:min(len(u.Data), piece)]
			return u.Append(nil)
		}
	case kind == frame.Wanting:
		if r, err := wire.DecodeObjectRequest(data); err == nil {
			r.MaxBytes = min(r.MaxBytes, uint64(piece))
			return r.Append(nil)
		}
	}
	return bytes.Clone(data)
}
