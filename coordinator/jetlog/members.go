package jetlog

import (
	"context"
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/internal/roster"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// admit verifies the next batch in the stream of members, and applies it to the roster.
func (l *Log) admit(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch, sum, err := l.readBatch(text)
	var members, retired []string
	if err == nil {
		members, retired, err = batch.Follow(l.members, l.retired)
	}
	if err != nil {
		return fmt.Errorf("stream %s: message %d: %w", l.roster.name, l.roster.n+1, err)
	}
	l.members, l.retired, l.sealed = members, retired, sum
	l.roster.advance(text)
	return nil
}

// readBatch reads a batch in the current or the old form. The old form is a list of ids, one a
// line.
func (l *Log) readBatch(text []byte) (batch roster.Batch, sum roster.Sum, err error) {
	if strings.HasPrefix(string(text), roster.Head) {
		batch, sum, err = roster.Open(text, l.sealed)
		none := wire.Hash{}
		if err == nil && batch.Log != none && l.first != none && batch.Log != l.first {
			err = fmt.Errorf("%w: it belongs to a log whose record 1 has hash %v; this log's has "+
				"%v", runlog.ErrCorrupt, batch.Log, l.first)
		}
		return batch, sum, err
	}
	for id := range strings.SplitSeq(string(text), "\n") {
		if err := plan.CheckName(id); err != nil {
			return batch, sum, fmt.Errorf("%w: %w", runlog.ErrCorrupt, err)
		}
		batch.Entries = append(batch.Entries, roster.Entry{ID: id})
	}
	return batch, l.sealed.Then(text), nil
}

// AddMembers implements [runlog.Log]. Even after an error that does not match [runlog.ErrDeposed],
// the members may be stored. Then the next call reports that another coordinator assigned the
// slots, because this Log does not know that its own members are stored.
func (l *Log) AddMembers(ctx context.Context, ids []string) error {
	for first := true; len(ids) > 0; first = false {
		some := ids[:min(len(ids), l.batchLen())]
		err := l.addBatch(ctx, some)
		switch {
		case err != nil && !first:
			return fmt.Errorf("log: members: only some of them are stored: %w (%w)",
				runlog.ErrDeposed, err)
		case err != nil:
			return fmt.Errorf("log: members: %w", err)
		}
		ids = ids[len(some):]
	}
	return nil
}

// batchLen is how many ids fit into one message.
func (l *Log) batchLen() int {
	most := l.cfg.Conn.MaxPayload()
	if most <= 0 {
		return runlog.MemberBatch
	}
	return max(1, min(runlog.MemberBatch, int(most-publishHead)/(plan.MaxName+2)))
}

func (l *Log) addBatch(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := plan.CheckName(id); err != nil {
			return err
		}
	}
	return l.change(ctx, roster.Whole(wire.Hash{}, ids, nil))
}

// Retire implements [runlog.Log].
func (l *Log) Retire(ctx context.Context, id string) error {
	l.mu.Lock()
	due, err := runlog.MayRetire(l.members, l.retired, id)
	l.mu.Unlock()
	if !due {
		return err
	}
	if err := l.change(ctx, roster.Whole(wire.Hash{}, nil, []string{id})); err != nil {
		return fmt.Errorf("log: members: retire %q: %w", id, err)
	}
	return nil
}

// change stores a batch as the next message of the stream of members.
func (l *Log) change(ctx context.Context, batch roster.Batch) error {
	l.mu.Lock()
	lost := l.lost
	batch.Log = l.first
	text, _ := batch.Seal(l.sealed)
	l.mu.Unlock()
	if runlog.IsLost(lost) {
		return runlog.ErrDeposed
	}
	if err := l.complete(ctx); err != nil {
		return err
	}
	other, err := l.roster.put(ctx, text, nil)
	switch {
	case err != nil:
		return err
	case other != nil:
		return fmt.Errorf("%w: it gave slot %d and the following ones away", runlog.ErrDeposed,
			len(l.members))
	}
	return l.admit(text)
}
