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

// These factors say how long a device waits for an announcement before it checks its connection.
// The unit of these factors is the interval between two repetitions of an announcement. The wait
// and the check together take less than three intervals, so there is time to connect again.
const (
	silenceLeast  = 1.5
	silenceJitter = 0.4 // drawn for each wait, so that devices do not check at the same time
)

// ErrQuiet says that this device hears no coordinator: none answers, and none has announced
// anything for a while. [Progress].Err holds this error; Run keeps asking.
var ErrQuiet = errQuiet() // "no word of a coordinator"

func errQuiet() error { return link.ErrQuiet } // hides the internal name

// shortestInterval is the least interval, because a busy machine may be silent for less time.
const shortestInterval = time.Second

// A keepalive notices when announcements stop, even while the goroutine of Run is busy. The
// keepalive then sends the broker a request. If the broker does not answer, the keepalive connects
// again. Otherwise the client would notice a dead connection only after minutes. While
// announcements arrive the keepalive sends nothing, in order not to wake a radio. In a long round
// the coordinator announces seldom. Then the keepalive only checks the connection. Between two
// checks a keepalive is only a timer.
type keepalive struct {
	link  *link.Link
	inbox *inbox
	pace  atomic.Uint64 // the plan's Reannounce, and in its upper half Deadline

	// quiet holds the last silence that the keepalive noticed.
	quiet chan silence

	mu       sync.Mutex // guards what follows
	random   *rand.Rand
	timer    *time.Timer
	stopped  bool
	checking sync.WaitGroup
}

// A silence is the result of a check that the keepalive made because no announcement came.
type silence struct {
	noticed time.Time
	alive   bool  // the broker answered
	err     error // matches ErrQuiet, or ends Run
}

func newKeepalive(cfg *Config, l *link.Link, in *inbox) *keepalive {
	k := &keepalive{link: l, inbox: in, random: retry.NewRandom(cfg.ID), quiet: make(chan silence, 1)}
	k.pace.Store(uint64(plan.DefaultReannounce / time.Millisecond))
	l.Follow(k.every, in.lastHeard)
	return k
}

// set tells the keepalive how often a plan's coordinator repeats announcements.
func (k *keepalive) set(p *plan.Plan) {
	k.pace.Store(uint64(p.Deadline)<<32 | uint64(p.Reannounce))
}

// every returns the shortest interval between two announcements.
func (k *keepalive) every() time.Duration {
	return max(time.Duration(uint32(k.pace.Load()))*time.Millisecond, shortestInterval)
}

// overdue says whether the coordinator should have announced something since the last announcement.
// The coordinator announces a long round seldom.
func (k *keepalive) overdue() bool {
	pace := k.pace.Load()
	next := k.inbox.silentUntil(uint32(pace), uint32(pace>>32))
	return time.Since(next) > k.every()/2
}

// often returns the shortest time between two questions to a run without announcements.
func (k *keepalive) often() time.Duration { return max(k.every(), k.link.Timeout()) }

// start watches the announcements of a subject until the caller calls stop.
func (k *keepalive) start(ctx context.Context, subject string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	k.settle()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = false
	began := time.Now()
	k.timer = time.AfterFunc(k.silence(), func() { k.check(ctx, subject, began, time.Time{}) })
	return func() {
		k.mu.Lock()
		k.stopped = true
		k.timer.Stop()
		k.mu.Unlock()
		cancel()
		k.checking.Wait()
	}
}

// settle forgets the last silence.
func (k *keepalive) settle() {
	select {
	case <-k.quiet:
	default:
	}
}

// check checks the connection if no announcement came since heard, but not before the time next.
// Then check sets the timer for the next check.
func (k *keepalive) check(ctx context.Context, subject string, heard, next time.Time) {
	k.mu.Lock()
	if k.stopped {
		k.mu.Unlock()
		return
	}
	k.checking.Add(1)
	k.mu.Unlock()
	defer k.checking.Done()

	wait := k.draw(k.silence)
	if last := k.inbox.lastHeard(); last.After(heard) {
		heard, next = last, time.Time{}
		wait = max(0, wait-time.Since(last))
	} else if time.Now().Before(next) {
		wait = min(wait, time.Until(next))
	} else {
		k.notice(ctx, subject)
		next = time.Now().Add(k.draw(k.pause))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stopped {
		k.timer = time.AfterFunc(wait, func() { k.check(ctx, subject, heard, next) })
	}
}

func (k *keepalive) draw(from func() time.Duration) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return from()
}

// silence draws how long the device waits for an announcement before it checks the connection. The
// caller holds mu.
func (k *keepalive) silence() time.Duration {
	return time.Duration((silenceLeast + silenceJitter*k.random.Float64()) * float64(k.every()))
}

// pause draws the time between two checks while no announcements come. The caller holds mu.
func (k *keepalive) pause() time.Duration {
	often := k.often()
	return 3*often + time.Duration(k.random.Int64N(int64(often)))
}

// notice checks the connection, and passes the result to the goroutine of Run.
func (k *keepalive) notice(ctx context.Context, subject string) {
	err := k.link.Hears(ctx, subject)
	alive := err == nil
	switch {
	case ctx.Err() != nil, alive && !k.overdue():
		return
	case retry.Final(err):
		err = fmt.Errorf("announcements: %w", err)
	case err != nil:
		k.await(ctx, subject)
		err = fmt.Errorf("%w: nothing was announced for a while, and the broker did not answer "+
			"(%w)", ErrQuiet, err)
	default:
		err = fmt.Errorf("%w: nothing was announced for a while", ErrQuiet)
	}
	k.settle()
	k.quiet <- silence{time.Now(), alive, err}
}

// await waits for a dropped connection to come back, but no longer than an interval. When the
// connection is back, the device can ask at once how far the run is.
func (k *keepalive) await(ctx context.Context, subject string) {
	ctx, cancel := context.WithTimeout(ctx, k.every())
	defer cancel()
	for k.link.Check(ctx, subject, k.every()) != nil &&
		retry.Sleep(ctx, k.every()/50) == nil {
	}
}
