// Package operate lets an operator's program ask a running coordinator:
// requests to zo.<run>.o.<verb>, answered with JSON. The coordinator's side is
// a NATS micro service, so that `nats micro ls` finds it and counts its
// requests. Permissions decide who may ask.
package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/wire"
)

// Verbs of an operator.
const (
	VerbStatus   = "status"
	VerbPause    = "pause"
	VerbResume   = "resume"
	VerbStop     = "stop"
	VerbRollback = "rollback"
	VerbChange   = "change"
)

// A Request is the body of every verb; each uses what it needs.
type Request struct {
	Reason string `json:"reason,omitempty"` // pause, stop: for people
	To     uint64 `json:"to,omitempty"`     // rollback: the record to return to
	// Fields are what a change sets, as field=value of the plan.
	Fields []string `json:"fields,omitempty"`
}

// ErrNobody: no coordinator of the run answers.
var ErrNobody = errors.New("no coordinator answers")

// ErrRefused: the coordinator cannot do what was asked; the text says why.
var ErrRefused = errors.New("refused")

// Ask sends a request and returns the coordinator's status after it.
func Ask(ctx context.Context, nc *nats.Conn, run, verb string, r Request) (*Status, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	m, err := nc.RequestWithContext(ctx, wire.OperatorSubject(run, verb), body)
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%w for run %q: is `zofl serve` up, on this broker?", ErrNobody, run)
	case err != nil:
		return nil, err
	}
	if text := m.Header.Get(micro.ErrorHeader); text != "" {
		return nil, fmt.Errorf("%s: %w: %s", verb, ErrRefused, text)
	}
	s := &Status{}
	if err := json.Unmarshal(m.Data, s); err != nil {
		return nil, fmt.Errorf("%s: answer: %w", verb, err)
	}
	return s, nil
}

// obeyWithin bounds the wait for a command to show in the status; then the
// status is answered as it is.
const obeyWithin = 3 * time.Second

// A service answers for one coordinator.
type service struct {
	c     *coordinator.Coordinator
	watch *Watch
}

// Serve answers requests about a coordinator, whose Recorder is watch, until
// stop is called.
func Serve(nc *nats.Conn, run string, c *coordinator.Coordinator, watch *Watch) (stop func() error, err error) {
	s := &service{c, watch}
	svc, err := micro.AddService(nc, micro.Config{
		Name: "zofl-" + run, Version: "0.1.0", Description: "coordinator of run " + run,
		// A queue would share requests with subscriptions that a connection
		// left behind when it broke. Only who leads serves.
		QueueGroupDisabled: true,
	})
	if err != nil {
		return nil, fmt.Errorf("operator's service: %w", err)
	}
	for verb, do := range map[string]func(Request) (bool, error){
		VerbStatus:   func(Request) (bool, error) { return true, nil },
		VerbPause:    s.pause,
		VerbResume:   s.resume,
		VerbStop:     s.end,
		VerbRollback: s.rollback,
		VerbChange:   s.change,
	} {
		handle := func(r micro.Request) { s.answer(r, do) }
		if err := svc.AddEndpoint(verb, micro.HandlerFunc(handle), micro.WithEndpointSubject(wire.OperatorSubject(run, verb))); err != nil {
			return nil, errors.Join(fmt.Errorf("operator's service: %s: %w", verb, err), svc.Stop())
		}
	}
	return svc.Stop, nil
}

// maxRequest is longer than any request.
const maxRequest = 4 << 10

// answer does what a request asks, and answers with the status; do says whether
// it is done, or waits. An answer that cannot be sent is asked for again.
func (s *service) answer(r micro.Request, do func(Request) (bool, error)) {
	var request Request
	if len(r.Data()) > maxRequest {
		_ = r.Error("400", fmt.Sprintf("the request has %d bytes: at most %d", len(r.Data()), maxRequest), nil)
		return
	}
	if len(r.Data()) > 0 {
		if err := json.Unmarshal(r.Data(), &request); err != nil {
			_ = r.Error("400", "the request is not JSON: "+err.Error(), nil)
			return
		}
	}
	done, err := do(request)
	if err != nil {
		_ = r.Error("409", err.Error(), nil)
		return
	}
	status := StatusOf(s.c.Status())
	status.Pending = !done
	_ = r.RespondJSON(status)
}

// until waits for the status to show what was commanded.
func (s *service) until(done func(coordinator.Status) bool) (bool, error) {
	deadline := time.Now().Add(obeyWithin)
	for !done(s.c.Status()) {
		if time.Now().After(deadline) {
			return false, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return true, nil
}

// stored does what makes the coordinator commit a record, and waits for the
// event that says so, or that it cannot be.
func (s *service) stored(kind wire.RecordKind, is func(coordinator.Event) bool, do func() error) (bool, error) {
	await := s.watch.expect(func(e coordinator.Event) bool {
		return is(e) || e.Kind == coordinator.Refused && e.Record == kind
	})
	if err := do(); err != nil {
		return false, err
	}
	e, ok := await(obeyWithin)
	if e.Kind == coordinator.Refused {
		return false, errors.New(e.Reason)
	}
	return ok, nil
}

func (s *service) pause(r Request) (bool, error) {
	if s.c.Status().State == coordinator.Ended {
		return false, errors.New("the run has ended")
	}
	if r.Reason == "" {
		r.Reason = "paused by an operator"
	}
	s.c.Pause(r.Reason)
	return s.until(func(st coordinator.Status) bool {
		return st.State == coordinator.Paused || st.State == coordinator.Ended
	})
}

func (s *service) resume(Request) (bool, error) {
	switch s.c.Status().State {
	case coordinator.Ended:
		return false, errors.New("the run has ended")
	case coordinator.Paused:
	default:
		return false, errors.New("the run is not paused")
	}
	s.c.Resume()
	return s.until(func(st coordinator.Status) bool { return st.State != coordinator.Paused })
}

func (s *service) end(r Request) (bool, error) {
	if r.Reason == "" {
		r.Reason = "ended by an operator"
	}
	s.c.End(r.Reason)
	return s.until(func(st coordinator.Status) bool { return st.State == coordinator.Ended })
}

func (s *service) rollback(r Request) (bool, error) {
	rolledBack := func(e coordinator.Event) bool { return e.Kind == coordinator.RolledBack && e.To == r.To }
	return s.stored(wire.KindRollback, rolledBack, func() error { return s.c.Rollback(r.To) })
}

func (s *service) change(r Request) (bool, error) {
	change := &wire.Change{}
	for _, f := range r.Fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return false, fmt.Errorf("%q: write it as field=value", f)
		}
		if err := change.Set(name, value); err != nil {
			return false, err
		}
	}
	changed := func(e coordinator.Event) bool { return e.Kind == coordinator.Changed }
	return s.stored(wire.KindChange, changed, func() error { return s.c.Change(change) })
}
