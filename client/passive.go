package client

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Passive makes a client that follows a run without taking part: it has no
// slot and no [objective.Objective], and replays every record. An operator runs one or a
// few, on machines that are always there, for what it gives the others:
//
//   - It reports the digest of every state that is due (the plan's DigestEvery)
//     under its id. A coordinator that names the id among its Witnesses takes
//     these for the reference that devices compare their states with.
//   - With SnapshotEvery it writes snapshots into its Store, and sends them to
//     devices that were away for long.
//   - Params is the model at any time.
//
// Let one of them serve snapshots: of several, the first to answer decides, also
// where it has none.
//
// In a private run it needs the run key, as a device does; its snapshots are sealed
// under it (SEALED.md). Whoever has no key cannot be one: not the coordinator.
//
// It never takes a snapshot itself, so what it reports is what the log says.
// It needs the permissions of a device with its id; one that serves snapshots
// subscribes zo.<run>.s.* and publishes to the inboxes of devices, besides.
// Like any client it ends with the run.
type Passive struct {
	// SnapshotEvery is the number of records from one snapshot to the next: one
	// follows each record that it divides. 0: no snapshots. A multiple of the
	// plan's DigestEvery lets devices prove a snapshot as it is. Where a device
	// downloads the one there is, the next is left out, but not two in a row.
	SnapshotEvery uint64
}

// begin gets record 1, which a device gets when it joins, until a coordinator
// answers.
func (c *Client) begin(ctx context.Context) error {
	if c.replica.N() > 0 {
		return nil
	}
	reply, err := insist(ctx, c, func(ctx context.Context) (wire.CatchUpReply, error) {
		reply, err := c.fetch(ctx, 1, wire.MaxFrame)
		if err == nil && reply.Records.Len() == 0 {
			err = fmt.Errorf("%w from 1 on", errNoRecords)
		}
		return reply, err
	})
	if err != nil {
		return err
	}
	if err := c.applyPlan(first(reply.Records)); err != nil {
		return err
	}
	c.last = max(c.last, reply.Last)
	c.digestIfDue(1)
	return nil
}

// pull asks where the log is and goes there, announced or not; done says that
// the run has ended. No answer is no harm.
func (c *Client) pull(ctx context.Context) (done bool, err error) {
	reply, err := c.fetch(ctx, c.replica.N(), 1)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case fatal(err):
		return false, err
	case err != nil:
		c.cfg.Logger.Info("no coordinator", "err", err)
		return false, nil
	}
	if record := first(reply.Records); record == nil || wire.HashRecord(record) != c.replica.Hash() {
		return false, fmt.Errorf("%w, number %d", errNotOurs, c.replica.N())
	}
	a := arrival{Announcement: wire.Announcement{State: wire.Ended, N: reply.Last + 1, Epoch: c.epoch}}
	return c.follow(ctx, []arrival{a})
}

// witness does what an announcement asks of a passive replica that holds record
// N-1.
func (c *Client) witness(ctx context.Context, a *arrival) error {
	p := Progress{State: Waiting}
	if a.State == wire.Paused {
		p = Progress{State: Paused, Reason: a.Reason}
	}
	if err := c.record(p); err != nil {
		return err
	}
	return c.reportDigests(ctx)
}

// snapshotDue says whether a snapshot may be due after record n.
func (c *Client) snapshotDue(n uint64) bool {
	return c.cfg.Passive != nil && c.cfg.Passive.SnapshotEvery > 0 && n%c.cfg.Passive.SnapshotEvery == 0
}

// snapshotIfDue writes a snapshot after a record that was just applied: in a
// replay up to record last, only after the last one that is due.
func (c *Client) snapshotIfDue(last uint64) error {
	if c.cfg.Passive == nil || c.cfg.Passive.SnapshotEvery == 0 {
		return nil
	}
	every, n, s := c.cfg.Passive.SnapshotEvery, c.replica.N(), c.server
	if live := c.course.path(n); s.offer().n > 0 && !live.has(s.offer().n) {
		s.withdraw() // a rollback undid it
	}
	if !c.whole() {
		return nil
	}
	ended := c.replica.Ended() != nil
	if !ended && (!c.snapshotDue(n) || n+every <= last) {
		return nil
	}
	if busy := s.busy(); busy && !s.skipped && !ended {
		s.skipped = true
		return nil
	}
	s.skipped = false
	if f := s.stored; c.seals() && f.n == n && f.tip == c.replica.Hash().Tip() {
		s.set(f) // sealed anew it would not fit the pieces that somebody has of it
		return nil
	}
	return s.write(n, c.replica.Hash().Tip(), c.saveSnapshot)
}

// loadSnapshot offers the snapshot that an earlier process wrote.
func (c *Client) loadSnapshot() error {
	if c.cfg.Passive == nil || c.cfg.Passive.SnapshotEvery == 0 {
		return nil
	}
	return c.server.load(func(r io.Reader, size int64) (uint64, wire.Tip, error) {
		head, err := replica.ReadHead(c.content(r, size))
		if err == nil && head.Plan.Run != c.cfg.Run {
			err = replica.ErrState
		}
		return head.N, head.Hash.Tip(), err
	}, replica.ErrState, seal.ErrFile)
}

// checkPassive checks what goes with Passive.
func (c *Config) checkPassive() error {
	switch {
	case c.Objective != nil:
		return errors.New("Objective: a passive replica has none: leave it nil, or Passive")
	case c.Passive.SnapshotEvery > 0 && c.Store == nil:
		return errors.New("Passive.SnapshotEvery: snapshots are served from a Store: give one, for instance client.OpenStore(dir)")
	case c.Horizon > 0:
		return errors.New("Horizon: a passive replica replays all of the log: leave it 0")
	}
	return nil
}
