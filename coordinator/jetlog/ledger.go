package jetlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

const (
	// patience is how long Open waits for the servers of a log to elect a leader. An election takes up
	// to 9 s, and servers that have just started hold two elections.
	patience = 30 * time.Second
	// staleLeader bounds how long a server that was stopped, or cut off from the others, still
	// believes that it leads a stream. During that time, the server answers from its own copy.
	staleLeader = 20 * time.Second
	// lately is shorter than the time without messages from the leader after which servers elect
	// another leader.
	lately = 3 * time.Second
	// secondLook bounds the pause before the ledger asks for a stream's state a second time.
	secondLook = 400 * time.Millisecond
	// steady is how long after an append the ledger assumes that nobody has replaced the stream.
	steady = time.Second
)

var (
	// errNotStored: the stream's leader has no such message.
	errNotStored = errors.New("not stored")
	// errAlone: the server that answers for a stream may no longer lead that stream.
	errAlone = errors.New("the server that answers for the stream has heard from too few others " +
		"lately to lead it")
)

// A ledger is a stream that keeps every message ever stored in it, as messages 1, 2, ... . Only the
// goroutine that leads may use a ledger, but any goroutine may call read.
//
// Invariants:
//  1. The ledger has seen messages 1..n in the stream, and sum is the hash of message n.
type ledger struct {
	nc            *nats.Conn
	js            jetstream.JetStream
	name, subject string
	what          string // what the stream holds, for people
	timeout       time.Duration
	replicas      int
	most          int64 // bytes of the stream; -1: any number

	n       uint64
	sum     [sha256.Size]byte
	seen    time.Time // when the ledger last saw message n in the stream
	dials   uint64    // the connection's reconnects at that time
	missing time.Time // since when all answers have lacked message n; zero: the last one did not
}

// advance notes that message n+1 is stored.
func (l *ledger) advance(data []byte) {
	l.n++
	l.sum = sha256.Sum256(data)
	l.saw()
}

func (l *ledger) saw() {
	l.seen, l.dials, l.missing = time.Now(), l.nc.Stats().Reconnects, time.Time{}
}

// put stores data as message n+1, with a header that may be nil, unless the stream already holds
// that message. If message n+1 has other bytes, put returns these. After an error that does not
// match ErrCorrupt, the server may have stored data, or may store data later.
func (l *ledger) put(ctx context.Context, data []byte, head nats.Header) (other []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	var wait backoff
	var asked int // how often the stream's leader said that it has not stored data
	for {
		refused := l.publish(ctx, data, head)
		if refused == nil || errors.Is(refused, runlog.ErrCorrupt) {
			return nil, refused
		}
		stored, err := l.get(ctx, l.n+1)
		if errors.Is(err, errNotStored) && (unanswered(refused) || wrongLast(refused)) {
			asked++
		}
		switch {
		case deleted(err):
			return nil, l.gone(ctx)
		case err == nil && bytes.Equal(stored, data):
			return nil, nil
		case err == nil:
			return stored, nil
		case errors.Is(err, errNotStored) && hopeless(refused):
			return nil, fmt.Errorf("message %d of stream %s: %w%s", l.n+1, l.name, refused,
				remedy(refused))
		case errors.Is(err, errNotStored) && wrongLast(refused):
			if err := l.check(ctx); errors.Is(err, runlog.ErrCorrupt) {
				return nil, err
			}
		}
		if wrongLast(refused) && err != nil {
			refused = err // an earlier attempt may be the message that the stream already has
		}
		if !wait.sleep(ctx) {
			return nil, fmt.Errorf("message %d of stream %s may be stored: %w", l.n+1, l.name,
				l.unstored(refused, asked))
		}
	}
}

// unanswered says that no server answered whether it stored a message.
func unanswered(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

// unstored says what it means for people that a message was refused, if the stream's leader said
// asked times that it has not stored the message. A server does not report that its disk is full.
func (l *ledger) unstored(refused error, asked int) error {
	if asked == 0 {
		return unheard(l.nc, refused)
	}
	what := "the server answers, and stores nothing: its disk is full or fails (its server log " +
		"says which): free space, then restart nats-server"
	if l.replicas > 1 {
		what = fmt.Sprintf("the stream's leader answers, and stores nothing: its disk is full or "+
			"fails (its server log says which; free space, then restart that nats-server), or "+
			"fewer than half of the %d servers are up", l.replicas)
	}
	return &silence{refused, what}
}

// deleted says whether err means that the stream does not exist.
func deleted(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrStreamNotFound) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamNotFound
}

// gone returns the error for a stream that existed and no longer exists. In a cluster, a server
// that just started may not know the stream yet. So gone asks a second time, and believes only two
// equal answers.
func (l *ledger) gone(ctx context.Context) error {
	if l.replicas > 1 {
		pause(ctx, 2*secondLook)
		if _, err := l.get(ctx, max(l.n, 1)); !deleted(err) {
			return fmt.Errorf("stream %s: its servers did not know of it, and may again", l.name)
		}
	}
	return fmt.Errorf("%w: the stream %s does not exist any more: somebody deleted it, or its "+
		"servers lost their stores: restore them, or build a log from a device's state with "+
		"`zofl recover --from DEVICE-STATE`", runlog.ErrCorrupt, l.name)
}

// publish sends data to the stream once. publish returns nil if data is message n+1.
func (l *ledger) publish(ctx context.Context, data []byte, head nats.Header) error {
	if !l.fresh() {
		if err := l.check(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, l.attempt())
	defer cancel()
	// There is no Msg-Id: a replicated stream would answer success for another message with the
	// same id. put recognizes a repeated message itself.
	m := &nats.Msg{Subject: l.subject, Data: data, Header: maps.Clone(head)}
	ack, err := l.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequence(l.n),
		jetstream.WithExpectStream(l.name), jetstream.WithRetryAttempts(0))
	switch {
	case err != nil:
		return err
	case ack.Sequence != l.n+1 || ack.Duplicate || ack.Stream != l.name:
		return fmt.Errorf("acknowledged as message %d of %s (duplicate: %t)", ack.Sequence,
			ack.Stream, ack.Duplicate)
	}
	return nil
}

// attempt is how long the ledger waits for the answer to one request.
func (l *ledger) attempt() time.Duration { return l.timeout / 4 }

// fresh says that, since the ledger last saw message n, no server that lost messages can have
// become the stream's leader. On such a server another coordinator might have stored another
// message n, and message n+1 would not follow that message.
func (l *ledger) fresh() bool {
	return l.n == 0 || time.Since(l.seen) < steady && l.nc.Stats().Reconnects == l.dials
}

// check asks the stream's leader whether the stream still holds message n. The error matches
// ErrCorrupt if the stream certainly lost message n.
func (l *ledger) check(ctx context.Context) error {
	if l.n == 0 {
		return nil
	}
	stored, err := l.get(ctx, l.n)
	switch {
	case errors.Is(err, errNotStored):
		return l.lose(ctx)
	case err != nil:
		return err
	case sha256.Sum256(stored) != l.sum:
		return fmt.Errorf("%w: message %d of stream %s is no longer what was stored: its servers "+
			"were set back", runlog.ErrCorrupt, l.n, l.name)
	}
	l.saw()
	return nil
}

// lose returns the error for a stream whose leader answered that it lacks message n. A single
// server that lacks message n has lost it. In a cluster, the server that answered may not know yet
// that it no longer leads. So lose returns a temporary error until all answers have lacked message
// n for staleLeader.
func (l *ledger) lose(ctx context.Context) error {
	if l.missing.IsZero() {
		l.missing = time.Now()
	}
	if l.replicas > 1 && time.Since(l.missing) < staleLeader {
		return fmt.Errorf("stream %s: its leader does not have message %d, which was stored",
			l.name, l.n)
	}
	s, err := l.info(ctx)
	if err != nil {
		return err
	}
	if s.LastSeq >= l.n {
		return fmt.Errorf("stream %s: its leader did not have message %d, and has it now", l.name,
			l.n)
	}
	return fmt.Errorf("%w: stream %s lost message %d, which was stored: its servers were set back",
		runlog.ErrCorrupt, l.name, l.n)
}

// info returns the state of the stream from a server that certainly leads the stream. A former
// leader that was stopped, or cut off from the others, answers from its own copy until it learns of
// the new leader. The function leads recognizes such a server, because the server has not heard
// from the others lately. But while that server reads messages that the others sent before the
// election, leads cannot recognize it. So in a cluster info asks twice.
func (l *ledger) info(ctx context.Context) (state jetstream.StreamState, err error) {
	ask := func(ctx context.Context) error {
		s, err := l.js.Stream(ctx, l.name)
		if err != nil {
			return err
		}
		info := s.CachedInfo()
		state = info.State
		if !leads(info) {
			return errAlone
		}
		return nil
	}
	err = patiently(ctx, l.nc, func(ctx context.Context) error {
		err := ask(ctx)
		if err == nil && l.replicas > 1 {
			pause(ctx, secondLook)
			err = ask(ctx)
		}
		return err
	})
	if deleted(err) && l.exists() {
		return state, l.gone(ctx)
	}
	if err != nil {
		return state, fmt.Errorf("stream %s: %w", l.name, err)
	}
	return state, nil
}

// leads says whether the answering server has heard lately from so many other servers that the rest
// cannot have elected another leader.
func leads(info *jetstream.StreamInfo) bool {
	heard := 1 // itself
	if info.Cluster != nil {
		for _, r := range info.Cluster.Replicas {
			if !r.Offline && r.Active > 0 && r.Active < lately { // 0: never
				heard++
			}
		}
	}
	return heard > info.Config.Replicas/2
}

// state returns how many messages the stream has. The error matches ErrCorrupt if the stream lacks
// one of its messages.
func (l *ledger) state(ctx context.Context) (last uint64, err error) {
	s, err := l.info(ctx)
	switch {
	case err != nil:
		return 0, err
	case s.LastSeq > 0 && s.FirstSeq != 1, s.NumDeleted != 0, s.Msgs != s.LastSeq:
		return 0, fmt.Errorf("%w: stream %s has %d of its messages 1..%d, the first one is %d: "+
			"some were deleted",
			runlog.ErrCorrupt, l.name, s.Msgs, s.LastSeq, s.FirstSeq)
	case s.LastSeq < l.n:
		return 0, l.lose(ctx)
	}
	return s.LastSeq, l.check(ctx)
}

func wrongLast(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// A backoff is the longest time that the latest pause between attempts could last; the pause itself
// is at least half as long. A backoff doubles with each pause, from 20 ms to a second.
type backoff time.Duration

// sleep waits, and returns false if ctx ends first.
func (b *backoff) sleep(ctx context.Context) bool {
	*b = min(max(2*(*b), backoff(20*time.Millisecond)), backoff(time.Second))
	return pause(ctx, time.Duration(*b))
}

// pause waits between d/2 and d, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d/2 + rand.N(d/2+1))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
