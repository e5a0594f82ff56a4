// Package operate carries an operator's commands to a running coordinator: a request to
// zo.<run>.o.<verb> is answered with the coordinator's status as JSON. The coordinator's side
// is a NATS micro service, so `nats micro ls` finds it and counts its requests. The broker's
// permissions decide who may send commands.
package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/planfile"
	"github.com/zofl/zofl/wire/subjects"
)

// The commands of an operator.
const (
	VerbStatus   = "status"
	VerbPause    = "pause"
	VerbResume   = "resume"
	VerbStop     = "stop"
	VerbRollback = "rollback"
	VerbChange   = "change"
	VerbRetire   = "retire"
	VerbDevices  = "devices" // answered with a page of devices, not with the status
	VerbRounds   = "rounds"  // answered with a page of rounds
)

// A Request is the body of every command. A command ignores the fields that it does not use.
type Request struct {
	Reason string `json:"reason,omitempty"` // pause, stop: why, for people
	To     uint64 `json:"to,omitempty"`     // rollback: the record to return to
	// Fields are what a change sets: field=value of the plan.
	Fields []string `json:"fields,omitempty"`
	ID     string   `json:"id,omitempty"`   // retire: the member
	From   uint32   `json:"from,omitempty"` // devices: the first slot
	// After is, for a pause, the round to pause after; 0: now. For rounds it is the record after
	// which theirs are.
	After uint64 `json:"after,omitempty"`
}

// ErrNobody means that no coordinator of the run answers.
var ErrNobody = errors.New("no coordinator answers")

// ErrRefused means that the coordinator did not do what was asked. The text says why.
var ErrRefused = errors.New("refused")

// Ask sends a command and returns the coordinator's status after it. The error matches
// ErrNobody or ErrRefused, or is one of the connection.
func Ask(ctx context.Context, nc *nats.Conn, run, verb string, r Request) (*Status, error) {
	s := &Status{}
	if err := exchange(ctx, nc, run, verb, r, s); err != nil {
		return nil, err
	}
	return s, nil
}

// exchange sends a command and decodes the answer.
func exchange(ctx context.Context, nc *nats.Conn, run, verb string, r Request, answer any) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	m, err := nc.RequestWithContext(ctx, subjects.Operator(run, verb), body)
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w for run %q at %s: is `zofl serve` running, on this broker?",
			ErrNobody, run, nc.ConnectedUrlRedacted())
	case err != nil:
		return err
	}
	if text := m.Header.Get(micro.ErrorHeader); text != "" {
		return fmt.Errorf("%s: %w: %s", verb, ErrRefused, text)
	}
	if err := json.Unmarshal(m.Data, answer); err != nil {
		return fmt.Errorf("%s: answer: %w", verb, err)
	}
	return nil
}

// obeyWithin bounds the wait for a command to be done. After that the answer is the status as
// it is, marked as pending.
const obeyWithin = 3 * time.Second

// A service answers the commands to one coordinator.
type service struct {
	c       *coordinator.Coordinator
	watch   *Watch
	pageLen int // most bytes of devices in an answer

	mu       sync.Mutex // guards what follows
	listed   []report.Device
	listedAt time.Time
}

// ServiceName is the name of the micro service of a run's coordinator.
func ServiceName(run string) string { return "zofl-" + run }

// Serve answers commands to a coordinator until stop is called. The coordinator's Recorder must
// be watch.
func Serve(nc *nats.Conn, run string, c *coordinator.Coordinator,
	watch *Watch) (stop func() error, err error) {
	s := &service{c: c, watch: watch, pageLen: mostPage}
	if most := nc.MaxPayload(); most > 0 { // 0: not connected yet
		s.pageLen = int(min(mostPage, most/2))
	}
	svc, err := micro.AddService(nc, micro.Config{
		Name: ServiceName(run), Version: version.String(), Description: "coordinator of run " + run,
		// A queue group would hand some requests to subscriptions that a broken
		// connection left behind. Only the leading coordinator serves, so none is needed.
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
		VerbRetire:   s.retire,
		VerbDevices:  nil,
		VerbRounds:   nil,
	} {
		handle := func(r micro.Request) { s.answer(r, verb, do) }
		subject := micro.WithEndpointSubject(subjects.Operator(run, verb))
		if err := svc.AddEndpoint(verb, micro.HandlerFunc(handle), subject); err != nil {
			return nil, errors.Join(fmt.Errorf("operator's service: %s: %w", verb, err), svc.Stop())
		}
	}
	return svc.Stop, nil
}

// maxRequest is longer than any request, in bytes.
const maxRequest = 4 << 10

// answer does what a request asks, and answers with the status; if do is nil, with a page. do
// returns false if the command was accepted but is not done yet. If the answer is lost, the
// operator sends the request again.
func (s *service) answer(r micro.Request, verb string, do func(Request) (bool, error)) {
	var request Request
	if len(r.Data()) > maxRequest {
		text := fmt.Sprintf("the request has %d bytes, more than %d", len(r.Data()), maxRequest)
		_ = r.Error("400", text, nil)
		return
	}
	if len(r.Data()) > 0 {
		if err := json.Unmarshal(r.Data(), &request); err != nil {
			_ = r.Error("400", "the request is not JSON: "+err.Error(), nil)
			return
		}
	}
	switch {
	case verb == VerbRounds:
		_ = r.RespondJSON(s.watch.rounds(request.After, s.pageLen))
		return
	case do == nil:
		s.devices(r, request)
		return
	}
	done, err := do(request)
	if err != nil {
		_ = r.Error("409", err.Error(), nil)
		return
	}
	status := StatusOf(s.c.Status())
	status.Pending, status.Version = !done, version.String()
	_ = r.RespondJSON(status)
}

// settled does something, and waits until the coordinator's status shows it or an event of one
// of these kinds says so.
func (s *service) settled(do func(), shows func(report.State) bool,
	kinds ...report.EventKind) (bool, error) {
	x := s.watch.expect(func(e report.Event) bool { return slices.Contains(kinds, e.Kind) })
	defer x.drop()
	do()
	if shows(s.c.Status().State) {
		return true, nil
	}
	_, ok := x.wait(obeyWithin)
	return ok || shows(s.c.Status().State), nil
}

// stored does something that makes the coordinator commit a record, and waits for the event
// that the record was committed, or refused.
func (s *service) stored(kind wire.RecordKind, is func(report.Event) bool,
	do func() error) (bool, error) {
	x := s.watch.expect(func(e report.Event) bool {
		return is(e) || e.Kind == report.Refused && e.Record == kind
	})
	defer x.drop()
	if err := do(); err != nil {
		return false, err
	}
	e, ok := x.wait(obeyWithin)
	if e.Kind == report.Refused {
		return false, errors.New(e.Reason)
	}
	return ok, nil
}

func (s *service) pause(r Request) (bool, error) {
	if s.c.Status().State == report.Ended {
		return false, errors.New("the run has ended")
	}
	if r.Reason == "" {
		r.Reason = "paused by an operator"
	}
	if r.After > s.c.Status().Rounds {
		s.c.PauseAfter(r.After, r.Reason)
		return true, nil
	}
	halted := func(st report.State) bool {
		return st == report.Paused || st == report.Ended
	}
	return s.settled(func() { s.c.Pause(r.Reason) }, halted,
		report.RunPaused, report.RunEnded)
}

func (s *service) resume(Request) (bool, error) {
	switch s.c.Status().State {
	case report.Ended:
		return false, errors.New("the run has ended")
	case report.Paused:
	default:
		return false, errors.New("the run is not paused")
	}
	goesOn := func(st report.State) bool { return st != report.Paused }
	return s.settled(s.c.Resume, goesOn, report.RunResumed, report.RunEnded)
}

func (s *service) end(r Request) (bool, error) {
	if r.Reason == "" {
		r.Reason = "ended by an operator"
	}
	ended := func(st report.State) bool { return st == report.Ended }
	return s.settled(func() { s.c.End(r.Reason) }, ended, report.RunEnded)
}

func (s *service) rollback(r Request) (bool, error) {
	rolledBack := func(e report.Event) bool {
		return e.Kind == report.RolledBack && e.To == r.To
	}
	return s.stored(wire.KindRollback, rolledBack, func() error { return s.c.Rollback(r.To) })
}

// ParseChange returns the change that a list of FIELD=VALUE makes. Whether the values make sense
// together is for the coordinator to say, which has the plan.
func ParseChange(fields []string) (*wire.Change, error) {
	change := &wire.Change{}
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fmt.Errorf("%q: write it as FIELD=VALUE", f)
		}
		if err := planfile.SetChange(change, name, value); err != nil {
			return nil, err
		}
	}
	return change, nil
}

func (s *service) change(r Request) (bool, error) {
	change, err := ParseChange(r.Fields)
	if err != nil {
		return false, err
	}
	changed := func(e report.Event) bool { return e.Kind == report.Changed }
	return s.stored(wire.KindChange, changed, func() error { return s.c.Change(change) })
}
