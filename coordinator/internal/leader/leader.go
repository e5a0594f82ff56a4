// Package leader finds other coordinators of a run, and decides which of them has run longest. A
// shared log has a lease for that purpose. If coordinators do not share a log, only this package
// keeps two coordinators with copies of one log from taking turns with the same devices.
package leader

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/leader"
	"github.com/zofl/zofl/internal/subjects"
)

// ErrSecond is coordinator.ErrSecond.
var ErrSecond = errors.New("another coordinator already leads this run")

const (
	// leadPatience is how long another coordinator has to answer. Ask waits that long only if the
	// broker has a subscriber to the subject.
	leadPatience = 2 * time.Second
	// sameAge is how much longer a coordinator must have run to count as older. Within that margin the
	// coordinator with the larger instance counts as older, because uptimes arrive with a delay.
	sameAge = time.Second
	// offGrid keeps the timer apart from the core's timers, which fire at whole milliseconds: in
	// simulated time, events of the same moment have no defined order.
	offGrid = time.Millisecond / 3
	// sayAgain is the time between two log lines about other coordinators.
	sayAgain = time.Minute
)

// A Seniority compares how long this coordinator and other coordinators have run.
type Seniority struct {
	bus     bus.Bus
	subject string
	self    leader.Frame // without Uptime
	began   time.Time
	elder   chan struct{} // has a token when an elder was heard

	mu   sync.Mutex // guards what follows
	log  *slog.Logger
	said time.Time // the last line about a younger coordinator
}

// New returns the seniority of a coordinator that began now.
func New(b bus.Bus, log *slog.Logger, run string, epoch uint64) *Seniority {
	s := &Seniority{bus: b, subject: subjects.Lead(run), self: leader.Frame{Epoch: epoch},
		began: time.Now(), elder: make(chan struct{}, 1), log: log}
	rand.Read(s.self.Instance[:]) // never fails
	return s
}

// Frame returns the message in which this coordinator says how long it has run.
func (s *Seniority) Frame() []byte {
	l := s.self
	l.Uptime = uint64(time.Since(s.began).Milliseconds())
	return l.Append(nil)
}

// outranks says whether another coordinator has run for longer than this one.
func (s *Seniority) outranks(other *leader.Frame) bool {
	margin := uint64(sameAge.Milliseconds())
	own := uint64(time.Since(s.began).Milliseconds())
	switch {
	case other.Uptime > own+margin:
		return true
	case own > other.Uptime+margin:
		return false
	}
	return bytes.Compare(other.Instance[:], s.self.Instance[:]) > 0
}

// Ask asks whether there is another coordinator. The error matches [ErrSecond] if an older
// coordinator answers, and [bus.ErrPermission] if the broker does not permit the request.
func (s *Seniority) Ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leadPatience)
	defer cancel()
	answer, err := s.bus.Request(ctx, s.subject, s.Frame())
	switch {
	case errors.Is(err, bus.ErrPermission):
		return err
	case err != nil:
		return nil // there is none
	}
	other, err := leader.Decode(answer)
	switch {
	case err != nil || other.Instance == s.self.Instance:
	case s.outranks(&other):
		return fmt.Errorf("%w: %s has led it for longer than this one: stop one of the two for "+
			"good", ErrSecond, name(&other))
	default:
		s.tell(&other)
	}
	return nil
}

// name describes another coordinator for an operator.
func name(l *leader.Frame) string {
	return fmt.Sprintf("coordinator %s, in epoch %d and up for %v,", hex.EncodeToString(l.Instance[:]),
		l.Epoch, (time.Duration(min(l.Uptime, 1<<43)) * time.Millisecond).Round(time.Second))
}

// hear handles a message of a coordinator, which may be this coordinator itself. hear never waits.
func (s *Seniority) hear(m bus.Message) {
	other, err := leader.Decode(m.Data)
	if err != nil || other.Instance == s.self.Instance {
		return
	}
	if subjects.Answerable(m.Reply) {
		if err := s.bus.Publish(m.Reply, s.Frame()); err != nil {
			s.log.Warn("not sent", "err", err)
		}
	}
	if !s.outranks(&other) {
		s.tell(&other)
		return
	}
	select {
	case s.elder <- struct{}{}:
	default:
	}
}

// tell logs that there is a younger coordinator.
func (s *Seniority) tell(other *leader.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.said.IsZero() && time.Since(s.said) < sayAgain {
		return
	}
	s.said = time.Now()
	s.log.Warn("another coordinator of this run is on the broker, with a log of its own; it began "+
		"later and must step down", "instance", hex.EncodeToString(other.Instance[:]),
		"epoch", other.Epoch)
}

// Watch announces this coordinator to others at intervals, until ctx ends. If Watch hears an older
// coordinator, it asks that coordinator for an answer, because the message may have been the last
// one of a dead coordinator. If the older coordinator answers, Watch calls stepDown.
func (s *Seniority) Watch(ctx context.Context, every func() time.Duration, stepDown func(error)) {
	for {
		t := time.NewTimer(every() + offGrid)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
			if err := s.bus.Publish(s.subject, s.Frame()); err != nil {
				s.log.Debug("not sent", "err", err)
			}
		case <-s.elder:
			t.Stop()
			if err := s.Ask(ctx); errors.Is(err, ErrSecond) {
				stepDown(err)
				return
			}
		}
	}
}

// Listen receives the messages of other coordinators until the subscription ends.
func (s *Seniority) Listen() (bus.Subscription, error) {
	return s.bus.Subscribe(s.subject, s.hear)
}
