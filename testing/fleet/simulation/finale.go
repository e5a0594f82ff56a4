package simulation

import (
	"math"
	"time"

	"github.com/zofl/zofl/coordinator/report"
)

// finalPatience limits the virtual time from the last fault to the end of the run on every
// device.
const (
	finalPatience = time.Hour
	finalSteps    = 30_000
)

// heal ends all faults, or those of the core.
func (w *world) heal() {
	w.calm = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(nil, "everything is healed")
	w.net.cuts = map[string]cut{}
	w.choose()
	now := time.Now()
	for _, k := range w.net.pending {
		k.until = time.Time{}
	}
	for _, p := range w.parties {
		if p.broker != nil && p.broker.handle != nil && p.broker.handle != w.server.holder {
			p.broker.handle.depose()
		}
		if !p.core {
			continue
		}
		p.loops, p.astray, p.slow = 0, 0, 0
		p.disk.Fail(0, 0, nil)
		p.disk.Limit(math.MaxInt64)
		if p.p != nil {
			p.p.fuse, p.p.quits = -1, false
		} else if p.device == nil || !p.device.ended && p.away.Before(now.Add(never/2)) {
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
	for _, p := range w.parties {
		if c := w.leading(p); c != nil {
			best := c.Status().Best
			w.locked(func() { w.book.Best(best) })
		}
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
		case w.repair(p): // the coordinator's log says that somebody wrote into the file
			return true
		case status.State == report.Paused && status.LogError == "" && status.N < last:
			// A deposed coordinator wrote a record before it noticed. The leading coordinator would find the
			// record at its next append. No append comes, because the devices ended with that record and no
			// device is left.
			w.locked(func() { w.count("left behind by a stale leader") })
			return w.retire(p)
		case status.State == report.Paused && status.LogError == "" && status.Waits == "":
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
		if p.device == nil || !p.device.ended && (!p.core || w.out(p)) {
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
