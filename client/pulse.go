package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/plan"
)

// These factors say how long a device waits for an announcement before it checks its connection, in
// intervals between two repetitions of an announcement. With the time of the check, that is less
// than three intervals, so there is time to connect again.
const (
	silenceLeast  = 1.5
	silenceJitter = 0.4 // drawn anew each time, so that devices do not check in step
)

// ErrQuiet: this device hears no coordinator. None answers, or none announced anything for a while.
// [Progress].Err holds it; Run keeps asking.
var ErrQuiet = errQuiet() // "no word of a coordinator"

func errQuiet() error { return link.ErrQuiet } // documentation shows no internal name

// shortestInterval is the least interval: a busy machine may well be silent for less.
const shortestInterval = time.Second

// A pulse notices when announcements stop, even while the goroutine of Run is busy. It then asks
// the broker for a sign of life. If none comes, it has the connection made anew. Otherwise the
// client would notice a dead connection only after minutes. It sends nothing while announcements
// arrive, so that it does not wake a radio. Between two checks it is only a timer.
type pulse struct {
	link     *link.Link
	inbox    *inbox
	interval atomic.Int64 // at which announcements are repeated, as a time.Duration

	// quiet holds the last silence that the pulse noticed.
	quiet chan silence

	mu      sync.Mutex // guards what follows
	random  *rand.Rand
	timer   *time.Timer
	stopped bool
	beating sync.WaitGroup
}

// A silence is the result of a check that followed a lack of announcements.
type silence struct {
	noticed time.Time
	alive   bool  // the broker answered
	err     error // matches ErrQuiet, or ends Run
}

func newPulse(cfg *Config, l *link.Link, in *inbox) *pulse {
	p := &pulse{link: l, inbox: in, random: retry.NewRandom(cfg.ID), quiet: make(chan silence, 1)}
	p.interval.Store(int64(plan.DefaultReannounce))
	l.Follow(p.every, in.lastHeard)
	return p
}

// set tells the pulse how often announcements are repeated, in milliseconds.
func (p *pulse) set(reannounce uint32) {
	p.interval.Store(int64(time.Duration(reannounce) * time.Millisecond))
}

// every returns the interval between two announcements.
func (p *pulse) every() time.Duration {
	return max(time.Duration(p.interval.Load()), shortestInterval)
}

// often returns the shortest time between two questions to a silent run.
func (p *pulse) often() time.Duration { return max(p.every(), p.link.Timeout()) }

// start watches the announcements of a subject until stop is called.
func (p *pulse) start(ctx context.Context, subject string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	p.settle()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = false
	began := time.Now()
	p.timer = time.AfterFunc(p.silence(), func() { p.beat(ctx, subject, began, time.Time{}) })
	return func() {
		p.mu.Lock()
		p.stopped = true
		p.timer.Stop()
		p.mu.Unlock()
		cancel()
		p.beating.Wait()
	}
}

// settle forgets the last silence.
func (p *pulse) settle() {
	select {
	case <-p.quiet:
	default:
	}
}

// beat checks the connection if no announcement came since heard, but not before next. Then it sets
// the timer for the next beat.
func (p *pulse) beat(ctx context.Context, subject string, heard, next time.Time) {
	p.mu.Lock()
	if p.stopped {
		p.mu.Unlock()
		return
	}
	p.beating.Add(1)
	p.mu.Unlock()
	defer p.beating.Done()

	wait := p.draw(p.silence)
	if last := p.inbox.lastHeard(); last.After(heard) {
		heard, next = last, time.Time{}
		wait = max(0, wait-time.Since(last))
	} else if time.Now().Before(next) {
		wait = min(wait, time.Until(next))
	} else {
		p.notice(ctx, subject)
		next = time.Now().Add(p.draw(p.pause))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped {
		p.timer = time.AfterFunc(wait, func() { p.beat(ctx, subject, heard, next) })
	}
}

func (p *pulse) draw(from func() time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return from()
}

// silence draws how long announcements may be absent before a check. The caller holds mu.
func (p *pulse) silence() time.Duration {
	return time.Duration((silenceLeast + silenceJitter*p.random.Float64()) * float64(p.every()))
}

// pause draws the time from one check of a silent run to the next. The caller holds mu.
func (p *pulse) pause() time.Duration {
	often := p.often()
	return 3*often + time.Duration(p.random.Int64N(int64(often)))
}

// notice checks the connection, and passes the result to the goroutine of Run.
func (p *pulse) notice(ctx context.Context, subject string) {
	err := p.link.Examine(ctx, subject)
	alive := err == nil
	switch {
	case ctx.Err() != nil:
		return
	case retry.Final(err):
		err = fmt.Errorf("announcements: %w", err)
	case err != nil:
		p.await(ctx, subject)
		err = fmt.Errorf("%w: nothing was announced for a while, and the broker did not answer "+
			"(%w)", ErrQuiet, err)
	default:
		err = fmt.Errorf("%w: nothing was announced for a while", ErrQuiet)
	}
	p.settle()
	p.quiet <- silence{time.Now(), alive, err}
}

// await waits for a dropped connection to come back, but no longer than an interval: then the
// device asks at once where the run is.
func (p *pulse) await(ctx context.Context, subject string) {
	ctx, cancel := context.WithTimeout(ctx, p.every())
	defer cancel()
	for p.link.Check(ctx, subject, p.every()) != nil &&
		retry.Sleep(ctx, p.every()/50) == nil {
	}
}
