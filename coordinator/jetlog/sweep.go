package jetlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

// A sweep deletes vectors on a goroutine of its own, because a server that elects a leader answers
// a deletion after seconds, and no round is to wait for that.
type sweep struct {
	mu     sync.Mutex                 // guards what follows
	known  map[runlog.ObjectName]bool // vectors that the bucket may hold
	listed bool                       // known has all of them
	n      uint64                     // the vectors of records 1..n are deleted, except keep
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
	s := &l.objects.sweep
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n, s.keep, s.fresh = n, slices.Clone(names), true
	if s.ended == nil {
		sweeping, stop := context.WithCancel(context.WithoutCancel(ctx))
		s.ended, s.stop = make(chan struct{}), stop
		go l.sweep(sweeping, s)
	}
	err := s.failed
	s.failed = nil
	return err
}

// sweep deletes vectors until nothing is left to delete, or a deletion fails.
func (l *Log) sweep(ctx context.Context, s *sweep) {
	for {
		err := l.sweepOnce(ctx, s)
		s.mu.Lock()
		if err != nil || !s.fresh {
			if ctx.Err() == nil {
				s.failed = err
			}
			s.stop()
			close(s.ended)
			s.ended = nil
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// sweepOnce deletes the vectors that the last call of KeepObjects did not name.
func (l *Log) sweepOnce(ctx context.Context, s *sweep) error {
	names, listed := s.doomed()
	if listed && len(names) == 0 {
		return nil
	}
	var b *objectBucket
	err := l.within(ctx, func(ctx context.Context) (err error) {
		if b, err = l.openObjects(ctx, false); err == nil && !listed {
			err = b.list(ctx)
		}
		return err
	})
	if errors.Is(err, runlog.ErrNoObject) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("log: vectors: %w", unheard(l.cfg.Conn, err))
	}
	if !listed {
		names, _ = s.doomed()
	}
	for _, name := range names {
		err := l.within(ctx, func(ctx context.Context) error { return l.deleteObject(ctx, b, name) })
		if err != nil {
			return fmt.Errorf("log: vector of record %d: %w", name.N, unheard(l.cfg.Conn, err))
		}
		s.mu.Lock()
		delete(s.known, name)
		s.mu.Unlock()
	}
	return nil
}

// within calls f with a context that ends after the time that a call to the broker may take.
func (l *Log) within(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	return f(ctx)
}

// doomed returns the vectors to delete now, of those that are known; listed says whether all are.
func (s *sweep) doomed() (names []runlog.ObjectName, listed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = false
	for name := range s.known {
		if s.drops(name) {
			names = append(names, name)
		}
	}
	return names, s.listed
}

// drops says whether the last call of KeepObjects deletes a vector.
func (s *sweep) drops(name runlog.ObjectName) bool {
	return name.N <= s.n && !slices.Contains(s.keep, name)
}

// unwanted says whether a vector is deleted, though its bytes may still be there.
func (s *sweep) unwanted(name runlog.ObjectName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drops(name)
}

// note notes that the bucket may hold a vector from now on.
func (s *sweep) note(name runlog.ObjectName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drops(name) { // it came after that call of KeepObjects
		s.keep = append(s.keep, name)
	}
	s.add(name)
}

// add notes that the bucket may hold a vector. The caller holds mu.
func (s *sweep) add(name runlog.ObjectName) {
	if s.known == nil {
		s.known = map[runlog.ObjectName]bool{}
	}
	s.known[name] = true
}

// anew forgets which vectors the bucket holds, because other coordinators may have led.
func (s *sweep) anew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.n, s.keep = false, 0, nil
}

// rest waits until no vector is being deleted. After patience, rest stops the deletion.
func (s *sweep) rest(patience time.Duration) {
	s.mu.Lock()
	ended, stop := s.ended, s.stop
	s.mu.Unlock()
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
	s := &b.sweep
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = true
	for _, info := range infos {
		if name, ok := runlog.ParseObjectName(info.Name); ok {
			s.add(name)
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
