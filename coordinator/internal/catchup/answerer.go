package catchup

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/ratelimit"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

const (
	// maxRequest is the length of the longest request that the service queues.
	maxRequest = 1 << 10
	// Pace is how many bytes of answers may be on their way to the broker.
	Pace = 1 << 20
)

// A Config holds what every service needs.
type Config struct {
	Bus    bus.Bus
	Logger *slog.Logger
	// Patience is how long a request may wait for its turn. The service drops a request that waits
	// longer.
	Patience time.Duration
	// Queue bounds the number of waiting requests, separately for members and for non-members.
	Queue int
	// Register knows the members, and remembers senders of too many messages. With nil, no sender is a
	// member.
	Register *ratelimit.Register
	// Sign returns an answer with a signature. With nil, the service sends answers unsigned.
	Sign func(subject string, request, answer []byte) []byte
	// Vouch returns the reference digest of the state after record n, if the coordinator announced
	// one. Devices that are about to download a snapshot want that reference in a signed answer. With
	// nil, there are no references.
	Vouch func(n uint64) (wire.Reference, bool)
}

// An answerer answers requests of one kind, at a pace at which devices that missed much do not slow
// down rounds. After every Pace bytes the answerer waits for the broker, so that no announcement
// waits behind more than Pace bytes of answers.
//
// No sender gets more bytes than its share. Strangers who can make up ids have a share together.
//
// The bus's goroutines call Arrive. One goroutine calls Serve, and owns frame, sent and the shares.
// Any goroutine may call the other methods.
type answerer struct {
	bus      bus.Bus
	logger   *slog.Logger
	what     string // what is asked for
	patience time.Duration
	requests *ratelimit.Queue[waitingRequest]
	register *ratelimit.Register

	reply replier
	sign  func(subject string, request, answer []byte) []byte // nil: nothing is signed

	frame []byte
	sent  int // bytes since the last wait for the broker

	shares shares

	served, bytes, failed, stale, garbled, overflow, greedy atomic.Uint64
	// when one was served, in nanoseconds of Unix time
	last atomic.Int64

	failure atomic.Pointer[string]
}

// errGarbled: a message is not a request.
var errGarbled = errors.New("not a request")

// errNotOurs: another service answers this request.
var errNotOurs = errors.New("somebody else's request")

// A waitingRequest is a request and the time of its arrival.
type waitingRequest struct {
	msg bus.Message
	at  time.Time
}

// A replier appends the answer to a request to frame. A replier returns errGarbled if the message
// is not a request, and another error if it cannot answer the request now.
type replier func(ctx context.Context, request, frame []byte) ([]byte, error)

func newAnswerer(cfg *Config, what string, reply replier) *answerer {
	s := &answerer{
		bus: cfg.Bus, logger: cfg.Logger, what: what, patience: cfg.Patience,
		register: cmp.Or(cfg.Register, &ratelimit.Register{}), reply: reply,
		sign: cfg.Sign,
	}
	s.shares.strangers.Times = strangersTimes
	s.requests = ratelimit.New(ratelimit.Config[waitingRequest]{Most: cfg.Queue,
		Dropped: func(r waitingRequest, _ string, _ bool) { s.refuse(&s.overflow, s.sender(r.msg)) }})
	return s
}

// Arrive queues a request. Arrive never waits.
func (s *answerer) Arrive(m bus.Message) {
	if len(m.Data) > maxRequest {
		s.garble(m)
		return
	}
	sender := s.sender(m)
	if !s.requests.Push(sender, waitingRequest{m, time.Now()}, len(m.Data)) {
		s.refuse(&s.overflow, sender)
	}
}

// refuse counts a request that the service does not answer.
func (s *answerer) refuse(counter *atomic.Uint64, sender ratelimit.Sender) {
	counter.Add(1)
	s.register.Offenders.Refused(sender)
}

// garble counts a message that is no request.
func (s *answerer) garble(m bus.Message) {
	s.garbled.Add(1)
	s.register.Offenders.Faulty(s.sender(m))
}

// sender returns the sender of a message.
func (s *answerer) sender(m bus.Message) ratelimit.Sender {
	return s.register.Sender(subjects.ID(m.Subject), m.Reply)
}

// Serve answers requests until ctx ends.
func (s *answerer) Serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.requests.Ready():
		}
		for ctx.Err() == nil {
			r, ok := s.requests.Pop()
			if !ok {
				break
			}
			s.answer(ctx, r)
		}
	}
}

// room returns how many bytes of records, or of a file, an answer may have: at most as many as the
// device asked for, and at most as many as this connection accepts.
func (s *answerer) room(asked uint64) uint64 {
	return wire.Room(bus.MaxPayload(s.bus), min(asked, wire.MaxFrame))
}

// answer answers one request. After an error only this request stays unanswered, and its device
// asks again.
func (s *answerer) answer(ctx context.Context, r waitingRequest) {
	switch {
	case !subjects.AnswersTo(subjects.ID(r.msg.Subject), r.msg.Reply):
		s.garble(r.msg)
		return
	case time.Since(r.at) > s.patience:
		s.refuse(&s.stale, s.sender(r.msg))
		return
	}
	sender := s.sender(r.msg)
	if !s.mayDraw(sender) {
		s.refuse(&s.greedy, sender)
		return
	}
	frame, err := s.reply(ctx, r.msg.Data, s.frame[:0])
	switch {
	case errors.Is(err, errGarbled):
		s.garble(r.msg)
		return
	case ctx.Err() != nil, errors.Is(err, errNotOurs):
		return
	case err != nil:
		s.fail(err)
		return
	}
	if s.sign != nil {
		frame = s.sign(r.msg.Subject, r.msg.Data, frame)
	}
	s.frame = frame
	s.wait(ctx, r.msg.Reply)
	if err := s.bus.Publish(r.msg.Reply, s.frame); err != nil {
		s.logger.Warn("not sent", "err", err)
		return
	}
	s.draw(sender, len(s.frame))
	s.served.Add(1)
	s.last.Store(time.Now().UnixNano())
	s.bytes.Add(uint64(len(s.frame)))
}

// fail counts and logs why the service could not answer a request.
func (s *answerer) fail(err error) {
	s.failed.Add(1)
	text := err.Error()
	s.failure.Store(&text)
	s.logger.Error(s.what, "err", err)
}

// wait keeps the answers on their way to the broker below Pace bytes. wait ignores errors, because
// other code reports a denied subject or an absent broker.
func (s *answerer) wait(ctx context.Context, subject string) {
	if s.sent+len(s.frame) > Pace {
		if err := bus.Check(ctx, s.bus, subject); err != nil {
			s.logger.Debug(s.what, "subject", subject, "err", err)
		}
		s.sent = 0
	}
	s.sent += len(s.frame)
}

// Counts are the numbers of requests by outcome.
type Counts struct {
	Served, Bytes uint64 // requests that were answered, and the answers' bytes
	Failed        uint64 // that failed because the log could not be read
	Stale         uint64 // that waited longer than Patience
	Garbled       uint64 // that are not requests
	Overflow      uint64 // that the queue had no room for
	Greedy        uint64 // of senders that had drawn their share
}

// Refused is the number of requests that the service dropped unread.
func (c Counts) Refused() uint64 { return c.Stale + c.Overflow + c.Greedy }

// Counts returns the numbers of requests by outcome so far.
func (s *answerer) Counts() Counts {
	return Counts{
		Served: s.served.Load(), Bytes: s.bytes.Load(), Failed: s.failed.Load(),
		Stale: s.stale.Load(), Garbled: s.garbled.Load(), Overflow: s.overflow.Load(),
		Greedy: s.greedy.Load(),
	}
}

// Failure returns the most recent reason why the service could not read the log for a request, or
// "" if the service always could.
func (s *answerer) Failure() string {
	if text := s.failure.Load(); text != nil {
		return *text
	}
	return ""
}

// Last returns when the service last answered a request.
func (s *answerer) Last() time.Time { return time.Unix(0, s.last.Load()) }
