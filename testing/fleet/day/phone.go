package day

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/data"
)

// errStopped ends the context of a client whose app is stopped.
var errStopped = errors.New("day: the app is stopped")

// A phone is a device with its sessions of the day. The network's goroutine owns it.
type phone struct {
	w        *world
	id       string
	order    int
	station  *station
	loss     *phoneLoss
	disk     disk
	sessions []session     // the current one and those to come
	app      *app          // nil: it does not run
	since    time.Duration // when its app began to run, or its radio came back
}

// An app is a running client.
type app struct {
	client *client.Client
	access *access
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when Run has returned
	err    error         // its result
}

// random returns a phone's generator.
func (w *world) random(order int) *rand.Rand {
	return rand.New(rand.NewPCG(w.cfg.Seed, uint64(order)))
}

// newPhone returns a phone whose time for an evaluation lies this many deviations above the median.
func (w *world) newPhone(order int, deviations float64) *phone {
	f := w.cfg.Fleet
	rng := w.random(order)
	p := &phone{w: w, id: fmt.Sprintf("phone%d", order), order: order, disk: disk{}}
	p.station = &station{latency: f.Latency.draw(rng), rng: rand.New(rand.NewPCG(rng.Uint64(), 1))}
	share := w.task.shares[order]
	p.loss = &phoneLoss{task: w.task, phone: order, share: len(share),
		batcher: data.NewBatcher(share),
		work:    f.Work.at(deviations), rng: rand.New(rand.NewPCG(rng.Uint64(), 2)),
		mayWork: p.mayWork}
	p.sessions = f.timeline(rng, w.cfg.Length)
	return p
}

// awaitNext schedules the start of the next session.
func (p *phone) awaitNext() {
	if len(p.sessions) > 0 {
		p.w.net.at(p.sessions[0].from, p.begin)
	}
}

// begin starts the app.
func (p *phone) begin() {
	s := &p.sessions[0]
	if err := p.start(); err != nil {
		p.w.fault(p.id, err)
		return
	}
	p.since = p.w.net.now()
	p.w.presence(1)
	for _, o := range s.outages {
		p.w.net.at(o.from, func() { p.lose(o.silent) })
		p.w.net.at(o.to, p.regain)
	}
	p.w.net.at(s.to, p.end)
}

func (p *phone) start() error {
	access := p.w.net.access(p.station)
	c, err := client.New(client.Config{
		Bus: access, Run: runName, ID: p.id, Objective: p.loss, Workers: 1,
		Store: &store{p.disk, func() bool {
			select {
			case <-access.ended:
				return true
			default:
				return false
			}
		}},
		// No two phones have the same timeout, so that no two phones act at the same moment.
		RequestTimeout: 5*time.Second + time.Duration(13+p.order)*time.Microsecond,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &app{client: c, access: access, cancel: cancel, done: make(chan struct{})}
	p.app = a
	go func() {
		defer close(a.done)
		a.err = c.Run(ctx)
	}()
	return nil
}

// lose takes the radio away; regain restores the radio.
func (p *phone) lose(silently bool) {
	p.setLine(loud)
	if silently {
		p.setLine(silent)
	}
	p.w.presence(-1)
}

func (p *phone) regain() {
	p.setLine(up)
	p.since = p.w.net.now()
	p.w.presence(1)
}

func (p *phone) setLine(l line) {
	p.w.net.mu.Lock()
	defer p.w.net.mu.Unlock()
	p.station.line = l
}

// end ends the session, by a kill or a clean stop.
func (p *phone) end() {
	p.w.check(p)
	p.stop(p.sessions[0].killed)
	p.sessions = p.sessions[1:]
	p.w.presence(-1)
	p.awaitNext()
}

// stop ends the app and waits until the app has ended.
func (p *phone) stop(killed bool) {
	if killed {
		p.app.access.end()
	}
	p.app.cancel(errStopped)
	<-p.app.done
	p.app.access.end()
	if err := p.app.err; !killed && !errors.Is(err, errStopped) {
		p.w.fault(p.id, fmt.Errorf("Run returned before its app was stopped: %w", err))
	}
	p.app = nil
}

// mayWork reports whether the phone's battery allows work. The client's goroutine calls mayWork,
// while the network's goroutine waits.
func (p *phone) mayWork() bool {
	s := &p.sessions[0]
	f := p.w.cfg.Fleet
	return s.plugged || s.level-f.Drain*(p.w.net.now()-s.from).Hours() >= f.Least
}
