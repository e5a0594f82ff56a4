package simulation

import (
	"slices"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/frame"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
)

// chaos makes one event happen.
func (w *world) chaos() {
	if frozen := w.frozen(); frozen != nil {
		w.thaw(frozen)
		return
	}
	if w.revive() {
		return
	}
	if w.ordered() {
		return
	}
	if w.rng.Float64() < w.scenario.Fault && w.strike() {
		return
	}
	moved := w.move()
	if moved && w.rng.IntN(24) > 0 {
		return
	}
	if moved {
		w.settle() // recipients act on what they got before time passes
	}
	if frozen := w.frozen(); frozen == nil {
		w.pass(scenario.Pick(w.rng, time.Millisecond, 100*time.Millisecond, time.Second,
			7*time.Second, 40*time.Second))
	}
}

// revive restarts the first party whose absence is over, and reports whether there was one. revive
// restarts one party at a time, so that the seed determines which parties listen when another party
// asks.
func (w *world) revive() bool {
	for _, p := range w.parties {
		if p.p == nil && !time.Now().Before(p.away) && (p.device == nil || !p.device.ended) {
			w.launch(p)
			return true
		}
	}
	return false
}

// move lets a waiting event happen, and reports whether any event waited.
func (w *world) move() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	requests, packets := w.server.ready(), w.ready()
	if len(requests)+len(packets) == 0 {
		return false
	}
	i := w.rng.IntN(len(requests) + len(packets))
	if i < len(requests) {
		w.answer(requests[i])
		return true
	}
	w.carry(packets[i-len(requests)])
	return true
}

// ready returns the packets that can arrive now.
func (w *world) ready() []*packet {
	now := time.Now()
	var ready []*packet
	for _, k := range w.net.pending {
		if k.until.After(now) || k.sub != nil && k.sub.busy || k.to().syncs > 0 {
			continue
		}
		if r := w.server.busy(k.to()); r != nil && !r.at.Equal(now) && w.queues(k) {
			continue // see frozen
		}
		ready = append(ready, k)
	}
	return ready
}

// queues reports whether a packet would wait in the queue of a coordinator's loop.
func (w *world) queues(k *packet) bool {
	kind, _ := w.kind(&k.Message)
	return k.sub != nil && (kind == frame.Replying || kind == frame.Joining ||
		kind == frame.Uploading || kind == frame.Masking)
}

// carry delivers a packet, or applies a fault of the network to it.
func (w *world) carry(k *packet) {
	luck := w.rng.Float64()
	s := w.scenario
	switch {
	case w.healed(k):
	case luck < s.Drop:
		w.count("drop")
		w.note(nil, "lost: %s to %v", k.Subject, k.to())
		w.remove(k)
		return
	case luck < s.Drop+s.Double:
		w.count("double")
		w.note(nil, "doubled: %s to %v", k.Subject, k.to())
		again := *k
		again.copied++
		w.net.pending = append(w.net.pending, &again)
	case luck < s.Drop+s.Double+s.Delay:
		w.count("delay")
		k.until = time.Now().Add(time.Duration(1+w.rng.IntN(60_000)) * time.Millisecond)
		w.note(nil, "delayed: %s to %v", k.Subject, k.to())
		return
	}
	w.remove(k)
	w.deliver(k)
}

func (w *world) remove(k *packet) {
	w.net.pending = slices.DeleteFunc(w.net.pending, func(o *packet) bool { return o == k })
}

// deliver hands a packet to its listener.
func (w *world) deliver(k *packet) {
	w.note(nil, "%v -> %v: %s: %s", k.from, k.to(), k.Subject, describe{w, &k.Message})
	kind, _ := w.kind(&k.Message)
	k.Data = w.readBy(k.to(), kind, k.Data)
	if in := k.inbox; in != nil {
		delete(w.net.inboxes, k.Subject)
		in.answer <- k.Data
		return
	}
	if w.queues(k) {
		w.book.Delivered(k.to(), kind, &k.Message)
		if w.server.busy(k.to()) != nil {
			w.broker(k.to()).queued++
			w.count("burst")
		}
	}
	s := k.sub
	s.busy = true
	go func() {
		s.handle(bus.Message{Subject: k.Subject, Reply: k.Reply, Data: k.Data})
		w.mu.Lock()
		defer w.mu.Unlock()
		s.busy = false
	}()
}

func (w *world) broker(p *process) *broker { return w.parties[p.order].broker }

// frozen returns the request of a coordinator that has messages waiting behind that request. No
// time may pass then: the coordinator's loop would find the messages and a timer ready at once, and
// the Go runtime would choose between them.
func (w *world) frozen() *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parties {
		if p.broker == nil || p.p == nil || p.broker.queued == 0 {
			continue
		}
		if r := w.server.busy(p.p); r != nil {
			return r
		}
		p.broker.queued = 0
	}
	return nil
}

// thaw continues while a coordinator is frozen: thaw queues more messages behind the request, or
// answers the request.
func (w *world) thaw(r *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var more []*packet
	for _, k := range w.ready() {
		if k.to() == r.h.p {
			more = append(more, k)
		}
	}
	if len(more) > 0 && w.rng.IntN(3) > 0 {
		k := more[w.rng.IntN(len(more))]
		w.remove(k)
		w.deliver(k)
		return
	}
	w.answer(r)
}

// pass lets time pass until something happens, at most d.
func (w *world) pass(d time.Duration) {
	select {
	case <-w.activity: // something that the scheduler knows of
	default:
	}
	w.mu.Lock()
	for _, k := range w.net.pending {
		if wait := time.Until(k.until); wait > 0 {
			d = min(d, wait)
		}
	}
	for _, r := range w.server.waiting {
		if wait := time.Until(r.stalled); wait > 0 {
			d = min(d, wait)
		}
	}
	w.note(nil, "time passes, at most %v", d)
	w.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.activity:
	}
}
