package jetlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// Begin implements [runlog.Log]. Begin waits for the lease, and then reads the records that other
// coordinators have stored since l last read the streams.
//
// An error matches [runlog.ErrCorrupt], or is the cause of ctx, or comes from a closed connection.
func (l *Log) Begin(ctx context.Context) (epoch uint64, err error) {
	if err := l.complete(ctx); err != nil {
		return 0, fmt.Errorf("log of run %s: %w", l.cfg.Run, err)
	}
	l.objects.sweep.anew()
	if epoch, err = l.lead(ctx); deleted(err) {
		if err = l.remake(ctx); err == nil {
			epoch, err = l.lead(ctx)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("log of run %s: %w", l.cfg.Run, err)
	}
	return epoch, nil
}

// lead takes the lease, and begins.
func (l *Log) lead(ctx context.Context) (epoch uint64, err error) {
	lost := make(chan struct{})
	l.mu.Lock()
	l.lost = lost
	l.mu.Unlock()
	if err := l.lease.take(ctx, lost); err != nil {
		return 0, refused("lease", err)
	}
	if epoch, err = l.begin(ctx); err != nil {
		err = refused("its streams", err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.Timeout)
		defer cancel()
		if errors.Is(err, runlog.ErrCorrupt) {
			_ = l.seen.store(ctx, max(l.seen.n, l.Last())) // so that the next coordinator knows, too
		}
		return 0, errors.Join(err, l.lease.release(ctx))
	}
	return epoch, nil
}

// remake makes the buckets again that somebody deleted while the log was open. The error matches
// [runlog.ErrCorrupt] if the stream of records is gone, too.
func (l *Log) remake(ctx context.Context) error {
	if _, err := l.records.info(ctx); err != nil {
		return err
	}
	l.lease.halt()
	claimed, seen := l.lease.seen.Load(), l.seen.n
	l.epochs = nil
	if err := l.complete(ctx); err != nil {
		return err
	}
	l.lease.seen.Store(claimed)
	l.seen.n = seen
	return nil
}

func (l *Log) begin(ctx context.Context) (uint64, error) {
	if err := l.refresh(ctx); err != nil {
		return 0, err
	}
	if err := l.recall(ctx); err != nil {
		return 0, err
	}
	if err := l.decisions.claim(ctx); err != nil {
		return 0, err
	}
	l.mu.Lock()
	least := l.epoch
	l.mu.Unlock()
	return l.epochs.next(ctx, least)
}

// LastEpoch implements [runlog.Epochs]. With [Config].Existing, LastEpoch returns 0 before the
// first Begin.
func (l *Log) LastEpoch(ctx context.Context) (last uint64, err error) {
	if l.epochs == nil {
		return 0, nil
	}
	err = patiently(ctx, l.cfg.Conn, func(ctx context.Context) (err error) {
		last, _, err = l.epochs.last(ctx)
		return err
	})
	return last, err
}

func (l *Log) PassEpochs(ctx context.Context, last uint64) error {
	if err := l.complete(ctx); err != nil {
		return err
	}
	if got, err := l.LastEpoch(ctx); err != nil || got >= last {
		return err
	}
	_, err := l.epochs.next(ctx, last)
	return err
}

// refresh reads the records and changes of the roster that the streams got since the last refresh.
func (l *Log) refresh(ctx context.Context) error {
	last, err := l.settled(ctx, l.records)
	if err != nil {
		return err
	}
	var bad error
	err = l.records.read(ctx, l.records.n+1, last, func(record []byte) bool {
		bad = l.accept(record)
		return bad == nil && ctx.Err() == nil
	})
	if err := errors.Join(bad, err, ctx.Err()); err != nil {
		return err
	}
	if !l.roster.exists() {
		return nil
	}
	if last, err = l.settled(ctx, l.roster); err != nil {
		return err
	}
	err = l.roster.read(ctx, l.roster.n+1, last, func(batch []byte) bool {
		bad = l.admit(batch)
		return bad == nil && ctx.Err() == nil
	})
	return errors.Join(bad, err, ctx.Err())
}

// settled waits until a stream's leader has all messages that the ledger has seen, and returns how
// many messages the stream has.
func (l *Log) settled(ctx context.Context, of *ledger) (uint64, error) {
	var wait backoff
	for {
		last, err := of.state(ctx)
		if err == nil || errors.Is(err, runlog.ErrCorrupt) || of.missing.IsZero() &&
			!transient(err) || !wait.sleep(ctx) {
			return last, err
		}
	}
}

// accept verifies the stream's next record, and makes it the end of the chain.
func (l *Log) accept(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	tail := l.tail
	r, err := tail.Follow(record)
	switch {
	case err != nil:
		return fmt.Errorf("stream %s: %w", l.records.name, err)
	case l.ofThisRun(&r) != nil:
		return fmt.Errorf("stream %s: %w: %w", l.records.name, runlog.ErrCorrupt, l.ofThisRun(&r))
	}
	if r.N == 1 {
		l.first = tail.Hash
	}
	l.tail, l.epoch = tail, r.Epoch
	l.records.advance(record)
	return nil
}

// ofThisRun returns an error for a record 1 that begins another run than the log's.
func (l *Log) ofThisRun(r *wire.Record) error {
	if r.N == 1 && r.Plan.Run != l.cfg.Run {
		return fmt.Errorf("%w: record 1 begins run %s, the log is that of run %s", runlog.ErrPlan,
			r.Plan.Run, l.cfg.Run)
	}
	return nil
}

// Append implements [runlog.Log]. If the broker refuses the record, because its disk or the stream
// is full, Append fails at once, and the error's text says what to do. The caller may append the
// same bytes later. If the broker does not answer, Append waits for up to [Config].Timeout. The
// error matches [runlog.ErrDeposed] if the lease is lost. The error matches [runlog.ErrCorrupt] if
// the stream has lost or changed messages. If record 1 begins a run of another name, Append does
// not store the record, and the error matches [runlog.ErrPlan].
func (l *Log) Append(ctx context.Context, n uint64, record []byte) error {
	if err := l.append(ctx, n, record); err != nil {
		return fmt.Errorf("log: append of record %d: %w", n, err)
	}
	return nil
}

func (l *Log) append(ctx context.Context, n uint64, record []byte) error {
	l.mu.Lock()
	tail, lost := l.tail, l.lost
	l.mu.Unlock()
	switch {
	case runlog.IsLost(lost):
		return runlog.ErrDeposed
	case n == 0 || n > tail.N+1:
		return fmt.Errorf("after %d: %w", tail.N, runlog.ErrOrder)
	case n <= tail.N:
		return l.compare(ctx, n, record)
	}
	r, err := tail.Follow(record)
	if err != nil {
		return err
	}
	if err := l.ofThisRun(&r); err != nil {
		return err // check before put: nothing could remove the record from the stream
	}
	other, err := l.records.put(ctx, record, l.handing.header(record, tail.Hash.Tip()))
	switch {
	case err != nil:
		return err
	case other == nil:
		if err := l.accept(record); err != nil || n > 1 || l.seen == nil {
			return err
		}
		_ = l.seen.store(ctx, 1) // may fail: the lease and the next Begin also store a record's index
		return nil
	}
	if err := l.accept(other); err != nil {
		return err
	}
	return &runlog.ConflictError{N: n, Record: other}
}

// compare returns a ConflictError if record n of the log differs from the record that the caller
// appends.
func (l *Log) compare(ctx context.Context, n uint64, record []byte) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	stored, err := l.records.get(ctx, n)
	switch {
	case err != nil:
		return fmt.Errorf("it was stored before: %w", unheard(l.cfg.Conn, err))
	case !bytes.Equal(stored, record):
		return &runlog.ConflictError{N: n, Record: stored}
	}
	return nil
}

// Read implements [runlog.Log]. Read verifies the chain of records, and needs about a megabyte of
// memory.
func (l *Log) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	l.mu.Lock()
	tail := l.tail
	l.mu.Unlock()
	from = max(from, 1)
	at := runlog.Chain{N: from - 1}
	var bad error
	err := l.records.read(ctx, from, tail.N, func(record []byte) bool {
		if bad = at.Resume(record, from); bad == nil && at.N == tail.N && at.Hash != tail.Hash {
			bad = fmt.Errorf("record %d: %w: it is no longer what was stored", at.N,
				runlog.ErrCorrupt)
		}
		return bad == nil && f(at.N, record)
	})
	if err := errors.Join(bad, err); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}
