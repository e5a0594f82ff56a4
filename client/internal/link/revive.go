package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/retry"
)

// LongestPause bounds the pauses between attempts to connect.
const LongestPause = 5 * time.Minute

// checkPatience is how long a check waits for the broker's answer, as a multiple of the interval at
// which the coordinator repeats announcements.
const checkPatience = 0.75

// A reviver drops connections that are dead but not closed. After a drop that did not help, the
// time until the next drop doubles.
type reviver struct {
	bus bus.Bus
	log *slog.Logger

	mu      sync.Mutex    // guards what follows
	random  *rand.Rand    // makes pause vary
	alive   time.Time     // the last time that the broker answered a check
	dropped time.Time     // the time of the last drop; zero: none
	pause   time.Duration // the shortest time until the next drop, if the last drop did not help
}

func newReviver(cfg *Config) *reviver {
	return &reviver{bus: cfg.Bus, log: cfg.Logger, random: retry.NewRandom(cfg.ID)}
}

// answered notes that the broker answered a check.
func (r *reviver) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alive = time.Now()
}

// answeredWithin says whether the broker answered a check in the last d.
func (r *reviver) answeredWithin(d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.alive) < d
}

// helped says whether the device heard an announcement since the last drop, or there was no drop.
func (r *reviver) helped(heard time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped.IsZero() || heard.After(r.dropped)
}

// drop drops the connection, unless the last drop did not help and was too recent. heard is
// the time of the last announcement, and first the shortest time between two drops.
func (r *reviver) drop(heard time.Time, first time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.dropped.IsZero() || heard.After(r.dropped):
		r.pause = first
	case time.Since(r.dropped) < r.pause:
		return
	default:
		r.pause = min(2*r.pause, max(first, LongestPause))
	}
	r.pause += time.Duration(r.random.Int64N(int64(r.pause)/4 + 1))
	r.dropped = time.Now()
	r.log.Warn("the broker does not answer, connecting again")
	if err := bus.Reconnect(r.bus); err != nil {
		r.log.Warn("cannot connect again", "err", err)
	}
}

// Examine checks that the broker answers, and permits a subject that the device has just used. If
// the connection is up and the broker does not answer, Examine drops the connection.
func (l *Link) Examine(ctx context.Context, subject string) error {
	every := l.interval()
	patience := time.Duration(checkPatience * float64(every))
	if !l.reviver.helped(l.heard()) { // the network may be slow
		patience = max(patience, l.timeout)
	}
	err := l.Check(ctx, subject, patience)
	if err == nil {
		l.reviver.answered()
	}
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, bus.ErrOffline) &&
		ctx.Err() == nil {
		l.reviver.drop(l.heard(), 3*every)
		err = fmt.Errorf("no answer in %v (%w)", min(patience, l.timeout), err)
	}
	return err
}

// Hears is like Examine, for the subject of announcements. It subscribes once more, because the
// broker may have refused the subscription when it connected again, and have reported another error
// since.
func (l *Link) Hears(ctx context.Context, subject string) error {
	sub, err := l.bus.Subscribe(subject, func(bus.Message) {})
	if err == nil {
		defer sub.Unsubscribe()
	}
	return l.Examine(ctx, subject)
}

// doubt examines the connection after a request without an answer. If the broker answered a check
// just now, doubt does nothing, because then only the coordinator is silent.
func (l *Link) doubt(ctx context.Context, subject string) {
	if _, ok := l.bus.(bus.Reconnector); !ok || l.reviver.answeredWithin(l.interval()*3/2) {
		return
	}
	if err := l.Examine(ctx, subject); err != nil {
		l.log.Info("no answer from the broker", "err", err)
	}
}
