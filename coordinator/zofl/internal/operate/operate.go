// Package operate carries an operator's commands to a running coordinator: the coordinator answers
// a request to zo.<run>.o.<verb> with its status as JSON. The coordinator's side is a NATS micro
// service, so `nats micro ls` finds it and counts its requests. The permissions on the broker
// decide who may send commands.
package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/internal/subjects"
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
	VerbHistory  = "history" // answered with a page of the history
	VerbFleet    = "fleet"   // answered with rows of the table of devices
)

// A Request is the body of every command. A command ignores the fields that it does not use.
type Request struct {
	Reason string `json:"reason,omitempty"` // pause, stop: why, for people
	By     string `json:"by,omitempty"`     // pause: who asks for it
	To     uint64 `json:"to,omitempty"`     // rollback: the record to return to
	// Fields are the assignments of a change: field=value of the plan.
	Fields []string `json:"fields,omitempty"`
	// Ends says, for a change, that the change may end the run.
	Ends bool   `json:"ends,omitempty"`
	ID   string `json:"id,omitempty"`   // retire: the member
	From uint32 `json:"from,omitempty"` // devices: the first slot
	// After is, for a pause, the round to pause after; 0: now.
	After uint64 `json:"after,omitempty"`
	// Since and Marks are for the history: the first record whose point to send, and how many marks
	// the operator already has.
	Since uint64 `json:"since,omitempty"`
	Marks int    `json:"marks,omitempty"`
	View  *View  `json:"view,omitempty"` // fleet: which rows
	// Most is how many bytes a page may have. Operators set it if their broker accepts only short
	// messages.
	Most int `json:"most,omitempty"`
}

// Who returns USER@HOST, which names the person at this machine in the status of a run.
func Who() string {
	name := "somebody"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// ErrNobody means that no coordinator of the run takes commands.
var ErrNobody = errors.New("no coordinator answers")

// ErrSilent means that a coordinator of the run takes commands, but no answer came in time.
var ErrSilent = errors.New("no answer in time")

// ErrDenied means that the broker does not let this user command the run.
var ErrDenied = errors.New("the broker does not let this user command the run")

// ErrRefused means that the coordinator refused the command. The text says why.
var ErrRefused = errors.New("refused")

// Ask sends a command and returns the coordinator's status after it. The error matches ErrNobody,
// ErrSilent, ErrDenied or ErrRefused, or is an error of the connection.
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
	case err != nil && errors.Is(nc.LastError(), nats.ErrPermissionViolation):
		return fmt.Errorf("%w %q at %s: give the file of an operator as --creds, which `zofl device add "+
			"NAME --role operator` makes", ErrDenied, run, nc.ConnectedUrlRedacted())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: a coordinator of run %q takes commands at %s, but it is busy or stopped, "+
			"or its answers do not come through: look at `zofl serve`, and at this user's inbox and "+
			"the max_payload of brokers on the way", ErrSilent, run, nc.ConnectedUrlRedacted())
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w for run %q at %s: is `zofl serve` running, on this broker, "+
			"and is %q the `run` of its plan?", ErrNobody, run, nc.ConnectedUrlRedacted(), run)
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

// A service answers the commands to one coordinator.
type service struct {
	desk    *Desk
	pageLen int // bound on the bytes of entries in an answer

	mu       sync.Mutex // guards what follows
	listed   []report.Device
	listedAt time.Time
}

// ServiceName is the name of the micro service of a run's coordinator.
func ServiceName(run string) string { return "zofl-" + run }

// Serve answers the commands that come over a connection until stop is called.
func Serve(nc *nats.Conn, desk *Desk) (stop func() error, err error) {
	s := &service{desk: desk, pageLen: mostPage}
	run := desk.Run()
	if most := nc.MaxPayload(); most > 0 { // 0: not connected yet
		s.pageLen = int(min(mostPage, most/2))
	}
	svc, err := micro.AddService(nc, micro.Config{
		Name: ServiceName(run), Version: version.String(), Description: "coordinator of run " + run,
		// With a queue group, the broker could send requests to the subscription of a broken connection.
		// Only the leading coordinator serves, so it needs no queue group.
		QueueGroupDisabled: true,
	})
	if err != nil {
		return nil, fmt.Errorf("operator's service: %w", err)
	}
	for _, verb := range append(Verbs(), VerbDevices, VerbHistory, VerbFleet) {
		handle := func(r micro.Request) { s.answer(r, verb) }
		subject := micro.WithEndpointSubject(subjects.Operator(run, verb))
		if err := svc.AddEndpoint(verb, micro.HandlerFunc(handle), subject); err != nil {
			return nil, errors.Join(fmt.Errorf("operator's service: %s: %w", verb, err), svc.Stop())
		}
	}
	return svc.Stop, nil
}

// MaxRequest is longer than any request, in bytes.
const MaxRequest = 4 << 10

// answer carries out a request, and replies with the status or with a page. If the answer is lost,
// the operator sends the request again.
func (s *service) answer(r micro.Request, verb string) {
	var request Request
	if len(r.Data()) > MaxRequest {
		text := fmt.Sprintf("the request has %d bytes, more than %d", len(r.Data()), MaxRequest)
		_ = r.Error("400", text, nil)
		return
	}
	if len(r.Data()) > 0 {
		if err := json.Unmarshal(r.Data(), &request); err != nil {
			_ = r.Error("400", "the request is not JSON: "+err.Error(), nil)
			return
		}
	}
	switch verb {
	case VerbHistory:
		_ = r.RespondJSON(s.desk.watch.historyPage(request, s.page(request)))
		return
	case VerbFleet:
		s.fleet(r, request)
		return
	case VerbDevices:
		s.devices(r, request)
		return
	}
	status, err := s.desk.Do(verb, request)
	if err != nil {
		_ = r.Error("409", err.Error(), nil)
		return
	}
	_ = r.RespondJSON(status)
}
