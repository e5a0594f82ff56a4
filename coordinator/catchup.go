package coordinator

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

const (
	// maxRequest is the longest catch-up request that is queued.
	maxRequest = 1 << 10
	// pace is how many bytes of answers may be on the way to the broker.
	pace = 1 << 20
)

// catchUps answers requests for records from the log, on a goroutine of its own:
// devices that missed much do not slow rounds down. It waits for the broker after
// every MiB, so that no announcement stands behind more than that.
//
// Beyond the queue it takes the memory of its cache, of one answer, and of the
// records that a request from the middle of a segment asks for.
type catchUps struct {
	bus      bus.Bus
	logger   *slog.Logger
	patience time.Duration
	requests chan waitingRequest
	find     func(n uint64) (s span, last uint64) // last < n: there is no record n yet

	cache *segmentCache
	frame []byte
	sent  int // bytes since the broker was waited for

	served, bytes, failed, stale, garbled, overflow atomic.Uint64

	failure atomic.Pointer[string]
}

// waitingRequest is a request and when it came.
type waitingRequest struct {
	msg bus.Message
	at  time.Time
}

func newCatchUps(cfg *Config, find func(n uint64) (span, uint64)) *catchUps {
	return &catchUps{
		bus: cfg.Bus, logger: cfg.Logger, patience: cfg.CatchUpPatience,
		requests: make(chan waitingRequest, cfg.Queue), find: find,
		cache: newSegmentCache(cfg.Log, cfg.CatchUpCache),
	}
}

// arrive queues a request.
func (s *catchUps) arrive(m bus.Message) {
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
func (s *catchUps) serve(ctx context.Context) {
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
func (s *catchUps) answer(ctx context.Context, r waitingRequest) {
	request, err := wire.DecodeCatchUpRequest(r.msg.Data)
	switch {
	case err != nil || !answerable(r.msg.Reply):
		s.garbled.Add(1)
		return
	case time.Since(r.at) > s.patience:
		s.stale.Add(1)
		return
	}
	reply, err := s.records(ctx, request.From, request.MaxBytes)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		s.failed.Add(1)
		text := err.Error()
		s.failure.Store(&text)
		s.logger.Error("catch-up", "from", request.From, "err", err)
		return
	}
	s.frame = reply.Append(s.frame[:0])
	s.wait(ctx, r.msg.Reply)
	if err := s.bus.Publish(r.msg.Reply, s.frame); err != nil {
		s.logger.Warn("not sent", "err", err)
		return
	}
	s.served.Add(1)
	s.bytes.Add(uint64(len(s.frame)))
}

// wait keeps what is on the way to the broker below pace. That a subject is
// denied, or the broker away, shows elsewhere.
func (s *catchUps) wait(ctx context.Context, subject string) {
	if s.sent+len(s.frame) > pace {
		if err := bus.Check(ctx, s.bus, subject); err != nil {
			s.logger.Debug("catch-up", "subject", subject, "err", err)
		}
		s.sent = 0
	}
	s.sent += len(s.frame)
}

// records returns the records from an index on, up to the end of its segment, as
// far as they fit a reply of about most bytes; at least one, if there is one.
func (s *catchUps) records(ctx context.Context, from, most uint64) (wire.CatchUpReply, error) {
	at, last := s.find(from)
	reply := wire.CatchUpReply{From: from, Last: last}
	if from > last {
		return reply, nil
	}
	held, err := s.cache.get(ctx, at)
	if err != nil {
		return reply, err
	}
	room := int(min(most, wire.MaxFrame)) - catchUpHead
	if from == at.first && held.size <= room {
		reply.Records = held.records
		return reply, nil
	}
	n := at.first
	held.records.Each(func(record []byte) bool {
		if n++; n <= from {
			return true
		}
		room -= len(record) + binHead
		if room < 0 && reply.Records.Len() > 0 {
			return false
		}
		reply.Records.Add(record)
		return true
	})
	return reply, nil
}

// count adds to the counters what was done.
func (s *catchUps) count(c *Counters) {
	c.CatchUps = s.served.Load()
	c.CatchUpBytes = s.bytes.Load()
	c.CatchUpErrors = s.failed.Load()
	c.Stale = s.stale.Load()
	c.Malformed += s.garbled.Load()
	c.Overflow += s.overflow.Load()
}

// answerable says whether an answer may be published to a subject that a device
// chose: neither the run's own subjects nor the server's.
func answerable(subject string) bool {
	return subject != "" && !strings.HasPrefix(subject, "zo.") && !strings.HasPrefix(subject, "$")
}
