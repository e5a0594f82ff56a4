package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// errNoRecords: the coordinator's log ends before what it announced.
var errNoRecords = errors.New("catch-up brought no record")

// catchUp applies the records up to last.
func (c *Client) catchUp(ctx context.Context, last uint64) error {
	return c.read(ctx, c.replica.N()+1, last, func(record []byte) error { return c.advance(ctx, record) })
}

// read asks for the records from an index to another and calls f with each.
func (c *Client) read(ctx context.Context, from, last uint64, f func(record []byte) error) error {
	for from <= last {
		c.last = max(c.last, last)
		if err := c.record(Progress{State: CatchingUp}); err != nil {
			return err
		}
		records, err := c.fetch(ctx, from)
		switch {
		case err != nil:
			return err
		case records.Len() == 0:
			return fmt.Errorf("%w from %d on", errNoRecords, from)
		}
		records.Each(func(record []byte) bool {
			if from > last || ctx.Err() != nil {
				return false
			}
			err = f(record)
			from++
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
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

// advance applies the log's next record, whatever it takes.
func (c *Client) advance(ctx context.Context, record []byte) error {
	err := c.apply(record)
	if errors.Is(err, replica.ErrRollback) {
		return c.rollBack(ctx, record)
	}
	return err
}

// rollBack applies a record that returns to an earlier state: it replays the
// log up to there and passes over what is undone. The record's own place in
// the log was checked before.
func (c *Client) rollBack(ctx context.Context, record []byte) error {
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return err
	}
	record = bytes.Clone(record)
	c.cfg.Logger.Warn("rolling back", "record", r.N, "to", r.To)
	c.replace(c.blank())
	if err := c.catchUp(ctx, r.To); err != nil {
		return err
	}
	if err := c.read(ctx, r.To+1, r.N-1, c.replica.Pass); err != nil {
		return err
	}
	return c.apply(record)
}
