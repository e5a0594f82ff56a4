package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// ignoreFor is how many announcements in a row may name an earlier record or
// epoch than this device knows before it asks the log. Few are delayed on the
// way; a coordinator whose log lost its tail sends nothing else.
const ignoreFor = 3

var (
	// errNotOurs: the run's log does not hold what this replica applied.
	errNotOurs = errors.New("the log does not hold this replica's last record")
	// errForged: an announcement is at odds with the log.
	errForged = errors.New("announcement at odds with the log")
	// errUnusable: an announcement asks for what the plan excludes.
	errUnusable = errors.New("announcement of an impossible round")
)

// follow handles what arrived: it applies the records of every announcement
// and acts on the last one that shows where the log is. done says that the run
// has ended.
func (c *Client) follow(ctx context.Context) (done bool, err error) {
	queue := c.inbox.take()
	var newest *arrival
	for i := range queue {
		a := &queue[i]
		err := c.reach(ctx, a)
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case fatal(err), errors.Is(err, errNotOurs):
			return false, err
		case err != nil:
			// The next announcement brings another chance.
			c.cfg.Logger.Warn("cannot follow the log", "record", a.N-1, "err", err)
			if err := c.record(Progress{State: CatchingUp, Err: err}); err != nil {
				return false, err
			}
		case c.replica.N() == a.N-1:
			newest = a
		}
	}
	if newest == nil || c.replica.N() != newest.N-1 {
		return false, nil
	}
	if err := c.act(ctx, newest); err != nil {
		return false, err
	}
	if c.replica.Ended() != nil {
		return true, c.record(Progress{State: Ended})
	}
	return false, nil
}

// act does what an announcement asks of a replica that holds record N-1.
func (c *Client) act(ctx context.Context, a *arrival) error {
	switch {
	case a.State == wire.Paused:
		if err := c.record(Progress{State: Paused, Reason: a.Reason}); err != nil {
			return err
		}
	case a.State == wire.Open && c.replica.Ended() == nil:
		if err := c.work(ctx, a); err != nil {
			return err
		}
	}
	return c.reportState(ctx, a)
}

// reach brings the replica to record a.N-1, unless the announcement is older
// than what this device has seen, or lies.
func (c *Client) reach(ctx context.Context, a *arrival) error {
	if a.N < 2 || uint64(a.Records.Len()) >= a.N {
		c.inbox.refuse() // there is no record before the plan
		return fmt.Errorf("%w: %d records before record %d", errUnusable, a.Records.Len(), a.N)
	}
	// While a rollback is under way the replica is behind what is known.
	shorter := a.N <= c.course.known()
	if behind := a.N <= c.replica.N(); behind || shorter || a.Epoch < c.epoch {
		lost := behind && a.Epoch > c.replica.Epoch()
		if c.ignored++; c.ignored < ignoreFor && !lost {
			return nil
		}
		c.ignored = 0
		if err := c.confirm(ctx); err != nil || behind {
			return err
		}
		if shorter {
			c.course.cut(a.N - 1)
		}
	}
	err := c.extend(ctx, a)
	if errors.Is(err, replica.ErrFork) {
		if err := c.confirm(ctx); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", errForged, err)
	}
	if err == nil {
		c.epoch, c.ignored = a.Epoch, 0
	}
	return err
}

// extend applies the records up to a.N-1, unless one that it brings is not what
// this replica applied.
func (c *Client) extend(ctx context.Context, a *arrival) error {
	n, fork := a.N-uint64(a.Records.Len()), false
	a.Records.Each(func(record []byte) bool {
		fork = n == c.replica.N() && wire.HashRecord(record) != c.replica.Hash()
		n++
		return n <= c.replica.N()
	})
	if fork {
		return fmt.Errorf("%w: record %d", replica.ErrFork, c.replica.N())
	}
	return c.catchUp(ctx, a)
}

// confirm asks whether the log holds the last record that this replica applied;
// if not, the log lost its tail or this replica followed another.
func (c *Client) confirm(ctx context.Context) error {
	if c.replica.N() == 0 {
		return errNotOurs
	}
	records, err := c.fetch(ctx, c.replica.N())
	if err != nil {
		return err
	}
	ours := false
	records.Each(func(record []byte) bool {
		ours = wire.HashRecord(record) == c.replica.Hash()
		return false
	})
	if !ours {
		return fmt.Errorf("%w, number %d", errNotOurs, c.replica.N())
	}
	return nil
}
