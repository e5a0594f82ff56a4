package simulation

import (
	"math"
	"slices"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/report"
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
		if k.until.After(now) || k.sub != nil && k.sub.busy {
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
	return k.sub != nil && (kind == frame.Replying || kind == frame.Joining || kind == frame.Uploading)
}

// carry delivers a packet, or applies a fault of the network to it.
func (w *world) carry(k *packet) {
	luck := w.rng.Float64()
	s := w.scenario
	switch {
	case w.calm:
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
	if in := k.inbox; in != nil {
		delete(w.net.inboxes, k.Subject)
		in.answer <- k.Data
		return
	}
	if w.queues(k) {
		kind, _ := w.kind(&k.Message)
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

// pause is the reason that the simulated operator gives for a pause.
const pause = "an operator's pause"

// finalPatience limits the virtual time from the last fault to the end of the run on every
// device.
const (
	finalPatience = time.Hour
	finalSteps    = 30_000
)

// heal ends all faults.
func (w *world) heal() {
	w.calm = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(nil, "everything is healed")
	w.net.cuts = map[string]cut{}
	now := time.Now()
	for _, k := range w.net.pending {
		k.until = time.Time{}
	}
	for _, p := range w.parties {
		if p.broker != nil && p.broker.handle != nil && p.broker.handle != w.server.holder {
			p.broker.handle.depose()
		}
		p.loops = 0
		p.disk.Fail(0, 0, nil)
		p.disk.Limit(math.MaxInt64)
		if p.p != nil {
			p.p.fuse, p.p.quits = -1, false
		} else if p.device == nil || !p.device.ended {
			p.away = now
		}
		if p.device != nil && p.device.objective != nil {
			p.device.objective.calm.Store(true)
		}
	}
}

// finale continues the run without faults until the run has ended on every device, and every device
// has the state of the log.
func (w *world) finale() {
	began := time.Now()
	for range finalSteps {
		if w.settle(); w.done() || time.Since(began) > finalPatience {
			break
		}
		if frozen := w.frozen(); frozen != nil {
			w.thaw(frozen)
			continue
		}
		if !w.revive() && !w.resume() && !w.move() {
			w.pass(time.Minute)
		}
	}
	if w.settle(); !w.sound() {
		return
	}
	if !w.done() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.find("the run ends", "it has not, %v after the last fault: record %d",
			time.Since(began), w.book.Last())
		return
	}
	w.agree()
}

// resume plays an operator who looks at the run now and then. resume reports whether the run needed
// the operator.
func (w *world) resume() bool {
	if time.Since(w.looked) < 5*time.Second {
		return false
	}
	w.looked = time.Now()
	for _, p := range w.parties {
		c := w.leading(p)
		if c == nil {
			continue
		}
		w.mu.Lock()
		last := w.book.Last()
		w.mu.Unlock()
		status := c.Status()
		switch {
		case status.State == report.Paused && status.LogError == "" && status.N < last:
			// A deposed coordinator wrote a record before it noticed. The leading coordinator would find the
			// record at its next append. No append comes, because the devices ended with that record and no
			// device is left.
			w.locked(func() { w.count("left behind by a stale leader") })
			return w.retire(p)
		case status.State == report.Paused && status.LogError == "":
			w.locked(func() { w.note(nil, "an operator resumes %s", p.name) })
			w.resumes(c)
			return true
		}
	}
	return false
}

// agree checks that all devices hold the state of the log's last record.
func (w *world) agree() {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.book.Last()
	truth, err := w.book.Replay(last)
	if err != nil {
		w.find("the log can be replayed", "%v", err)
		return
	}
	for _, p := range w.parties {
		if p.device == nil {
			continue
		}
		n, digest := p.device.c.Digest()
		if p.device.flipped && digest != truth.Digest() {
			w.count("a wrong bit to the end")
			continue
		}
		if n != last || digest != truth.Digest() {
			w.find("replicas agree at the end", "%s: record %d, digest %x; the log has record %d, digest %x",
				p.name, n, digest[:8], last, truth.Digest())
		}
	}
	w.count("end " + w.book.End().String())
}
