package connect

import (
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// notes log the errors that a broker reports over a working connection, such as a subject that the
// user may not use. Others can cause such errors, as often as they like: each text is logged once,
// at most mostNotes a minute, and each minute how many more there were.
type notes struct {
	broker string
	log    *slog.Logger

	mu    sync.Mutex
	told  map[string]bool
	now   int // logged in this minute
	more  int // not logged in this minute
	last  error
	timer *time.Timer // of the minute; nil: none has begun
}

// mostNotes is how many errors are logged in a minute, and countEvery is that minute.
const (
	mostNotes  = 10
	countEvery = time.Minute
)

// ErrorHandler logs the errors that a broker reports over a connection. Without a handler the NATS
// library would print each.
func ErrorHandler(broker string, log *slog.Logger) nats.Option {
	n := newNotes(broker, log)
	return nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { n.add(err) })
}

func newNotes(broker string, log *slog.Logger) *notes {
	return &notes{broker: broker, log: log, told: map[string]bool{}}
}

func (n *notes) add(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.timer == nil {
		n.timer = time.AfterFunc(countEvery, n.count)
	}
	if text := err.Error(); !n.told[text] && n.now < mostNotes {
		n.told[text] = true
		n.now++
		n.log.Warn("the broker reports an error", "broker", n.broker, "err", err)
		return
	}
	n.more++
	n.last = err
}

// count logs how many errors were not logged in the minute that has ended.
func (n *notes) count() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now = 0; len(n.told) > mostTold {
		clear(n.told)
	}
	if n.more == 0 {
		n.timer = nil
		return
	}
	n.log.Warn("the broker reports more errors", "broker", n.broker, "more", n.more, "last", n.last)
	n.more = 0
	n.timer.Reset(countEvery)
}
