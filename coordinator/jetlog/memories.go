package jetlog

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

var _ runlog.Memories = (*Log)(nil)

// A seen holds the index of a record that the log has held: the last record when a coordinator
// began or closed the log. The index is a second key of the epoch's bucket. A coordinator that
// stands by also learns indexes from the leader's claims.
type seen struct {
	register
	n      uint64 // the largest index that was read, stored or claimed
	absent bool   // no coordinator has stored this key yet
	left   string // what the log held besides records when this coordinator began
}

func openSeen(ctx context.Context, l *Log, replicas int) (*seen, error) {
	r, err := openRegister(ctx, l, jetstream.KeyValueConfig{
		Bucket: epochBucket(l.cfg.Run), Replicas: replicas, MaxBytes: l.cfg.MaxBytes,
		Description: "zofl: last epoch of a run's coordinators",
	}, "seen")
	return &seen{register: r}, err
}

// store stores n, the index of a record that the log holds.
func (s *seen) store(ctx context.Context, n uint64) error {
	err := patiently(ctx, s.nc, func(ctx context.Context) error {
		_, err := s.kv.Put(ctx, s.key, strconv.AppendUint(nil, n, 10))
		return s.stored(ctx, err)
	})
	if err != nil {
		return fmt.Errorf("bucket %s: seen: %w", s.bucket, err)
	}
	s.n, s.absent = n, false
	return nil
}

// load reads the stored index.
func (s *seen) load(ctx context.Context) error {
	return patiently(ctx, s.nc, func(ctx context.Context) error {
		value, _, err := s.entry(ctx)
		if err != nil {
			return fmt.Errorf("bucket %s: seen: %w", s.bucket, err)
		}
		if s.absent = value == nil; s.absent {
			return nil
		}
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil {
			return fmt.Errorf("bucket %s: seen: %w: %w", s.bucket, runlog.ErrCorrupt, err)
		}
		s.n = max(s.n, n)
		return nil
	})
}

// recall finds out which record the log once held. Begin calls recall before it begins a new epoch.
func (l *Log) recall(ctx context.Context) error {
	last, s := l.Last(), l.seen
	if err := s.load(ctx); err != nil {
		return err
	}
	s.n = max(s.n, l.lease.seen.Load())
	epoch, err := l.LastEpoch(ctx)
	if err != nil {
		return err
	}
	s.left = ""
	if last == 0 {
		s.left = l.remains(epoch)
	}
	if s.absent || last > s.n {
		return s.store(ctx, max(last, s.n))
	}
	return nil
}

// remains lists the parts of a log in streams and buckets other than records. A coordinator that
// ended before it stored record 1 leaves only an epoch, unless its version stored nothing else.
func (l *Log) remains(epoch uint64) string {
	var left []string
	if n := len(l.members); n > 0 {
		left = append(left, fmt.Sprintf("a roster of %d members", n))
	}
	if l.seen.n > 0 {
		left = append(left, fmt.Sprintf("the note that record %d was stored", l.seen.n))
	} else if l.seen.absent && epoch > 0 {
		left = append(left, fmt.Sprintf("epoch %d", epoch))
	}
	return strings.Join(left, ", ")
}

// Seen implements [runlog.Memories]. Seen may exceed Last only after Begin, or in a log that was
// opened with [Config].Existing.
func (l *Log) Seen(ctx context.Context) (uint64, error) {
	s := l.seen
	if s == nil {
		bucket := epochBucket(l.cfg.Run)
		s = &seen{register: register{nc: l.cfg.Conn, bucket: bucket, key: "seen"}}
		if err := s.load(ctx); err != nil && !deleted(err) { // without the bucket no coordinator has led
			return 0, err
		}
	}
	return max(s.n, l.Last()), nil
}

// Forget implements [runlog.Memories].
func (l *Log) Forget(ctx context.Context) error {
	l.lease.seen.Store(0)
	return l.seen.store(ctx, l.Last())
}

// Left implements [runlog.Memories]. Before Begin, Left returns "".
func (l *Log) Left(context.Context) (string, error) {
	if l.seen == nil || l.Last() > 0 {
		return "", nil
	}
	return l.seen.left, nil
}
