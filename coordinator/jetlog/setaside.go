package jetlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

// SetAside makes room for another run in a log that has lost all its records. SetAside moves the
// stream of members to a stream whose name ends in _BEFORE_N. SetAside returns that name, or "" if
// there are no members. The last epoch stays stored. The caller must lead the log, and open the log
// again afterwards.
//
// The error matches [runlog.ErrConfig] if the log has records. Other errors come from the broker.
func (l *Log) SetAside(ctx context.Context) (name string, err error) {
	if last := l.Last(); last > 0 {
		return "", fmt.Errorf("log of run %s: %w: it ends at record %d: another run needs "+
			"another name", l.cfg.Run, runlog.ErrConfig, last)
	}
	if len(l.members) > 0 {
		if name, err = l.moveMembers(ctx); err != nil {
			return "", fmt.Errorf("log of run %s: members: %w", l.cfg.Run,
				unheard(l.cfg.Conn, err))
		}
	}
	if d, err := l.Decisions(ctx); err != nil || !d.None() {
		if err = errors.Join(err, l.Decide(ctx, runlog.Decisions{})); err != nil {
			return name, err
		}
	}
	return name, l.Forget(ctx)
}

func (l *Log) moveMembers(ctx context.Context) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i := 1; ; i++ {
		name = fmt.Sprintf("%s_BEFORE_%d", l.roster.name, i)
		_, err := l.js.Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	cfg := l.roster.stream(l.roster.replicas)
	cfg.Name, cfg.Subjects = name, nil
	cfg.Sources = []*jetstream.StreamSource{{Name: l.roster.name}}
	s, err := l.js.CreateStream(ctx, cfg)
	if err != nil {
		return "", err
	}
	for wait := backoff(0); ; {
		info, err := s.Info(ctx)
		if err == nil && info.State.Msgs == l.roster.n {
			return name, l.js.DeleteStream(ctx, l.roster.name)
		}
		if err != nil && !transient(err) {
			return "", err
		}
		if !wait.sleep(ctx) {
			return "", context.Cause(ctx)
		}
	}
}
