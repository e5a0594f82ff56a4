package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// After these errors of a shared log, its caller does not know the log's content.
var (
	errUnavailable = errors.New("simulation: the log is not available")
	errLostAck     = errors.New("simulation: the log's answer was lost")
)

// A server is a log that coordinators share. A request waits until the scheduler chooses it,
// possibly after the requesting process gave up. The world's lock guards the whole server.
type server struct {
	w       *world
	records [][]byte
	members []string
	retired []string
	epoch   uint64
	past    []map[runlog.ObjectName][]byte // the vectors stored after each record
	holder  *handle                        // has the lease
	decided runlog.Decisions
	handed  [][]byte // with each record
	waiting []*request
}

// A request is an operation of the log that a process waits for.
type request struct {
	h       *handle
	kind    requestKind
	n       uint64
	record  []byte // a record, or a vector
	handing []byte // with a record
	name    runlog.ObjectName
	names   []runlog.ObjectName
	ids     []string
	known   int // members that the process knew when it asked
	number  int
	at      time.Time
	given   bool      // the process no longer waits for the request
	stalled time.Time // the scheduler may not choose the request before this time
	done    chan error
}

type requestKind int

const (
	beginning requestKind = iota
	appending
	admitting
	storing
	deleting
)

func (k requestKind) String() string {
	return [...]string{"begin", "append", "members", "store", "delete"}[k]
}

func (r *request) String() string {
	text := fmt.Sprintf("%v of %v", r.kind, r.h.p)
	if r.kind == appending {
		text += fmt.Sprintf(" of record %d", r.n)
	}
	if r.given {
		text += ", which nobody waits for"
	}
	return text
}

// A handle is a process's connection to a shared log.
type handle struct {
	s        *server
	p        *process
	lost     chan struct{}
	deposed  bool   // lost is closed
	known    int    // members that this coordinator knows
	handing  []byte // with the next record that it appends
	requests int
}

var (
	_ runlog.Log     = (*handle)(nil)
	_ runlog.Decider = (*handle)(nil)
)

func (s *server) open(p *process) *handle { return &handle{s: s, p: p} }

// ask gives a request to the scheduler and waits for the result.
func (h *handle) ask(ctx context.Context, r *request) error {
	w := h.s.w
	w.mu.Lock()
	if !h.p.may(r.kind.String()) {
		w.mu.Unlock()
		return errDead
	}
	if r.kind == beginning && h.s.holder == h {
		h.s.holder = nil
	}
	h.requests++
	r.h, r.number, r.known, r.at, r.done = h, h.requests, h.known, time.Now(), make(chan error, 1)
	h.s.waiting = append(h.s.waiting, r)
	w.signal()
	w.mu.Unlock()
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r.given = true
	if r.kind == beginning {
		h.s.forget(r)
	}
	w.count("log timeout")
	return context.Cause(ctx)
}

func (s *server) forget(r *request) {
	s.waiting = slices.DeleteFunc(s.waiting, func(o *request) bool { return o == r })
}

// busy returns the request that a process waits for, or nil.
func (s *server) busy(p *process) *request {
	for _, r := range s.waiting {
		if r.h.p == p && !r.given && r.kind != beginning {
			return r
		}
	}
	return nil
}

// grant lets a coordinator lead. The previous coordinator may not know that yet.
func (s *server) grant(r *request) {
	h := r.h
	s.forget(r)
	s.holder = h
	s.epoch++
	h.lost, h.deposed, h.known = make(chan struct{}), false, len(s.members)
	s.w.book.Begin(h.p, s.epoch)
	r.done <- nil
}

// depose tells a coordinator that another coordinator may lead.
func (h *handle) depose() {
	if h.lost != nil && !h.deposed {
		h.deposed = true
		close(h.lost)
	}
	if h.s.holder == h {
		h.s.holder = nil
	}
}

// do performs a request and returns the result for its process.
func (s *server) do(r *request) error {
	switch r.kind {
	case admitting:
		return s.admit(r)
	case storing:
		s.w.book.Put(r.h.p, r.name, r.record)
		return nil
	case deleting:
		s.w.book.Keep(r.n, r.names)
		return nil
	}
	last := uint64(len(s.records))
	switch {
	case r.n <= last && bytes.Equal(s.records[r.n-1], r.record):
		return nil
	case r.n <= last:
		s.w.count("log conflict")
		return &runlog.ConflictError{N: r.n, Record: bytes.Clone(s.records[r.n-1])}
	case r.n > last+1:
		s.w.count("log order")
		return fmt.Errorf("simulation: record %d after %d: %w", r.n, last, runlog.ErrOrder)
	}
	s.records, s.handed = append(s.records, bytes.Clone(r.record)), append(s.handed, r.handing)
	s.past = append(s.past, s.w.book.Stored())
	s.w.book.Commit(r.record)
	return nil
}

func (s *server) admit(r *request) error {
	if known := r.known; len(s.members) != known {
		if slices.Equal(s.members[min(known, len(s.members)):], r.ids) {
			return nil
		}
		s.w.count("members deposed")
		return fmt.Errorf("simulation: %d members, not %d: %w",
			len(s.members), known, runlog.ErrDeposed)
	}
	s.members = append(s.members, r.ids...)
	s.w.book.Admit(s.members)
	return nil
}

// Begin implements [runlog.Log].
func (h *handle) Begin(ctx context.Context) (uint64, error) {
	if err := h.ask(ctx, &request{kind: beginning}); err != nil {
		return 0, err
	}
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	return h.s.epoch, nil
}

// Lost implements [runlog.Log].
func (h *handle) Lost() <-chan struct{} {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	return h.lost
}

// Append implements [runlog.Log].
func (h *handle) Append(ctx context.Context, n uint64, record []byte) error {
	handing := h.handing
	h.handing = nil
	return h.ask(ctx, &request{kind: appending, n: n, record: bytes.Clone(record), handing: handing})
}

// HandOver implements [runlog.Handovers].
func (h *handle) HandOver(_ context.Context, _ uint64, _ wire.Tip, state []byte) error {
	h.handing = bytes.Clone(state)
	return nil
}

// HandedOver implements [runlog.Handovers].
func (h *handle) HandedOver(context.Context) ([]byte, error) {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	if len(h.s.handed) == 0 {
		return nil, nil
	}
	return h.s.handed[len(h.s.handed)-1], nil
}

// AddMembers implements [runlog.Log].
func (h *handle) AddMembers(ctx context.Context, ids []string) error {
	err := h.ask(ctx, &request{kind: admitting, ids: slices.Clone(ids)})
	if err == nil {
		h.s.w.mu.Lock()
		defer h.s.w.mu.Unlock()
		h.known += len(ids)
	}
	return err
}

// Retire implements [runlog.Log]. Retire is never delayed. Retire fails if another coordinator has
// begun since.
func (h *handle) Retire(_ context.Context, id string) error {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	switch {
	case !h.p.may("retire"):
		return errDead
	case h.s.holder != h:
		return runlog.ErrDeposed
	}
	due, err := runlog.MayRetire(h.s.members, h.s.retired, id)
	if due {
		h.s.retired = append(h.s.retired, id)
	}
	return err
}

// Decisions implements [runlog.Decider].
func (h *handle) Decisions(context.Context) (runlog.Decisions, error) {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	return h.s.decided, nil
}

// Decide implements [runlog.Decider]. Decide is never delayed. Decide fails if another coordinator
// has begun since.
func (h *handle) Decide(_ context.Context, d runlog.Decisions) error {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	switch {
	case !h.p.may("decide"):
		return errDead
	case h.s.holder != h:
		return runlog.ErrDeposed
	}
	h.s.decided = d
	return nil
}

// Retired implements [runlog.Log].
func (h *handle) Retired() ([]string, error) {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	return slices.Clone(h.s.retired), nil
}

// Last implements [runlog.Log].
func (h *handle) Last() uint64 {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	return uint64(len(h.s.records))
}

// Read implements [runlog.Log].
func (h *handle) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	h.s.w.mu.Lock()
	records := h.s.records
	h.s.w.mu.Unlock()
	for n := max(from, 1); n <= uint64(len(records)); n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !f(n, records[n-1]) {
			break
		}
	}
	return nil
}

// Members implements [runlog.Log].
func (h *handle) Members() ([]string, error) {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	return slices.Clone(h.s.members), nil
}

// Close implements [runlog.Log]. Close returns the lease.
func (h *handle) Close() error {
	h.s.w.mu.Lock()
	defer h.s.w.mu.Unlock()
	if !h.p.dead && h.s.holder == h {
		h.s.holder = nil
	}
	return nil
}
