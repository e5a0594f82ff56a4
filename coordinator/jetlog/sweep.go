package jetlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

// A sweep deletes vectors on a goroutine of its own, because a server that elects a leader answers
// a deletion after seconds, and no round is to wait for that.
type sweep struct {
	n      uint64 // the vectors of records 1..n are deleted, except keep
	keep   []runlog.ObjectName
	fresh  bool          // n and keep were given since the goroutine last looked
	ended  chan struct{} // closed when the goroutine has ended; nil: none runs
	stop   context.CancelFunc
	failed error // of a deletion, since the last KeepObjects
}

// KeepObjects implements [runlog.Objects]. KeepObjects returns at once, and the log has the deleted
// vectors no more. Their bytes go later. If a deletion fails, the next call returns its error, and
// tries again. The first call after each Begin lists the bucket.
func (l *Log) KeepObjects(ctx context.Context, n uint64, names []runlog.ObjectName) error {
	b, err := l.openObjects(ctx, false)
	if errors.Is(err, runlog.ErrNoObject) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("log: vectors: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &b.sweep
	s.n, s.keep, s.fresh = n, slices.Clone(names), true
	if s.ended == nil {
		sweeping, stop := context.WithCancel(context.WithoutCancel(ctx))
		s.ended, s.stop = make(chan struct{}), stop
		go l.sweep(sweeping, b)
	}
	err, s.failed = s.failed, nil
	return err
}

// sweep deletes vectors until nothing is left to delete, or a deletion fails.
func (l *Log) sweep(ctx context.Context, b *objectBucket) {
	for {
		err := l.sweepOnce(ctx, b)
		b.mu.Lock()
		if err != nil || !b.sweep.fresh {
			if ctx.Err() == nil {
				b.sweep.failed = err
			}
			b.sweep.stop()
			close(b.sweep.ended)
			b.sweep.ended = nil
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
	}
}

// sweepOnce deletes the vectors that the last call of KeepObjects did not name.
func (l *Log) sweepOnce(ctx context.Context, b *objectBucket) error {
	b.mu.Lock()
	listed := b.listed
	b.mu.Unlock()
	if !listed {
		if err := l.within(ctx, b.list); err != nil {
			return fmt.Errorf("log: vectors: %w", unheard(l.cfg.Conn, err))
		}
	}
	for _, name := range b.doomed() {
		err := l.within(ctx, func(ctx context.Context) error { return l.deleteObject(ctx, b, name) })
		if err != nil {
			return fmt.Errorf("log: vector of record %d: %w", name.N, unheard(l.cfg.Conn, err))
		}
		b.mu.Lock()
		delete(b.known, name)
		b.mu.Unlock()
	}
	return nil
}

// within calls f with a context that ends after the time that a call to the broker may take.
func (l *Log) within(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	return f(ctx)
}

// doomed returns the vectors to delete now.
func (b *objectBucket) doomed() (names []runlog.ObjectName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep.fresh = false
	for name := range b.known {
		if b.sweep.drops(name) {
			names = append(names, name)
		}
	}
	return names
}

// drops says whether the last call of KeepObjects deletes a vector.
func (s *sweep) drops(name runlog.ObjectName) bool {
	return name.N <= s.n && !slices.Contains(s.keep, name)
}

// unwanted says whether a vector is deleted, though its bytes may still be there.
func (b *objectBucket) unwanted(name runlog.ObjectName) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sweep.drops(name)
}

// note notes that the bucket may hold a vector from now on.
func (b *objectBucket) note(name runlog.ObjectName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sweep.drops(name) { // it came after that call of KeepObjects
		b.sweep.keep = append(b.sweep.keep, name)
	}
	b.add(name)
}

// add is note for callers that hold mu.
func (b *objectBucket) add(name runlog.ObjectName) {
	if b.known == nil {
		b.known = map[runlog.ObjectName]bool{}
	}
	b.known[name] = true
}

// anew forgets which vectors the bucket holds, because other coordinators may have led.
func (b *objectBucket) anew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listed, b.sweep.n, b.sweep.keep = false, 0, nil
}

// rest waits until no vector is being deleted. After patience, rest stops the deletion.
func (b *objectBucket) rest(patience time.Duration) {
	b.mu.Lock()
	ended, stop := b.sweep.ended, b.sweep.stop
	b.mu.Unlock()
	if ended == nil {
		return
	}
	select {
	case <-ended:
	case <-time.After(patience):
		stop()
		<-ended
	}
}

// list reads the names of the vectors in the bucket.
func (b *objectBucket) list(ctx context.Context) error {
	infos, err := b.store.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listed = true
	for _, info := range infos {
		if name, ok := runlog.ParseObjectName(info.Name); ok {
			b.add(name)
		}
	}
	return nil
}

// deleteObject deletes a vector, and then the marker that JetStream stores for a deleted object.
func (l *Log) deleteObject(ctx context.Context, b *objectBucket, name runlog.ObjectName) error {
	if err := b.store.Delete(ctx, name.String()); err != nil {
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil
		}
		return err
	}
	return b.stream.Purge(ctx, jetstream.WithPurgeSubject(metaSubject(l.objectBucket(), name)))
}
