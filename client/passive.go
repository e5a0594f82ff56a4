package client

import (
	"context"
	"errors"
	"io"

	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Passive makes a client that follows a run without taking part. Such a passive replica has no slot
// and no [objective.Objective], and replays every record. An operator runs one or a few passive
// replicas, on machines that are always on, for three purposes:
//
//   - Every DigestEvery records of the plan, the replica reports the digest of its state under its
//     id. If the coordinator's Witnesses name the id, devices compare their states with these
//     digests.
//   - With SnapshotEvery the replica writes snapshots into its Store, and sends them to devices
//     that were away for long.
//   - The app can read the model with Params at any time.
//
// Let only one passive replica serve snapshots. If there are several, a device takes the first
// answer, even if that answer says that there is no snapshot.
//
// In a private run a passive replica needs the run key, as a device does, and encrypts its
// snapshots under that key (docs/sealed.md). So the coordinator, which has no key, cannot be a
// passive replica of a private run.
//
// A passive replica never downloads a snapshot itself, so its digests prove the log. A passive
// replica needs the permissions of a device with its id. A passive replica that serves snapshots
// also subscribes to zo.<run>.s.* and publishes to the inboxes of devices. Like any client, a
// passive replica ends with the run.
type Passive struct {
	// SnapshotEvery is the number of records from one snapshot to the next; 0: no snapshots. The
	// replica takes a snapshot after each record whose index is a multiple of SnapshotEvery. Use a
	// multiple of the plan's DigestEvery, so that devices can prove a snapshot at once. While a device
	// downloads a snapshot, the replica skips the next one, but never two in a row.
	SnapshotEvery uint64
}

// begin asks for record 1 until a coordinator answers. A device gets record 1 when it joins.
func (c *Client) begin(ctx context.Context) (next, error) {
	if c.follower.N() > 0 {
		return next{}, nil
	}
	record, err := c.follower.FetchPlan(ctx)
	if err == nil {
		if err = c.begins(ctx, record); !retry.Claimed(err) {
			return next{}, err
		}
	}
	return c.unanswered(ctx, err, &c.doubt, (*Client).begin)
}

// pull fetches the log up to its head, without waiting for an announcement. If no coordinator
// answers, pull logs that and waits.
func (c *Client) pull(ctx context.Context) (next, error) {
	head, err := c.follower.FetchHead(ctx)
	switch {
	case err == nil:
		c.session.silence = nil
		c.session.queue = []arrival{{head: head}}
		return goOn((*Client).hear)
	case ctx.Err() == nil && errors.Is(err, follow.ErrNotOurs):
		return c.claim(ctx, err)
	}
	return c.unheard(ctx, err, &c.doubt)
}

// watch handles an announcement for a passive replica. The replica has applied all records up to
// the announcement's head.
func (c *Client) watch(ctx context.Context, a *arrival) (next, error) {
	if err := c.accepts(ctx, c.follower.Plan()); err != nil {
		return next{}, err
	}
	p := waiting(nil)
	if a.State == wire.Paused {
		p = Progress{State: Paused, Reason: a.Reason}
	}
	return telling(p, (*Client).reportDigests)
}

// serves says whether this is a passive replica that serves snapshots.
func (c *Client) serves() bool { return c.cfg.Passive != nil && c.cfg.Passive.SnapshotEvery > 0 }

// A witness writes snapshots of the states that a passive replica reaches.
type witness struct{ *Client }

// Wants implements [follow.Witness].
func (w witness) Wants(n uint64) bool {
	return w.serves() && n%w.cfg.Passive.SnapshotEvery == 0
}

// See implements [follow.Witness]. During a replay up to record last, See writes only the last
// snapshot that is due.
func (w witness) See(f *follow.Follower, last uint64) error {
	if !w.serves() {
		return nil
	}
	every, n, s := w.cfg.Passive.SnapshotEvery, f.N(), w.server
	if old := s.offer().n; old > 0 && !f.Live(old) {
		s.withdraw() // a rollback undid its record
	}
	r := f.Replica()
	if len(r.Missing()) > 0 {
		return nil
	}
	ended := r.Ended() != nil
	if !ended && (!w.Wants(n) || n+every <= last) {
		return nil
	}
	if s.busy() && !s.skipped && !ended {
		s.skipped = true
		return nil
	}
	s.skipped = false
	tip := r.Hash().Tip()
	if f := s.stored; w.seals() && f.n == n && f.tip == tip {
		s.set(f) // a second encryption would differ from the pieces that devices already have
		return nil
	}
	return s.write(n, tip, w.saveSnapshot)
}

// saveSnapshot writes the state to w, encrypted in a private run.
func (c *Client) saveSnapshot(w io.Writer) error {
	if !c.seals() {
		return c.follower.Save(w)
	}
	s, err := c.sealed(w)
	if err != nil {
		return err
	}
	if err := c.follower.Save(s); err != nil {
		return err
	}
	return s.Close()
}

// sealed returns a writer that encrypts a snapshot of the present state, in the format of the
// plan's keys.
func (c *Client) sealed(w io.Writer) (*seal.Writer, error) {
	if c.follower.Plan().DerivesKeys() {
		return seal.NewBound(w, c.cfg.RunKey, c.cfg.Run, c.follower.N())
	}
	return seal.NewWriter(w, c.cfg.RunKey)
}

// seals says whether snapshots are encrypted: a client with a run key is in a private run.
func (c *Client) seals() bool { return len(c.cfg.RunKey) > 0 }

// loadSnapshot makes the snapshot that an earlier process wrote available to devices.
func (c *Client) loadSnapshot() error {
	if !c.serves() {
		return nil
	}
	return c.server.load(func(r io.Reader, size int64) (uint64, wire.Tip, error) {
		if c.seals() {
			sealed := seal.NewReader(r, c.cfg.RunKey, uint64(size))
			sealed.Bind(c.cfg.Run, 0) // 0: any record, as the plan may be lost
			r = sealed
		}
		head, err := replica.ReadHead(r)
		if err == nil && head.Plan.Run != c.cfg.Run {
			err = replica.ErrState
		}
		return head.N, head.Hash.Tip(), err
	}, replica.ErrState, seal.ErrFile)
}

// checkPassive checks the config of a passive client.
func (c *Config) checkPassive() error {
	switch {
	case c.Objective != nil:
		return errors.New("Objective and Passive are both set: leave one of them nil")
	case c.Passive.SnapshotEvery > 0 && c.Store == nil:
		return errors.New("Passive.SnapshotEvery: snapshots are served from a Store: " +
			"give one, for instance client.OpenStore(dir)")
	case c.Horizon > 0:
		return errors.New("Horizon: a passive replica replays the whole log: leave it 0")
	}
	return nil
}
