package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// A watchedLog checks a coordinator's calls of its log, and the results of the calls.
type watchedLog struct {
	runlog.Log
	p    *process
	last uint64 // last record that this coordinator knows of

	short bool // the log says that it lost records, so nobody may lead it
}

// watch returns a watchedLog. The log of a file also remembers what it held.
func watch(log runlog.Log, p *process) runlog.Log {
	watched := &watchedLog{Log: log, p: p}
	if m, ok := log.(runlog.Memories); ok {
		return struct {
			*watchedLog
			runlog.Memories
		}{watched, m}
	}
	return watched
}

// Decisions implements [runlog.Decider].
func (l *watchedLog) Decisions(ctx context.Context) (runlog.Decisions, error) {
	d, err := runlog.DecisionsOf(ctx, l.Log)
	if w := l.p.w; err == nil {
		w.locked(func() { w.book.Recalled(&d) })
	}
	return d, err
}

// Decide implements [runlog.Decider].
func (l *watchedLog) Decide(ctx context.Context, d runlog.Decisions) error {
	text, bad := json.Marshal(d) // no pointers: one seed has one transcript
	l.p.w.locked(func() { l.p.w.book.Deciding(&d) })
	err := errors.Join(l.Log.(runlog.Decider).Decide(ctx, d), bad)
	w := l.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(l.p, "decides %s: %v", text, err)
	if err == nil {
		w.book.Decided(&d)
	}
	return err
}

// HandOver implements [runlog.Handovers].
func (l *watchedLog) HandOver(ctx context.Context, n uint64, tip wire.Tip, state []byte) error {
	return l.Log.(runlog.Handovers).HandOver(ctx, n, tip, state)
}

// HandedOver implements [runlog.Handovers].
func (l *watchedLog) HandedOver(ctx context.Context) ([]byte, error) {
	return runlog.HandoverOf(ctx, l.Log)
}

// Begin implements [runlog.Log].
func (l *watchedLog) Begin(ctx context.Context) (uint64, error) {
	epoch, err := l.Log.Begin(ctx)
	if err != nil {
		return epoch, err
	}
	var records [][]byte
	err = l.Log.Read(ctx, 1, func(_ uint64, record []byte) bool {
		records = append(records, bytes.Clone(record))
		return true
	})
	if err != nil {
		return epoch, err
	}
	members, err := l.Log.Members()
	if err != nil {
		return epoch, err
	}
	retired, err := l.Log.Retired()
	if err != nil {
		return epoch, err
	}
	w := l.p.w
	w.mu.Lock()
	if l.p.dead {
		w.mu.Unlock()
		return epoch, errDead
	}
	if !w.scenario.Shared {
		w.book.Begin(l.p, epoch)
	}
	if l.short = l.lost(ctx, uint64(len(records))); l.short {
		w.mu.Unlock()
		return epoch, nil
	}
	w.book.Reread(records, members, retired)
	w.parties[l.p.order].damage = nil // it did no harm
	l.last = uint64(len(records))
	w.mu.Unlock()
	return epoch, l.inspect(ctx)
}

// lost reports whether the log remembers more records than it has.
func (l *watchedLog) lost(ctx context.Context, last uint64) bool {
	m, ok := l.Log.(runlog.Memories)
	if !ok {
		return false
	}
	seen, err := m.Seen(ctx)
	return err == nil && seen > last
}

// Append implements [runlog.Log].
func (l *watchedLog) Append(ctx context.Context, n uint64, record []byte) error {
	w := l.p.w
	w.mu.Lock()
	w.note(l.p, "appends record %d", n)
	if l.short && !l.p.dead {
		w.find("a damaged log is refused", "%v appends record %d to a log that lost records", l.p, n)
	}
	if l.p.between && !l.p.dead && w.book.VectorOf(n) {
		l.p.fuse = 0
		l.p.may("append, after its vector")
		w.mu.Unlock()
		return errDead
	}
	if n <= l.last && !l.p.dead {
		w.find("one record per index", "%v: another record %d, after it knew record %d in the log",
			l.p, n, l.last)
	}
	w.mu.Unlock()
	err := l.Log.Append(ctx, n, record)
	w.mu.Lock()
	defer w.mu.Unlock()
	var conflict *runlog.ConflictError
	switch {
	case err == nil && w.parties[l.p.order].damage != nil:
		w.find("nobody appends to a damaged log", "%v appended record %d after %v", l.p, n,
			w.parties[l.p.order].damage)
	case err == nil && !w.scenario.Shared && n == w.book.Last()+1:
		w.book.Commit(record)
	case err != nil:
		w.note(l.p, "append of record %d: %v", n, err)
	}
	if err == nil || errors.As(err, &conflict) {
		l.last = max(l.last, n)
	}
	return err
}

// Retire implements [runlog.Log].
func (l *watchedLog) Retire(ctx context.Context, id string) error {
	err := l.Log.Retire(ctx, id)
	w := l.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.note(l.p, "retires %s: %v", id, err); err == nil {
		w.book.Retire(id)
	}
	return err
}

// AddMembers implements [runlog.Log].
func (l *watchedLog) AddMembers(ctx context.Context, ids []string) error {
	err := l.Log.AddMembers(ctx, ids)
	if w := l.p.w; err == nil && !w.scenario.Shared {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.book.Join(ids)
	}
	return err
}
