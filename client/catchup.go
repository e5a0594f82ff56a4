package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// errNoRecords: the coordinator's log ends before what it announced.
var errNoRecords = errors.New("catch-up brought no record")

// fetchTries is how often one catch-up asks for the same records.
const fetchTries = 4

// rollbackPasses is how often one catch-up goes over the log again because of
// rollbacks that it did not know of: once, unless the log changes meanwhile.
const rollbackPasses = 3

// catchUp brings the replica to the state after record a.N-1. A rollback that
// it did not know of costs at most two more passes over the log, however many
// others follow: one over what follows it, to see them, and a replay. Where
// records are many it takes a snapshot instead. It holds one answer at a time.
func (c *Client) catchUp(ctx context.Context, a *arrival) error {
	before, passes := c.pace.records, 0
	for {
		live := c.course.path(a.N - 1)
		from, err := c.resume(live)
		if err != nil {
			return err
		}
		err = c.read(ctx, from, a, func(n uint64, record []byte) error { return c.advance(n, record, live, a.N-1) })
		switch {
		case errors.Is(err, errBehind):
			if err := c.takeSnapshot(ctx, a.N-1, live); err != nil {
				return err
			}
			continue
		case errors.Is(err, replica.ErrFork):
			c.course.cut(c.replica.N())
		}
		if err != nil || !c.course.scanning {
			if err == nil {
				c.snapshots.download = nil // its memory is a model's
			}
			if err == nil && c.pace.records > before {
				err = c.keepIfDue(false)
			}
			return err
		}
		c.course.scanning = false
		if passes++; passes > rollbackPasses {
			// What is announced and what the log holds would take turns for ever.
			c.course.cut(c.replica.N())
			return fmt.Errorf("%w: they disagree about rollbacks", errForged)
		}
	}
}

// resume returns the next record to read on the way along a path. A replica
// that is not on it starts again with its checkpoint, or with the plan.
func (c *Client) resume(live path) (uint64, error) {
	if !c.course.scanning && !live.has(c.replica.N()) {
		if err := c.startOver(c.keeper.usable(live)); err != nil {
			return 0, err
		}
	}
	n := c.replica.N()
	if !c.course.scanning && c.course.passed >= live.from(n+1) {
		c.course.passed = 0 // too far
	}
	return max(n, c.course.passed) + 1, nil
}

// startOver returns to the state of the checkpoint, or to that after record 1.
func (c *Client) startOver(checkpoint bool) error {
	c.digests.forget()
	fault, err := c.goBack(checkpoint)
	switch {
	case fault == nil:
	case errors.Is(fault, replica.ErrState):
		c.keeper.kept = mark{}
		fault = c.shelf.Discard(itemCheckpoint, fault)
	default:
		fault = c.shelf.Check(itemCheckpoint, fault)
	}
	if err == nil {
		c.digestIfDue(c.replica.N())
		err = fault
	}
	return err
}

// goBack does it; fault is what was wrong with the checkpoint. What was there is
// free before the other state needs as much.
func (c *Client) goBack(checkpoint bool) (fault, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.course.passed = 0
	first := c.replica.First()
	c.replica = c.blank()
	if checkpoint {
		r, h, err := c.loadCheckpoint()
		if err == nil && ((mark{r.N(), r.Hash()}) != c.keeper.kept || !bytes.Equal(r.First(), first)) {
			err = fmt.Errorf("%w: another than was kept", replica.ErrState)
		}
		if err == nil {
			c.replica, c.unproven = r, h.Snapshot
			return nil, nil
		}
		fault = err
	}
	c.unproven = 0
	return fault, c.replica.Apply(first)
}

// read calls f with the records from an index to a.N-1: those that the
// announcement brings, after those before them, which it asks for. What f adds to
// the batch is applied before it asks again, and when it returns.
func (c *Client) read(ctx context.Context, from uint64, a *arrival, f func(n uint64, record []byte) error) error {
	for from < a.N {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		records, n := a.Records, a.N-uint64(a.Records.Len())
		if from < n {
			if c.mayTake(a.N - 1) {
				return errBehind
			}
			if err := c.keepIfDue(true); err != nil {
				return err
			}
			var err error
			if records, err = c.fetchAgain(ctx, from, a.N-1); err != nil {
				return err
			}
			n = from
		}
		if records.Len() == 0 {
			return fmt.Errorf("%w from %d on", errNoRecords, from)
		}
		var err error
		records.Each(func(record []byte) bool {
			if n >= from && n < a.N {
				err = f(n, record)
				from++
			}
			n++
			return err == nil && n < a.N && ctx.Err() == nil
		})
		// What was looked at before a fault is good.
		if fault := c.applyBatch(a.N - 1); fault != nil {
			return fault
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchAgain asks for the records from an index on, more than once if it has
// to: an answer that was lost on the way is no reason to wait for the next
// announcement.
func (c *Client) fetchAgain(ctx context.Context, from, last uint64) (records wire.Records, err error) {
	c.last = max(c.last, last)
	err = c.again(ctx, Progress{}, func() error {
		reply, err := c.fetch(ctx, from, wire.MaxFrame)
		records = reply.Records
		return err
	})
	return records, err
}

// again asks until there is an answer, at most fetchTries times, and tells p
// before each.
func (c *Client) again(ctx context.Context, p Progress, ask func() error) error {
	p.State = CatchingUp
	pause := c.cfg.RetryMax / 32
	for try := 1; ; try++ {
		if err := c.record(p); err != nil {
			return err
		}
		err := ask()
		if err == nil || ctx.Err() != nil || fatal(err) || try == fetchTries {
			return err
		}
		c.cfg.Logger.Info("catch-up failed", "err", err, "retry", pause)
		p.Err = err
		if err := c.record(p); err != nil {
			return err
		}
		p.Err = nil
		if err := sleep(ctx, c.jitter(pause)); err != nil {
			return err
		}
		pause = min(2*pause, c.cfg.RetryMax)
	}
}

// fetch asks for the records from an index on, in about so many bytes.
func (c *Client) fetch(ctx context.Context, from, most uint64) (wire.CatchUpReply, error) {
	began := time.Now()
	frame := (&wire.CatchUpRequest{From: from, MaxBytes: most}).Append(nil)
	b, err := c.request(ctx, wire.CatchUpSubject(c.cfg.Run, c.cfg.ID), frame)
	if err != nil {
		return wire.CatchUpReply{}, fmt.Errorf("catch-up from record %d: %w", from, err)
	}
	reply, err := wire.DecodeCatchUpReply(b)
	if err == nil && reply.From != from {
		err = fmt.Errorf("catch-up from record %d: got %d", from, reply.From)
	}
	if err == nil {
		c.pace.fetched(time.Since(began), len(b))
		c.pace.records += float64(reply.Records.Len())
		c.pace.size += float64(len(b))
	}
	return reply, err
}

// fetchOne returns one record of the log.
func (c *Client) fetchOne(ctx context.Context, n uint64) ([]byte, error) {
	reply, err := c.fetch(ctx, n, 1)
	if err != nil {
		return nil, err
	}
	return first(reply.Records), nil
}

// first returns the first of some records, nil if there is none.
func first(records wire.Records) (record []byte) {
	records.Each(func(b []byte) bool { record = b; return false })
	return record
}
