package alert

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
)

// A sender sends one alert.
type sender func(ctx context.Context, a *Alert) error

// mostWaiting bounds the alerts that wait for a sink. The oldest gives way.
const mostWaiting = 32

// A sink sends alerts one after another, on a goroutine of its own. It tries an alert again for
// some minutes if that may help.
type sink struct {
	send   sender
	logger *slog.Logger
	queue  chan Alert
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	failed bool // of the goroutine that sends: the last alert was lost, and that was logged
}

func newSink(logger *slog.Logger, send sender) *sink {
	s := &sink{send: send, logger: logger, queue: make(chan Alert, mostWaiting),
		done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.work()
	return s
}

// put queues an alert, and never waits. One goroutine at a time calls put.
func (s *sink) put(a Alert) {
	for {
		select {
		case s.queue <- a:
			return
		default:
		}
		select {
		case <-s.queue:
		default:
		}
	}
}

func (s *sink) close() {
	close(s.queue)
	<-s.done
	s.cancel()
}

func (s *sink) work() {
	defer close(s.done)
	for a := range s.queue {
		err := s.try(&a)
		if err != nil && !s.failed {
			s.logger.Warn("an alert was not sent; the run goes on", "alert", a.Kind, "err", err)
		}
		s.failed = err != nil
	}
}

// A finalError is one that another try does not cure.
type finalError struct{ error }

// A laterError says when to try again.
type laterError struct {
	error
	after time.Duration
}

// The pauses between tries double from firstPause to lastPause.
const (
	tries      = 8
	firstPause = time.Second
	lastPause  = time.Minute
)

// try sends an alert, and tries again after errors.
func (s *sink) try(a *Alert) error {
	wait := firstPause
	for i := 1; ; i++ {
		err := s.send(s.ctx, a)
		if err == nil || i == tries || errors.As(err, new(finalError)) || s.ctx.Err() != nil {
			return err
		}
		next := wait
		var later laterError
		if errors.As(err, &later) {
			next = min(max(later.after, firstPause), lastPause)
		}
		if pause.For(s.ctx, next) != nil {
			return err
		}
		wait = min(2*wait, lastPause)
	}
}
