package jetlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

var _ runlog.Decider = (*Log)(nil)

// decisions is the register of a run's decisions, the third key of the epoch's bucket.
type decisions struct {
	register
	rev uint64 // revision of the value that was read or stored last
}

func (s *seen) decisions() *decisions {
	d := &decisions{register: s.register}
	d.key = "decisions"
	return d
}

// load reads the stored decisions.
func (s *decisions) load(ctx context.Context) (d runlog.Decisions, err error) {
	var text []byte
	err = patiently(ctx, s.nc, func(ctx context.Context) (err error) {
		text, s.rev, err = s.entry(ctx)
		return err
	})
	if err == nil && text != nil {
		d, err = runlog.ReadDecisions(text)
	}
	if err != nil {
		return d, fmt.Errorf("bucket %s: %w", s.bucket, err)
	}
	return d, nil
}

// claim stores the stored decisions again, which changes their revision. So an earlier leader that
// does not know yet that it was deposed can store no decisions any more.
func (s *decisions) claim(ctx context.Context) error {
	for {
		d, err := s.load(ctx)
		if err == nil {
			err = s.store(ctx, d)
		}
		if !errors.Is(err, runlog.ErrDeposed) || ctx.Err() != nil {
			return err
		}
	}
}

// store stores decisions, unless another coordinator has stored decisions since. After a timeout,
// store reads the register to learn whether it has stored them.
func (s *decisions) store(ctx context.Context, d runlog.Decisions) error {
	text, err := d.Text()
	if err != nil {
		return err
	}
	err = patiently(ctx, s.nc, func(ctx context.Context) error {
		rev, err := s.kv.Update(ctx, s.key, text, s.rev)
		if err == nil {
			s.rev = rev
			return nil
		}
		if !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return s.stored(ctx, err)
		}
		stored, rev, err := s.entry(ctx)
		switch {
		case err != nil:
			return err
		case string(stored) != string(text):
			return fmt.Errorf("%w: it has decided otherwise", runlog.ErrDeposed)
		}
		s.rev = rev
		return nil
	})
	if err != nil {
		return fmt.Errorf("bucket %s: decisions: %w", s.bucket, err)
	}
	return nil
}

// Decisions implements [runlog.Decider]. A log that was opened with [Config].Existing returns no
// decisions if their bucket does not exist.
func (l *Log) Decisions(ctx context.Context) (runlog.Decisions, error) {
	if l.decisions != nil {
		return l.decisions.load(ctx)
	}
	s := &decisions{register: register{nc: l.cfg.Conn, bucket: epochBucket(l.cfg.Run),
		key: "decisions"}}
	d, err := s.load(ctx)
	if deleted(err) { // without the bucket no coordinator has led
		return runlog.Decisions{}, nil
	}
	return d, err
}

// Decide implements [runlog.Decider].
func (l *Log) Decide(ctx context.Context, d runlog.Decisions) error {
	l.mu.Lock()
	lost := l.lost
	l.mu.Unlock()
	if runlog.IsLost(lost) {
		return fmt.Errorf("log: decisions: %w", runlog.ErrDeposed)
	}
	if err := l.decisions.store(ctx, d); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}
