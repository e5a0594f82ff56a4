package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// errNoRecords: the coordinator's log ends before what it announced.
var errNoRecords = errors.New("catch-up brought no record")

// fetchTries is how often one catch-up asks for the same records.
const fetchTries = 4

// catchUp brings the replica to the state after record a.N-1. A rollback that
// it did not know of costs at most two more passes over the log, however many
// others follow: one over what follows it, to see them, and a replay.
func (c *Client) catchUp(ctx context.Context, a *arrival) error {
	for {
		live := c.course.path(a.N - 1)
		from, err := c.resume(live)
		if err != nil {
			return err
		}
		err = c.read(ctx, from, a, func(n uint64, record []byte) error { return c.advance(n, record, live) })
		if errors.Is(err, replica.ErrFork) {
			c.course.cut(c.replica.N())
		}
		if err != nil || !c.course.scanning {
			return err
		}
		c.course.scanning = false
	}
}

// resume returns the next record to read on the way along a path. A replica
// that is not on it starts again with the plan.
func (c *Client) resume(live path) (uint64, error) {
	if !c.course.scanning && !live.has(c.replica.N()) {
		if err := c.restart(); err != nil {
			return 0, err
		}
	}
	n := c.replica.N()
	if !c.course.scanning && c.course.passed >= live.from(n+1) {
		c.course.passed = 0 // too far
	}
	return max(n, c.course.passed) + 1, nil
}

// restart returns to the state after record 1.
func (c *Client) restart() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.course.passed = 0
	c.replica = c.blank() // what was there is free before the plan needs as much
	return c.replica.Apply(c.plan)
}

// advance goes beyond the log's next record, number n: it applies one of the
// path and passes over others. After a record that is not what the path was
// made with it only passes.
func (c *Client) advance(n uint64, record []byte, live path) error {
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return err
	}
	surprise := r.To != c.course.to(n)
	if !surprise && !c.course.scanning && live.has(n) {
		if err := c.apply(record); err != nil {
			return err
		}
		c.course.passed = 0
		return nil
	}
	if err := c.replica.Pass(record); err != nil {
		return err
	}
	c.course.passed = n
	if surprise {
		c.cfg.Logger.Warn("rolling back", "record", n, "to", r.To)
		c.course.note(n, r.To)
		c.course.scanning = true
	}
	return nil
}

// read calls f with the records from an index to a.N-1: those that the
// announcement brings, after those before them, which it asks for.
func (c *Client) read(ctx context.Context, from uint64, a *arrival, f func(n uint64, record []byte) error) error {
	for from < a.N {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		records, n := a.Records, a.N-uint64(a.Records.Len())
		if from < n {
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
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchAgain asks for the records from an index on, more than once if it has
// to: an answer that was lost on the way is no reason to wait for the next
// announcement.
func (c *Client) fetchAgain(ctx context.Context, from, last uint64) (wire.Records, error) {
	c.last = max(c.last, last)
	pause := c.cfg.RetryMax / 32
	p := Progress{State: CatchingUp}
	for try := 1; ; try++ {
		if err := c.record(p); err != nil {
			return wire.Records{}, err
		}
		records, err := c.fetch(ctx, from)
		if err == nil || ctx.Err() != nil || fatal(err) || try == fetchTries {
			return records, err
		}
		c.cfg.Logger.Info("catch-up failed", "from", from, "err", err, "retry", pause)
		p.Err = err
		if err := c.record(p); err != nil {
			return wire.Records{}, err
		}
		p.Err = nil
		if err := sleep(ctx, rand.N(pause)); err != nil {
			return wire.Records{}, err
		}
		pause = min(2*pause, c.cfg.RetryMax)
	}
}

// fetch asks for the records from an index on.
func (c *Client) fetch(ctx context.Context, from uint64) (wire.Records, error) {
	frame := (&wire.CatchUpRequest{From: from, MaxBytes: wire.MaxFrame}).Append(nil)
	b, err := c.request(ctx, wire.CatchUpSubject(c.cfg.Run, c.cfg.ID), frame)
	if err != nil {
		return wire.Records{}, fmt.Errorf("catch-up from record %d: %w", from, err)
	}
	reply, err := wire.DecodeCatchUpReply(b)
	if err == nil && reply.From != from {
		err = fmt.Errorf("catch-up from record %d: got %d", from, reply.From)
	}
	return reply.Records, err
}
