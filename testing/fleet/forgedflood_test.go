package fleet

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
)

// A deluge sends announcements with wrong signatures, and old announcements, as fast as the broker
// accepts them.
type deluge struct {
	f     *forger
	mu    sync.Mutex // guards heard
	heard [][]byte
	stop  chan struct{}
	all   sync.WaitGroup
	old   atomic.Uint64
}

// deluge starts the flood after the first announcement of the coordinator.
func (f *forger) deluge(l *lead) *deluge {
	d := &deluge{f: f, stop: make(chan struct{})}
	subject, mine := subjects.Announce(f.run, 0), nats.Header{}
	var once sync.Once
	f.hear(subject, func(m *nats.Msg) {
		if m.Header != nil { // a message of the deluge itself
			return
		}
		d.mu.Lock()
		d.heard = append(d.heard, m.Data)
		d.mu.Unlock()
		once.Do(func() {
			mine.Set("mine", "yes")
			for i := range 2 {
				nc := l.connect(fmt.Sprint("deluge", i))
				d.all.Go(func() { d.run(nc, mine) })
			}
		})
	})
	return d
}

func (d *deluge) run(nc *nats.Conn, mine nats.Header) {
	for i := 0; ; i++ {
		select {
		case <-d.stop:
			return
		default:
		}
		d.mu.Lock()
		frame := d.heard[len(d.heard)-1]
		if i%8 == 0 {
			frame = d.heard[i/8%len(d.heard)]
			d.old.Add(1)
		}
		d.mu.Unlock()
		if i%8 > 0 {
			frame = append([]byte(nil), frame...)
			frame[len(frame)-1-i%60] ^= byte(1 + i%250)
		}
		m := &nats.Msg{Subject: subjects.Announce(d.f.run, 0), Header: mine, Data: frame}
		if nc.PublishMsg(m) == nil {
			d.f.sent.Add(1)
		}
		if i%1000 == 0 {
			nc.FlushTimeout(time.Second)
		}
	}
}

func (d *deluge) end() {
	close(d.stop)
	d.all.Wait()
}

// TestForgedFlood checks devices that pin the coordinator's key, on a broker on which anybody can
// announce. A flood of forged and old announcements costs the devices a few checks of signatures a
// second. The devices soon unsubscribe, ask the coordinator for the state of the run, and take part
// in every round.
func TestForgedFlood(t *testing.T) {
	const rounds, n, dim = 12, 3, 20
	p := testPlan(t, "forged", dim, n, rounds)
	p.Reannounce, p.MaxAttempts = 1000, 100
	l := startLead(t, p, broker.Config{}, signs)
	l.listening("forged")
	f := l.forger("forged")
	d := f.deluge(l)
	defer d.end()
	var conns []*nats.Conn
	reports := make([]progress, n)
	for i := range n {
		conns = append(conns, l.connect(fmt.Sprint("d", i)))
	}
	began := time.Now()
	clients := l.devices("forged", conns, dim, pins, recorded(reports))
	took := time.Since(began).Seconds()
	l.agree("forged", clients)
	if w := l.witness("forged"); w.Rounds() != rounds {
		t.Errorf("%d rounds, want %d", w.Rounds(), rounds)
	}
	sent := f.sent.Load()
	for i := range reports {
		r := &reports[i]
		t.Logf("device %d: %d frames sent in %.1f s, %d refused, %d of them unread", i, sent, took,
			r.refused, r.skipped)
		// 128 checks at once, then 32 a second, and a few checks before the first skipped frame
		if r.skipped == 0 || float64(r.refused-r.skipped) > 200+40*took {
			t.Errorf("device %d: %d frames refused, %d of them unread", i, r.refused, r.skipped)
		}
	}
	if sent < 10_000 || d.old.Load() == 0 {
		t.Errorf("%d frames are no flood", sent)
	}
}
