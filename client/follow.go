package client

import (
	"context"
	"errors"
	"fmt"
	"time"

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
func (c *Client) follow(ctx context.Context, queue []arrival) (done bool, err error) {
	var newest *arrival
	for i := range queue {
		a := &queue[i]
		err := c.arrive(ctx, a)
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
	whole, err := c.settle(ctx, newest)
	if err == nil && whole {
		err = c.act(ctx, newest)
	}
	// A run that ended brings no later vector in the place of one that is gone.
	if err != nil || !whole && !(c.objects.gone && c.replica.Ended() != nil) {
		return false, err
	}
	if c.replica.Ended() != nil {
		return true, c.record(Progress{State: Ended})
	}
	return false, c.keepIfDue(false)
}

// arrive brings the replica to record a.N-1, and compares its state with the
// reference there may be.
func (c *Client) arrive(ctx context.Context, a *arrival) error {
	if err := c.reach(ctx, a); err != nil || c.replica.N() != a.N-1 {
		return err
	}
	if err := c.compare(ctx, a); err != nil {
		return err
	}
	return c.prove(ctx, a)
}

// act does what an announcement asks of a replica that holds record N-1.
func (c *Client) act(ctx context.Context, a *arrival) error {
	if c.cfg.Passive != nil {
		return c.witness(ctx, a)
	}
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
		if c.epoch > 0 && a.Epoch > c.epoch && c.cfg.Passive == nil {
			c.rejoinAt = time.Now().Add(c.jitter(c.patience()))
		}
		c.epoch, c.ignored = a.Epoch, 0
	}
	return err
}

// extend applies the records up to a.N-1, unless one that it brings is not what
// this replica applied. What this replica asked for on the way may be of another
// log than the announcement: one that lost its tail meanwhile.
func (c *Client) extend(ctx context.Context, a *arrival) error {
	if err := c.agrees(a); err != nil {
		return err
	}
	c.digests.heed(a) // a snapshot may have to agree with it
	if err := c.catchUp(ctx, a); err != nil {
		return err
	}
	return c.agrees(a)
}

// agrees says whether an announcement brings this replica's last record, if it
// brings a record with that index.
func (c *Client) agrees(a *arrival) error {
	n, fork := a.N-uint64(a.Records.Len()), false
	a.Records.Each(func(record []byte) bool {
		fork = n == c.replica.N() && wire.HashRecord(record) != c.replica.Hash()
		n++
		return n <= c.replica.N()
	})
	if fork {
		return fmt.Errorf("%w: record %d", replica.ErrFork, c.replica.N())
	}
	return nil
}

// confirm asks whether the log holds the last record that this replica applied;
// if not, the log lost its tail or this replica followed another.
func (c *Client) confirm(ctx context.Context) error {
	if c.replica.N() == 0 {
		return errNotOurs
	}
	record, err := c.fetchOne(ctx, c.replica.N())
	if err != nil {
		return err
	}
	if record == nil || wire.HashRecord(record) != c.replica.Hash() {
		return fmt.Errorf("%w, number %d", errNotOurs, c.replica.N())
	}
	return nil
}
