package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// errNoRecords: the coordinator's log ends before what it announced.
var errNoRecords = errors.New("client: catch-up brought no record")

// follow handles what arrived: it applies the records of every announcement
// and works on the last. done says that the run has ended.
func (c *Client) follow(ctx context.Context) (done bool, err error) {
	queue := c.inbox.take()
	for i := range queue {
		a := &queue[i]
		if a.Epoch < c.epoch {
			continue // of a coordinator that another one replaced
		}
		if err := c.reach(ctx, a); err != nil {
			if fatal(err) || ctx.Err() != nil {
				return false, stopCause(ctx, err)
			}
			// The next announcement brings another chance.
			c.cfg.Logger.Warn("cannot follow the log", "record", a.N-1, "err", err)
			if err := c.record(Progress{State: CatchingUp, Last: a.N - 1, Err: err}); err != nil {
				return false, err
			}
			continue
		}
		c.epoch = a.Epoch
		if i < len(queue)-1 || c.replica.N() != a.N-1 {
			continue // only the newest round is open
		}
		if err := c.act(ctx, a); err != nil {
			return false, err
		}
		if c.replica.Ended() != nil {
			return true, c.record(Progress{State: Ended})
		}
	}
	return false, nil
}

func stopCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// act does what an announcement asks of a replica that holds record N-1.
func (c *Client) act(ctx context.Context, a *arrival) error {
	switch a.State {
	case wire.Paused:
		if err := c.record(Progress{State: Paused}); err != nil {
			return err
		}
	case wire.Open:
		if err := c.work(ctx, a); err != nil {
			return err
		}
	}
	return c.reportState(ctx, a)
}

// reach brings the replica to record a.N-1: by the announcement's own records,
// or by asking for those between.
func (c *Client) reach(ctx context.Context, a *arrival) error {
	switch {
	case c.replica.N() >= a.N:
		return c.suspect(ctx, a)
	case uint64(a.Records.Len()) >= a.N:
		return fmt.Errorf("client: announcement of record %d brings %d records", a.N, a.Records.Len())
	}
	first := a.N - uint64(a.Records.Len())
	if have := c.replica.N(); have+1 < first {
		if err := c.catchUp(ctx, first-1); err != nil {
			return err
		}
	}
	n := first
	var err error
	a.Records.Each(func(record []byte) bool {
		if n > c.replica.N() {
			err = c.apply(record)
		}
		n++
		return err == nil
	})
	if errors.Is(err, replica.ErrFork) {
		return c.suspect(ctx, a)
	}
	return err
}

// catchUp asks for the records up to last, and applies them as they come.
func (c *Client) catchUp(ctx context.Context, last uint64) error {
	for c.replica.N() < last {
		err := c.record(Progress{State: CatchingUp, Last: last})
		if err != nil {
			return err
		}
		records, err := c.fetch(ctx, c.replica.N()+1)
		if err != nil {
			return err
		}
		if records.Len() == 0 {
			return errNoRecords
		}
		records.Each(func(record []byte) bool {
			err = c.apply(record)
			return err == nil && c.replica.N() < last && ctx.Err() == nil
		})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// fetch asks for the records from an index on.
func (c *Client) fetch(ctx context.Context, from uint64) (wire.Records, error) {
	frame := (&wire.CatchUpRequest{From: from, MaxBytes: wire.MaxFrame}).Append(nil)
	b, err := c.request(ctx, wire.CatchUpSubject(c.cfg.Run, c.cfg.ID), frame)
	if err != nil {
		return wire.Records{}, fmt.Errorf("client: catch-up from record %d: %w", from, err)
	}
	reply, err := wire.DecodeCatchUpReply(b)
	if err == nil && reply.From != from {
		err = fmt.Errorf("client: catch-up from record %d: got %d", from, reply.From)
	}
	return reply.Records, err
}

// suspect handles an announcement whose records do not continue this
// replica's. An old announcement is ignored. Otherwise the coordinator's log is
// asked for this replica's last record: where it holds the same one, the
// announcement lies; where it does not, the log lost its tail or this replica
// followed another, and it starts again from record 1.
func (c *Client) suspect(ctx context.Context, a *arrival) error {
	if c.replica.N() >= a.N && a.Epoch == c.replica.Epoch() {
		return nil // delayed on the way
	}
	records, err := c.fetch(ctx, c.replica.N())
	if err != nil {
		return err
	}
	same := false
	records.Each(func(record []byte) bool {
		same = wire.HashRecord(record) == c.replica.Hash()
		return false
	})
	if same {
		return fmt.Errorf("%w: announced with record %d", replica.ErrFork, a.N)
	}
	c.cfg.Logger.Error("this replica is not the run's, starting again", "record", c.replica.N())
	c.mu.Lock()
	c.replica = c.blank()
	c.mu.Unlock()
	c.reply = sent{}
	return c.catchUp(ctx, a.N-1)
}
