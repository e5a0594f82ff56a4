package serve

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

const (
	// maxRequest is the longest request that is queued.
	maxRequest = 1 << 10
	// pace is how many bytes of answers may be on the way to the broker.
	Pace = 1 << 20
)

// A serveConfig is what a service needs.
type Config struct {
	Bus    bus.Bus
	Logger *slog.Logger
	// Patience is how long a request may wait for its turn; a later one is dropped.
	Patience time.Duration
	// Queue bounds the requests that wait.
	Queue int
}

// An answerer answers requests of one kind on a goroutine of its own: devices that
// missed much do not slow rounds down. It waits for the broker after every MiB, so
// that no announcement stands behind more than that.
type answerer struct {
	bus      bus.Bus
	logger   *slog.Logger
	what     string // is asked for
	patience time.Duration
	requests chan waitingRequest

	reply replier

	frame []byte
	sent  int // bytes since the broker was waited for

	served, bytes, failed, stale, garbled, overflow atomic.Uint64
	last                                            atomic.Int64 // when one was served, nanoseconds of Unix time

	failure atomic.Pointer[string]
}

// errGarbled: a request is none.
var errGarbled = errors.New("not a request")

// waitingRequest is a request and when it came.
type waitingRequest struct {
	msg bus.Message
	at  time.Time
}

// A replier appends the answer to a request to frame. The error is errGarbled if
// there was no such request, or why it cannot be answered now.
type replier func(ctx context.Context, request, frame []byte) ([]byte, error)

func newAnswerer(cfg *Config, what string, reply replier) *answerer {
	return &answerer{
		bus: cfg.Bus, logger: cfg.Logger, what: what, patience: cfg.Patience,
		requests: make(chan waitingRequest, cfg.Queue), reply: reply,
	}
}

// arrive queues a request.
func (s *answerer) Arrive(m bus.Message) {
	if len(m.Data) > maxRequest {
		s.garbled.Add(1)
		return
	}
	select {
	case s.requests <- waitingRequest{m, time.Now()}:
	default:
		s.overflow.Add(1)
	}
}

// serve answers requests until ctx ends.
func (s *answerer) Serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-s.requests:
			s.answer(ctx, r)
		}
	}
}

// answer answers one request. Whatever goes wrong costs that one alone: its
// device asks again.
func (s *answerer) answer(ctx context.Context, r waitingRequest) {
	switch {
	case !wire.Answerable(r.msg.Reply):
		s.garbled.Add(1)
		return
	case time.Since(r.at) > s.patience:
		s.stale.Add(1)
		return
	}
	frame, err := s.reply(ctx, r.msg.Data, s.frame[:0])
	switch {
	case errors.Is(err, errGarbled):
		s.garbled.Add(1)
		return
	case ctx.Err() != nil:
		return
	case err != nil:
		s.fail(err)
		return
	}
	s.frame = frame
	s.wait(ctx, r.msg.Reply)
	if err := s.bus.Publish(r.msg.Reply, s.frame); err != nil {
		s.logger.Warn("not sent", "err", err)
		return
	}
	s.served.Add(1)
	s.last.Store(time.Now().UnixNano())
	s.bytes.Add(uint64(len(s.frame)))
}

// fail counts and tells why a request does not get what it asked for.
func (s *answerer) fail(err error) {
	s.failed.Add(1)
	text := err.Error()
	s.failure.Store(&text)
	s.logger.Error(s.what, "err", err)
}

// wait keeps what is on the way to the broker below pace. That a subject is
// denied, or the broker away, shows elsewhere.
func (s *answerer) wait(ctx context.Context, subject string) {
	if s.sent+len(s.frame) > Pace {
		if err := bus.Check(ctx, s.bus, subject); err != nil {
			s.logger.Debug(s.what, "subject", subject, "err", err)
		}
		s.sent = 0
	}
	s.sent += len(s.frame)
}

// serveCounts count what became of requests.
type Counts struct {
	Served, Bytes uint64 // that were answered, and the bytes of the answers
	Failed        uint64 // the log could not be read
	Stale         uint64 // waited longer than Patience
	Garbled       uint64 // not a request
	Overflow      uint64 // more than the queue holds
}

// Counts returns what became of requests so far.
func (s *answerer) Counts() Counts {
	return Counts{
		Served: s.served.Load(), Bytes: s.bytes.Load(), Failed: s.failed.Load(),
		Stale: s.stale.Load(), Garbled: s.garbled.Load(), Overflow: s.overflow.Load(),
	}
}

// Failure is why the last request failed that the log could not be read for; "" if
// none did.
func (s *answerer) Failure() string {
	if text := s.failure.Load(); text != nil {
		return *text
	}
	return ""
}

// Last returns when a request was answered last.
func (s *answerer) Last() time.Time { return time.Unix(0, s.last.Load()) }
